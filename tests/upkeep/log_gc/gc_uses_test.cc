// Log GC keeps a table of how much of each segment is used, with sums, and updates it after each commit. After each
// kind of change, CheckInvariants computes the same table from all segments, and compares.
#include <string>

#include "api/db_inside.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"

namespace cambium::testing {
namespace {

constexpr int kUsesKeys = 30;

// Two families with values in the same segments, all of which log GC leaves as they are. Half the values are dead.
struct UsesStore : FamilyStore {
  UsesStore() {
    options.create_missing_column_families = true;
    options.enable_blob_garbage_collection = false;
    options.blob_file_size = 256u << 10;
    options.large_value_size = 64u << 10;
    options.write_buffer_size = 1u << 20;
    options.max_total_wal_size = 8u << 20;
    options.min_punch_size = 16u << 10;
    MustOpenWith({"other"});
  }
  void Fill() {
    for (int i = 0; i < kUsesKeys; ++i) {
      for (ColumnFamilyHandle* const handle : handles) PutIn(handle, NumberedKey(i), std::string(20'000, 'v'));
    }
    FlushAll();
    for (int i = 0; i < kUsesKeys; i += 2) {
      for (ColumnFamilyHandle* const handle : handles) ASSERT_TRUE(db->Delete({}, handle, NumberedKey(i)).ok());
    }
    FlushAll();
    for (ColumnFamilyHandle* const handle : handles) {
      ASSERT_TRUE(db->CompactRange({}, handle, nullptr, nullptr).ok());
    }
    RunUntilIdle();
  }
  void FlushAll() {
    for (ColumnFamilyHandle* const handle : handles) FlushOf(handle);
  }
  Status SetMinPunchSize(const std::string& bytes) { return db->SetDBOptions({{"min_punch_size", bytes}}); }
  Status CheckUses() { return DbInside::Of(db.get())->CheckInvariants(); }
};

TEST(GcUsesTest, UsesFollowEachChange) {
  UsesStore store;
  ASSERT_TRUE(store.CheckUses().ok());
  store.Fill();
  ASSERT_EQ(store.CheckUses().ToString(), "OK");
  for (const char* const bytes : {"0", "16384", "0"}) {
    ASSERT_TRUE(store.SetMinPunchSize(bytes).ok());
    ASSERT_EQ(store.CheckUses().ToString(), "OK") << bytes;
  }
  ASSERT_TRUE(store.db->DropColumnFamily(store.handles[1]).ok());
  ASSERT_EQ(store.CheckUses().ToString(), "OK");
  ASSERT_TRUE(store.SetMinPunchSize("16384").ok());
  ASSERT_EQ(store.CheckUses().ToString(), "OK");
  store.RunUntilIdle();
  ASSERT_EQ(store.CheckUses().ToString(), "OK");
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.PutIn(store.handles[0], "k", "small");
  store.FlushOf(store.handles[0]);
  store.LetSecondsPass(10);
  ASSERT_EQ(store.CheckUses().ToString(), "OK");
}

Status UsesAfterADrop() {
  UsesStore store;
  store.Fill();
  EXPECT_TRUE(store.CheckUses().ok());
  EXPECT_TRUE(store.db->DropColumnFamily(store.handles[1]).ok());
  return store.CheckUses();
}

TEST(GcUsesTest, ADroppedFamilyLeavesItsSegments) {
  EXPECT_TRUE(UsesAfterADrop().ok());
  const MutantScope mutant(Mutant::kDroppedFamilyIsNotNoted);
  EXPECT_TRUE(UsesAfterADrop().IsCorruption());
}

}  // namespace
}  // namespace cambium::testing
