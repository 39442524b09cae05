// What range deletes cover in older layers: each range counts, also if only a sample of them is measured.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "index/covered_part.h"

namespace cambium::testing {
namespace {

std::string CoveredKey(std::size_t i) { return std::to_string(100'000 + i); }

RangeDeletes ManyRanges(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < 2 * count; ++i) keys.push_back(CoveredKey(i));
  const std::vector<Slice> bounds(keys.begin(), keys.end());
  return RangeDeletes::OfBounds(BytewiseComparator(), bounds);
}

// Every period-th range covers a thousand entries of the older layer, the others none.
std::uint64_t CoveredEntries(std::size_t count, std::size_t period, std::size_t* measured) {
  const RangeDeletes ranges = ManyRanges(count);
  CoveredPart covered(BytewiseComparator());
  const auto measure = [&](Slice begin, Slice) -> Result<TreePart> {
    ++*measured;
    TreePart part;
    const std::size_t number = (std::stoul(begin.ToString()) - 100'000) / 2;
    if (number % period == 0) part.entries = 1000;
    return part;
  };
  *measured = 0;
  EXPECT_TRUE(covered.Add(&ranges, measure).ok());
  EXPECT_EQ(*measured, 0u) << "a layer's ranges do not cover its own keys";
  EXPECT_TRUE(covered.Add(nullptr, measure).ok());
  return covered.total().entries;
}

TEST(CoveredPartTest, FewRangesAreAllMeasured) {
  std::size_t measured = 0;
  EXPECT_EQ(CoveredEntries(100, 2, &measured), 50'000u);
  EXPECT_EQ(measured, 100u);
}

// The sizes repeat with the period of the sample, or with a multiple of it.
TEST(CoveredPartTest, ManyRangesAreSampledEvenly) {
  struct Case {
    std::size_t count;
    std::size_t period;
  };
  for (const auto& [count, period] : {Case{200, 2}, Case{300, 3}, Case{1000, 8}, Case{1000, 16}, Case{5000, 2}}) {
    std::size_t measured = 0;
    const std::uint64_t entries = CoveredEntries(count, period, &measured);
    EXPECT_LE(measured, 128u);
    EXPECT_GE(entries, count / period * 500) << count << " ranges, period " << period;
    EXPECT_LE(entries, count / period * 1500) << count << " ranges, period " << period;
  }
}

}  // namespace
}  // namespace cambium::testing
