// When background work yields to users: the rule, window by window, without a clock.
#include "gc/yield.h"

#include <gtest/gtest.h>

namespace cambium {
namespace {

using Windows = std::array<CallWindow, kCallKinds>;

Windows Reads(double micros, std::uint64_t samples = 100) { return {{{samples, micros}, {}, {}}}; }

// The state of a database whose reads take 100 microseconds while no background work runs.
YieldState Quiet() { return NextYield({}, Reads(100), false); }

TEST(YieldTest, LearnsTheQuietMeanFromQuietWindowsOnly) {
  EXPECT_EQ(NextYield({}, Reads(100), true).quiet_micros[0], -1);
  EXPECT_EQ(Quiet().quiet_micros[0], 100);
  EXPECT_EQ(NextYield(Quiet(), Reads(140), false).quiet_micros[0], 110) << "by a quarter of the difference";
  EXPECT_EQ(NextYield(Quiet(), Reads(140), true).quiet_micros[0], 100);
  EXPECT_EQ(NextYield(Quiet(), Reads(60), true).quiet_micros[0], 60) << "faster than the quiet mean, even with work";
  EXPECT_EQ(NextYield(Quiet(), Reads(900, kWindowSamplesMin - 1), false).quiet_micros[0], 100) << "too few samples";
}

TEST(YieldTest, HalvesAgainAndAgainDownToTheFloor) {
  YieldState state = Quiet();
  for (const double share : {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16, 1.0 / 16, 1.0 / 16}) {
    state = NextYield(state, Reads(500), true);
    EXPECT_EQ(state.share, share);
  }
}

TEST(YieldTest, HalvesAboveTwiceAndDoublesBelowOneAndAHalf) {
  YieldState half = Quiet();
  half.share = 0.25;
  EXPECT_EQ(NextYield(half, Reads(202), true).share, 0.125);
  EXPECT_EQ(NextYield(half, Reads(200), true).share, 0.25) << "unchanged between the two thresholds";
  EXPECT_EQ(NextYield(half, Reads(160), true).share, 0.25);
  EXPECT_EQ(NextYield(half, Reads(150), true).share, 0.5);
  EXPECT_EQ(NextYield(half, Reads(1000), false).share, 0.5) << "without work, slow calls have another cause";
  EXPECT_EQ(NextYield(half, Reads(1000, 3), true).share, 0.5) << "too few calls to slow down";
  half.share = 1;
  EXPECT_EQ(NextYield(half, Reads(100), true).share, 1);
}

// Reads of 1 microsecond and synced writes of 1000: a change in their proportion is no reason to yield.
TEST(YieldTest, ChangedMixOfCallsIsNotSlow) {
  YieldState state = NextYield({}, {{{100, 1}, {}, {100, 1000}}}, false);
  state = NextYield(state, {{{5, 1}, {}, {100, 1000}}}, true);
  EXPECT_EQ(state.share, 1);
  state = NextYield(state, {{{100, 1}, {}, {100, 2500}}}, true);
  EXPECT_EQ(state.share, 0.5) << "one slow kind is enough";
}

TEST(YieldTest, DifferencesOfAMicrosecondAreIgnored) {
  const YieldState state = NextYield({}, Reads(0), false);
  EXPECT_EQ(NextYield(state, Reads(1), true).share, 1);
  EXPECT_EQ(NextYield(state, Reads(1.5), true).share, 0.5);
}

// For example, the data has outgrown memory, and reads stay slow. Work that is already at the floor is not the cause,
// so it may speed up again.
TEST(YieldTest, QuietMeanFollowsCallsThatStaySlowAtTheFloor) {
  YieldState state = Quiet();
  int windows = 0;
  for (; windows < 200 && (windows < 5 || state.share <= kShareMin); ++windows) state = NextYield(state, Reads(500), true);
  EXPECT_GT(windows, 10) << "only gradually";
  EXPECT_LT(windows, 60);
  EXPECT_GT(state.share, kShareMin);
}

}  // namespace
}  // namespace cambium
