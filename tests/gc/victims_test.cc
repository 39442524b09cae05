// Which segments log GC chooses as victims. Tests with numbers only, without files.
#include "gc/victims.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/units.h"

namespace cambium {
namespace {

using testing::kMiB;
constexpr SequenceNumber kNow = 1'000'000;

SegmentUse Use(std::uint64_t number, std::uint64_t mib, std::uint64_t live_mib) {
  SegmentUse use;
  use.number = number;
  use.bytes = mib * kMiB;
  use.live_bytes = live_mib * kMiB;
  use.made_at = number * 1000;
  return use;
}

std::vector<std::uint64_t> Pick(const std::vector<SegmentUse>& segments, const VictimPolicy& policy, GcUrgency urgency) {
  return PickGcVictims(segments, policy, kNow, urgency).numbers;
}

using Numbers = std::vector<std::uint64_t>;

// RocksDB's rule, with its arithmetic: idx = trunc(cutoff * n); the files below idx are old enough.
TEST(GcVictimsTest, AgeCutoffSelectsTheOldestPart) {
  EXPECT_EQ(EligibleByAge(3, 0.25), 0u);
  EXPECT_EQ(EligibleByAge(4, 0.25), 1u);
  EXPECT_EQ(EligibleByAge(7, 0.25), 1u);
  EXPECT_EQ(EligibleByAge(8, 0.25), 2u);
  EXPECT_EQ(EligibleByAge(5, 1.0), 5u);
  EXPECT_EQ(EligibleByAge(5, 0.0), 0u);
  EXPECT_EQ(EligibleByAge(0, 1.0), 0u);
}

TEST(GcVictimsTest, YoungSegmentsAreSparedUntilSpaceIsShort) {
  const std::vector<SegmentUse> segments = {Use(1, 256, 250), Use(2, 256, 10), Use(3, 256, 10), Use(4, 256, 10)};
  EXPECT_EQ(Pick(segments, {}, GcUrgency::kIdle), Numbers{}) << "1 is old enough, but has no garbage";
  VictimPolicy half;
  half.age_cutoff = 0.5;
  EXPECT_EQ(Pick(segments, half, GcUrgency::kIdle), Numbers{2});
  VictimPolicy never;
  never.age_cutoff = 0;
  EXPECT_EQ(Pick(segments, never, GcUrgency::kIdle), Numbers{});
  EXPECT_EQ(Pick(segments, never, GcUrgency::kSpace), (Numbers{2, 3, 4})) << "among equals, the oldest first";
}

TEST(GcVictimsTest, HighestBenefitGoesFirst) {
  VictimPolicy all;
  all.age_cutoff = 1;
  // Segment 3 has fewer live bytes; half of segment 1 is live, but it is far older.
  std::vector<SegmentUse> segments = {Use(1, 256, 128), Use(2, 256, 250), Use(3, 256, 100)};
  segments[2].made_at = kNow - 1000;
  EXPECT_EQ(Pick(segments, all, GcUrgency::kIdle), Numbers{1}) << "its 128 MiB fill the step";
  segments[0].made_at = segments[2].made_at = 0;
  EXPECT_EQ(Pick(segments, all, GcUrgency::kIdle), Numbers{3});
}

TEST(GcVictimsTest, StepTakesSeveralSegmentsOfOneGeneration) {
  VictimPolicy all;
  all.age_cutoff = 1;
  std::vector<SegmentUse> segments = {Use(1, 256, 20), Use(2, 256, 20), Use(3, 256, 20), Use(4, 256, 20)};
  segments[1].generation = 1;
  EXPECT_EQ(Pick(segments, all, GcUrgency::kIdle), (Numbers{1, 3, 4}));
  all.step_bytes = 50 * kMiB;
  EXPECT_EQ(Pick(segments, all, GcUrgency::kIdle), (Numbers{1, 3}));
}

TEST(GcVictimsTest, LoadWithoutOverwritesHasNoVictims) {
  VictimPolicy all;
  all.age_cutoff = 1;
  std::vector<SegmentUse> segments;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    segments.push_back(Use(i, 256, 0));
    segments.back().live_bytes = segments.back().bytes * 97 / 100;  // header and index of small values
  }
  EXPECT_EQ(Pick(segments, all, GcUrgency::kIdle), Numbers{});
  // Sizes in accounts are rounded up, so an account may even exceed the segment.
  for (SegmentUse& each : segments) each.live_bytes = each.bytes + 1000;
  EXPECT_EQ(Pick(segments, all, GcUrgency::kSpace), Numbers{});
}

TEST(GcVictimsTest, ForceThresholdTakesTheOldest) {
  VictimPolicy policy;
  policy.age_cutoff = 0.5;
  policy.force_threshold = 0.5;
  std::vector<SegmentUse> segments = {Use(1, 256, 250), Use(2, 256, 6), Use(3, 256, 250), Use(4, 256, 250)};
  EXPECT_EQ(Pick(segments, policy, GcUrgency::kForced), (Numbers{1})) << "256 of 512 MiB are garbage; oldest first";
  segments[1].live_bytes += kMiB;
  EXPECT_EQ(Pick(segments, policy, GcUrgency::kForced), Numbers{}) << "one MiB less";
  policy.force_threshold = 1;
  segments[0].live_bytes = segments[1].live_bytes = 0;
  EXPECT_EQ(Pick(segments, policy, GcUrgency::kForced), Numbers{}) << "1 means never";
}

TEST(GcVictimsTest, SmallSegmentsAreJoinedWhateverTheirGarbage) {
  const auto tiny = [](std::uint64_t number) {
    SegmentUse segment = Use(number, 1, 1);
    segment.bytes = 500u << 10;
    segment.live_bytes = segment.bytes - segment.overhead_bytes;
    return segment;
  };
  VictimPolicy policy;
  std::vector<SegmentUse> segments = {tiny(1), tiny(2), Use(3, 256, 256), tiny(4), tiny(5)};
  EXPECT_EQ(Pick(segments, policy, GcUrgency::kIdle), Numbers{}) << "four are tolerated";
  segments.push_back(Use(6, 15, 15));
  EXPECT_EQ(Pick(segments, policy, GcUrgency::kIdle), Numbers{}) << "it is small, but not tiny";
  segments.push_back(tiny(7));
  EXPECT_EQ(Pick(segments, policy, GcUrgency::kIdle), (Numbers{1, 2, 4, 5, 7}));
  segments.back().generation = 1;
  EXPECT_EQ(Pick(segments, policy, GcUrgency::kIdle), Numbers{}) << "another generation";
}

// A load into a growing database leaves segments that were full when the database was smaller. Nothing in them is dead,
// and nothing is moved.
TEST(GcVictimsTest, SmallSegmentsOfALoadAreNotJoined) {
  VictimPolicy policy;
  std::vector<SegmentUse> segments;
  for (std::uint64_t number = 1; number <= policy.small_segments_max; ++number) segments.push_back(Use(number, 1, 1));
  for (const GcUrgency urgency : {GcUrgency::kForced, GcUrgency::kIdle, GcUrgency::kSpace}) {
    EXPECT_EQ(Pick(segments, policy, urgency), Numbers{});
  }
  segments.push_back(Use(policy.small_segments_max + 1, 15, 15));
  EXPECT_GT(Pick(segments, policy, GcUrgency::kIdle).size(), 60u) << "at some point there are too many";
}

// Regression: with a step smaller than a sixteenth of the target, a small segment was joined with itself.
TEST(GcVictimsTest, SegmentIsNotJoinedWithItself) {
  const auto victims_with = [](std::uint64_t step) {
    VictimPolicy policy;
    policy.step_bytes = step * kMiB;
    std::vector<SegmentUse> segments;
    for (std::uint64_t number = 1; number <= 3 * policy.small_segments_max; ++number) {
      segments.push_back(Use(number, 1 + number % 15, 1 + number % 15));
    }
    return Pick(segments, policy, GcUrgency::kIdle).size();
  };
  for (const std::uint64_t step : {1, 16, 24, 64}) EXPECT_NE(victims_with(step), 1u) << step;
  const testing::MutantScope mutant(Mutant::kJoinSegmentWithItself);
  EXPECT_EQ(victims_with(1), 1u) << "the first two have 2 and 3 MiB";
}

TEST(GcVictimsTest, DamagedSegmentIsNeverAVictim) {
  VictimPolicy policy;
  policy.age_cutoff = 1;
  policy.force_threshold = 0.1;
  std::vector<SegmentUse> segments = {Use(1, 256, 10)};
  segments[0].is_damaged = true;
  for (const GcUrgency urgency : {GcUrgency::kForced, GcUrgency::kIdle, GcUrgency::kSpace}) {
    EXPECT_EQ(Pick(segments, policy, urgency), Numbers{});
  }
}

// Moving values needs space before any is freed, so the segment with the fewest live bytes goes first, whatever its
// age.
std::string PickOnFullDisk() {
  std::vector<SegmentUse> segments = {Use(1, 256, 120), Use(2, 256, 30), Use(3, 256, 8), Use(4, 256, 255),
                                      Use(5, 256, 10)};
  segments[4].is_damaged = true;
  segments[0].made_at = segments[1].made_at = 0;  // old, hence the best victims if there were room
  segments[2].made_at = kNow;
  VictimPolicy policy;
  policy.age_cutoff = 0;
  policy.free_bytes = 90 * kMiB;
  if (Pick(segments, policy, GcUrgency::kFull) != Numbers{3, 2}) return "3 and 2 move 38 of 45 free MiB";
  policy.free_bytes = 20 * kMiB;
  if (Pick(segments, policy, GcUrgency::kFull) != Numbers{3}) return "only 3 fits";
  policy.free_bytes = 10 * kMiB;
  if (!Pick(segments, policy, GcUrgency::kFull).empty()) return "none fits";
  return "";
}

TEST(GcVictimsTest, FullDiskTakesTheFewestLiveBytesThatFit) {
  EXPECT_EQ(PickOnFullDisk(), "");
  const testing::MutantScope mutant(Mutant::kGcIgnoresRoom);
  EXPECT_NE(PickOnFullDisk(), "");
}

}  // namespace
}  // namespace cambium
