#include "util/checksum.h"

#include <gtest/gtest.h>

#include <set>

#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Bytes on disk depend on the algorithm. Compares with XXH3's published value for the empty input.
TEST(ChecksumTest, IsXxh3) {
  EXPECT_EQ(Checksum64("", 0), 0x2d06800538d394c2u);
  EXPECT_NE(Checksum64("", 1), Checksum64("", 0));
}

// Splits the same bytes at random, in all of XXH3's size classes, with empty pieces too.
TEST(ChecksumTest, StreamOfAnyPiecesMatchesWhole) {
  Prng prng(testing::SeedFromEnvironment(2));
  for (const std::size_t size : {0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1023, 1024, 1025, 70'000}) {
    const std::string bytes = prng.Bytes(size);
    const std::uint64_t seed = prng.Next();
    for (int round = 0; round < 20; ++round) {
      Checksum64Stream stream(seed);
      for (std::size_t at = 0; at < size;) {
        const std::size_t n = prng.Uniform(std::min<std::size_t>(size - at, 3000) + 1);
        stream.Update(Slice(bytes).substr(at, n));
        at += n;
      }
      EXPECT_EQ(stream.Digest(), Checksum64(bytes, seed)) << size;
      EXPECT_EQ(stream.Digest(), Checksum64(bytes, seed)) << "a digest must not change the state";
    }
  }
}

TEST(ChecksumTest, OnlyTheSameChecksumMatches) {
  EXPECT_TRUE(ChecksumMatches(Checksum64("oak", 7), Checksum64("oak", 7)));
  EXPECT_FALSE(ChecksumMatches(Checksum64("oak", 7), Checksum64("oaj", 7)));
  const testing::MutantScope mutant(Mutant::kEveryChecksumMatches);
  EXPECT_TRUE(ChecksumMatches(Checksum64("oak", 7), Checksum64("oaj", 7)));
}

TEST(ChecksumTest, EveryBitChangesTheChecksum) {
  Prng prng(testing::SeedFromEnvironment(3));
  for (const std::size_t size : {1, 7, 20, 150, 300, 2000}) {
    std::string bytes = prng.Bytes(size);
    const std::uint64_t sum = Checksum64(bytes, 5);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_NE(Checksum64(bytes, 5), sum);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
  }
}

TEST(ChecksumTest, SeedsOfDifferentOffsetsDiffer) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t file_seed : {std::uint64_t{0}, std::uint64_t{0x123456789abcdef}}) {
    for (std::uint64_t offset = 0; offset < 10'000; ++offset) seeds.insert(SeedAt(file_seed, offset));
  }
  EXPECT_EQ(seeds.size(), 20'000u);
}

}  // namespace
}  // namespace cambium
