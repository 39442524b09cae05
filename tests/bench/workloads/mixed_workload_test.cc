// Workloads that both read and write, YCSB's and mixgraph among them, over a std::map: they do what their names say,
// and notice wrong answers.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "bench/engines/map_engine.h"
#include "data/key.h"
#include "data/mix.h"
#include "run/phase_runner.h"
#include "workloads/workload.h"

namespace cambium::bench {
namespace {

class MixedWorkloadTest : public ::testing::Test {
 protected:
  MixedWorkloadTest() {
    flags_.num = 2000;
    flags_.value_size = 100;
    flags_.reads = 3000;
    flags_.threads = 3;
    flags_.mixgraph.mix_get_ratio = 0.8;
    flags_.mixgraph.mix_put_ratio = 0.15;
    flags_.mixgraph.mix_seek_ratio = 0.05;
    flags_.ycsb.operation_count = 6000;
    flags_.benchmarks = {"fill100K", "appendrandom", "mixgraph", "ycsb_d", "ycsb_e"};
  }

  // Starts with a database that has exactly the known keys.
  void Start() {
    pool_ = std::make_unique<ValuePool>(1, ValueSizesOf(flags_), 1, ValueRoomOf(flags_));
    keys_ = std::make_unique<KeySet>(KeyCapacityOf(flags_), !pool_->fixed());
    keys_->StartNewAt(flags_.num);
  }

  Status Run(const std::string& name) {
    const Workload& workload = *FindWorkload(name);
    if (workload.fresh) {
      (void)engine_.Destroy();
      keys_->Reset(true);
    }
    Phase phase{.flags = flags_,
                .pool = *pool_,
                .keys = *keys_,
                .key_shape = KeyShapeOf(flags_),
                .seed = Mix(flags_.seed, ordinal_),
                .ordinal = ordinal_};
    ++ordinal_;
    result_ = Result();
    EngineConfig config;
    config.path = "/nonexistent";
    return RunPhase(workload, config, &engine_, &phase, &result_);
  }

  BenchFlags flags_;
  std::unique_ptr<ValuePool> pool_;
  std::unique_ptr<KeySet> keys_;
  MapEngine engine_;
  Result result_;
  std::uint64_t ordinal_ = 0;
};

constexpr const char* kMixes[] = {"updaterandom", "appendrandom", "readrandomwriterandom", "mixgraph", "ycsb_a",
                                  "ycsb_b",       "ycsb_d",       "ycsb_e",                "ycsb_f"};

TEST_F(MixedWorkloadTest, EachRunsWithManyThreads) {
  for (const KeyStyle style : {KeyStyle::kDbBench, KeyStyle::kYcsb}) {
    flags_.key_style = style;
    Start();
    ASSERT_TRUE(Run("fillseq").ok());
    for (const char* name : kMixes) {
      // mixgraph's values may be too short for the id of their key, and hashed keys do not contain it either. So the
      // flags refuse mixgraph with such keys.
      if (style == KeyStyle::kYcsb && std::string(name) == "mixgraph") continue;
      const Status status = Run(name);
      ASSERT_TRUE(status.ok()) << name << ": " << status.ToString();
      EXPECT_EQ(result_.ops, FindWorkload(name)->shared ? 6000u : 9000u) << name;
      EXPECT_GT(result_.user_write_bytes, 0u) << name;
      EXPECT_TRUE(result_.write_amp.has_value()) << name;
      EXPECT_EQ(result_.live_keys, engine_.map.size());
      ASSERT_TRUE(Run("verify").ok()) << name;
    }
  }
}

TEST_F(MixedWorkloadTest, EachDetectsWrongValuesAndLostKeys) {
  for (const char* name : kMixes) {
    Start();
    ASSERT_TRUE(Run("fillseq").ok());
    engine_.lies.value = [](std::string* value) { value->back() = static_cast<char>(value->back() ^ 1); };
    EXPECT_TRUE(Run(name).IsCorruption()) << name;
    engine_.lies = {};
    ASSERT_TRUE(Run("fillseq").ok());
    engine_.lies.lost = [](const std::string& key) { return key[7] % 2 == 1; };
    EXPECT_TRUE(Run(name).IsCorruption()) << name;
    engine_.lies = {};
  }
}

TEST_F(MixedWorkloadTest, UpdatesWriteAsOftenAsTheyRead) {
  flags_.benchmarks = {};
  Start();
  ASSERT_TRUE(Run("fillseq").ok());
  const std::uint64_t commits = engine_.commits;
  ASSERT_TRUE(Run("updaterandom").ok());
  EXPECT_EQ(engine_.commits - commits, 9000u);
  EXPECT_EQ(result_.user_write_bytes, 9000u * 116);
  EXPECT_EQ(result_.user_bytes, 2 * 9000u * 116) << "what was read counts too";
}

// One thread: if two append to the same value at the same time, one of the two is lost, as with db_bench.
TEST_F(MixedWorkloadTest, AppendsExtendValues) {
  flags_.threads = 1;
  Start();
  ASSERT_TRUE(Run("fillseq").ok());
  flags_.reads = 2000;
  ASSERT_TRUE(Run("appendrandom").ok());
  std::uint64_t bytes = 0;
  for (const auto& [key, value] : engine_.map) {
    EXPECT_EQ(value.size() % 100, 0u);
    bytes += key.size() + value.size();
  }
  EXPECT_EQ(bytes, 2000u * 116 + 2000u * 100);
  EXPECT_EQ(result_.live_bytes, bytes) << "the bench knows how much is alive, though values differ";
}

TEST_F(MixedWorkloadTest, ReadPercentageIsKept) {
  Start();
  ASSERT_TRUE(Run("fillseq").ok());
  const std::uint64_t commits = engine_.commits;
  flags_.readwritepercent = 30;
  ASSERT_TRUE(Run("readrandomwriterandom").ok());
  EXPECT_EQ(engine_.commits - commits, 9000u * 70 / 100);
}

TEST_F(MixedWorkloadTest, LargeValuesAndDeletesInOrder) {
  flags_.num = 5000;
  flags_.threads = 1;
  Start();
  ASSERT_TRUE(Run("fill100K").ok());
  EXPECT_EQ(result_.ops, 5u);
  for (const auto& [key, value] : engine_.map) EXPECT_EQ(value.size(), 100'000u);
  ASSERT_TRUE(Run("fillseq").ok());
  flags_.deletes = 100;
  flags_.threads = 3;
  ASSERT_TRUE(Run("deleteseq").ok());
  EXPECT_EQ(result_.ops, 100u) << "the threads share them";
  EXPECT_EQ(engine_.map.size(), 4900u);
  EXPECT_EQ(engine_.map.begin()->first, KeyBuffer(16).Make(100).ToString());
}

TEST_F(MixedWorkloadTest, YcsbInsertsRecordsAfterTheLast) {
  flags_.key_style = KeyStyle::kYcsb;
  Start();
  ASSERT_TRUE(Run("ycsb_load").ok());
  EXPECT_EQ(engine_.map.size(), 2000u);
  ASSERT_TRUE(Run("ycsb_d").ok());
  EXPECT_NEAR(static_cast<double>(engine_.map.size()), 2300, 100) << "a twentieth of 6000";
  EXPECT_TRUE(engine_.map.contains(KeyBuffer(KeyShapeOf(flags_)).Make(2100).ToString()));
  ASSERT_TRUE(Run("ycsb_c").ok());
  EXPECT_EQ(result_.user_write_bytes, 0u) << "C only reads";
}

// The record to which rank 0 is hashed gets rank 0's share, 1 / 26.469 of all requests, and a little of other ranks'
// shares. If --duration ends a workload, the key set has room for many more records than there are, and this must not
// change the share.
TEST_F(MixedWorkloadTest, YcsbKeepsItsSkewWithDuration) {
  flags_.ycsb = {.operation_count = 0, .max_scan_length = 1};
  flags_.duration = 1;
  flags_.num = 2000;
  flags_.reads = -1;
  const struct {
    const char* name;
    std::uint64_t items;
  } kRuns[] = {{"ycsb_a", 2000}, {"ycsb_c", 2000}, {"ycsb_e", 2200}};
  for (const auto& run : kRuns) {
    Start();
    ASSERT_GT(keys_->capacity(), 1'000'000u);
    ASSERT_TRUE(Run("ycsb_load").ok());
    std::map<std::uint64_t, std::uint64_t> counts;
    std::uint64_t all = 0;
    engine_.lies.value = [&](const std::string* value) {
      ++counts[IdInValue(*value)];
      ++all;
    };
    ASSERT_TRUE(Run(run.name).ok());
    engine_.lies = {};
    const double share = static_cast<double>(counts[YcsbHash(0) % run.items]) / static_cast<double>(all);
    EXPECT_NEAR(share, 1 / 26.469, 0.004) << run.name << ", of " << all;
    EXPECT_GT(counts.size(), 1900u) << run.name << ": cold records are asked for too";
  }
}

TEST_F(MixedWorkloadTest, YcsbWithoutRecordsFails) {
  Start();
  EXPECT_TRUE(Run("ycsb_c").IsInvalidArgument());
  EXPECT_TRUE(Run("ycsb_d").IsInvalidArgument());
}

TEST_F(MixedWorkloadTest, ScanDuringReadsIsNotAWriter) {
  Start();
  ASSERT_TRUE(Run("fillseq").ok());
  const std::uint64_t commits = engine_.commits;
  engine_.settled = false;
  ASSERT_TRUE(Run("readwhilescanning").ok());
  EXPECT_EQ(engine_.commits, commits);
  ASSERT_TRUE(result_.writer.has_value());
  EXPECT_TRUE(result_.writer->reads);
  EXPECT_FALSE(engine_.settled) << "nothing has changed";
  ASSERT_TRUE(Run("newiterator").ok());
  EXPECT_EQ(result_.ops, 9000u);
}

TEST_F(MixedWorkloadTest, PinnedIteratorSurvivesOverwrites) {
  Start();
  ASSERT_TRUE(Run("fillrandom").ok()) << "so that the overwrites also create keys";
  engine_.lies.snapshots = true;
  const Status status = Run("overwritewhilepinned");
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(result_.ops, 3 * 2000u);
  ASSERT_TRUE(result_.writer.has_value());
  EXPECT_EQ(result_.writer->ops, 1u);
  EXPECT_GT(engine_.values_walked, 0u);
  engine_.lies.snapshots = false;
  // Slow enough for the iterator to see its first entries before everything is overwritten.
  engine_.lies.around_put = [] { std::this_thread::sleep_for(std::chrono::microseconds(20)); };
  EXPECT_TRUE(Run("overwritewhilepinned").IsCorruption()) << "the snapshot shows a later write";
  engine_.lies.value = [](std::string* value) { value->back() = static_cast<char>(value->back() ^ 1); };
  EXPECT_TRUE(Run("overwritewhilepinned").IsCorruption());
}

TEST_F(MixedWorkloadTest, WriterDuringReadsKeepsItsRateLimit) {
  Start();
  ASSERT_TRUE(Run("fillseq").ok());
  flags_.duration = 1;
  flags_.benchmark_write_rate_limit = 116 * 500;  // 500 puts a second
  ASSERT_TRUE(Run("readwhilewriting").ok());
  ASSERT_TRUE(result_.writer.has_value());
  EXPECT_LE(result_.writer->ops, 600u);
  EXPECT_GE(result_.writer->ops, 5u);
}

TEST_F(MixedWorkloadTest, SeeksMayGoBackward) {
  flags_.threads = 1;
  flags_.seek_nexts = 4;
  flags_.reverse_iterator = true;
  flags_.reads = 200;
  Start();
  ASSERT_TRUE(Run("fillseq").ok());
  ASSERT_TRUE(Run("seekrandom").ok());
  EXPECT_GT(engine_.values_walked, 700u);
  engine_.lies.lost = [](const std::string& key) { return key[7] % 2 == 1; };
  EXPECT_TRUE(Run("seekrandom").IsCorruption());
}

}  // namespace
}  // namespace cambium::bench
