// What a step on a full disk moves, and where it cuts a segment. Tests with numbers only, without files.
#include "gc/cut.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "gc/punch.h"
#include "gc/victims.h"
#include "io/file_header.h"
#include "testing/mutant_scope.h"
#include "testing/units.h"

namespace cambium {
namespace {

using testing::kKiB;
using testing::kMiB;
constexpr std::uint64_t kRecord = kKiB;
constexpr bool kRunsStay = true;

// A segment of `count` records of 1 KiB.
SegmentInfo SegmentOf(std::uint64_t count, std::uint64_t cut = 0) {
  SegmentInfo info;
  info.number = 7;
  info.sealed = info.has_footer = true;
  info.sealed_length = kFileHeaderSize + count * kRecord;
  info.file_size = info.sealed_length + count * 24;
  info.cut = cut;
  return info;
}

GcRecord RecordAt(std::uint64_t index, std::uint64_t size = kRecord) {
  return {0, 0, Slice("key000000000"), kFileHeaderSize + index * kRecord, size};
}

// Every `step`-th record from `first` on.
std::vector<GcRecord> Every(std::uint64_t count, std::uint64_t step, std::uint64_t first = 0) {
  std::vector<GcRecord> live;
  for (std::uint64_t i = first; i < count; i += step) live.push_back(RecordAt(i));
  return live;
}

std::uint64_t SizeOf(const std::vector<GcRecord>& records) {
  std::uint64_t bytes = 0;
  for (const GcRecord& record : records) bytes += record.size;
  return bytes;
}

TEST(GcCutTest, HoleHasWholeBlocksAfterTheHeader) {
  EXPECT_EQ(HoleOfCut(0).length, 0u);
  EXPECT_EQ(HoleOfCut(4096).length, 0u);
  EXPECT_EQ(HoleOfCut(8191).length, 0u);
  EXPECT_EQ(HoleOfCut(8192).offset, 4096u);
  EXPECT_EQ(HoleOfCut(8192).length, 4096u);
  EXPECT_EQ(HoleOfCut(100'000).length, 24u * 4096 - 4096);
}

// Half of the records are live, and there is room for a sixteenth of them.
TEST(GcCutTest, MovesAsMuchAsFits) {
  const SegmentInfo info = SegmentOf(1024);
  const std::vector<GcRecord> live = Every(1024, 2);
  const CutPlan plan = PlanCut(info, live, {}, 128 * kKiB, kRunsStay);
  ASSERT_NE(plan.cut, 0u);
  EXPECT_FALSE(plan.empties);
  const std::uint64_t moved = SizeOf(live) - plan.live_left;
  EXPECT_GT(moved, 80 * kKiB);
  EXPECT_LT(moved, 128 * kKiB - 16 * kKiB);
  EXPECT_EQ(plan.hole_bytes, HoleOfCut(plan.cut).length);
  EXPECT_GT(plan.hole_bytes, moved + moved / 2);
  EXPECT_EQ((plan.cut - kFileHeaderSize) % (2 * kRecord), 0u) << "it ends at a live record";
  // All together: the steps end, each frees more than it moves, and the last one drops the segment.
  SegmentInfo now = info;
  std::vector<GcRecord> left = live;
  int steps = 0;
  for (; !left.empty() && steps < 100; ++steps) {
    const CutPlan next = PlanCut(now, left, {}, 128 * kKiB, kRunsStay);
    ASSERT_TRUE(next.any()) << steps;
    if (next.empties) break;
    ASSERT_GT(next.cut, now.cut);
    std::erase_if(left, [&next](const GcRecord& record) { return record.offset < next.cut; });
    ASSERT_EQ(SizeOf(left), next.live_left);
    now.cut = next.cut;
  }
  EXPECT_GT(steps, 3);
  EXPECT_LT(steps, 10);
}

TEST(GcCutTest, BeginningWithoutLiveRecordsIsCutWithoutCopies) {
  const CutPlan plan = PlanCut(SegmentOf(1024), Every(1024, 1, 512), {}, 8 * kKiB, kRunsStay);
  EXPECT_EQ(plan.cut, kFileHeaderSize + 512 * kRecord);
  EXPECT_EQ(plan.live_left, 512 * kKiB);
  EXPECT_TRUE(PlanCut(SegmentOf(1024), {}, {}, 0, kRunsStay).empties);
}

TEST(GcCutTest, SegmentWithoutLiveRecordsIsDropped) {
  EXPECT_TRUE(PlanCut(SegmentOf(100), {}, {}, 0, kRunsStay).empties);
  const SegmentInfo small = SegmentOf(2);
  EXPECT_TRUE(PlanCut(small, {}, {}, 0, kRunsStay).empties) << "its header takes a block, whatever a cut would free";
}

TEST(GcCutTest, NothingIsPlannedAtALoss) {
  EXPECT_FALSE(PlanCut(SegmentOf(1024), Every(1024, 1), {}, 2 * kMiB, kRunsStay).any()) << "no garbage at all";
  std::vector<GcRecord> thin = Every(1024, 1);
  std::erase_if(thin, [](const GcRecord& record) { return (record.offset - kFileHeaderSize) / kRecord % 64 == 63; });
  EXPECT_FALSE(PlanCut(SegmentOf(1024), thin, {}, 128 * kKiB, kRunsStay).any()) << "copies have index entries, too";
  EXPECT_FALSE(PlanCut(SegmentOf(1024), Every(1024, 2), {}, 8 * kKiB, kRunsStay).any()) << "no room for a step";
  const testing::MutantScope mutant(Mutant::kCutAtALoss);
  EXPECT_TRUE(PlanCut(SegmentOf(1024), thin, {}, 128 * kKiB, kRunsStay).any());
}

// One record of 32 is dead. The copies and their entries in the footer take as much space as the originals. A
// compaction that merges the run gives its space back. So the segment is worth emptying only if such a compaction can
// run.
TEST(GcCutTest, RunsThatAreMergedCostNothingForGood) {
  std::vector<GcRecord> thin = Every(1024, 1);
  std::erase_if(thin, [](const GcRecord& record) { return (record.offset - kFileHeaderSize) / kRecord % 32 == 31; });
  EXPECT_FALSE(PlanCut(SegmentOf(1024), thin, {}, 512 * kKiB, kRunsStay).any());
  // All its steps, one after the other. None writes more than the room.
  SegmentInfo info = SegmentOf(1024);
  std::vector<GcRecord> left = thin;
  std::uint64_t freed = 0;
  int steps = 1;
  for (CutPlan plan; !(plan = PlanCut(info, left, {}, 512 * kKiB, !kRunsStay)).empties; ++steps) {
    ASSERT_GT(plan.cut, info.cut) << steps;
    ASSERT_LE(SizeOf(left) - plan.live_left, 512 * kKiB);
    freed += plan.hole_bytes;
    std::erase_if(left, [&plan](const GcRecord& record) { return record.offset < plan.cut; });
    info.cut = plan.cut;
  }
  EXPECT_LE(steps, 4);
  EXPECT_LE(SizeOf(left), 512 * kKiB);
  EXPECT_GT(freed, 512 * kKiB - 16 * kKiB);
  EXPECT_FALSE(PlanCut(SegmentOf(1024), thin, {}, 64 * kKiB, !kRunsStay).any()) << "the room would be used up on the way";
  EXPECT_FALSE(PlanCut(SegmentOf(1024), Every(1024, 1), {}, 512 * kKiB, !kRunsStay).any()) << "no garbage at all";
  const testing::MutantScope mutant(Mutant::kCutCountsMergedRuns);
  EXPECT_FALSE(PlanCut(SegmentOf(1024), thin, {}, 512 * kKiB, !kRunsStay).any());
}

// The first sixteenth of the segment is all live, the rest nearly dead. A step loses what the next ones gain many times.
TEST(GcCutTest, LossIsAcceptedIfTheWholeGains) {
  std::vector<GcRecord> live = Every(64, 1);
  for (const GcRecord& record : Every(1024, 32, 64)) live.push_back(record);
  EXPECT_TRUE(PlanCut(SegmentOf(1024), live, {}, 512 * kKiB, kRunsStay).any());
  EXPECT_TRUE(PlanCut(SegmentOf(1024), live, {}, 60 * kKiB, kRunsStay).any()) << "two steps";
  EXPECT_FALSE(PlanCut(SegmentOf(1024), Every(512, 1), {}, 60 * kKiB, kRunsStay).any()) << "the room would be used up on the way";
}

TEST(GcCutTest, ContinuesAtTheCut) {
  const std::uint64_t cut = kFileHeaderSize + 512 * kRecord;
  const CutPlan plan = PlanCut(SegmentOf(1024, cut), Every(1024, 2, 512), {}, 128 * kKiB, kRunsStay);
  ASSERT_GT(plan.cut, cut);
  EXPECT_EQ(plan.hole_bytes, HoleOfCut(plan.cut).length - HoleOfCut(cut).length);
}

// Bytes that punching has freed are not counted again.
TEST(GcCutTest, CountsHolesOfPunchedRecordsOnce) {
  SegmentInfo info = SegmentOf(1024);
  const std::vector<GcRecord> punched = {RecordAt(0, 256 * kKiB), RecordAt(600, 256 * kKiB)};
  for (const GcRecord& record : punched) info.punched.push_back(record.offset);
  const CutPlan plan = PlanCut(info, Every(1024, 1, 300), punched, 8 * kKiB, kRunsStay);
  EXPECT_EQ(plan.cut, kFileHeaderSize + 300 * kRecord);
  const Hole first = HoleOf(punched[0].offset, punched[0].size, punched[0].key.size());
  EXPECT_EQ(plan.hole_bytes, HoleOfCut(plan.cut).length - first.length);
  EXPECT_EQ(plan.covered_kept, punched[0].size - first.length);
}

// ---- The choice of the segment ----

SegmentUse Use(std::uint64_t number, std::uint64_t live_kib) {
  SegmentUse use;
  use.number = number;
  use.bytes = kMiB;
  use.live_bytes = live_kib * kKiB;
  use.can_cut = true;
  return use;
}

VictimPolicy RoomOf(std::uint64_t bytes) {
  VictimPolicy policy;
  policy.free_bytes = 2 * bytes;
  return policy;
}

std::uint64_t Pick(const std::vector<SegmentUse>& uses, const std::map<std::uint64_t, CutLook>& looks = {},
                   std::uint64_t room = 64 * kKiB) {
  const VictimChoice choice = PickToCut(uses, RoomOf(room), looks, {9, 0});
  EXPECT_EQ(choice.cuts, !choice.numbers.empty());
  return choice.numbers.empty() ? 0 : choice.numbers.front();
}

TEST(PickToCutTest, MostGarbageForEachLiveByte) {
  std::vector<SegmentUse> uses = {Use(1, 600), Use(2, 500), Use(3, 700)};
  EXPECT_EQ(Pick(uses), 2u);
  uses[1].is_damaged = true;
  EXPECT_EQ(Pick(uses), 1u);
  uses[0].can_cut = false;
  EXPECT_EQ(Pick(uses), 3u);
}

TEST(PickToCutTest, FruitlessLookIsNotRepeatedUntilAChange) {
  const std::vector<SegmentUse> uses = {Use(1, 600)};
  const std::uint64_t garbage = uses[0].garbage();
  EXPECT_EQ(Pick(uses, {{1, {{9, 0}, 64 * kKiB, garbage}}}), 0u);
  EXPECT_EQ(Pick(uses, {{1, {{9, 0}, 64 * kKiB, garbage}}}, 128 * kKiB), 1u) << "more room";
  EXPECT_EQ(Pick(uses, {{1, {{9, 0}, 64 * kKiB, garbage - 64 * kKiB}}}), 1u) << "more garbage";
  EXPECT_EQ(Pick(uses, {{1, {{8, 0}, 64 * kKiB, garbage}}}), 1u) << "a flush";
}

// Regression: a look records how much room its step had, which is at most the size of a step. This number was compared
// with all the room on the disk. So if the disk had room for more than 1.25 steps, each look counted as out of date,
// and log GC looked at the same segment for ever.
TEST(PickToCutTest, RoomBeyondAStepStartsNoNewLook) {
  const std::vector<SegmentUse> uses = {Use(1, 600)};
  VictimPolicy policy = RoomOf(4 * kMiB);
  policy.step_bytes = kMiB;
  const std::map<std::uint64_t, CutLook> looks = {{1, {{9, 0}, kMiB, uses[0].garbage()}}};
  EXPECT_TRUE(PickToCut(uses, policy, looks, {9, 0}).numbers.empty());
  policy.step_bytes = 2 * kMiB;
  EXPECT_EQ(PickToCut(uses, policy, looks, {9, 0}).numbers.size(), 1u) << "a larger step";
}

// Accounts do not show which values newer entries hide, until a compaction has found out. So if they show no garbage,
// log GC looks at segments: first at the one that it has not looked at for the longest time.
TEST(PickToCutTest, LooksForHiddenGarbageAfterEachFlush) {
  std::vector<SegmentUse> uses = {Use(1, 1024), Use(2, 1024), Use(3, 1024)};
  EXPECT_EQ(Pick(uses), 1u);
  EXPECT_EQ(Pick(uses, {{1, {{9, 0}, 0, 0}}}), 2u);
  EXPECT_EQ(Pick(uses, {{1, {{7, 0}, 0, 0}}, {2, {{5, 0}, 0, 0}}, {3, {{9, 0}, 0, 0}}}), 2u);
  EXPECT_EQ(Pick(uses, {{1, {{9, 0}, 0, 0}}, {2, {{9, 0}, 0, 0}}, {3, {{9, 0}, 0, 0}}}), 0u);
  std::map<std::uint64_t, CutLook> looks;
  for (std::uint64_t i = 10; i < 10 + kLooksPerFlush; ++i) {
    uses.push_back(Use(i, 1024));
    looks[i] = {{9, 0}, 0, 0};
  }
  EXPECT_EQ(Pick(uses, looks), 0u) << "enough looks for this replay position";
}

}  // namespace
}  // namespace cambium
