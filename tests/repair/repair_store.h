// Helpers for tests of salvage: a repair that collects its findings, and the contents of a database.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/test_store.h"
#include "cambium/repair.h"

namespace cambium::testing {

inline constexpr const char* kOutPath = "/out";
using Entries = std::map<std::string, std::string>;

struct Findings {
  std::vector<RepairLoss> lost;
  std::vector<RepairUnproven> unproven;
  RepairReport report;
};

inline Status RepairTo(const TestStore& store, const std::vector<ColumnFamilyDescriptor>& families, RepairOptions how,
                Findings* findings) {
  how.on_lost = [findings](const RepairLoss& loss) { findings->lost.push_back(loss); };
  how.on_unproven = [findings](const RepairUnproven& unproven) { findings->unproven.push_back(unproven); };
  return RepairDB(kStorePath, kOutPath, store.options, families, how, &findings->report);
}

// Returns the entries of all families, by "family/key".
inline Entries Read(const TestStore& store, const std::string& path, const Comparator* order = BytewiseComparator()) {
  Entries entries;
  std::vector<std::string> names;
  Options options = store.options;
  EXPECT_TRUE(DB::ListColumnFamilies(options, path, &names).ok());
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) {
    families.emplace_back(name, options);
    if (name != kDefaultColumnFamilyName) families.back().options.comparator = order;
  }
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  const Status opened = DB::OpenForReadOnly(options, path, families, &handles, &db);
  EXPECT_TRUE(opened.ok()) << opened.ToString();
  if (!opened.ok()) return entries;
  for (ColumnFamilyHandle* const handle : handles) {
    const std::unique_ptr<Iterator> it(db->NewIterator({}, handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries[handle->GetName() + "/" + it->key().ToString()] = it->value().ToString();
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  }
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  return entries;
}

// Repairs two copies of the store, without and with unproven values. Calls `check` with each copy and its findings.
template <typename Check>
void RepairCopies(const TestStore& store, const std::vector<ColumnFamilyDescriptor>& families, const Check& check) {
  for (const bool include_unproven : {false, true}) {
    SCOPED_TRACE(include_unproven ? "with unproven values" : "with proven values only");
    const TestStore copy(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    Findings findings;
    RepairOptions how;
    how.include_unproven = include_unproven;
    const Status s = RepairTo(copy, families, how, &findings);
    ASSERT_TRUE(s.ok()) << s.ToString();
    check(include_unproven, copy, findings);
  }
}

inline bool Exists(const TestStore& store, const std::string& path) {
  FileInfo info;
  return store.fs->GetInfo(path, &info).ok();
}

inline void RemoveManifests(const TestStore& store) {
  for (const std::string& path : store.FilesOf("MANIFEST")) ASSERT_TRUE(store.fs->tampering().Remove(path).ok());
}

}  // namespace cambium::testing
