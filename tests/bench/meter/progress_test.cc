// The text of progress lines.
#include "meter/progress.h"

#include <gtest/gtest.h>

namespace cambium::bench {
namespace {

using std::chrono::seconds;

TEST(ProgressTest, EstimateUsesTheMeanOfEarlierTurns) {
  TurnCount turns;
  turns.Expect(3);  // two runs of a preset
  turns.Expect(1);
  const TurnCount::Time begin{};
  EXPECT_EQ(turns.Begin(begin), ", turn 1 of 4") << "nothing is known yet";
  EXPECT_EQ(turns.Begin(begin + seconds(20)), ", turn 2 of 4, about 60 s left");
  EXPECT_EQ(turns.Begin(begin + seconds(180)), ", turn 3 of 4, about 3 min left");
  EXPECT_EQ(turns.Begin(begin + seconds(36000)), ", turn 4 of 4, about 3.3 h left");
}

TEST(ProgressTest, SingleTurnHasNoNumber) {
  TurnCount turns;
  turns.Expect(1);
  EXPECT_EQ(turns.Begin({}), "");
}

TEST(ProgressTest, LongTimesAreRounded) {
  EXPECT_EQ(RoughTime(0.4), "0 s");
  EXPECT_EQ(RoughTime(89), "89 s");
  EXPECT_EQ(RoughTime(90), "2 min");
  EXPECT_EQ(RoughTime(5399), "90 min");
  EXPECT_EQ(RoughTime(5400), "1.5 h");
}

}  // namespace
}  // namespace cambium::bench
