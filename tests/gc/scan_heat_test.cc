#include "gc/scan_heat.h"

#include <gtest/gtest.h>

#include <numeric>

namespace cambium::testing {
namespace {

constexpr std::uint64_t kHour = 3'600'000'000;
constexpr std::uint64_t kLeast = 10;

std::string Key(int i) {
  std::string digits = std::to_string(i);
  return "k" + std::string(6 - digits.size(), '0') + digits;
}

// Adds a scan that reached the last key.
bool Add(ScanHeat* heat, Slice from, std::uint64_t jumps) { return heat->Add(from, nullptr, jumps, kLeast); }

std::uint64_t Sum(const std::vector<HeatMark>& marks) {
  return std::accumulate(marks.begin(), marks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const HeatMark& mark) { return sum + mark.jumps; });
}

TEST(ScanHeatTest, MarksBeginAtTheHottest) {
  ScanHeat heat(BytewiseComparator());
  EXPECT_TRUE(heat.FromHottest(0).empty());
  EXPECT_FALSE(heat.IsLookDue(0)) << "there are no jumps";
  EXPECT_FALSE(Add(&heat, "b", 3));
  EXPECT_FALSE(Add(&heat, "g", 4));
  EXPECT_FALSE(Add(&heat, "f", 2));
  EXPECT_TRUE(Add(&heat, "f", 5));
  EXPECT_TRUE(heat.IsLookDue(kLeast));
  const std::vector<HeatMark> marks = heat.FromHottest(0);
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[0].key, "f");
  EXPECT_EQ(marks[0].jumps, 7u);
  EXPECT_EQ(marks[1].key, "g");
}

TEST(ScanHeatTest, ScanHeatsNothingBeyondItsEnd) {
  for (const bool backward : {false, true}) {
    ScanHeat heat(BytewiseComparator());
    const Slice low("d");
    const Slice high("m");
    EXPECT_TRUE(heat.Add(backward ? high : low, backward ? &low : &high, 20, kLeast));
    const std::vector<HeatMark> marks = heat.FromHottest(0);
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_EQ(marks[0].key, "d");
    EXPECT_EQ(marks[0].jumps, 20u);
    EXPECT_EQ(marks[1].key, "m");
    EXPECT_EQ(marks[1].jumps, 0u);
  }
}

TEST(ScanHeatTest, ForgetDropsTheRange) {
  ScanHeat heat(BytewiseComparator());
  for (const char* const key : {"a", "b", "c", "d"}) static_cast<void>(Add(&heat, key, 10));
  const Slice end("d");
  heat.Forget("b", &end);
  EXPECT_TRUE(heat.IsLookDue(20));
  EXPECT_FALSE(heat.IsLookDue(21));
  heat.Forget("b", nullptr);
  EXPECT_FALSE(heat.IsLookDue(11));
  EXPECT_EQ(heat.FromHottest(0).size(), 1u);
}

TEST(ScanHeatTest, FruitlessLookDoublesTheThreshold) {
  ScanHeat heat(BytewiseComparator());
  EXPECT_TRUE(Add(&heat, "a", 16));
  heat.ReportNoWork();
  EXPECT_FALSE(heat.IsLookDue(kLeast));
  EXPECT_FALSE(Add(&heat, "b", 15));
  EXPECT_TRUE(Add(&heat, "b", 1));
  heat.ReportNoWork();
  heat.Forget("a", nullptr);
  EXPECT_FALSE(Add(&heat, "c", 63)) << "the range was forgotten, but the doubled threshold stays";
  heat.ReportWork();
  EXPECT_TRUE(heat.IsLookDue(kLeast));
}

TEST(ScanHeatTest, JoinedMarksLoseNoJump) {
  ScanHeat heat(BytewiseComparator());
  constexpr int kScans = 20'000;
  for (int i = 0; i < kScans; ++i) static_cast<void>(Add(&heat, Key(i * 7919 % kScans), 1 + (i % 2)));
  static_cast<void>(Add(&heat, "a", kScans));
  const std::vector<HeatMark> marks = heat.FromHottest(0);
  EXPECT_EQ(marks.front().key, "a");
  EXPECT_EQ(Sum(marks), std::uint64_t{kScans} + kScans * 3 / 2);
  EXPECT_LE(marks.size(), ScanHeat::kMarksMax);
  EXPECT_GE(marks.size(), ScanHeat::kMarksMax / 2);
}

TEST(ScanHeatTest, MemoryOfLongKeysIsBounded) {
  ScanHeat heat(BytewiseComparator());
  for (int i = 0; i < 1000; ++i) static_cast<void>(Add(&heat, Key(i) + std::string(16u << 10, 'x'), 1));
  static_cast<void>(Add(&heat, "a", 5000));
  const std::vector<HeatMark> marks = heat.FromHottest(0);
  std::size_t bytes = 0;
  for (const HeatMark& mark : marks) bytes += mark.key.size();
  EXPECT_LE(bytes, ScanHeat::kKeyBytesMax + (16u << 10));
  EXPECT_EQ(Sum(marks), 6000u);
}

TEST(ScanHeatTest, JumpsAreHalvedWithTime) {
  ScanHeat heat(BytewiseComparator());
  static_cast<void>(Add(&heat, "a", 100));
  EXPECT_EQ(heat.FromHottest(5 * kHour).front().jumps, 100u) << "the first look starts the clock";
  EXPECT_EQ(heat.FromHottest(6 * kHour - 1).front().jumps, 100u);
  EXPECT_EQ(heat.FromHottest(6 * kHour).front().jumps, 50u);
  EXPECT_FALSE(heat.IsLookDue(51));
  // The clock jumps back.
  EXPECT_EQ(heat.FromHottest(0).front().jumps, 50u);
  EXPECT_EQ(heat.FromHottest(1).front().jumps, 50u);
  EXPECT_EQ(Sum(heat.FromHottest(1000 * 1000 * kHour)), 0u);
  EXPECT_FALSE(heat.IsLookDue(0));
}

TEST(ScanHeatTest, FollowsTheComparator) {
  ScanHeat heat(ReverseBytewiseComparator());
  static_cast<void>(Add(&heat, "a", 1));
  static_cast<void>(Add(&heat, "c", 3));
  static_cast<void>(Add(&heat, "b", 2));
  const std::vector<HeatMark> marks = heat.FromHottest(0);
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[2].key, "a");
  const Slice end("a");
  heat.Forget("b", &end);
  EXPECT_EQ(heat.FromHottest(0).size(), 2u);
}

}  // namespace
}  // namespace cambium::testing
