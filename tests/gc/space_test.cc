#include "gc/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cambium/options.h"
#include "gc/write_pacer.h"
#include "testing/mutant_scope.h"
#include "testing/units.h"

namespace cambium {
namespace {

using testing::kMiB;

SpacePolicy PolicyOf(double max_space_amplification) {
  SpacePolicy policy;
  policy.max_space_amplification = max_space_amplification;
  return policy;
}

// 1 GiB of live bytes and `garbage` bytes that log GC could take, nothing else.
SpaceFigures WithGarbage(std::uint64_t garbage) {
  SpaceFigures figures;
  figures.log_live_bytes = 1024 * kMiB;
  figures.log_bytes = 1024 * kMiB + garbage;
  figures.collectable_bytes = garbage;
  return figures;
}

TEST(SpaceTest, NothingIsDueWithoutACeiling) {
  SpaceFigures figures = WithGarbage(100'000 * kMiB);
  figures.hidden_bytes = figures.tail_bytes = 1000 * kMiB;
  const SpacePlan plan = PlanSpace(figures, PolicyOf(0));
  EXPECT_FALSE(plan.any());
  EXPECT_EQ(plan.stop_at, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(plan.segment_bytes, 256 * kMiB);
}

TEST(SpaceTest, SegmentsAndStepsShrinkWithTheDatabase) {
  const auto segment_of = [](std::uint64_t live, double s) {
    SpaceFigures figures;
    figures.log_live_bytes = figures.log_bytes = live;
    return PlanSpace(figures, PolicyOf(s)).segment_bytes;
  };
  EXPECT_EQ(segment_of(0, 1.5), kMiB);
  EXPECT_EQ(segment_of(10 * kMiB, 1.5), kMiB);
  EXPECT_EQ(segment_of(1024 * kMiB, 1.5), 64 * kMiB);
  EXPECT_EQ(segment_of(1024 * kMiB, 1.25), 32 * kMiB);
  EXPECT_EQ(segment_of(100 * 1024 * kMiB, 1.5), 256 * kMiB);
  SpacePolicy small = PolicyOf(1.5);
  small.segment_bytes_max = 16 << 10;  // as in tests
  EXPECT_EQ(PlanSpace(SpaceFigures{}, small).segment_bytes, 16u << 10);
  EXPECT_EQ(PlanSpace(SpaceFigures{}, small).step_bytes, 16u << 10);
}

// The promised size is S * L + A, where A is two segments and a step: stop_at leaves room for the step.
TEST(SpaceTest, WritersStopBelowThePromisedSize) {
  for (const double s : {1.0, 1.1, 1.25, 1.5, 2.0, 4.0}) {
    const SpacePlan plan = PlanSpace(WithGarbage(0), PolicyOf(s));
    const double promise = s * 1024 * kMiB + static_cast<double>(2 * plan.segment_bytes + plan.step_bytes);
    EXPECT_LE(static_cast<double>(plan.stop_at + plan.step_bytes), promise) << s;
    EXPECT_LE(plan.work_at, plan.slow_at);
    EXPECT_LT(plan.slow_at, plan.stop_at);
    EXPECT_GE(plan.work_at, 1024 * kMiB) << "live bytes alone are no reason to work";
  }
}

// Nearly all of A is used: a step has its own room above stop_at, and the rest is for what is counted late. A large
// index needs the room itself.
TEST(SpaceTest, WritersMayUseTheRoomOfAStep) {
  for (const double s : {1.25, 1.5, 2.0}) {
    SpaceFigures figures = WithGarbage(0);
    const SpacePlan plan = PlanSpace(figures, PolicyOf(s));
    const auto limit = static_cast<std::uint64_t>(s * 1024) * kMiB;
    EXPECT_EQ(plan.stop_at, limit + plan.segment_bytes + plan.step_bytes / 8 * 5) << s;
    EXPECT_EQ(plan.slow_at, limit + plan.segment_bytes / 4 + plan.step_bytes / 2) << s;
    EXPECT_EQ(plan.work_at, limit - plan.segment_bytes / 4 + plan.step_bytes / 4 * 3) << s;
    EXPECT_EQ(plan.step_room, plan.step_bytes) << s;
    figures.tail_range_deletes = 1;
    EXPECT_EQ(PlanSpace(figures, PolicyOf(s)).stop_at, limit + plan.segment_bytes) << "less may be live than we know";
    EXPECT_EQ(PlanSpace(figures, PolicyOf(s)).step_room, 0u) << s;
    figures.tail_range_deletes = 0;
    figures.had_range_deletes = true;
    EXPECT_EQ(PlanSpace(figures, PolicyOf(s)).stop_at, limit + plan.segment_bytes) << "more may come";
    figures.had_range_deletes = false;
    figures.index_bytes = figures.index_live_bytes = figures.log_bytes;
    figures.log_bytes = figures.log_live_bytes = 0;
    const SpacePlan inlined = PlanSpace(figures, PolicyOf(s));
    EXPECT_EQ(inlined.stop_at, limit + inlined.segment_bytes - inlined.slack_bytes / 8) << s;
    EXPECT_EQ(inlined.step_room, 0u) << s;
    EXPECT_LT(inlined.slow_at, limit) << s;
  }
}

// Between slow_at and stop_at writers are paced, however large database and index are. (Regression: with an index of
// more than seven segments stop_at was below slow_at.)
TEST(SpaceTest, WritersAreSlowedDownBeforeTheyStop) {
  for (const std::uint64_t log : {std::uint64_t{10}, std::uint64_t{10'240}, std::uint64_t{61'440}}) {
    for (const std::uint64_t index_percent : {0, 1, 5, 20, 90, 200}) {
      for (const double s : {1.1, 1.5, 4.0}) {
        SpaceFigures figures;
        figures.log_bytes = log * kMiB;
        figures.log_live_bytes = figures.log_bytes / 5 * 4;
        figures.index_bytes = figures.log_bytes / 100 * index_percent;
        figures.index_live_bytes = figures.index_bytes / 5 * 4;
        const SpacePlan plan = PlanSpace(figures, PolicyOf(s));
        SCOPED_TRACE(std::to_string(log) + " MiB, " + std::to_string(index_percent) + " %, " + std::to_string(s));
        EXPECT_GE(plan.stop_at, plan.slow_at + plan.segment_bytes / 2);
        EXPECT_LE(plan.work_at, plan.slow_at);
      }
    }
  }
}

// A segment with more live bytes than a step takes is emptied by several steps, whose copies are all written before its
// space is free.
TEST(SpaceTest, CopiesOfASegmentFitAboveWhereWritersStop) {
  SpaceFigures figures;
  figures.log_bytes = figures.log_live_bytes = 100 * 1024 * kMiB;
  for (const double s : {1.1, 1.5, 4.0}) {
    const SpacePlan plan = PlanSpace(figures, PolicyOf(s));
    ASSERT_GE(plan.segment_bytes, 4 * plan.step_bytes);
    const auto limit = static_cast<std::uint64_t>(s * 100 * 1024) * kMiB;
    EXPECT_LE(plan.stop_at + plan.segment_bytes, limit + 2 * plan.segment_bytes + plan.step_bytes) << s;
  }
}

// With A, a small database takes no more than min_space_limit, and nothing is due much earlier.
TEST(SpaceTest, SmallDatabaseMayTakeMinSpaceLimit) {
  for (const std::uint64_t limit : {11 * kMiB, 16 * kMiB, 256 * kMiB}) {
    SpacePolicy policy = PolicyOf(1.5);
    policy.min_space_limit = limit;
    for (const std::uint64_t live : {std::uint64_t{0}, limit / 8, limit / 4, limit * 5 / 11}) {
      SpaceFigures figures;
      figures.log_live_bytes = figures.log_bytes = live;
      const SpacePlan plan = PlanSpace(figures, policy);
      const std::uint64_t counted_late = plan.segment_bytes / 8 * 3;
      EXPECT_LE(plan.stop_at + plan.step_bytes + counted_late, limit) << limit << ", " << live;
      EXPECT_GE(plan.work_at, live + (limit - live) / 3) << limit << ", " << live;
      if (live > limit / 4) continue;  // S * live is about the limit
      const testing::MutantScope mutant(Mutant::kIgnoreMinSpaceLimit);
      EXPECT_LT(PlanSpace(figures, policy).work_at, live + (limit - live) / 3) << limit << ", " << live;
    }
    SpaceFigures large;
    large.log_live_bytes = large.log_bytes = 4 * limit;
    EXPECT_EQ(PlanSpace(large, policy).stop_at, PlanSpace(large, PolicyOf(1.5)).stop_at);
  }
  SpacePolicy none = PolicyOf(0);
  none.min_space_limit = 16 * kMiB;
  EXPECT_EQ(PlanSpace(SpaceFigures{}, none).stop_at, std::numeric_limits<std::uint64_t>::max());
}

// The examples in docs/LIMITS.md.
TEST(SpaceTest, DefaultsAllow16MiBFor1And18For10And169For100) {
  const Options defaults;
  const auto allowed_mib = [&](double live_mib) {
    SpacePolicy policy = PolicyOf(defaults.max_space_amplification);
    policy.min_space_limit = defaults.min_space_limit;
    policy.segment_bytes_max = defaults.blob_file_size;
    SpaceFigures figures;
    figures.log_live_bytes = figures.log_bytes = static_cast<std::uint64_t>(live_mib * kMiB);
    const SpacePlan plan = PlanSpace(figures, policy);
    const double at_once = static_cast<double>(2 * plan.segment_bytes + plan.step_bytes) / kMiB;
    const double promised = defaults.max_space_amplification * live_mib + at_once;
    return std::max(promised, static_cast<double>(defaults.min_space_limit) / kMiB);
  };
  EXPECT_EQ(allowed_mib(1), 16);
  EXPECT_EQ(allowed_mib(10), 18);
  EXPECT_NEAR(allowed_mib(100), 169, 0.5);
}

TEST(SpaceTest, DatabaseSmallerThanASegmentMayBeAllGarbage) {
  SpaceFigures figures;
  figures.log_bytes = figures.collectable_bytes = figures.tail_bytes = kMiB / 10;
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).any());
}

TEST(SpaceTest, GarbageIsCollectedNearTheCeiling) {
  EXPECT_FALSE(PlanSpace(WithGarbage(540 * kMiB), PolicyOf(1.5)).any());
  const SpacePlan plan = PlanSpace(WithGarbage(550 * kMiB), PolicyOf(1.5));
  EXPECT_TRUE(plan.collect);
  EXPECT_FALSE(plan.flush || plan.compact || plan.seal);
}

// Rule C8: files that wait for removal hold back writers, but start no jobs.
TEST(SpaceTest, FilesAboutToBeRemovedStartNoWork) {
  const auto begins_work = [] {
    SpaceFigures figures = WithGarbage(100 * kMiB);
    figures.leaving_bytes = 400 * kMiB;
    figures.log_bytes += figures.leaving_bytes;
    figures.hidden_bytes = 200 * kMiB;
    const SpacePlan plan = PlanSpace(figures, PolicyOf(1.5));
    EXPECT_GE(figures.on_disk(), plan.work_at);
    return plan.any();
  };
  EXPECT_FALSE(begins_work());
  {
    const testing::MutantScope mutant(Mutant::kGcIgnoresPendingDeletes);
    EXPECT_TRUE(begins_work());
  }
  SpaceFigures figures = WithGarbage(550 * kMiB);
  figures.leaving_bytes = 10 * kMiB;
  figures.log_bytes += figures.leaving_bytes;
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).collect) << "too much remains after the removal";
}

// Rule C1: the run of a memtable takes space before the part of the log that it covers can be freed. So a memtable is
// flushed at an eighth of the slack, however far away the ceiling is.
TEST(SpaceTest, MemtablesAreFlushedWhileTheirRunsAreSmall) {
  const auto plan_with = [](std::uint64_t in_memtables) {
    SpaceFigures figures = WithGarbage(0);
    figures.active_bytes = in_memtables;
    return PlanSpace(figures, PolicyOf(1.5));
  };
  EXPECT_EQ(plan_with(0).flush_in, 64 * kMiB);
  EXPECT_EQ(plan_with(60 * kMiB).flush_in, 4 * kMiB);
  EXPECT_FALSE(plan_with(63 * kMiB).any());
  EXPECT_TRUE(plan_with(64 * kMiB).flush);
  EXPECT_FALSE(plan_with(64 * kMiB).compact || plan_with(64 * kMiB).collect || plan_with(64 * kMiB).seal);
  {
    const testing::MutantScope mutant(Mutant::kRunsIgnoreRoom);
    EXPECT_FALSE(plan_with(64 * kMiB).flush);
  }
  EXPECT_EQ(PlanSpace(SpaceFigures{}, PolicyOf(1.5)).flush_in, kMiB / 2) << "smaller runs are not worth their syncs";
  SpaceFigures many;  // families, of which each has a few entries
  many.active_tables = 10'000;
  many.active_bytes = 10 * kMiB;
  EXPECT_FALSE(PlanSpace(many, PolicyOf(1.5)).flush) << "a run of each would take more";
  SpaceFigures large;
  large.active_bytes = 1024 * kMiB;
  EXPECT_FALSE(PlanSpace(large, PolicyOf(0)).flush) << "no ceiling";
}

// The room on the disk bounds all sizes, with or without a ceiling. It does not change the points at which writers slow
// down and stop. These depend on the ceiling alone, since a full disk stops writers without them.
TEST(SpaceTest, SizesFitOnTheDisk) {
  SpaceFigures figures = WithGarbage(20 * kMiB);
  figures.free_bytes = 60 * kMiB;
  for (const double s : {1.5, 0.0}) {
    const SpacePlan plan = PlanSpace(figures, PolicyOf(s));
    EXPECT_EQ(plan.slack_bytes, 80 * kMiB) << s;
    EXPECT_TRUE(plan.is_bound_by_disk) << s;
    EXPECT_EQ(plan.segment_bytes, 10 * kMiB) << s;
    EXPECT_EQ(plan.step_bytes, 10 * kMiB) << s;
    SpaceFigures unknown = figures;
    unknown.free_bytes = std::numeric_limits<std::uint64_t>::max();
    const SpacePlan of_large_disk = PlanSpace(unknown, PolicyOf(s));
    EXPECT_FALSE(of_large_disk.is_bound_by_disk) << s;
    EXPECT_EQ(plan.any(), of_large_disk.any()) << s;
    const testing::MutantScope mutant(Mutant::kSlackIgnoresDisk);
    EXPECT_EQ(PlanSpace(figures, PolicyOf(s)).segment_bytes, of_large_disk.segment_bytes) << s;
    EXPECT_GT(of_large_disk.segment_bytes, plan.segment_bytes) << s;
  }
  const SpacePlan with_ceiling = PlanSpace(figures, PolicyOf(1.5));
  EXPECT_GE(with_ceiling.stop_at, 1536 * kMiB) << "the slack of the ceiling";
  EXPECT_EQ(with_ceiling.flush_in, 10 * kMiB);
  EXPECT_EQ(PlanSpace(figures, PolicyOf(0)).flush_in, std::numeric_limits<std::uint64_t>::max());
  SpaceFigures tree;
  tree.index_live_bytes = 1000 * kMiB;
  tree.index_bytes = 1100 * kMiB;
  tree.free_bytes = 500 * kMiB;
  EXPECT_EQ(PlanSpace(tree, PolicyOf(0)).index_file_percent_max, 124u) << "two fifths of 600 MiB";
  figures.free_bytes = 0;
  EXPECT_EQ(PlanSpace(figures, PolicyOf(0)).segment_bytes, 2'621'440u) << "an eighth of the garbage";
}

TEST(SpaceTest, HiddenGarbageIsCompactedAtAnEighthOfTheSlack) {
  SpaceFigures figures = WithGarbage(510 * kMiB);
  figures.log_live_bytes += 50 * kMiB;
  figures.log_bytes += 50 * kMiB;
  figures.hidden_bytes = 50 * kMiB;
  EXPECT_EQ(figures.live(), 1024 * kMiB);
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).compact);
  figures.log_live_bytes += 20 * kMiB;
  figures.log_bytes += 20 * kMiB;
  figures.hidden_bytes += 20 * kMiB;
  const SpacePlan plan = PlanSpace(figures, PolicyOf(1.5));
  EXPECT_TRUE(plan.compact);
  EXPECT_TRUE(plan.collect);
  EXPECT_FALSE(plan.flush);
}

TEST(SpaceTest, TailIsFlushedAtAnEighthOfTheSlack) {
  SpaceFigures figures = WithGarbage(510 * kMiB);
  figures.tail_bytes = 50 * kMiB;
  figures.log_bytes += 50 * kMiB;
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).flush);
  figures.tail_bytes = 70 * kMiB;
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).flush);
  // One megabyte of deletes may hide a gigabyte.
  figures.tail_bytes = kMiB;
  figures.tail_hides_bytes = 500 * kMiB;
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).flush);
}

// Values in memtables that no newer entry replaces are live; in a new database there are no other live values.
TEST(SpaceTest, LoadIntoAnEmptyDatabaseCountsAsLive) {
  SpaceFigures figures;
  figures.log_bytes = figures.tail_bytes = 100 * kMiB;
  EXPECT_EQ(figures.live(), 0u) << "overwrites of one key";
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).flush);
  figures.tail_live_bytes = 90 * kMiB;
  EXPECT_EQ(figures.live(), 90 * kMiB);
  const SpacePlan plan = PlanSpace(figures, PolicyOf(1.5));
  EXPECT_FALSE(plan.any());
  EXPECT_GT(plan.slow_at, figures.on_disk());
  // The tail may hide as much in older layers as it adds, so live() takes the larger of the two, not their sum.
  figures.log_live_bytes = 80 * kMiB;
  EXPECT_EQ(figures.live(), 90 * kMiB);
  figures.log_live_bytes = 200 * kMiB;
  EXPECT_EQ(figures.live(), 200 * kMiB);
}

// Half of the families are flushed: their live values are in layers, those of the others are in memtables.
TEST(SpaceTest, FamiliesInMemtablesAndInLayersAreLiveTogether) {
  SpaceFigures figures;
  figures.log_bytes = figures.tail_bytes = 120 * kMiB;
  figures.log_live_bytes = 60 * kMiB;
  figures.tail_live_bytes = figures.tail_new_bytes = 60 * kMiB;
  EXPECT_EQ(figures.live(), 120 * kMiB);
  // Hidden values in layers are not live.
  figures.hidden_bytes = 10 * kMiB;
  EXPECT_EQ(figures.live(), 110 * kMiB);
  // The tail hides older values. The newest values in memtables stay live.
  figures.tail_hides_bytes = 100 * kMiB;
  EXPECT_EQ(figures.live(), 60 * kMiB);
}

// Each memtable becomes a file of at least some pages. With many families, these are much more than the entries.
TEST(SpaceTest, WritersLeaveThePagesThatFlushesTake) {
  SpaceFigures figures = WithGarbage(100 * kMiB);
  const SpacePlan before = PlanSpace(figures, PolicyOf(1.5));
  figures.tail_index_bytes = 8 * kMiB;
  const SpacePlan after = PlanSpace(figures, PolicyOf(1.5));
  // There is room for the pages and, as for all of the index, for a job that rewrites them.
  EXPECT_LE(after.stop_at + 16 * kMiB, before.stop_at);
  EXPECT_LE(after.slow_at + 16 * kMiB, before.slow_at);
  EXPECT_LT(after.work_at, before.work_at);
  EXPECT_LT(after.slow_at, after.stop_at);
  // If the index is large, there is room for such a job anyway.
  figures.index_bytes = 200 * kMiB;
  const SpacePlan with = PlanSpace(figures, PolicyOf(1.5));
  figures.tail_index_bytes = 0;
  EXPECT_EQ(with.stop_at + 8 * kMiB, PlanSpace(figures, PolicyOf(1.5)).stop_at);
}

// A sweep that adds many keys takes their space twice until its end.
TEST(SpaceTest, WritersLeaveRoomForKeysOfSweeps) {
  SpaceFigures figures = WithGarbage(100 * kMiB);
  const SpacePlan before = PlanSpace(figures, PolicyOf(1.5));
  const std::uint64_t slack = before.slack_bytes;
  figures.index_swept_bytes = slack / 10;
  SpacePlan after = PlanSpace(figures, PolicyOf(1.5));
  EXPECT_EQ(after.stop_at + slack / 10, before.stop_at);
  EXPECT_EQ(after.slow_at + slack / 10, before.slow_at);
  figures.index_swept_bytes = 100 * slack;
  after = PlanSpace(figures, PolicyOf(1.5));
  EXPECT_EQ(after.stop_at + slack / 5 * 2, before.stop_at);
  EXPECT_LT(after.slow_at, after.stop_at);
  EXPECT_LT(after.work_at, after.slow_at);
  const testing::MutantScope mutant(Mutant::kSweptRunsNeedNoRoom);
  EXPECT_EQ(PlanSpace(figures, PolicyOf(1.5)).stop_at, before.stop_at);
}

// At the ceiling without anything to collect, all other waste must become collectable.
TEST(SpaceTest, AtTheCeilingWithoutGarbageAllOtherJobsAreDue) {
  SpaceFigures figures = WithGarbage(0);
  figures.log_bytes += 600 * kMiB;  // in segments that are not sealed, or not absorbed
  figures.tail_bytes = 20 * kMiB;
  figures.hidden_bytes = kMiB;
  figures.log_live_bytes += kMiB;
  figures.log_bytes += 20 * kMiB;
  const SpacePlan plan = PlanSpace(figures, PolicyOf(1.5));
  EXPECT_TRUE(plan.flush);
  EXPECT_TRUE(plan.compact);
  EXPECT_TRUE(plan.seal);
}

// If no job can free space, each check would otherwise flush the few writes since the last check.
TEST(SpaceTest, AtTheCeilingATinyTailIsNotFlushed) {
  SpaceFigures figures = WithGarbage(0);
  figures.log_bytes += 600 * kMiB;
  figures.tail_bytes = 10 * kMiB;
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).flush);
  figures.tail_hides_bytes = 20 * kMiB;
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).flush);
  figures.tail_hides_bytes = 0;
  figures.tail_range_deletes = 1;
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).flush) << "a range delete may hide everything";
  const std::uint64_t work_at = PlanSpace(figures, PolicyOf(1.5)).work_at;
  figures.log_bytes -= figures.on_disk() - work_at;
  const SpacePlan plan = PlanSpace(figures, PolicyOf(1.5));
  ASSERT_EQ(figures.on_disk(), plan.work_at);
  EXPECT_FALSE(plan.flush) << "no writer waits for it yet";
}

TEST(SpaceTest, AtTheCeilingHiddenInlineValuesOfAnLsmAreCompacted) {
  SpaceFigures figures;
  figures.index_bytes = 1600 * kMiB;
  figures.index_live_bytes = 1024 * kMiB;
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).compact) << "no hidden inline values are known";
  figures.index_hidden_bytes = kMiB;
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).compact);
  figures.index_bytes = 1500 * kMiB;
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).compact) << "below the ceiling, ordinary compactions will drop them";
}

TEST(SpaceTest, IndexCountsAgainstTheSlack) {
  SpaceFigures figures = WithGarbage(400 * kMiB);
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).collect);
  figures.index_bytes = 100 * kMiB;
  EXPECT_TRUE(PlanSpace(figures, PolicyOf(1.5)).collect);
  figures.index_live_bytes = 100 * kMiB;  // inline values are live data
  EXPECT_FALSE(PlanSpace(figures, PolicyOf(1.5)).collect);
}

// Records of 168 bytes, as of values of 100, with an address of 28 bytes and an entry of 21 in a footer.
TEST(SpaceTest, AddressesAndFootersThatWouldTakeMuchOfTheSlackCountAsLive) {
  constexpr std::uint64_t kRecords = 6'000'000;
  SpaceFigures figures;
  figures.log_live_bytes = kRecords * 168;
  figures.live_footer_bytes = kRecords * 21;
  figures.log_bytes = figures.log_live_bytes + figures.live_footer_bytes;
  figures.index_bytes = figures.index_address_bytes = kRecords * 28;
  const double stored = 168 + 28 + 21;
  const auto stop_at_with = [&](double s) {
    return static_cast<double>(PlanSpace(figures, PolicyOf(s)).stop_at) / static_cast<double>(kRecords);
  };
  EXPECT_GT(stop_at_with(1.1), 1.09 * stored);
  EXPECT_LT(stop_at_with(1.1), 1.14 * stored);
  const double amid = stop_at_with(1.8);  // entries take a third of the slack, so they count in part
  const double none = stop_at_with(2.5);
  figures.index_address_bytes *= 2;
  figures.index_bytes *= 2;
  EXPECT_EQ(PlanSpace(figures, PolicyOf(1.1)).index_file_percent_max, 117u) << "two fifths of a slack of 24.5 for 56";
  figures.index_address_bytes /= 2;
  figures.index_bytes /= 2;
  const testing::MutantScope mutant(Mutant::kAddressesAreNotLive);
  EXPECT_LT(stop_at_with(1.1), stored) << "without any garbage the files would be larger";
  EXPECT_LT(stop_at_with(1.8), amid);
  EXPECT_EQ(stop_at_with(2.5), none) << "they take less than a quarter of the slack";
}

TEST(SpaceTest, TooLargeEstimatesDoNotUnderflow) {
  SpaceFigures figures;
  figures.log_bytes = 10 * kMiB;
  figures.log_live_bytes = kMiB;
  figures.hidden_bytes = figures.tail_hides_bytes = 100 * kMiB;
  EXPECT_EQ(figures.live(), 0u);
  const SpacePlan plan = PlanSpace(figures, PolicyOf(1.5));
  EXPECT_TRUE(plan.compact);
  EXPECT_LE(plan.stop_at, 2 * kMiB);
}

TEST(SpaceTest, PaceFallsFromUnlimitedToZero) {
  EXPECT_TRUE(std::isinf(PacedRate(0, 100)));
  EXPECT_DOUBLE_EQ(PacedRate(0.5, 100), 100);
  EXPECT_DOUBLE_EQ(PacedRate(1, 100), 0);
  for (double part = 0.05; part < 1; part += 0.05) EXPECT_GT(PacedRate(part, 100), PacedRate(part + 0.05, 100));
}

TEST(SpaceTest, DeadPagesOfATreeMayTakeTwoFifthsOfTheSlack) {
  const auto percent = [](double ceiling, std::uint64_t in_index, std::uint64_t in_log) {
    SpaceFigures figures;
    figures.index_bytes = figures.index_live_bytes = in_index * kMiB;
    figures.log_bytes = figures.log_live_bytes = in_log * kMiB;
    return PlanSpace(figures, PolicyOf(ceiling)).index_file_percent_max;
  };
  EXPECT_EQ(percent(0, 100, 0), 200u) << "no ceiling";
  EXPECT_EQ(percent(1.5, 100, 0), 120u) << "all values are inline";
  EXPECT_EQ(percent(1.5, 100, 100), 140u) << "half of the bytes are inline";
  EXPECT_EQ(percent(1.5, 3, 97), 200u) << "almost nothing is inline";
  EXPECT_EQ(percent(1.5, 0, 100), 200u);
  EXPECT_EQ(percent(1, 100, 0), 110u);
  EXPECT_EQ(percent(100, 100, 0), 200u);
}

TEST(WritePacerTest, WritersShareTheRate) {
  WritePacer pacer;
  const std::uint64_t start = 10'000'000;
  std::uint64_t last = 0;
  for (int i = 0; i < 1000; ++i) last = pacer.Reserve(1000, 1e6, start);  // a millisecond each
  EXPECT_NEAR(static_cast<double>(last - start), 999'000 - 200, 10);
  // A write long after the others does not wait. After the pause, only a short burst is admitted without waiting.
  const std::uint64_t later = start + 50'000'000;
  EXPECT_EQ(pacer.Reserve(1000, 1e6, later), later);
  EXPECT_GE(pacer.Reserve(1000, 1e6, later), later + 500);
}

TEST(WritePacerTest, TryReserveTakesASliceOnlyIfItHasBegun) {
  WritePacer pacer;
  const std::uint64_t start = 10'000'000;
  EXPECT_TRUE(pacer.TryReserve(1000, 1e6, start));  // a millisecond
  EXPECT_FALSE(pacer.TryReserve(1000, 1e6, start + 500));
  EXPECT_FALSE(pacer.TryReserve(1000, 1e6, start + 790)) << "a refusal reserves nothing";
  EXPECT_TRUE(pacer.TryReserve(1000, 1e6, start + 800)) << "the burst of 200 microseconds has passed before";
  EXPECT_GT(pacer.Reserve(1000, 1e6, start + 800), start + 1500);
  EXPECT_TRUE(pacer.TryReserve(1u << 30, std::numeric_limits<double>::infinity(), start));
}

TEST(WritePacerTest, SmallWritesAddUp) {
  WritePacer pacer;
  const std::uint64_t start = 10'000'000;
  std::uint64_t last = 0;
  for (int i = 0; i < 100'000; ++i) last = pacer.Reserve(10, 1e8, start);  // a tenth of a microsecond each
  EXPECT_NEAR(static_cast<double>(last - start), 10'000, 500);
}

TEST(WritePacerTest, UnlimitedRateDelaysNoWrite) {
  WritePacer pacer;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pacer.Reserve(1u << 30, std::numeric_limits<double>::infinity(), 5'000'000), 5'000'000u);
  }
  EXPECT_EQ(pacer.Reserve(1, 1e9, 5'000'000), 5'000'000u);
}

}  // namespace
}  // namespace cambium
