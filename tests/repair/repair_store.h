// What the tests of salvage share: a repair with everything that it tells, and what is in a database.
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

struct Told {
  std::vector<RepairLoss> lost;
  std::vector<RepairUnproven> unproven;
  RepairReport report;
};

inline Status RepairTo(const TestStore& store, const std::vector<ColumnFamilyDescriptor>& families, RepairOptions how,
                Told* told) {
  how.on_lost = [told](const RepairLoss& loss) { told->lost.push_back(loss); };
  how.on_unproven = [told](const RepairUnproven& unproven) { told->unproven.push_back(unproven); };
  return RepairDB(kStorePath, kOutPath, store.options, families, how, &told->report);
}

// Of every family, "family/key".
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

// Two repairs, each of a copy: without what is unproven, and with it. `check` is told which, and sees the copy.
template <typename Check>
void RepairCopies(const TestStore& store, const std::vector<ColumnFamilyDescriptor>& families, const Check& check) {
  for (const bool include_unproven : {false, true}) {
    SCOPED_TRACE(include_unproven ? "with what is unproven" : "with what is proven alone");
    const TestStore copy(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    Told told;
    RepairOptions how;
    how.include_unproven = include_unproven;
    const Status s = RepairTo(copy, families, how, &told);
    ASSERT_TRUE(s.ok()) << s.ToString();
    check(include_unproven, copy, told);
  }
}

inline bool Exists(const TestStore& store, const std::string& path) {
  FileInfo info;
  return store.fs->GetInfo(path, &info).ok();
}

inline void RemoveManifests(const TestStore& store) {
  for (const std::string& path : store.FilesOf("MANIFEST")) ASSERT_TRUE(store.fs->RemoveForTest(path).ok());
}

}  // namespace cambium::testing
