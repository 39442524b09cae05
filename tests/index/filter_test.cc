#include "index/filter.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "testing/seed.h"
#include "util/coding.h"
#include "util/prng.h"

namespace cambium {
namespace {

std::string KeyOf(std::uint64_t i) { return "key " + std::to_string(i); }

Filter ParseOrDie(const std::string& bytes) {
  Result<Filter> filter = Filter::Parse(bytes);
  EXPECT_TRUE(filter.ok()) << filter.status().ToString();
  return std::move(filter).value();
}

// The one error a filter must never make, for every size from no keys to many blocks, and every number of bits per key.
TEST(FilterTest, NeverDeniesAnAddedKey) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xf117);
  Prng prng(seed);
  for (const unsigned bits_per_key : {1u, 2u, 5u, 10u, 16u, 24u, 25u, 64u}) {
    for (const std::uint64_t keys : {1u, 2u, 51u, 52u, 1000u, 10007u}) {
      for (const std::uint64_t expected : {std::uint64_t{0}, keys, keys / 3 + 1, keys * 5}) {
        FilterBuilder builder(bits_per_key, expected);
        std::vector<std::string> added;
        for (std::uint64_t i = 0; i < keys; ++i) {
          added.push_back(prng.Bytes(prng.Uniform(30)));
          builder.Add(added.back());
        }
        const Filter filter = ParseOrDie(builder.Finish());
        for (const std::string& key : added) ASSERT_TRUE(filter.MayContain(Slice(key)));
      }
    }
  }
}

// 10 bits per key, 10^5 keys and 10^5 lookups of absent keys: at most 1.5 % false positives. Also checks that the
// filter takes the requested bits and less than two cache lines more.
TEST(FilterTest, FalsePositiveRateIsAtMostOneAndAHalfPercent) {
  constexpr std::uint64_t kKeys = 100000;
  for (const bool known : {false, true}) {
    FilterBuilder builder(10, known ? kKeys : 0);
    for (std::uint64_t i = 0; i < kKeys; ++i) builder.Add(KeyOf(i));
    const std::string bytes = builder.Finish();
    EXPECT_GE(bytes.size(), kKeys * 10 / 8);
    EXPECT_LT(bytes.size(), kKeys * 10 / 8 + 2 * kFilterBlockSize);
    const Filter filter = ParseOrDie(bytes);
    EXPECT_GE(filter.memory_bytes(), bytes.size() - kFilterTrailerSize);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = kKeys; i < 2 * kKeys; ++i) wrong += filter.MayContain(Slice(KeyOf(i))) ? 1 : 0;
    std::printf("false answers: %.3f %%\n", 100.0 * static_cast<double>(wrong) / kKeys);
    EXPECT_LE(wrong, kKeys * 15 / 1000);
    EXPECT_GT(wrong, 0u);
  }
}

// Up to 24, more bits per key must give fewer false positives.
TEST(FilterTest, MoreBitsGiveFewerFalsePositives) {
  constexpr std::uint64_t kKeys = 20000;
  std::uint64_t before = kKeys;
  for (const unsigned bits_per_key : {2u, 5u, 10u, 15u}) {
    FilterBuilder builder(bits_per_key);
    for (std::uint64_t i = 0; i < kKeys; ++i) builder.Add(KeyOf(i));
    const Filter filter = ParseOrDie(builder.Finish());
    std::uint64_t wrong = 0;
    for (std::uint64_t i = kKeys; i < 2 * kKeys; ++i) wrong += filter.MayContain(Slice(KeyOf(i))) ? 1 : 0;
    EXPECT_LT(wrong * 2, before);
    before = wrong;
  }
}

TEST(FilterTest, EmptyFilterDeniesEverything) {
  FilterBuilder builder(10);
  const Filter filter = ParseOrDie(builder.Finish());
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_FALSE(filter.MayContain(Slice(KeyOf(i))));
}

TEST(FilterTest, BuilderIsEmptyAfterFinish) {
  FilterBuilder builder(10, 1000);
  for (std::uint64_t i = 0; i < 1000; ++i) builder.Add(KeyOf(i));
  static_cast<void>(builder.Finish());
  builder.Add("only this");
  const std::string bytes = builder.Finish();
  EXPECT_EQ(bytes.size(), kFilterBlockSize + kFilterTrailerSize);
  EXPECT_TRUE(ParseOrDie(bytes).MayContain(Slice("only this")));
}

// Pins the format: filters on disk must keep their meaning.
TEST(FilterTest, EncodedBytesAreStable) {
  FilterBuilder builder(10);
  for (std::uint64_t i = 0; i < 1000; ++i) builder.Add(KeyOf(i));
  const std::string bytes = builder.Finish();
  EXPECT_EQ(bytes.size(), 20u * 64 + 8);
  EXPECT_EQ(Slice(bytes).substr(20 * 64, 8).ToString(true), "1400000006000000");
  EXPECT_EQ(Checksum64(bytes, 0), 7865486755370892200u);
}

TEST(FilterTest, MalformedFilterIsCorruption) {
  FilterBuilder builder(10);
  for (std::uint64_t i = 0; i < 500; ++i) builder.Add(KeyOf(i));
  const std::string good = builder.Finish();
  ASSERT_TRUE(Filter::Parse(good).ok());
  for (std::size_t size = 0; size < good.size(); ++size) {
    // Also cut at the front, so that the trailer stays whole.
    EXPECT_TRUE(Filter::Parse(Slice(good).substr(0, size)).status().IsCorruption());
    EXPECT_TRUE(Filter::Parse(Slice(good).substr(good.size() - size, size)).status().IsCorruption());
  }
  const auto with = [&](std::size_t back, std::uint32_t value) {
    std::string bad = good;
    EncodeFixed<std::uint32_t>(bad.data() + bad.size() - back, value);
    return Filter::Parse(bad).status().IsCorruption();
  };
  EXPECT_TRUE(with(8, 0));
  EXPECT_TRUE(with(8, 11));
  EXPECT_TRUE(with(8, 0xffffffffu));
  EXPECT_TRUE(with(4, 0));
  EXPECT_TRUE(with(4, kFilterProbesMax + 1));
  EXPECT_TRUE(with(4, 0x100 + 6));  // these zeros are reserved for later formats
  EXPECT_FALSE(with(4, kFilterProbesMax));
}

}  // namespace
}  // namespace cambium
