// FamilyStore: a TestStore with column families.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/test_store.h"

namespace cambium::testing {

// f0, f1, ...
inline std::vector<std::string> FamilyNames(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("f" + std::to_string(i));
  return names;
}

class FamilyStore : public TestStore {
 public:
  using TestStore::TestStore;
  ~FamilyStore() { DestroyHandles(); }

  // Opens the default family and these families, in this order.
  Status OpenWith(const std::vector<std::string>& names) {
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, options}};
    for (const std::string& name : names) families.emplace_back(name, OptionsOf(name));
    return DB::Open(options, kStorePath, families, &handles, &db);
  }
  void MustOpenWith(const std::vector<std::string>& names) {
    const Status s = OpenWith(names);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Close() {
    DestroyHandles();
    MustClose();
  }
  // Opens the files as a killed process leaves them: with all writes, synced or not.
  void KillAndOpenWith(const std::vector<std::string>& names) {
    Kill();
    MustOpenWith(names);
  }
  void Kill() {
    auto after = std::make_shared<SimFileSystem>(fs->Snapshot());
    DestroyHandles();
    db.reset();
    fs = after;
    options.file_system = fs;
  }
  void DestroyHandles() {
    for (ColumnFamilyHandle* handle : handles) delete handle;
    handles.clear();
  }
  ColumnFamilyHandle* Create(const std::string& name) {
    ColumnFamilyHandle* handle = nullptr;
    const Status s = db->CreateColumnFamily(OptionsOf(name), name, &handle);
    EXPECT_TRUE(s.ok()) << s.ToString();
    handles.push_back(handle);
    return handle;
  }
  void PutIn(ColumnFamilyHandle* family, Slice key, Slice value, bool sync = false) {
    WriteOptions write;
    write.sync = sync;
    const Status s = db->Put(write, family, key, value);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::string GetFrom(ColumnFamilyHandle* family, Slice key, const ReadOptions& read = {}) {
    std::string value;
    const Status s = db->Get(read, family, key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NotFound" : s.ToString();
  }
  void FlushOf(ColumnFamilyHandle* family) {
    const Status s = db->Flush({}, family);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  [[nodiscard]] ColumnFamilyOptions OptionsOf(const std::string& name) const {
    const auto its = family_options.find(name);
    return its == family_options.end() ? ColumnFamilyOptions(options) : its->second;
  }

  std::map<std::string, ColumnFamilyOptions> family_options;  // other families have the default one's options
  std::vector<ColumnFamilyHandle*> handles;
};

}  // namespace cambium::testing
