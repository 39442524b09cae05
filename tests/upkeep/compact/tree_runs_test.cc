// Writers and the runs above a tree: the number of runs is bounded, a write waits for a few steps of a sweep, not for
// all of it, and no write waits for a sweep that does not come.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cambium/listener.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/test_store.h"

namespace cambium::testing::tree_runs_test {
namespace {

constexpr int kKeys = 20'000;
std::string KeyOf(int i) { return "key" + std::to_string(1'000'000 + i % kKeys); }

struct StepCounter : EventListener {
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override { steps += info.status.ok() ? 1 : 0; }
  int steps = 0;
};

// A tree whose values are overwritten in random order, faster than compactions run: they run only while a write waits.
struct Overwritten : TestStore {
  explicit Overwritten(int slowdown, int stop) {
    options.index_type = IndexKind::kBTree;
    options.enable_blob_files = false;
    options.page_size = 4096;
    options.level0_file_num_compaction_trigger = 1;
    options.level0_slowdown_writes_trigger = slowdown;
    options.level0_stop_writes_trigger = stop;
    options.listeners.push_back(counter);
    MustOpen();
    for (int i = 0; i < kKeys; ++i) Put(KeyOf(i), std::string(100, 'o'));
    Flush();
    RunUntilIdle();
  }
  // Flushes without running a compaction, unless the flush waits for one.
  void FlushOnly() {
    while (Property("num-immutable-mem-table") > 0) executor->RunOneInstead();
  }
  void Overwrite(int count) {
    for (int i = 0; i < count; ++i) {
      next = (next + 7919) % kKeys;
      const int before = counter->steps;
      Put(KeyOf(next), std::string(100, 'n'));
      most_steps = std::max(most_steps, counter->steps - before);
      FlushOnly();
      most_runs = std::max(most_runs, Property("num-runs"));
    }
  }
  void MakeRuns(std::uint64_t count) {
    while (Property("num-runs") < count) Overwrite(1);
  }
  std::shared_ptr<StepCounter> counter = std::make_shared<StepCounter>();
  int next = 0;
  std::uint64_t most_runs = 0;
  int most_steps = 0;  // of compactions, during one put
};

// Returns what is wrong after as many puts as there are keys, times the scale, or "".
std::string TryToPileUpRuns(int slowdown, int stop) {
  Overwritten store(slowdown, stop);
  const Snapshot* const snapshot = store.db->GetSnapshot();
  for (std::uint64_t i = 0; i < ScaleFromEnvironment(); ++i) store.Overwrite(kKeys);
  store.db->ReleaseSnapshot(snapshot);
  // The runs that wait, and as many that a sweep is merging.
  if (store.most_runs > 2 * static_cast<std::uint64_t>(stop) + 2) return std::to_string(store.most_runs) + " runs";
  if (store.most_runs < static_cast<std::uint64_t>(slowdown)) return "compactions were faster than writes";
  if (store.Property("stall-micros") == 0) return "no write was slowed down";
  const int per_sweep = store.counter->steps;
  if (per_sweep < 200) return "only " + std::to_string(per_sweep) + " steps of sweeps";
  if (store.most_steps > 40) return "a put waited for " + std::to_string(store.most_steps) + " steps";
  return store.Verify();
}

TEST(TreeRunsTest, RunsAboveATreeAreBoundedAndPutsWaitForAFewSteps) {
  EXPECT_EQ(TryToPileUpRuns(2, 4), "");
  EXPECT_EQ(TryToPileUpRuns(20, 36), "");
  {
    const MutantScope mutant(Mutant::kNoRunsWait);
    EXPECT_NE(TryToPileUpRuns(20, 36), "");
  }
  {
    const MutantScope mutant(Mutant::kSweptRunsWait);
    EXPECT_NE(TryToPileUpRuns(20, 36), "");
  }
}

// Each batch fills a memtable, so that a run is added for each step of a sweep that a write waits for.
TEST(TreeRunsTest, LargeBatchesDoNotPileUpRuns) {
  Overwritten store(20, 36);
  for (int i = 0; i < 200 * static_cast<int>(ScaleFromEnvironment()); ++i) {
    WriteBatch batch;
    for (int j = 0; j < 150; ++j) {
      ASSERT_TRUE(batch.Put(KeyOf((i * 150 + j) % kKeys * 7919), std::string(100, 'b')).ok());
    }
    ASSERT_TRUE(store.db->Write({}, &batch).ok());
    store.FlushOnly();
    store.most_runs = std::max(store.most_runs, store.Property("num-runs"));
  }
  EXPECT_GT(store.most_runs, 36u);
  EXPECT_LE(store.most_runs, 2u * 36 + 2);
}

TEST(TreeRunsTest, FewRunsDoNotSlowWriters) {
  Overwritten store(20, 36);
  store.MakeRuns(16);
  EXPECT_EQ(store.Property("stall-micros"), 0u);
  EXPECT_EQ(store.counter->steps, 0);
}

// A sweep is due before writers are slowed down, however few runs that takes.
TEST(TreeRunsTest, RunsThatSlowWritersDownAreSwept) {
  Overwritten store(20, 36);
  store.MakeRuns(3);
  store.RunUntilIdle();
  EXPECT_EQ(store.Property("num-runs"), 3u) << "too few for a sweep";
  ASSERT_TRUE(store.db->SetOptions({{"level0_slowdown_writes_trigger", "3"}, {"level0_stop_writes_trigger", "3"}}).ok());
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_TRUE(store.db->Put(no_slowdown, "key", "v").IsIncomplete());
  store.Put("key", "v");
  EXPECT_GT(store.counter->steps, 0) << "the put did not wait for a step";
  store.RunUntilIdle();
  EXPECT_EQ(store.Property("num-runs"), 0u);
  store.options.level0_slowdown_writes_trigger = store.options.level0_stop_writes_trigger = 3;
  store.Reopen();
  store.MakeRuns(3);
  store.RunUntilIdle();
  EXPECT_EQ(store.Property("num-runs"), 0u);
  EXPECT_TRUE(store.db->Put(no_slowdown, "key", "v").ok());
}

TEST(TreeRunsTest, WritesGoOnAfterAReopenInTheMiddleOfASweep) {
  Overwritten store(20, 36);
  store.Overwrite(kKeys / 2);
  ASSERT_GT(store.Property("num-runs"), 30u);
  store.Reopen();
  store.Overwrite(kKeys / 2);
  EXPECT_LE(store.most_runs, 2u * 36 + 2);
  EXPECT_EQ(store.Verify(), "");
}

void FailSweeps(Overwritten* store, const Status& error) {
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".idx"); };
  fault.sticky = true;
  fault.status = error;
  store->fs->AddFault(fault);
  store->MakeRuns(4);
}

TEST(TreeRunsTest, FailedSweepDoesNotBlockWrites) {
  Overwritten store(2, 4);
  store.MakeRuns(3);
  FailSweeps(&store, Status::IOError("injected"));
  for (int i = 0; i < 5; ++i) store.Put("key" + std::to_string(i), "v");  // ten failures would stop all writes
  EXPECT_EQ(store.Get("key4"), "v");
  EXPECT_GE(store.Property("background-errors"), 5u);
  store.fs->ClearFaults();
  store.RunUntilIdle();
  store.Overwrite(1'000);
  EXPECT_LE(store.Property("num-runs"), 2u * 4 + 2);
  EXPECT_EQ(store.Verify(), "");
}

// Puts are refused because the disk is full: they do not wait.
TEST(TreeRunsTest, SweepWithoutSpaceBlocksNoDeletes) {
  Overwritten store(2, 4);
  store.MakeRuns(3);
  FailSweeps(&store, Status::NoSpace("injected"));
  while (store.db->Put({}, "key", "v").ok()) continue;
  EXPECT_TRUE(store.db->Put({}, "key", "v").IsNoSpace());
  EXPECT_TRUE(store.db->Delete({}, KeyOf(1)).ok());
  EXPECT_EQ(store.Get(KeyOf(1)), "NotFound");
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing::tree_runs_test
