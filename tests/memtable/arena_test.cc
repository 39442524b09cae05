#include "memtable/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Counts the arena's allocations, and fails them if `refuse` is set.
int allocations = 0;
bool refuse = false;
void* CountingAllocate(std::size_t bytes) {
  if (refuse) return nullptr;
  ++allocations;
  return std::aligned_alloc(Arena::kChunkAlignment, bytes);
}

class ArenaTest : public ::testing::Test {
 protected:
  ArenaTest() {
    allocations = 0;
    refuse = false;
  }
  Arena arena_{&CountingAllocate};
};

TEST_F(ArenaTest, AllocatesNothingBeforeAReserve) {
  EXPECT_EQ(arena_.used_bytes(), 0u);
  ASSERT_TRUE(arena_.Reserve(0).ok());
  EXPECT_EQ(allocations, 0);
}

// For any sizes of pieces, and any fill of the current chunk: a reserved piece needs no allocation, overlaps no other
// (each is filled with a byte of its own), and lines are aligned.
TEST_F(ArenaTest, ReservedPiecesNeedNoAllocationAndDoNotOverlap) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xa7e);
  Prng prng(seed);
  struct Piece {
    char* data;
    std::size_t size;
    char fill;
  };
  std::vector<Piece> pieces;
  std::size_t taken = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t reserved = prng.Skewed(prng.OneIn(50) ? 17 : 11);
    ASSERT_TRUE(arena_.Reserve(reserved).ok());
    const int allocations_before = allocations;
    for (std::size_t left = reserved; left > 0;) {
      Piece piece{nullptr, 1 + prng.Uniform(left), static_cast<char>(prng.Next())};
      if (prng.OneIn(2) && piece.size >= Arena::kCacheLine) {
        piece.size = piece.size / Arena::kCacheLine * Arena::kCacheLine;
        piece.data = static_cast<char*>(arena_.TakeLines(piece.size));
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(piece.data) % Arena::kCacheLine, 0u);
      } else {
        piece.data = arena_.TakeBytes(piece.size);
      }
      std::memset(piece.data, piece.fill, piece.size);
      taken += piece.size;
      left -= piece.size;
      pieces.push_back(piece);
      if (prng.OneIn(8)) break;  // some reserves are not used up
    }
    ASSERT_EQ(allocations, allocations_before);
  }
  EXPECT_EQ(arena_.used_bytes(), taken);
  for (const Piece& piece : pieces) {
    for (std::size_t i = 0; i < piece.size; ++i) ASSERT_EQ(piece.data[i], piece.fill);
  }
}

TEST_F(ArenaTest, ShortMemoryIsAbortedAndChangesNothing) {
  ASSERT_TRUE(arena_.Reserve(100).ok());
  static_cast<void>(arena_.TakeBytes(60));
  refuse = true;
  EXPECT_TRUE(arena_.Reserve(std::size_t{1} << 20).IsAborted());
  EXPECT_EQ(arena_.used_bytes(), 60u);
  // The earlier Reserve still holds, and one that fits needs no allocation.
  EXPECT_TRUE(arena_.Reserve(40).ok());
  static_cast<void>(arena_.TakeBytes(40));
  refuse = false;
  EXPECT_TRUE(arena_.Reserve(std::size_t{1} << 20).ok());
  static_cast<void>(arena_.TakeLines(std::size_t{1} << 20));
  EXPECT_EQ(arena_.used_bytes(), 100u + (std::size_t{1} << 20));
}

// A larger Reserve that fails must not cost the smaller one that already has a spare chunk.
TEST_F(ArenaTest, FailedLargerReserveKeepsTheSmallerOne) {
  ASSERT_TRUE(arena_.Reserve(100).ok());
  ASSERT_TRUE(arena_.Reserve(std::size_t{100} << 10).ok());
  refuse = true;
  EXPECT_TRUE(arena_.Reserve(std::size_t{100} << 20).IsAborted());
  EXPECT_TRUE(arena_.Reserve(std::size_t{100} << 10).ok());
  std::memset(arena_.TakeBytes(std::size_t{100} << 10), 1, std::size_t{100} << 10);
}

TEST_F(ArenaTest, AbsurdSizeFailsWithoutAnAllocation) {
  EXPECT_TRUE(arena_.Reserve(SIZE_MAX).IsAborted());
  EXPECT_TRUE(arena_.Reserve(SIZE_MAX / 2).IsAborted());
  EXPECT_EQ(allocations, 0);
}

// Small memtables must stay small: chunks grow with use.
TEST_F(ArenaTest, ChunksGrowFromKibibytesToAHugePage) {
  Arena arena;
  for (int i = 0; i < 100000; ++i) {
    ASSERT_TRUE(arena.Reserve(128).ok());
    std::memset(arena.TakeLines(64), 7, 64);
    std::memset(arena.TakeBytes(50), 8, 50);
  }
  EXPECT_EQ(arena.used_bytes(), 100000u * 114);
}

}  // namespace
}  // namespace cambium
