#include "util/prng.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace cambium {
namespace {

// A seed must give the same numbers on every machine and in every later version; otherwise failures do not repeat.
TEST(PrngTest, NumbersOfASeedAreStable) {
  Prng prng(0);
  EXPECT_EQ(prng.Next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(prng.Next(), 0xbf6e1f784956452au);
  Prng again(0);
  Prng other(1);
  EXPECT_EQ(again.Next(), 0x99ec5f36cb75f2b4u);
  EXPECT_NE(other.Next(), 0x99ec5f36cb75f2b4u);
}

// 100,000 draws of 10 values: each count is within 5 standard deviations (of 95, for p = 0.1) of its share.
TEST(PrngTest, UniformIsEven) {
  Prng prng(42);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts[prng.Uniform(counts.size())];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 475);
}

TEST(PrngTest, RangesIncludeTheirEnds) {
  Prng prng(7);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(prng.Between(5, 8));
  EXPECT_EQ(seen, (std::set<std::uint64_t>{5, 6, 7, 8}));
  for (int i = 0; i < 1000; ++i) {
    const double d = prng.NextDouble();
    EXPECT_GE(d, 0.0);
    EXPECT_LT(d, 1.0);
    EXPECT_LT(prng.Skewed(10), 1024u);
    EXPECT_EQ(prng.Uniform(1), 0u);
  }
}

TEST(PrngTest, BytesTakeEveryValue) {
  Prng prng(9);
  const std::string bytes = prng.Bytes(20'000);
  EXPECT_EQ(std::set<char>(bytes.begin(), bytes.end()).size(), 256u);
  EXPECT_TRUE(prng.Bytes(0).empty());
}

}  // namespace
}  // namespace cambium
