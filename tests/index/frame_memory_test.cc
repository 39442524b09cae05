// FrameMemory: blocks do not overlap, and memory that is not used goes back to the system.
#include "index/frame_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"
#include "util/sanitizer.h"

namespace cambium {
namespace {

constexpr const char* kNoRegions =
    "SKIPPED under AddressSanitizer: FrameMemory takes each block from its allocator there, which checks the ends of "
    "blocks, and has no regions to measure; builds without it measure them";

constexpr bool kHasRegions = !kUnderAddressSanitizer;

struct Block {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::uint8_t mark = 0;

  [[nodiscard]] bool IsIntact() const {
    return std::all_of(bytes, bytes + size, [this](char c) { return static_cast<std::uint8_t>(c) == mark; });
  }
};

TEST(FrameMemoryTest, BlocksOfAllSizesKeepTheirBytes) {
  FrameMemory memory;
  const std::uint64_t seed = testing::SeedFromEnvironment(3);
  Prng prng(seed);
  std::vector<Block> blocks;
  for (std::uint64_t i = 0; i < testing::ScaledCount(20'000); ++i) {
    if (prng.OneIn(2) && !blocks.empty()) {
      std::swap(blocks[prng.Uniform(blocks.size())], blocks.back());
      ASSERT_TRUE(blocks.back().IsIntact());
      memory.Free(blocks.back().bytes, blocks.back().size);
      blocks.pop_back();
      continue;
    }
    Block block;
    block.size = prng.OneIn(50) ? prng.Between(60u << 10, 300u << 10) : prng.Between(1, 20'000);
    block.bytes = memory.Allocate(block.size);
    block.mark = static_cast<std::uint8_t>(i);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.bytes) % FrameMemory::kAlignment, 0u);
    std::memset(block.bytes, block.mark, block.size);
    blocks.push_back(block);
  }
  for (const Block& block : blocks) {
    EXPECT_TRUE(block.IsIntact());
    memory.Free(block.bytes, block.size);
  }
  EXPECT_LE(memory.held_bytes(), 1u << 20);
}

TEST(FrameMemoryTest, HoldsLittleMoreMemoryThanAllocated) {
  if (!kHasRegions) GTEST_SKIP() << kNoRegions;
  FrameMemory memory;
  std::vector<char*> blocks;
  for (int i = 0; i < 10'000; ++i) blocks.push_back(memory.Allocate(4096));
  EXPECT_LE(memory.held_bytes(), std::size_t{10'000} * 4096 + (2u << 20));
  // Freed in the order of their allocation, as the clock of a pool evicts them.
  for (int i = 0; i < 9000; ++i) memory.Free(blocks[static_cast<std::size_t>(i)], 4096);
  EXPECT_LE(memory.held_bytes(), std::size_t{1000} * 4096 + (3u << 20));
  for (std::size_t i = 9000; i < 10'000; ++i) memory.Free(blocks[i], 4096);
  EXPECT_LE(memory.held_bytes(), 1u << 20);
}

TEST(FrameMemoryTest, FreedBlocksAreUsedFirst) {
  if (!kHasRegions) GTEST_SKIP() << kNoRegions;
  FrameMemory memory;
  std::vector<char*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(memory.Allocate(4000));
  const std::size_t held = memory.held_bytes();
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = static_cast<std::size_t>(round) % 2; i < blocks.size(); i += 2) memory.Free(blocks[i], 4000);
    for (std::size_t i = static_cast<std::size_t>(round) % 2; i < blocks.size(); i += 2)
      blocks[i] = memory.Allocate(4000);
  }
  EXPECT_EQ(memory.held_bytes(), held);
  for (char* const block : blocks) memory.Free(block, 4000);
}

TEST(FrameMemoryTest, EmptyRegionIsReusedForAnotherSize) {
  if (!kHasRegions) GTEST_SKIP() << kNoRegions;
  FrameMemory memory;
  char* block = memory.Allocate(512);
  memory.Free(block, 512);
  const std::size_t held = memory.held_bytes();
  block = memory.Allocate(16'000);
  EXPECT_EQ(memory.held_bytes(), held);
  memory.Free(block, 16'000);
}

}  // namespace
}  // namespace cambium
