#include "index/branch_filter.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

constexpr unsigned kProbes = FilterProbesFor(10);

std::uint64_t HashOf(std::uint64_t i) { return FilterHash("key " + std::to_string(i)); }

BranchFilter ViewOf(const BranchFilterBuilder& builder) {
  return {builder.blocks().data(), static_cast<std::uint32_t>(builder.blocks().size() / kFilterBlockSize),
          builder.keys(), kProbes};
}

BranchFilterBuilder Filled(std::uint32_t blocks, std::uint64_t from, std::uint64_t count) {
  BranchFilterBuilder builder(blocks, kProbes);
  for (std::uint64_t i = 0; i < count; ++i) builder.Add(HashOf(from + i));
  return builder;
}

unsigned FalseAnswersIn1000(const BranchFilterBuilder& builder) {
  unsigned wrong = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) wrong += ViewOf(builder).MayContain(HashOf(1'000'000'000 + i)) ? 1 : 0;
  return wrong;
}

TEST(BranchFilterTest, ContainsAddedKeysAndFewOthers) {
  for (const std::uint32_t blocks : {1u, 2u, 16u, 128u}) {
    const std::uint64_t keys = blocks * 51;  // 10 bits each
    const BranchFilterBuilder builder = Filled(blocks, 0, keys);
    for (std::uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(ViewOf(builder).MayContain(HashOf(i)));
    const unsigned wrong = FalseAnswersIn1000(builder);
    std::printf("%u blocks: %u of 1000 wrong\n", blocks, wrong);
    EXPECT_LE(wrong, 30u);
  }
}

TEST(BranchFilterTest, CountsAKeyOnce) {
  BranchFilterBuilder builder = Filled(64, 0, 1000);
  EXPECT_LE(builder.keys(), 1000u);
  EXPECT_GE(builder.keys(), 990u) << "a few count as added before";
  const std::uint32_t before = builder.keys();
  for (std::uint64_t i = 0; i < 1000; ++i) builder.Add(HashOf(i));
  EXPECT_EQ(builder.keys(), before);
}

// A filter is added to one of another size: the result contains all keys of both. Adding to a larger filter costs no
// accuracy; adding to a smaller one costs no more than adding the keys one by one.
TEST(BranchFilterTest, FiltersOfAllSizesCanBeCombined) {
  for (std::uint32_t from = 1; from <= 128; from *= 2) {
    for (std::uint32_t to = 1; to <= 128; to *= 2) {
      const std::uint64_t keys = std::min(from, to) * 20;
      const BranchFilterBuilder source = Filled(from, 0, keys);
      BranchFilterBuilder target = Filled(to, 100'000, keys);
      target.AddFilter(source.blocks(), source.keys());
      for (std::uint64_t i = 0; i < keys; ++i) {
        ASSERT_TRUE(ViewOf(target).MayContain(HashOf(i))) << from << " to " << to;
        ASSERT_TRUE(ViewOf(target).MayContain(HashOf(100'000 + i)));
      }
      EXPECT_GE(target.keys(), source.keys() + keys * 9 / 10);
      EXPECT_LE(FalseAnswersIn1000(target), 30u) << from << " to " << to;
    }
  }
}

TEST(BranchFilterTest, EmptyFilterMayContainAnyKey) { EXPECT_TRUE(BranchFilter().MayContain(HashOf(1))); }

// Pins the format: filters on disk must keep their meaning.
TEST(BranchFilterTest, EncodedBytesAreStable) {
  EXPECT_EQ(Checksum64(Filled(4, 0, 200).blocks(), 0), 7216215157005673887u);
  EXPECT_EQ(Filled(4, 0, 200).keys(), 199u) << "one counts as added before";
}

}  // namespace
}  // namespace cambium
