#include "gc/clustering.h"

#include <gtest/gtest.h>

#include <vector>

namespace cambium::testing {
namespace {

TEST(ClusteringTest, StepEndsAtTheLargestSurplus) {
  EXPECT_EQ(MostWorthwhile({}), nullptr);
  // Three stretches: 100 KiB with 50 jumps, then one with few jumps, then one that barely pays for itself.
  const std::vector<WalkMark> marks = {{100, 100u << 10, 50}, {200, 10u << 20, 60}, {300, 10100u << 10, 1500}};
  EXPECT_EQ(MostWorthwhile(std::span(marks).first(1)), &marks[0]);
  EXPECT_EQ(MostWorthwhile(std::span(marks).first(2)), &marks[0]);
  EXPECT_EQ(MostWorthwhile(marks), &marks[2]);
  const std::vector<WalkMark> cold = {{1000, 64u << 20, 200}};
  EXPECT_EQ(MostWorthwhile(cold), nullptr);
}

TEST(ClusteringTest, StepHasAFixedCost) {
  const std::uint64_t jumps = kBytesOfStep / kBytesOfJump;
  const std::vector<WalkMark> enough = {{1, 0, jumps + 1}};
  const std::vector<WalkMark> too_few = {{1, 0, jumps}};
  EXPECT_NE(MostWorthwhile(enough), nullptr);
  EXPECT_EQ(MostWorthwhile(too_few), nullptr);
  EXPECT_GT(kJumpsOfLook, jumps) << "fewer jumps than this cannot pay for a step";
}

PassFigures Figures(std::uint64_t written, std::uint64_t passed) {
  PassFigures figures;
  figures.max_space_amplification = 2;
  figures.live_bytes = 1000;
  figures.written_bytes = written;
  figures.passed_bytes = passed;
  return figures;
}

TEST(ClusteringTest, PassProgressesWithTheBytesWritten) {
  EXPECT_EQ(WrittenPerPass(2, 1000), 500u);
  EXPECT_EQ(WrittenPerPass(1.5, 1000), 250u);
  EXPECT_EQ(WrittenPerPass(0, 1000), 1000u) << "no ceiling";
  EXPECT_EQ(WrittenPerPass(1, 1000), 1000u / 16);
  EXPECT_FALSE(IsPassDue(Figures(0, 0)));
  EXPECT_TRUE(IsPassDue(Figures(250, 499)));
  EXPECT_FALSE(IsPassDue(Figures(250, 500)));
  EXPECT_TRUE(IsPassDue(Figures(500, 999)));
  PassFigures empty = Figures(500, 0);
  empty.live_bytes = 0;
  EXPECT_FALSE(IsPassDue(empty));
}

TEST(ClusteringTest, PassRunsToItsEndWhenIdle) {
  PassFigures figures = Figures(1000 / 64 + 1, 900);
  EXPECT_FALSE(IsPassDue(figures));
  figures.is_idle = true;
  EXPECT_TRUE(IsPassDue(figures));
  figures.written_bytes = 1000 / 64 - 1;
  EXPECT_FALSE(IsPassDue(figures)) << "too little garbage for a pass over all keys";
}

}  // namespace
}  // namespace cambium::testing
