// Writers and level 0 of an LSM: writes slow down, then wait, and never wait for a compaction that does not come.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/test_store.h"

namespace cambium::testing {
namespace {

class Level0Test : public ::testing::Test {
 protected:
  void SetUp() override {
    store_.options.index_type = IndexKind::kLsm;
    store_.options.level0_file_num_compaction_trigger = 4;
    store_.options.level0_slowdown_writes_trigger = 6;
    store_.options.level0_stop_writes_trigger = 8;
    store_.MustOpen();
  }
  // Adds runs to level 0 without running a compaction.
  void MakeRuns(std::uint64_t count) {
    while (store_.Property("num-runs") < count) {
      store_.Put("key" + std::to_string(next_++), "v");
      ASSERT_TRUE(store_.db->Flush({.wait = false}).ok());
      while (store_.Property("num-immutable-mem-table") > 0) store_.executor->RunOneInstead();
    }
  }
  std::uint64_t BytesOfRuns() {
    std::uint64_t bytes = 0;
    for (const auto& file : store_.fs->probe().ListFiles()) bytes += file.path.ends_with(".run") ? file.size : 0;
    return bytes;
  }
  TestStore store_;
  int next_ = 0;
};

TEST_F(Level0Test, NoWriteWaitsBelowTheSlowdownTrigger) {
  MakeRuns(5);
  const std::uint64_t before = store_.clock->NowMicros();
  store_.Put("k", "v");
  EXPECT_LT(store_.clock->NowMicros() - before, 100u);
  EXPECT_EQ(store_.Property("stall-micros"), 0u);
}

TEST_F(Level0Test, DelayGrowsFromTheSlowdownToTheStopTrigger) {
  MakeRuns(6);
  const auto wait = [&] {
    const std::uint64_t before = store_.Property("stall-micros");
    store_.Put("k", "v");
    return store_.Property("stall-micros") - before;
  };
  const std::uint64_t first = wait();
  EXPECT_GT(first, 0u);
  EXPECT_LE(first, 1000u);
  EXPECT_EQ(store_.Property("num-runs"), 6u) << "it waits for time, not for a compaction";
  MakeRuns(7);
  const std::uint64_t second = wait();
  EXPECT_GT(second, first);
  EXPECT_LE(second, 1000u);
}

TEST_F(Level0Test, WriteWaitsForACompactionFromTheStopTrigger) {
  MakeRuns(8);
  store_.Put("k", "v");
  EXPECT_LT(store_.Property("num-runs"), 8u);
  EXPECT_EQ(store_.Get("k"), "v");
  EXPECT_EQ(store_.Verify(), "");
}

TEST_F(Level0Test, NoSlowdownWriteIsIncomplete) {
  MakeRuns(6);
  WriteOptions options;
  options.no_slowdown = true;
  const Status s = store_.db->Put(options, "refused", "v");
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_EQ(store_.Get("refused"), "NotFound");
  const Status large = store_.db->Put(options, "large", std::string(20'000, 'l'));
  EXPECT_TRUE(large.IsIncomplete());
  store_.Compact();
  store_.RunUntilIdle();
  EXPECT_TRUE(store_.FilesOf(".val").empty()) << "the file of a value that was refused";
  EXPECT_TRUE(store_.db->Put(options, "refused", "v").ok());
}

// A compaction that fails neither makes writes wait forever nor rejects them.
TEST_F(Level0Test, FailedCompactionDoesNotBlockWrites) {
  MakeRuns(8);
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".run"); };
  fault.sticky = true;
  store_.fs->AddFault(fault);
  store_.Put("k", "v");
  EXPECT_EQ(store_.Get("k"), "v");
  EXPECT_EQ(store_.Property("num-runs"), 8u);
  store_.fs->ClearFaults();
  store_.Put("k", "w");
  EXPECT_LT(store_.Property("num-runs"), 8u);
  EXPECT_EQ(store_.Verify(), "");
}

// Regression: CompactRange began its next step as soon as one had ended, so the background never got a turn. New runs,
// which the request does not include, stayed until all of a long request was done.
TEST(Level0CompactRangeTest, LongCompactRangeDoesNotLetRunsPileUp) {
  TestStore store;
  store.options.index_type = IndexKind::kLsm;
  store.options.write_buffer_size = 4u << 10;  // also limits a step
  store.options.target_file_size_base = 16u << 10;
  store.options.max_bytes_for_level_base = 32u << 10;
  store.options.max_bytes_for_level_multiplier = 2;
  store.options.level0_file_num_compaction_trigger = 4;
  store.options.level0_slowdown_writes_trigger = 1000;
  store.options.level0_stop_writes_trigger = 1000;
  store.MustOpen();
  for (int i = 0; i < 6000; ++i) {
    store.Put("key" + std::to_string(i * 7919 % 6000), std::string(50, 'v'));
    if (i % 300 == 0) store.RunUntilIdle();  // all keys at once would make levels that do not overlap
  }
  store.Flush();
  store.RunUntilIdle();
  std::uint64_t most = 0;
  std::uint64_t made = 0;
  bool is_inside = false;
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    if (is_inside || op.kind != SimOpKind::kSync || op.phase != SimPhase::kBefore || !op.path.ends_with(".run")) return;
    is_inside = true;
    store.Put("key" + std::to_string(made++ * 997 % 6000), "later");
    EXPECT_TRUE(store.db->Flush({.wait = false}).ok());
    while (store.Property("num-immutable-mem-table") > 0) store.executor->RunOneInstead();
    most = std::max(most, store.Property("num-runs"));
    is_inside = false;
  });
  store.Compact();
  store.fs->RemoveHook(hook);
  EXPECT_GT(made, 40u) << "the request was not long";
  EXPECT_LT(most, 20u);
  EXPECT_EQ(store.Verify(), "");
}

// A file that only moves from level to level is never rewritten, so an uncompressed run would stay uncompressed.
TEST_F(Level0Test, FlushedRunsAreCompressedLikeLevels) {
  ASSERT_TRUE(store_.db->SetOptions({{"write_buffer_size", "4M"}, {"min_blob_size", "1000"}}).ok());
  ASSERT_TRUE(store_.db->SetDBOptions({{"max_total_wal_size", "64M"}}).ok());
  const auto bytes_of_a_flush = [&](const char* compression) {
    EXPECT_TRUE(store_.db->SetOptions({{"compression", compression}}).ok());
    for (int i = 0; i < 4000; ++i) store_.Put("key" + std::to_string(i), std::string(100, 'v'));
    const std::uint64_t before = BytesOfRuns();
    store_.Flush();
    return BytesOfRuns() - before;
  };
  EXPECT_GT(bytes_of_a_flush("kNoCompression"), 400'000u);
  EXPECT_LT(bytes_of_a_flush("kZSTD"), 100'000u);
  EXPECT_EQ(store_.Get("key77"), std::string(100, 'v'));
  EXPECT_EQ(store_.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
