// Steps of the compactions of several families with small indexes are done by one job, with one commit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cambium/listener.h"
#include "testing/family_store.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "upkeep/commit_watch.h"
#include "upkeep/compact/due_store.h"
#include "util/fault_point.h"

namespace cambium::testing {
namespace {

// Counts the steps of compactions.
struct StepCounter : EventListener {
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { ++steps; }
  int steps = 0;
};

// Does all compactions that are due. Returns how many steps there are for each commit that names files of an index.
double StepsPerCommit() {
  const auto counter = std::make_shared<StepCounter>();
  DueStore store(counter);
  EXPECT_EQ(counter->steps, 0);
  int commits = 0;
  bool has_output = false;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    if (op.kind != SimOpKind::kSync || op.phase != SimPhase::kAfter) return;
    has_output = has_output || IsOutput(op.path);
    if (IsManifest(op.path)) commits += std::exchange(has_output, false) ? 1 : 0;
  });
  store.executor->RunAll();
  EXPECT_EQ(store.Due(), 0u);
  store.ExpectAll();
  EXPECT_EQ(store.Verify(), "");
  store.KillAndOpenWith(FamilyNames(kDueFamilies));
  store.ExpectAll();
  EXPECT_GE(counter->steps, kDueFamilies);
  return static_cast<double>(counter->steps) / std::max(commits, 1);
}

TEST(CompactTogetherTest, SmallFamiliesShareACommit) {
  EXPECT_GE(StepsPerCommit(), 8);
  const MutantScope mutant(Mutant::kEachCompactionCommits);
  EXPECT_LE(StepsPerCommit(), 2) << "in an LSM, half of the steps write no file";
}

TEST(CompactTogetherTest, FilesAreWrittenThenSyncedThenNamed) {
  const auto commit = []() -> CommitWatch::Counts {
    DueStore store;
    CommitWatch watch(store.fs.get());
    while (!watch.has_written()) EXPECT_TRUE(store.executor->RunOneInstead());
    return watch.counts();
  };
  const CommitWatch::Counts right = commit();
  EXPECT_EQ(right.named_unsynced, 0u);
  EXPECT_EQ(right.syncs_between, 0);
  const MutantScope defect(Mutant::kSyncOneOfTogether);
  EXPECT_GT(commit().named_unsynced, 10u);
}

// The nth operation of this kind on an output finds no space. Only the step of that family may fail, and a later one
// succeeds.
void ExpectOthersCompactedAfterFault(SimOpKind kind, std::uint64_t nth) {
  SCOPED_TRACE(nth);
  DueStore store;
  const std::uint64_t runs = store.Sum("num-runs");
  store.fs->AddFault(NoSpaceForOutput(kind, nth));
  store.RunFirstCompaction();
  EXPECT_LT(store.Sum("num-runs"), runs / 2);
  store.ExpectAll();
  store.fs->ClearFaults();
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  EXPECT_EQ(store.Due(), 0u);
  EXPECT_EQ(store.Verify(), "");
  store.ExpectAll();
}

TEST(CompactTogetherTest, AStepThatFindsNoSpaceLeavesTheOthersAlone) {
  for (std::uint64_t nth = 1; nth <= 30; nth += 4) ExpectOthersCompactedAfterFault(SimOpKind::kWrite, nth);
  for (std::uint64_t nth = 1; nth <= 30; nth += 4) ExpectOthersCompactedAfterFault(SimOpKind::kSync, nth);
}

// A run of one family cannot be read. Its step fails once, and is not repeated with the steps of further families.
TEST(CompactTogetherTest, AStepThatFailsIsNotRepeated) {
  DueStore store;
  const std::vector<std::string> runs = store.FilesOf(".run");
  ASSERT_GT(runs.size(), std::size_t{kDueFamilies});
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  fault.matches = [bad = runs.back()](SimOpKind, const std::string& path) { return path.ends_with(bad); };
  fault.sticky = true;
  store.fs->AddFault(fault);
  store.executor->RunAll();
  EXPECT_EQ(store.Property("background-errors"), 1u);
  EXPECT_EQ(store.Due(), 1u);
  store.fs->ClearFaults();
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  EXPECT_EQ(store.Due(), 0u);
  EXPECT_EQ(store.Verify(), "");
  store.ExpectAll();
}

// One family has been compacted already when a job claims its step. Flushes make it due again while it is claimed.
// Returns how many families are due once all jobs have ended.
std::uint64_t DueAfterAFlushDuringTheClaim() {
  DueStore store;
  ColumnFamilyHandle* const handle = store.handles[20];
  EXPECT_TRUE(store.db->CompactRange({}, handle, nullptr, nullptr).ok());
  bool has_flushed = false;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) != "Compactor:TakenStepIsNotDue" || std::exchange(has_flushed, true)) return;
    for (int round = 0; round < 4; ++round) {
      for (int key = 0; key < 80; ++key) store.PutIn(handle, NumberedKey(key), "new");
      EXPECT_TRUE(store.db->Flush({}, handle).ok());
    }
  });
  store.executor->RunAll();
  FaultPoints::Instance().Set(nullptr);
  EXPECT_TRUE(has_flushed);
  EXPECT_EQ(store.GetFrom(handle, NumberedKey(7)), "new");
  return store.Due();
}

TEST(CompactTogetherTest, AStepThatBecomesDueDuringTheClaimIsNotForgotten) {
  EXPECT_EQ(DueAfterAFlushDuringTheClaim(), 0u);
  const MutantScope mutant(Mutant::kTakenStepsLookOnce);
  EXPECT_EQ(DueAfterAFlushDuringTheClaim(), 1u);
}

// The ceiling counts the files of a step until their commit, also during their syncs.
TEST(CompactTogetherTest, BytesAreInFlightUntilTheCommit) {
  DueStore store;
  double in_flight = 0;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    if (in_flight > 0 || op.kind != SimOpKind::kSync || op.phase != SimPhase::kBefore || !IsOutput(op.path)) return;
    std::map<std::string, std::string> space;
    ASSERT_TRUE(store.db->GetMapProperty("cambium.space", &space));
    in_flight = std::stod(space.at("in_flight"));
    EXPECT_GT(in_flight, 10'000) << "the files of several families";
  });
  store.executor->RunAll();
  EXPECT_GT(in_flight, 0);
  std::map<std::string, std::string> space;
  ASSERT_TRUE(store.db->GetMapProperty("cambium.space", &space));
  EXPECT_EQ(space.at("in_flight"), "0");
}

// After a failed sync nothing is written any more, and no step of the commit takes effect.
TEST(CompactTogetherTest, AFailedSyncEndsAllSteps) {
  DueStore store;
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  fault.matches = [](SimOpKind, const std::string& path) { return IsOutput(path); };
  fault.nth = 5;
  store.fs->AddFault(fault);
  const std::uint64_t runs = store.Sum("num-runs");
  store.RunFirstCompaction();
  EXPECT_EQ(store.Sum("num-runs"), runs);
  EXPECT_FALSE(store.db->Put({}, "k", "v").ok());
  store.ExpectAll();
  store.executor->RunAll();
  store.KillAndOpenWith(FamilyNames(kDueFamilies));
  store.ExpectAll();
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  EXPECT_EQ(store.Verify(), "");
}

TEST(CompactTogetherTest, AFailedCommitFailsAllStepsAndTheyAreRetried) {
  DueStore store;
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return IsManifest(path); };
  store.fs->AddFault(fault);
  store.executor->RunAll();
  store.ExpectAll();
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  EXPECT_EQ(store.Due(), 0u);
  EXPECT_EQ(store.Verify(), "");
  store.KillAndOpenWith(FamilyNames(kDueFamilies));
  store.ExpectAll();
}

// A family is dropped while the files are written.
TEST(CompactTogetherTest, AFamilyThatIsDroppedIsLeftOut) {
  DueStore store;
  bool is_dropped = false;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    if (is_dropped || op.kind != SimOpKind::kSync || op.phase != SimPhase::kAfter || !IsOutput(op.path)) return;
    is_dropped = true;
    const Status s = store.db->DropColumnFamily(store.handles[20]);
    EXPECT_TRUE(s.ok()) << s.ToString();
  });
  store.RunFirstCompaction();
  ASSERT_TRUE(is_dropped);
  store.ExpectAll(20);
  delete store.handles[20];
  store.handles.erase(store.handles.begin() + 20);
  store.executor->RunAll();
  EXPECT_EQ(store.Due(), 0u);
  store.RunUntilIdle();
  EXPECT_EQ(store.Verify(), "");
}

// Listeners hear of each family's step once, with its own files.
TEST(CompactTogetherTest, ListenersAreCalledForEachStep) {
  struct Steps : EventListener {
    void OnCompactionBegin(DB*, const CompactionJobInfo& info) override { open.insert(info.job_id); }
    void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
      EXPECT_EQ(open.erase(info.job_id), 1u);
      EXPECT_TRUE(info.status.ok()) << info.status.ToString();
      for (const std::string& path : info.input_files) EXPECT_TRUE(inputs.insert(path).second) << path;
      families.insert(info.cf_id);
    }
    std::set<int> open;
    std::set<std::string> inputs;
    std::set<std::uint32_t> families;
  };
  const auto steps = std::make_shared<Steps>();
  DueStore store(steps);
  store.executor->RunAll();
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  EXPECT_TRUE(steps->open.empty());
  EXPECT_EQ(steps->families.size(), std::size_t{kDueFamilies} + 1);
  EXPECT_GT(steps->inputs.size(), std::size_t{kDueFamilies});
  store.ExpectAll();
}

}  // namespace
}  // namespace cambium::testing
