#include "btree/sweep_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

namespace cambium {
namespace {

TEST(SweepPolicyTest, FewUpdatesTouchOnePageEachAndManyTouchAll) {
  EXPECT_NEAR(PagesTouched(1e6, 100), 100, 0.01);
  EXPECT_NEAR(PagesTouched(1000, 1e6), 1000, 1e-9);
  EXPECT_NEAR(PagesTouched(1000, 1000), 1000 * (1 - std::exp(-1.0)), 1e-9);
  EXPECT_EQ(PagesTouched(0, 10), 0);
  EXPECT_EQ(PagesTouched(10, 0), 0);
}

struct Choice {
  const char* why;
  SweepShape shape;
  SweepChoice expected;
};

void ExpectChoices(std::span<const Choice> table) {
  for (const Choice& choice : table) {
    EXPECT_EQ(PickSweep(choice.shape, {}), choice.expected) << choice.why;
  }
}

TEST(SweepPolicyTest, MemtableIsFlushedIntoTheTreeOrMakesARun) {
  const Choice table[] = {
      {"the first memtable makes the tree", {.memtable_keys = 10}, SweepChoice::kFlushIntoTree},
      {"an eighth of the tree is merged straight in",
       {.memtable_keys = 125'000, .tree_keys = 1'000'000, .tree_keys_between = 1'000'000, .tree_height = 3},
       SweepChoice::kFlushIntoTree},
      {"an eighth of a large tree would block writers",
       {.memtable_keys = 1'250'000, .tree_keys = 10'000'000, .tree_keys_between = 10'000'000, .tree_height = 4},
       SweepChoice::kMakeRun},
      {"a load after the last key may have any size",
       {.memtable_keys = 100'000'000, .tree_keys = 10'000'000, .tree_keys_between = 0, .tree_height = 4},
       SweepChoice::kFlushIntoTree},
      {"but not together with runs of any size",
       {.memtable_keys = 10, .run_count = 1, .run_keys = 100'000'000, .tree_keys = 10, .tree_keys_between = 10},
       SweepChoice::kMakeRun},
      {"less than an eighth makes a run",
       {.memtable_keys = 124'999, .tree_keys = 1'000'000, .tree_keys_between = 1'000'000, .tree_height = 3},
       SweepChoice::kMakeRun},
      {"keys of runs count too",
       {.memtable_keys = 25'000, .run_count = 4, .run_keys = 100'000, .tree_keys = 1'000'000,
        .tree_keys_between = 1'000'000, .tree_height = 3},
       SweepChoice::kFlushIntoTree},
      {"a load after the last key overlaps nothing",
       {.memtable_keys = 10, .tree_keys = 1'000'000'000, .tree_keys_between = 0, .tree_height = 5},
       SweepChoice::kFlushIntoTree},
      {"a batch in a corner overlaps only that",
       {.memtable_keys = 1000, .tree_keys = 1'000'000'000, .tree_keys_between = 8000, .tree_height = 5},
       SweepChoice::kFlushIntoTree},
      {"a key into a tree of two levels costs no more than a run",
       {.memtable_keys = 1, .tree_keys = 10'000, .tree_keys_between = 10'000, .tree_height = 2},
       SweepChoice::kFlushIntoTree},
      {"ten scattered keys cost more than a run",
       {.memtable_keys = 10, .tree_keys = 10'000, .tree_keys_between = 10'000, .tree_height = 2},
       SweepChoice::kMakeRun},
      {"no memtable is merged below runs added since a sweep began",
       {.memtable_keys = 1'000'000, .run_count = 1, .run_keys = 10, .tree_keys = 100, .sweep_in_progress = true},
       SweepChoice::kMakeRun},
      {"a memtable with only a narrow range is merged",
       {.memtable_ranges = 1, .memtable_covered_keys = 20, .tree_keys = 10'000, .tree_keys_between = 20,
        .tree_height = 2},
       SweepChoice::kFlushIntoTree},
      {"a wide range needs a sweep, which can stop half-way",
       {.memtable_keys = 900'000, .memtable_ranges = 1, .memtable_covered_keys = 900'000, .tree_keys = 1'000'000,
        .tree_keys_between = 900'000, .tree_height = 3},
       SweepChoice::kMakeRun},
      {"even if it is the range of a run",
       {.memtable_keys = 900'000, .run_count = 1, .run_covered_keys = 900'000, .tree_keys = 1'000'000,
        .tree_keys_between = 900'000, .tree_height = 3},
       SweepChoice::kMakeRun},
  };
  ExpectChoices(table);
}

TEST(SweepPolicyTest, RunsWaitOrAreSwept) {
  const Choice table[] = {
      {"nothing to do", {.tree_keys = 1000}, SweepChoice::kNothing},
      {"few runs wait", {.run_count = 16, .run_keys = 125'000, .tree_keys = 1'000'000}, SweepChoice::kNothing},
      {"runs with more than an eighth of the keys are due",
       {.run_count = 2, .run_keys = 125'001, .tree_keys = 1'000'000},
       SweepChoice::kSweep},
      {"keys that ranges of runs cover count like keys of runs",
       {.run_count = 2, .run_keys = 25'000, .run_covered_keys = 100'001, .tree_keys = 1'000'000},
       SweepChoice::kSweep},
      {"few covered keys wait",
       {.run_count = 2, .run_keys = 25'000, .run_covered_keys = 100'000, .tree_keys = 1'000'000},
       SweepChoice::kNothing},
      {"too many runs are due", {.run_count = 17, .run_keys = 17, .tree_keys = 1'000'000}, SweepChoice::kSweep},
      {"any run is due if urgent",
       {.run_count = 1, .run_keys = 1, .tree_keys = 1'000'000, .urgent = true},
       SweepChoice::kSweep},
      {"urgent, but no runs", {.tree_keys = 1'000'000, .urgent = true}, SweepChoice::kNothing},
      {"a begun sweep continues", {.run_count = 1, .run_keys = 1, .tree_keys = 1'000'000, .sweep_in_progress = true},
       SweepChoice::kResumeSweep},
  };
  ExpectChoices(table);
}

TEST(SweepPolicyTest, FollowsSweepRatio) {
  const SweepShape shape{.run_count = 1, .run_keys = 30'000, .tree_keys = 1'000'000};
  EXPECT_EQ(PickSweep(shape, {.sweep_ratio = 100}), SweepChoice::kSweep);
  EXPECT_EQ(PickSweep(shape, {.sweep_ratio = 8}), SweepChoice::kNothing);
  EXPECT_EQ(PickSweep(shape, {.sweep_ratio = 1}), SweepChoice::kNothing);
}

TEST(SweepPolicyTest, RunsWithMoreBytesThanThereIsRoomForAreDue) {
  const SweepShape shape{.run_count = 1, .run_keys = 1000, .run_bytes = 100'000, .tree_keys = 1'000'000};
  EXPECT_EQ(PickSweep(shape, {}), SweepChoice::kNothing);
  EXPECT_EQ(PickSweep(shape, {.run_bytes_max = 100'000}), SweepChoice::kNothing);
  EXPECT_EQ(PickSweep(shape, {.run_bytes_max = 99'999}), SweepChoice::kSweep);
}

using Numbers = std::set<std::uint64_t>;
constexpr std::uint64_t kNoBudget = ~std::uint64_t{0};

TEST(SweepPolicyVictimsTest, NoVictimsWhileFilesAreWithinBounds) {
  // Half of the bytes in all files together are live, which is just enough, although one file is nearly empty.
  EXPECT_EQ(PickVictims({{1, 10'000, 100}, {2, 10'000, 9'900}}, {}, kNoBudget), Numbers{});
  EXPECT_EQ(PickVictims({}, {}, kNoBudget), Numbers{});
}

TEST(SweepPolicyVictimsTest, SparsestFirstAndNoMoreThanNeeded) {
  EXPECT_EQ(PickVictims({{1, 10'000, 4'000}, {2, 10'000, 1'000}, {3, 10'000, 9'000}}, {}, kNoBudget), Numbers{2});
  EXPECT_EQ(PickVictims({{1, 10'000, 3'000}, {2, 10'000, 1'000}, {3, 10'000, 4'000}}, {}, kNoBudget), (Numbers{1, 2}));
}

TEST(SweepPolicyVictimsTest, FirstVictimMayExceedBudgetUnlessBudgetIsHard) {
  const std::vector<IndexSegmentUse> uses = {{1, 10'000, 1'000}, {2, 10'000, 2'000}};
  EXPECT_EQ(PickVictims(uses, {}, 999), Numbers{1});
  EXPECT_EQ(PickVictims(uses, {.only_what_fits = true}, 999), Numbers{});
  EXPECT_EQ(PickVictims(uses, {.only_what_fits = true}, 1'000), Numbers{1});
  EXPECT_EQ(PickVictims({{1, 10'000, 1'500}, {2, 10'000, 1'000}}, {.only_what_fits = true}, 1'000), Numbers{2});
}

TEST(SweepPolicyVictimsTest, AllVictimsIfReplacedPagesWouldExceedTheBound) {
  const std::vector<IndexSegmentUse> uses = {{1, 1'000, 1'000}, {2, 500, 450}};
  EvacuationPolicy policy{.file_percent_max = 120};
  EXPECT_EQ(PickVictims(uses, policy, kNoBudget), Numbers{});
  policy.replaced_units = 240;  // 1,740 pages are 120 % of 1,450
  EXPECT_EQ(PickVictims(uses, policy, kNoBudget), Numbers{});
  policy.replaced_units = 241;
  EXPECT_EQ(PickVictims(uses, policy, kNoBudget), (Numbers{1, 2}));
}

TEST(SweepPolicyVictimsTest, SegmentWithinBoundsIsNoVictim) {
  EXPECT_EQ(PickVictims({{1, 10'000, 5'000}, {2, 10'000, 4'999}}, {}, kNoBudget), Numbers{2});
  EXPECT_EQ(PickVictims({{1, 10'000, 10'000}, {2, 10'000, 10'000}}, {.file_percent_max = 100}, kNoBudget), Numbers{});
  // With a low file_percent_max, files with more than half of their bytes live must be emptied too. Otherwise all files
  // together would exceed it.
  const std::vector<IndexSegmentUse> uses = {{1, 10'000, 7'000}, {2, 10'000, 6'000}, {3, 10'000, 8'000}};
  EXPECT_EQ(PickVictims(uses, {.file_percent_max = 110}, kNoBudget), (Numbers{1, 2}));
  EXPECT_EQ(PickVictims(uses, {.file_percent_max = 125}, kNoBudget), Numbers{2});
}

// Sweeps freed dead pages only when the limit was exceeded, and then added as many as a step makes.
TEST(SweepPolicyVictimsTest, LimitHoldsAfterTheNextStep) {
  const std::vector<IndexSegmentUse> uses = {{1, 10'000, 7'000}, {2, 10'000, 9'000}};
  EXPECT_EQ(PickVictims(uses, {.file_percent_max = 125}, kNoBudget), Numbers{});
  EXPECT_EQ(PickVictims(uses, {.file_percent_max = 125, .growth_units = 1'000}, kNoBudget), Numbers{1});
}

// Regression: the header counted as a dead page, so each sweep of a tree of a few pages made a new file.
TEST(SweepPolicyVictimsTest, HeaderIsNotADeadPage) {
  EXPECT_EQ(PickVictims({{1, 4, 3}}, {.file_percent_max = 115}, kNoBudget), Numbers{});
  EXPECT_EQ(PickVictims({{1, 4, 2}}, {.file_percent_max = 115}, kNoBudget), Numbers{1});
  EXPECT_EQ(PickVictims({{1, 0, 0}, {2, 1, 0}}, {.file_percent_max = 115}, kNoBudget), Numbers{});
}

TEST(SweepPolicyVictimsTest, BudgetBoundsCopyingButOneVictimIsAlwaysTaken) {
  const std::vector<IndexSegmentUse> uses{{1, 10'000, 2'000}, {2, 10'000, 2'500}, {3, 10'000, 2'600}};
  EXPECT_EQ(PickVictims(uses, {}, kNoBudget), (Numbers{1, 2, 3}));
  EXPECT_EQ(PickVictims(uses, {}, 4'700), (Numbers{1, 2}));
  EXPECT_EQ(PickVictims(uses, {}, 10), Numbers{1});
}

TEST(SweepPolicyVictimsTest, FilesMayHoldMoreWhileMostPagesAreAboutToBeReplaced) {
  const std::vector<IndexSegmentUse> uses{{1, 10'000, 2'500}, {2, 10'000, 2'600}, {3, 10'000, 2'700}};
  EXPECT_EQ(PickVictims(uses, {}, kNoBudget, 0.51), Numbers{});
  EXPECT_EQ(PickVictims(uses, {}, kNoBudget, 0.5), (Numbers{1, 2}));
  // The estimate assumes uniform keys. If they are not uniform, a bound still holds.
  const std::vector<IndexSegmentUse> sparse{{1, 10'000, 100}, {2, 10'000, 100}, {3, 10'000, 9'000}};
  EXPECT_EQ(PickVictims({{1, 10'000, 100}, {2, 10'000, 100}, {3, 10'000, 4'000}}, {}, kNoBudget, 1), (Numbers{1, 2}));
  EXPECT_EQ(PickVictims(sparse, {}, kNoBudget, 1), Numbers{});
  EXPECT_EQ(PickVictims({{1, 8, 7}, {2, 8, 7}, {3, 8, 7}, {4, 8, 7}, {5, 8, 7}}, {}, kNoBudget, 1).size(), 5u);
}

TEST(SweepPolicyVictimsTest, SmallSegmentsAreJoinedWhenThereAreMany) {
  EXPECT_EQ(PickVictims({{1, 8, 7}, {2, 8, 7}, {3, 8, 7}, {4, 8, 7}}, {}, kNoBudget), Numbers{});
  EXPECT_EQ(PickVictims({{1, 8, 7}, {2, 8, 7}, {3, 8, 7}, {4, 8, 7}, {5, 8, 7}, {6, 9'999, 9'998}}, {}, kNoBudget),
            (Numbers{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace cambium
