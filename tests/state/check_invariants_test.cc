#include "state/check_invariants.h"

#include <gtest/gtest.h>

#include "api/db_inside.h"
#include "testing/mutant_scope.h"
#include "testing/test_store.h"

namespace cambium::testing {
namespace {

Status CheckStore(const TestStore& store) {
  return DbInside::Of(store.db.get())->CheckInvariants();
}

// Everything that changes the state: writes, freezes, flushes, compactions, log GC, snapshots, families, reopening.
TEST(CheckInvariantsTest, InvariantsHoldAfterEachStep) {
  TestStore store;
  store.MustOpen();
  const auto expect_ok = [&](const char* step) {
    const Status s = CheckStore(store);
    EXPECT_TRUE(s.ok()) << "after " << step << ": " << s.ToString();
  };
  expect_ok("Open");
  for (int i = 0; i < 200; ++i) store.Put(NumberedKey(i % 50), std::string(400, 'v'));
  expect_ok("writes");
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.Flush();
  expect_ok("a flush");
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &handle).ok());
  ASSERT_TRUE(store.db->Put({}, handle, "k", "v").ok());
  expect_ok("the creation of a family");
  store.Compact();
  expect_ok("a compaction");
  ASSERT_TRUE(store.db->DropColumnFamily(handle).ok());
  expect_ok("the drop of a family");
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(handle).ok());
  store.db->ReleaseSnapshot(snapshot);
  store.RunUntilIdle();
  expect_ok("background work");
  store.Reopen();
  expect_ok("reopening");
}

// The view has a segment that the MANIFEST does not name.
TEST(CheckInvariantsTest, SegmentMissingFromManifestIsCorruption) {
  TestStore store;
  store.MustOpen();
  {
    const MutantScope mutant(Mutant::kSegmentUnnamed);
    store.Put("k", "v");
  }
  EXPECT_TRUE(CheckStore(store).IsCorruption());
}

// Recovery would not read operations that are only in a memtable.
TEST(CheckInvariantsTest, ReplayPositionAfterUnflushedOperationIsCorruption) {
  TestStore store;
  store.MustOpen();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &handle).ok());
  ASSERT_TRUE(store.db->Put({}, handle, "k", "v").ok());
  store.Put("k", "v");
  {
    const MutantScope mutant(Mutant::kReplayPassesUnflushed);
    store.Flush();
  }
  EXPECT_TRUE(CheckStore(store).IsCorruption());
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(handle).ok());
}

// A flush names a file that its last reader would remove.
TEST(CheckInvariantsTest, NamedFileThatIsObsoleteViolatesThem) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "v");
  {
    const MutantScope mutant(Mutant::kKeptFileStaysObsolete);
    store.Flush();
  }
  EXPECT_TRUE(CheckStore(store).IsCorruption());
}

}  // namespace
}  // namespace cambium::testing
