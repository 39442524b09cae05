// Null pointers, and objects of another database: InvalidArgument, without any effect.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/test_store.h"

namespace cambium::testing {
namespace {

class BadArgumentsTest : public ::testing::Test {
 protected:
  BadArgumentsTest() {
    other_.options.random_source = std::make_shared<SimRandomSource>(8);  // so that its id differs
    for (TestStore* const store : {&ours_, &other_}) {
      store->MustOpen();
      store->Put("k", store == &ours_ ? "ours" : "other");
    }
    EXPECT_TRUE(ours_.db->CreateColumnFamily(ours_.options, "family", &family_).ok());
    EXPECT_TRUE(other_.db->CreateColumnFamily(other_.options, "family", &foreign_).ok());
    EXPECT_EQ(family_->GetID(), foreign_->GetID()) << "the number alone must not decide";
  }
  ~BadArgumentsTest() override {
    delete family_;
    delete foreign_;
  }
  // Expects that no kind of read accepts the snapshot.
  void ExpectRefused(const Snapshot* snapshot) {
    DB& db = *ours_.db;
    ReadOptions read;
    read.snapshot = snapshot;
    std::string value = "before";
    EXPECT_TRUE(db.Get(read, "k", &value).IsInvalidArgument());
    PinnableSlice pinned;
    EXPECT_TRUE(db.Get(read, "k", &pinned).IsInvalidArgument());
    std::vector<std::string> values;
    for (const Status& s : db.MultiGet(read, {"k", "absent"}, &values)) EXPECT_TRUE(s.IsInvalidArgument());
    const std::unique_ptr<Iterator> it(db.NewIterator(read));
    it->SeekToFirst();
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().IsInvalidArgument());
    std::vector<Iterator*> iterators;
    EXPECT_TRUE(db.NewIterators(read, {db.DefaultColumnFamily()}, &iterators).IsInvalidArgument());
    EXPECT_TRUE(iterators.empty());
  }

  TestStore ours_;
  TestStore other_;
  ColumnFamilyHandle* family_ = nullptr;
  ColumnFamilyHandle* foreign_ = nullptr;
};

TEST_F(BadArgumentsTest, NullPointersAreInvalidArguments) {
  DB& db = *ours_.db;
  EXPECT_TRUE(db.Write({}, nullptr).IsInvalidArgument());
  EXPECT_TRUE(db.Get({}, "k", static_cast<std::string*>(nullptr)).IsInvalidArgument());
  EXPECT_TRUE(db.Get({}, "k", static_cast<PinnableSlice*>(nullptr)).IsInvalidArgument());
  EXPECT_TRUE(db.CreateColumnFamily({}, "new", nullptr).IsInvalidArgument());
  EXPECT_TRUE(db.CreateColumnFamilies({}, {"new"}, nullptr).IsInvalidArgument());
  EXPECT_TRUE(db.NewIterators({}, {family_}, nullptr).IsInvalidArgument());
  std::vector<std::string> names;
  DBOptions options = ours_.options;
  EXPECT_TRUE(DB::ListColumnFamilies(options, kStorePath, nullptr).IsInvalidArgument());
  EXPECT_TRUE(DB::Open(ours_.options, "/new", static_cast<DB**>(nullptr)).IsInvalidArgument());
  EXPECT_TRUE(DB::ListColumnFamilies(options, kStorePath, &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"default", "family"}));
  EXPECT_FALSE(db.GetProperty("cambium.stats", nullptr));
  EXPECT_FALSE(db.GetIntProperty("cambium.num-snapshots", nullptr));
  EXPECT_FALSE(db.GetMapProperty("cambium.index-stats", nullptr));
  const Range range{"a", "z"};
  std::uint64_t size = 0;
  EXPECT_TRUE(db.GetApproximateSizes(nullptr, 1, &size).IsInvalidArgument());
  EXPECT_TRUE(db.GetApproximateSizes(&range, 1, nullptr).IsInvalidArgument());
  EXPECT_TRUE(db.StartTrace({}, std::unique_ptr<TraceWriter>()).IsInvalidArgument());
  db.ReleaseSnapshot(nullptr);
  WriteBatch batch;
  EXPECT_TRUE(batch.Iterate(nullptr).IsInvalidArgument());
  EXPECT_TRUE(WriteBatch::FromData(batch.Data(), nullptr).IsInvalidArgument());
}

TEST_F(BadArgumentsTest, NullArraysOfMultiGetAreInvalidArguments) {
  DB& db = *ours_.db;
  ColumnFamilyHandle* const families[] = {db.DefaultColumnFamily(), db.DefaultColumnFamily()};
  const Slice keys[] = {"k", "absent"};
  PinnableSlice values[2];
  for (int missing = 0; missing < 3; ++missing) {
    Status statuses[2];
    db.MultiGet({}, 2, missing == 0 ? nullptr : families, missing == 1 ? nullptr : keys,
                missing == 2 ? nullptr : values, statuses);
    for (const Status& s : statuses) EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  }
  const std::vector<Slice> wanted = {"k", "absent"};
  for (const Status& s : db.MultiGet({}, wanted, nullptr)) EXPECT_TRUE(s.IsInvalidArgument());
}

TEST_F(BadArgumentsTest, HandleThatIsNullOrOfAnotherDatabaseIsRefusedByEveryCall) {
  DB& db = *ours_.db;
  for (ColumnFamilyHandle* const handle :
       {foreign_, other_.db->DefaultColumnFamily(), static_cast<ColumnFamilyHandle*>(nullptr)}) {
    std::string value;
    std::uint64_t number = 0;
    std::map<std::string, std::string> map;
    const Range range{"a", "z"};
    EXPECT_TRUE(db.Put({}, handle, "k", "v").IsInvalidArgument());
    EXPECT_TRUE(db.Delete({}, handle, "k").IsInvalidArgument());
    EXPECT_TRUE(db.SingleDelete({}, handle, "k").IsInvalidArgument());
    EXPECT_TRUE(db.DeleteRange({}, handle, "a", "z").IsInvalidArgument());
    EXPECT_TRUE(db.Get({}, handle, "k", &value).IsInvalidArgument());
    const std::vector<Slice> keys = {"k"};
    std::vector<std::string> values;
    EXPECT_TRUE(db.MultiGet({}, std::vector{handle}, keys, &values).front().IsInvalidArgument());
    const std::unique_ptr<Iterator> it(db.NewIterator({}, handle));
    EXPECT_TRUE(it->status().IsInvalidArgument());
    EXPECT_TRUE(db.Flush({}, handle).IsInvalidArgument());
    EXPECT_TRUE(db.CompactRange({}, handle, nullptr, nullptr).IsInvalidArgument());
    EXPECT_FALSE(db.GetProperty(handle, "cambium.stats", &value));
    EXPECT_FALSE(db.GetIntProperty(handle, "cambium.num-snapshots", &number));
    EXPECT_FALSE(db.GetMapProperty(handle, "cambium.index-stats", &map));
    EXPECT_TRUE(db.GetApproximateSizes(handle, &range, 1, &number).IsInvalidArgument());
    EXPECT_TRUE(db.SetOptions(handle, {{"min_blob_size", "100"}}).IsInvalidArgument());
    EXPECT_TRUE(db.DropColumnFamily(handle).IsInvalidArgument());
    EXPECT_TRUE(db.DestroyColumnFamilyHandle(handle).IsInvalidArgument());
  }
  EXPECT_EQ(ours_.Get("k"), "ours");
}

// A batch has the numbers of its families, and both databases have a family of this number.
TEST_F(BadArgumentsTest, BatchWithFamiliesOfAnotherDatabaseIsNotWritten) {
  WriteBatch foreign;
  ASSERT_TRUE(foreign.Put("k", "changed").ok());
  ASSERT_TRUE(foreign.Put(foreign_, "k", "v").ok());
  EXPECT_TRUE(ours_.db->Write({}, &foreign).IsInvalidArgument());
  EXPECT_EQ(ours_.Get("k"), "ours");
  WriteBatch mixed;
  ASSERT_TRUE(mixed.Put(family_, "k", "v").ok());
  EXPECT_TRUE(mixed.Put(foreign_, "k", "v").IsInvalidArgument());
  EXPECT_TRUE(ours_.db->Write({}, &mixed).IsInvalidArgument());
  WriteBatch appended;
  ASSERT_TRUE(appended.Put(family_, "k", "v").ok());
  appended.Append(foreign);
  EXPECT_TRUE(ours_.db->Write({}, &appended).IsInvalidArgument());
  EXPECT_TRUE(other_.db->Write({}, &appended).IsInvalidArgument());
  std::string value;
  EXPECT_TRUE(ours_.db->Get({}, family_, "k", &value).IsNotFound());
  EXPECT_TRUE(other_.db->Write({}, &foreign).ok());
  EXPECT_EQ(other_.Get("k"), "changed");
}

// After a fatal error a program opens the database again, and may write the same batch.
TEST_F(BadArgumentsTest, BatchMayBeWrittenAfterTheDatabaseWasOpenedAgain) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(family_, "k", "v").ok());
  delete std::exchange(family_, nullptr);
  ours_.MustClose();
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(
      DB::Open(ours_.options, kStorePath, {{"default", ours_.options}, {"family", ours_.options}}, &handles, &ours_.db)
          .ok());
  EXPECT_TRUE(ours_.db->Write({}, &batch).ok());
  std::string value;
  EXPECT_TRUE(ours_.db->Get({}, handles[1], "k", &value).ok());
  for (ColumnFamilyHandle* const handle : handles) delete handle;
}

TEST_F(BadArgumentsTest, SnapshotOfAnotherDatabaseIsRefused) {
  const ManagedSnapshot foreign(other_.db.get());
  ExpectRefused(foreign.snapshot());
  ours_.db->ReleaseSnapshot(foreign.snapshot());
  ReadOptions read;
  read.snapshot = foreign.snapshot();
  EXPECT_EQ(other_.Get("k", read), "other") << "the other database still has its snapshot";
  // Both databases exist, and the value is in a memtable: without the rule the read is valid, and shows wrong data.
  const MutantScope mutant(Mutant::kForeignSnapshotsAccepted);
  EXPECT_EQ(ours_.Get("k", read), "other") << "the mutant has no effect";
}

TEST_F(BadArgumentsTest, ReleasedSnapshotIsRefused) {
  const Snapshot* const released = ours_.db->GetSnapshot();
  ours_.db->ReleaseSnapshot(released);
  ExpectRefused(released);
  ours_.db->ReleaseSnapshot(released);  // twice does nothing
  // Later snapshots do not get its address at once.
  std::vector<std::unique_ptr<ManagedSnapshot>> later;
  for (int i = 0; i < 50; ++i) later.push_back(std::make_unique<ManagedSnapshot>(ours_.db.get()));
  later.clear();
  ExpectRefused(released);
  EXPECT_EQ(ours_.Property("num-snapshots"), 0u);
}

// Snapshots are taken and released by the million: their handles are used again.
TEST_F(BadArgumentsTest, HandlesOfReleasedSnapshotsAreUsedAgain) {
  std::set<const Snapshot*> seen;
  for (int i = 0; i < 10'000; ++i) {
    const ManagedSnapshot snapshot(ours_.db.get());
    seen.insert(snapshot.snapshot());
    ReadOptions read;
    read.snapshot = snapshot.snapshot();
    ours_.Put("k", std::to_string(i));
    ASSERT_EQ(ours_.Get("k", read), i == 0 ? "ours" : std::to_string(i - 1));
  }
  EXPECT_LE(seen.size(), 100u);
}

}  // namespace
}  // namespace cambium::testing
