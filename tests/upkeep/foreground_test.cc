// Work that has no user waiting pauses when sampled calls become slow, and only as long as necessary.
#include "upkeep/foreground.h"

#include <gtest/gtest.h>

#include "io/sim/sim_clock.h"

namespace cambium::testing {
namespace {

const std::function<bool()> kNotOver = [] { return false; };

struct Calls {
  SimClock clock;
  Foreground foreground{&clock};

  // A window of reads that each take `micros_each`, with background work in it or without.
  void Window(std::uint64_t micros_each, bool with_work) {
    if (with_work) foreground.GiveWay(clock.NowMicros(), kNotOver);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t start = clock.NowMicros();
      clock.Advance(micros_each);
      foreground.Add(CallKind::kRead, start);
    }
    const std::uint64_t start = clock.NowMicros();
    clock.Advance(Foreground::kWindowMicros);
    foreground.Add(CallKind::kWrite, start);  // one sample decides nothing, but ends the window
  }
  // How long work pauses after it has run for `worked` microseconds.
  std::uint64_t PauseAfter(std::uint64_t worked, const std::function<bool()>& is_over = kNotOver) {
    const std::uint64_t resumed = clock.NowMicros();
    clock.Advance(worked);
    const std::uint64_t before = clock.NowMicros();
    foreground.GiveWay(resumed, is_over);
    return clock.NowMicros() - before;
  }
};

TEST(ForegroundTest, WorkDoesNotPauseWithoutCalls) {
  Calls calls;
  EXPECT_EQ(calls.PauseAfter(10'000), 0u);
  EXPECT_EQ(calls.foreground.Share(), 1);
}

TEST(ForegroundTest, WorkPausesWhileCallsAreSlow) {
  Calls calls;
  for (int i = 0; i < 3; ++i) calls.Window(100, false);
  EXPECT_EQ(calls.PauseAfter(10'000), 0u);
  calls.Window(500, true);
  EXPECT_EQ(calls.foreground.Share(), 0.5);
  EXPECT_EQ(calls.PauseAfter(10'000), 10'000u) << "as long as it works";
  calls.Window(500, true);
  EXPECT_EQ(calls.PauseAfter(10'000), 30'000u);
  EXPECT_LE(calls.PauseAfter(1'000'000), 300'000u) << "a piece that waited for something else is no long piece";
  for (int i = 0; i < 3; ++i) calls.Window(100, true);
  EXPECT_EQ(calls.foreground.Share(), 1);
  EXPECT_EQ(calls.PauseAfter(10'000), 0u);
}

TEST(ForegroundTest, PauseEndsWhenOverOrWithoutCalls) {
  Calls calls;
  for (int i = 0; i < 3; ++i) calls.Window(100, false);
  for (int i = 0; i < 8; ++i) calls.Window(5000, true);
  ASSERT_EQ(calls.foreground.Share(), kShareMin);
  EXPECT_EQ(calls.PauseAfter(100'000, [] { return true; }), 0u);
  EXPECT_LE(calls.PauseAfter(100'000), Foreground::kForgottenMicros) << "not the 1.5 seconds that the share asks for";
  EXPECT_EQ(calls.PauseAfter(100'000), 0u);
}

TEST(ForegroundTest, SamplesOneCallInSampleEvery) {
  int sampled = 0;
  for (std::uint32_t i = 0; i < 10 * Foreground::kSampleEvery; ++i) sampled += Foreground::IsSampled() ? 1 : 0;
  EXPECT_EQ(sampled, 10);
}

}  // namespace
}  // namespace cambium::testing
