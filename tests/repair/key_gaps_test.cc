#include "repair/key_gaps.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/prng.h"

namespace cambium {
namespace {

TEST(KeyGapsTest, BoundsAreIncluded) {
  KeyGaps gaps(BytewiseComparator());
  EXPECT_TRUE(gaps.empty());
  gaps.Add("c", "e");
  EXPECT_FALSE(gaps.empty());
  EXPECT_FALSE(gaps.Contains("b"));
  EXPECT_TRUE(gaps.Contains("c"));
  EXPECT_TRUE(gaps.Contains("e"));
  EXPECT_FALSE(gaps.Contains("e0"));
}

TEST(KeyGapsTest, AbsentBoundIsUnbounded) {
  KeyGaps gaps(ReverseBytewiseComparator());
  gaps.Add("t", std::nullopt);
  EXPECT_TRUE(gaps.Contains("a"));
  EXPECT_FALSE(gaps.Contains("u"));
  gaps.Add(std::nullopt, "x");
  EXPECT_TRUE(gaps.Contains("y"));
  EXPECT_FALSE(gaps.Contains("w"));
  gaps.Add(std::nullopt, std::nullopt);
  EXPECT_TRUE(gaps.Contains("w"));
}

// Compares the gaps with one bool for each of a few keys.
TEST(KeyGapsTest, OverlappingGapsAreJoined) {
  Prng prng(3);
  for (int round = 0; round < 200; ++round) {
    KeyGaps gaps(BytewiseComparator());
    std::vector<bool> truth(40);
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t from = prng.Uniform(40);
      const std::uint64_t to = prng.Uniform(40);
      gaps.Add(std::string(1, static_cast<char>('0' + from)), std::string(1, static_cast<char>('0' + to)));
      for (std::uint64_t key = from; key <= to; ++key) truth[key] = true;
      for (std::size_t key = 0; key < truth.size(); ++key) {
        ASSERT_EQ(gaps.Contains(std::string(1, static_cast<char>('0' + key))), truth[key]) << round << " " << key;
      }
    }
  }
}

}  // namespace
}  // namespace cambium
