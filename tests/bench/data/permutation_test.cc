#include "data/permutation.h"

#include <gtest/gtest.h>

#include <vector>

namespace cambium::bench {
namespace {

TEST(PermutationTest, HitsEveryNumberOnce) {
  for (const std::uint64_t n : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 1000u, 65537u}) {
    const Permutation permutation(n, 11);
    std::vector<bool> seen(n, false);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t at = permutation.At(i);
      ASSERT_LT(at, n);
      ASSERT_FALSE(seen[at]) << n << " at " << i;
      seen[at] = true;
    }
  }
}

TEST(PermutationTest, SeedDecidesTheOrder) {
  const Permutation a(1000, 1);
  const Permutation same(1000, 1);
  const Permutation other(1000, 2);
  int equal = 0;
  int fixed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.At(i), same.At(i));
    equal += a.At(i) == other.At(i) ? 1 : 0;
    fixed += a.At(i) == i ? 1 : 0;
  }
  EXPECT_LT(equal, 20) << "chance makes one of a thousand equal";
  EXPECT_LT(fixed, 20);
}

}  // namespace
}  // namespace cambium::bench
