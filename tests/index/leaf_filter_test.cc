#include "index/leaf_filter.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "index/filter.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

std::uint64_t HashOf(std::uint64_t i) { return FilterHash("key " + std::to_string(i)); }

std::vector<std::uint64_t> HashesOf(std::uint64_t from, std::uint64_t count) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < count; ++i) hashes.push_back(HashOf(from + i));
  return hashes;
}

// From one word to many, where windows of words wrap around.
TEST(LeafFilterTest, NeverDeniesAKeyThatWasAdded) {
  for (const unsigned bits_per_key : {1u, 5u, 10u, 24u, 64u}) {
    for (const std::uint64_t keys : {1u, 2u, 7u, 33u, 51u, 190u, 1365u}) {
      const std::vector<std::uint64_t> hashes = HashesOf(keys * 10'000, keys);
      const std::string words = MakeLeafFilter(hashes, bits_per_key);
      EXPECT_EQ(words.size(), (keys * bits_per_key + 63) / 64 * 8);
      const LeafFilter filter{words, FilterProbesFor(bits_per_key)};
      for (const std::uint64_t hash : hashes) ASSERT_TRUE(filter.MayContain(hash));
    }
  }
}

// Leaves of 100-byte values, and of addresses: 10 bits a key, at most 2 keys in 100 are let through that are not there.
TEST(LeafFilterTest, LetsTwoInAHundredThroughAtMost) {
  for (const std::uint64_t keys : {33u, 190u}) {
    std::uint64_t wrong = 0;
    std::uint64_t asked = 0;
    for (std::uint64_t leaf = 0; leaf < 200; ++leaf) {
      const std::string words = MakeLeafFilter(HashesOf(leaf * 1'000'000, keys), 10);
      const LeafFilter filter{words, FilterProbesFor(10)};
      for (std::uint64_t i = 0; i < 1000; ++i, ++asked) {
        wrong += filter.MayContain(HashOf(leaf * 1'000'000 + 500'000 + i)) ? 1 : 0;
      }
    }
    std::printf("%llu keys, false answers: %.2f %%\n", static_cast<unsigned long long>(keys),
                100.0 * static_cast<double>(wrong) / static_cast<double>(asked));
    EXPECT_LE(wrong * 100, asked * 2);
    EXPECT_GT(wrong, 0u);
  }
}

TEST(LeafFilterTest, WithoutWordsItDeniesNothing) {
  EXPECT_TRUE(MakeLeafFilter({}, 10).empty());
  EXPECT_TRUE(LeafFilter().MayContain(HashOf(1)));
}

// Pins the format: filters on disk must mean the same for ever.
TEST(LeafFilterTest, BytesStayTheSame) {
  const std::string words = MakeLeafFilter(HashesOf(0, 100), 10);
  EXPECT_EQ(words.size(), 16u * 8);
  EXPECT_EQ(Checksum64(words, 0), 18128328335513989428u);
}

}  // namespace
}  // namespace cambium
