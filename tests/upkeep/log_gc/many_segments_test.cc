// Databases with many segments: the cost of a small write must not depend on their number, and a segment needs no
// descriptor of its own.
#include <string>

#include "api/db_inside.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/test_store.h"

namespace cambium::testing {
namespace {

// Two values fill a segment.
const int kValues = 150 * static_cast<int>(ScaleFromEnvironment());

std::string ValueOf(int i) { return NumberedKey(i) + std::string(15'000, static_cast<char>('a' + i % 26)); }

struct ManySegmentsStore : TestStore {
  explicit ManySegmentsStore(double max_space_amplification = 0) {
    options.max_space_amplification = max_space_amplification;
    options.min_space_limit = 0;
    options.blob_file_size = 16u << 10;
    options.large_value_size = 1u << 20;
    options.write_buffer_size = 1u << 20;
    options.max_total_wal_size = 64u << 20;
    options.enable_blob_garbage_collection = false;
  }
  void Fill() {
    MustOpen();
    for (int i = 0; i < kValues; ++i) Put(NumberedKey(i), ValueOf(i));
    Flush();
    RunUntilIdle();
    ASSERT_GE(fs->probe().ListFiles().size(), static_cast<std::size_t>(kValues) / 2);
  }
  void ExpectAll() {
    for (int i = 0; i < kValues; ++i) ASSERT_EQ(Get(NumberedKey(i)), ValueOf(i)) << i;
  }
};

// A look at the figures of the ceiling asks each unsealed segment for its size.
std::uint64_t LooksDuringSmallFlushes() {
  ManySegmentsStore store;
  store.Fill();
  store.Put("small", "x");
  store.Flush();
  store.RunUntilIdle();
  const std::uint64_t before = store.fs->calls(SimOpKind::kGetInfo);
  for (int i = 0; i < 20; ++i) {
    store.Put("small", "x");
    store.Flush();
    store.RunUntilIdle();
  }
  return store.fs->calls(SimOpKind::kGetInfo) - before;
}

TEST(ManySegmentsTest, SmallFlushesDoNotVisitAllSegments) {
  const std::uint64_t looks = LooksDuringSmallFlushes();
  const MutantScope mutant(Mutant::kLooksAfterEachFlush);
  EXPECT_GE(LooksDuringSmallFlushes(), looks + 20);
}

// How many segments are visited by one look after each of twenty small flushes. With log GC, a look asks too whether a
// step is due. No segment has garbage or is small for its blob_file_size.
std::uint64_t VisitsOfTwentyLooks(bool has_gc) {
  ManySegmentsStore store;
  store.options.enable_blob_garbage_collection = has_gc;
  store.Fill();
  store.Put("small", "x");
  store.Flush();
  store.LetSecondsPass(2);
  const DbInside& db = *DbInside::Of(store.db.get());
  const std::uint64_t before = db.SegmentVisits();
  for (int i = 0; i < 20; ++i) {
    store.Put("small", "x");
    store.Flush();
    store.LetSecondsPass(2);
  }
  EXPECT_TRUE(db.CheckInvariants().ok());
  return db.SegmentVisits() - before;
}

TEST(ManySegmentsTest, LookVisitsOnlyChangedSegments) {
  for (const bool has_gc : {false, true}) EXPECT_LE(VisitsOfTwentyLooks(has_gc), 20u * 4) << has_gc;
  const MutantScope mutant(Mutant::kLookVisitsAllSegments);
  EXPECT_GE(VisitsOfTwentyLooks(false), 20u * kValues / 2);
  EXPECT_GE(VisitsOfTwentyLooks(true), 2 * 20u * kValues / 2);
}

// Although looks are left out, log GC does the work that is due.
TEST(ManySegmentsTest, GarbageOfManySmallFlushesIsCollected) {
  ManySegmentsStore store;
  store.Fill();
  ASSERT_TRUE(store.db
                  ->SetOptions({{"enable_blob_garbage_collection", "true"},
                                {"blob_garbage_collection_age_cutoff", "1"},
                                {"blob_garbage_collection_force_threshold", "0.3"}})
                  .ok());
  for (int i = 0; i < kValues; ++i) {
    store.Put(NumberedKey(i), "small");
    store.Flush();
  }
  for (int i = 0; i < 2 * kValues; ++i) {
    store.Put("other", std::string(1000, 'x'));
    store.Flush();
  }
  store.RunUntilIdle();
  EXPECT_LT(store.FilesOf(".log").size(), static_cast<std::size_t>(kValues) / 4);
}

TEST(ManySegmentsTest, FewDescriptorsAreEnough) {
  ManySegmentsStore store;
  store.options.max_open_files = 8;
  // The lock, the directory, and files that are being written come on top.
  constexpr std::size_t kDescriptors = 16;
  store.fs->SetMaxOpenFiles(kDescriptors);
  store.Fill();
  EXPECT_LE(store.fs->probe().open_files(), kDescriptors);
  store.ExpectAll();
  store.Reopen();
  store.ExpectAll();
  EXPECT_LE(store.fs->probe().open_files(), kDescriptors);
  store.Compact();
  store.ExpectAll();
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// Values with files of their own, without a sync: their files cannot be closed before they are synced.
TEST(ManySegmentsTest, UnsyncedLargeValuesDoNotUseUpTheDescriptors) {
  ManySegmentsStore store;
  store.options.large_value_size = 4096;
  store.options.max_open_files = -1;
  store.fs->SetMaxOpenFiles(20);
  store.Fill();
  store.ExpectAll();
  for (int i = 0; i < kValues; i += 2) ASSERT_TRUE(store.db->Delete({}, NumberedKey(i)).ok());
  store.Flush();
  store.Reopen();
  for (int i = 0; i < kValues; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), i % 2 == 0 ? "NotFound" : ValueOf(i)) << i;
}

}  // namespace
}  // namespace cambium::testing
