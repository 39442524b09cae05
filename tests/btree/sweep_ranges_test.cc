// Range deletes on their way into the tree: flushed, merged straight into the tree, or swept, in steps or at once. In
// each case the layers agree with the model, every account is exact, and covered keys are cut and not rewritten.
#include <gtest/gtest.h>

#include "btree/btree_index.h"
#include "sweep_program.h"
#include "tree_family.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

void MakeTree(TreeFamily& family, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) family.Put(NumberKey(i), 300);
  ASSERT_TRUE(family.FlushIntoTree().ok());
}

bool Has(TreeFamily& family, const std::string& key) {
  PageRef keep;
  Entry entry;
  const Result<bool> found = family.layers().Find(key, &keep, &entry);
  EXPECT_TRUE(found.ok());
  return *found && entry.kind != EntryKind::kTombstone;
}

TEST(SweepRangesTest, RangeOfARunHidesTreeKeysUntilTheSweepCutsThem) {
  TreeFamily family({});
  MakeTree(family, 1000);
  family.DeleteRange(NumberKey(100), NumberKey(900));
  family.Put(NumberKey(500), 77);
  ASSERT_TRUE(family.FlushRun().ok());
  ExpectGood(family);
  EXPECT_TRUE(Has(family, NumberKey(99)));
  EXPECT_FALSE(Has(family, NumberKey(100)));
  EXPECT_TRUE(Has(family, NumberKey(500)));
  EXPECT_FALSE(Has(family, NumberKey(899)));
  EXPECT_TRUE(Has(family, NumberKey(900)));
  EXPECT_EQ(family.state().root.entry_count, 1000u);
  ASSERT_TRUE(family.SweepAll().ok());
  ExpectGood(family);
  EXPECT_EQ(family.state().root.entry_count, 201u);
  EXPECT_TRUE(family.layers().runs().empty());
}

TEST(SweepRangesTest, RunOfRangesOnlyIsFlushedSweptAndReopened) {
  TreeFamily family({});
  MakeTree(family, 300);
  family.DeleteRange(NumberKey(0), NumberKey(300));
  ASSERT_TRUE(family.FlushRun().ok());
  ExpectGood(family);
  ASSERT_TRUE(family.Reopen().ok());
  ExpectGood(family);
  ASSERT_TRUE(family.SweepAll().ok());
  ExpectGood(family);
  EXPECT_EQ(family.state().root, TreeRoot{});
  EXPECT_TRUE(family.state().accounts.empty());
  EXPECT_TRUE(family.state().index_segments.empty());
}

TEST(SweepRangesTest, MemtableWithARangeIsMergedStraightIn) {
  TreeFamily family({});
  MakeTree(family, 1000);
  family.Put(NumberKey(100), 400);  // older than the range, so it never reaches a layer
  family.DeleteRange(NumberKey(100), NumberKey(200));
  family.Put(NumberKey(150), 400);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  ExpectGood(family);
  EXPECT_EQ(family.state().root.entry_count, 901u);
}

// The range is nearly as wide as the tree: almost nothing is written, and the accounts lose all entries that are cut.
Status CutMostOfALargeTree(CompactionStats* stats, std::uint64_t* units_left) {
  TreeFamilyOptions options;
  options.segment_bytes_max = 1u << 20;
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < 20000; ++i) family.Put(NumberKey(i), 300);
  CAMBIUM_RETURN_IF_ERROR(family.FlushIntoTree());
  family.DeleteRange(NumberKey(5), NumberKey(19995));
  CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
  CAMBIUM_RETURN_IF_ERROR(family.SweepAll());
  *stats = family.last_stats();
  *units_left = 0;
  for (const auto& [number, info] : family.state().index_segments) *units_left += info.live_units;
  return family.Check();
}

TEST(SweepRangesTest, CutSubtreeIsReadAndNotRewritten) {
  CompactionStats stats;
  std::uint64_t units_left = 0;
  const Status s = CutMostOfALargeTree(&stats, &units_left);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(stats.entries_dropped, 19990u);
  EXPECT_GT(stats.bytes_read, 20000u * 8);
  EXPECT_LE(stats.bytes_written, 4u * 512);
  EXPECT_LE(units_left, 4u);
}

// Rule B2, B4: the accounts lose the references of cut entries.
TEST(SweepRangesTest, MutantCutSubtreeUnchargedIsCaught) {
  CompactionStats stats;
  std::uint64_t units_left = 0;
  const MutantScope mutant(Mutant::kCutSubtreeStaysCharged);
  EXPECT_FALSE(CutMostOfALargeTree(&stats, &units_left).ok());
}

// The layers have no key in the range, so a step must end at a separator of the tree.
TEST(SweepRangesTest, StepsWithinARangeAreBounded) {
  TreeFamily family({});
  MakeTree(family, 5000);
  family.DeleteRange(NumberKey(0), NumberKey(4990));
  ASSERT_TRUE(family.FlushRun().ok());
  int steps = 0;
  std::string last_cursor;
  std::uint64_t last_count = 5000;
  do {
    ASSERT_TRUE(family.Step(4096).ok());
    ++steps;
    ExpectGood(family);
    EXPECT_LE(last_count - family.state().root.entry_count, 800u);
    last_count = family.state().root.entry_count;
    if (family.state().sweep.has_value()) {
      EXPECT_GT(family.state().sweep->cursor, last_cursor);
      last_cursor = family.state().sweep->cursor;
    }
    if (steps % 3 == 0) {
      ASSERT_TRUE(family.Reopen().ok());
      ExpectGood(family);
    }
  } while (family.state().sweep.has_value());
  EXPECT_GT(steps, 5);
  EXPECT_EQ(last_count, 10u);
}

TEST(SweepRangesTest, LeavesWithoutCoveredKeysAreKept) {
  TreeFamilyOptions options;
  options.filter_bits_per_key = 0;  // so that branches have one page
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < 2000; ++i) family.Put(NumberKey(i * 10), 300);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  for (std::uint64_t i = 0; i < 2000; i += 50) family.DeleteRange(NumberKey(i * 10 + 1), NumberKey(i * 10 + 9));
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.SweepAll().ok());
  EXPECT_LE(family.last_stats().bytes_written, 8u * 512);
  EXPECT_EQ(family.last_stats().entries_dropped, 0u);
  ExpectGood(family);
}

// Rule A4, A7: the older run deletes a range, and the newer run writes keys in this range. Once the sweep has merged
// such a key into the tree, the range must not hide it.
Status SweepAPutOverARange() {
  TreeFamily family({});
  for (std::uint64_t i = 0; i < 2000; ++i) family.Put(NumberKey(i), 300);
  CAMBIUM_RETURN_IF_ERROR(family.FlushIntoTree());
  family.DeleteRange(NumberKey(0), NumberKey(2000));
  CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
  for (std::uint64_t i = 0; i < 2000; i += 3) family.Put(NumberKey(i), 400);
  CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
  CAMBIUM_RETURN_IF_ERROR(family.Check());
  do {
    CAMBIUM_RETURN_IF_ERROR(family.Step(4096));
    CAMBIUM_RETURN_IF_ERROR(family.Check());
  } while (family.state().sweep.has_value());
  return Status::OK();
}

TEST(SweepRangesTest, RangesOfSweptRunsAreMaskedBelowTheCursor) {
  const Status s = SweepAPutOverARange();
  EXPECT_TRUE(s.ok()) << s.ToString();
  {
    const MutantScope mutant(Mutant::kRangesIgnoreSweepCursor);
    EXPECT_FALSE(SweepAPutOverARange().ok());
  }
  const MutantScope mutant(Mutant::kOldRangesHideNewer);
  EXPECT_FALSE(SweepAPutOverARange().ok());
}

TEST(SweepRangesTest, CoveredKeysMakeASweepDue) {
  TreeFamily family({});
  MakeTree(family, 8000);
  family.DeleteRange(NumberKey(0), NumberKey(900));
  ASSERT_TRUE(family.FlushRun().ok());
  EXPECT_EQ(family.layers().KeysCoveredByRuns(), 900u);
  EXPECT_FALSE(family.index().IsCompactionDue(family.layers(), false));
  family.DeleteRange(NumberKey(800), NumberKey(1100));
  ASSERT_TRUE(family.FlushRun().ok());
  EXPECT_EQ(family.layers().KeysCoveredByRuns(), 1100u);
  EXPECT_TRUE(family.index().IsCompactionDue(family.layers(), false));
  ASSERT_TRUE(family.SweepAll().ok());
  EXPECT_FALSE(family.index().IsCompactionDue(family.layers(), false));
}

TEST(SweepRangesTest, FlushWithAWideRangeMakesARun) {
  TreeFamily family({});
  MakeTree(family, 40000);
  family.DeleteRange(NumberKey(100), NumberKey(39900));
  EXPECT_EQ(family.index().PickFlush(family.layers(), family.memtable_shape()), FlushChoice::kMakeRun);
  ASSERT_TRUE(family.Flush().ok());
  ASSERT_TRUE(family.SweepAll().ok());
  ExpectGood(family);
  family.DeleteRange(NumberKey(50), NumberKey(60));
  EXPECT_EQ(family.index().PickFlush(family.layers(), family.memtable_shape()), FlushChoice::kIntoTree);
  ASSERT_TRUE(family.Flush().ok());
  ExpectGood(family);
}

TEST(SweepRangesTest, FailedReadAbortsTheCutWithoutEffect) {
  TreeFamilyOptions options;
  options.pool_bytes = 16 * 1024;
  TreeFamily family(options);
  MakeTree(family, 3000);
  family.DeleteRange(NumberKey(100), NumberKey(2900));
  for (std::uint64_t i = 0; i < 3000; i += 500) family.Put(NumberKey(i), 400);
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.Step(3000).ok());
  ASSERT_TRUE(family.state().sweep.has_value());
  const FamilyState before = family.state();
  int failed = 0;
  for (std::uint64_t n = 1;; ++n) {
    SimFault fault;
    fault.kind = SimOpKind::kRead;
    fault.nth = n;
    const int id = family.fs().AddFault(fault);
    const auto outcome = family.Compact(~std::uint64_t{0});
    family.fs().RemoveFault(id);
    if (outcome.ok()) break;
    EXPECT_TRUE(outcome.status().IsIOError()) << outcome.status().ToString();
    ++failed;
    ASSERT_TRUE(family.state() == before);
    if (n % 17 == 1) ExpectGood(family);
  }
  EXPECT_GT(failed, 10);
  ASSERT_TRUE(family.SweepAll().ok());
  ExpectGood(family);
}

class SweepRangesModelTest : public ::testing::TestWithParam<SweepProgramParam> {};

TEST_P(SweepRangesModelTest, LayersAndAccountsAgreeWithTheModel) {
  const auto write = [](TreeFamily& family, Prng& prng, std::uint64_t space) {
    const auto delete_percent = static_cast<unsigned>(prng.Uniform(3) * 33);
    const std::uint64_t ranges_in_100 = prng.Uniform(3) * prng.Uniform(20);
    for (std::uint64_t n = prng.Skewed(9); n > 0; --n) {
      const std::string key = RandomSweepKey(prng, space);
      if (prng.Uniform(100) >= ranges_in_100) {
        RandomWrite(family, prng, key, delete_percent);
        continue;
      }
      const std::string other = prng.OneIn(2) ? key + "5" : RandomSweepKey(prng, space);  // the first is a narrow range
      const bool is_reversed = GetParam().comparator()->Compare(key, other) > 0;
      is_reversed ? family.DeleteRange(other, key) : family.DeleteRange(key, other);
    }
  };
  RunSweepPrograms(GetParam(), SeedFromEnvironment(0x5eef), ScaledCount(8), write);
}

INSTANTIATE_TEST_SUITE_P(All, SweepRangesModelTest, SweepProgramParams(),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace cambium::testing
