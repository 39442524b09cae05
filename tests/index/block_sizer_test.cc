#include "index/block_sizer.h"

#include <gtest/gtest.h>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

using namespace cambium::testing;

constexpr std::size_t kBlock = 16 * 1024;
constexpr std::uint32_t kUnit = 4096;

std::uint64_t UnitsFor(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit; }

TEST(BlockSizerTest, FirstTargetIsTheBlockSize) { EXPECT_EQ(BlockSizer(kBlock, kUnit).target(), kBlock); }

// At each ratio, the target fills the number of units that is nearest to the block size, with a small margin, and stays
// between half and twice the block size.
TEST(BlockSizerTest, FillsWholeUnitsAtEveryRatio) {
  struct Case {
    std::size_t stored_percent;
    std::size_t units;  // that the target should fill; 0: twice the block size limits it first
  };
  for (const Case& c : {Case{87, 3}, Case{75, 3}, Case{62, 2}, Case{50, 2}, Case{40, 2}, Case{36, 1}, Case{25, 1},
                        Case{13, 1}, Case{10, 0}, Case{1, 0}}) {
    BlockSizer sizer(kBlock, kUnit);
    sizer.Observe(kBlock, kBlock * c.stored_percent / 100);
    EXPECT_GE(sizer.target(), kBlock / 2);
    EXPECT_LE(sizer.target(), kBlock * 2);
    const std::size_t stored = sizer.target() * c.stored_percent / 100;
    if (c.units == 0) {
      EXPECT_EQ(sizer.target(), kBlock * 2) << c.stored_percent;
      continue;
    }
    EXPECT_EQ(UnitsFor(stored), c.units) << c.stored_percent;
    EXPECT_GT(stored, c.units * kUnit * 95 / 100) << c.stored_percent;
  }
}

TEST(BlockSizerTest, IncompressibleLeavesTakeTheBlockSizeInWholeUnits) {
  for (const std::size_t block : {kBlock, kBlock + 1, kBlock + kUnit - 1}) {
    BlockSizer sizer(block, kUnit);
    sizer.Observe(kBlock, kBlock / 3);
    ASSERT_NE(sizer.target(), kBlock);
    sizer.Observe(kBlock, kBlock);
    EXPECT_EQ(sizer.target(), kBlock);
  }
}

// The ratio varies randomly by several per cent from leaf to leaf. The waste must stay far below half a unit per leaf.
TEST(BlockSizerTest, WastesLittleWhenRatiosVary) {
  Prng prng(SeedFromEnvironment(51));
  for (const std::uint64_t percent : {15, 25, 33, 42, 50, 60, 70, 80}) {
    for (const std::uint64_t spread : {0, 1, 4}) {
      BlockSizer sizer(kBlock, kUnit);
      std::uint64_t used = 0;
      std::uint64_t units = 0;
      for (int leaf = 0; leaf < 5000; ++leaf) {
        // In 1/1000, symmetric around 10 * percent.
        const std::uint64_t ratio = percent * (1000 - 10 * spread + prng.Uniform(20 * spread + 1)) / 100;
        const std::uint64_t stored = sizer.target() * ratio / 1000;
        used += stored;
        units += UnitsFor(stored);
        sizer.Observe(sizer.target(), stored);
      }
      const std::uint64_t filler_percent = 100 * (units * kUnit - used) / used;
      EXPECT_LE(filler_percent, 3 + 2 * spread) << percent << " % with a spread of " << spread;
    }
  }
}

// For any ratios, even extreme ones, the target stays in its range, and nothing overflows.
TEST(BlockSizerTest, TargetStaysInRangeForAnyObservation) {
  Prng prng(SeedFromEnvironment(52));
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t unit = 512u << prng.Uniform(6);
    const std::size_t block = prng.Between(2 * unit, 32 * unit);
    BlockSizer sizer(block, unit);
    for (int leaf = 0; leaf < 100; ++leaf) {
      const std::size_t raw = prng.Between(1, 64 * unit);
      sizer.Observe(raw, prng.OneIn(5) ? raw : prng.Uniform(raw) + 1);
      ASSERT_GE(sizer.target(), block / 2);
      ASSERT_LE(sizer.target(), block * 2);
    }
  }
}

}  // namespace
}  // namespace cambium
