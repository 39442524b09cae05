// The space that writes leave for compactions: the figures in docs/LIMITS.md. Tests with numbers only, without files.
#include "gc/compaction_room.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/units.h"

namespace cambium {
namespace {

using testing::kKiB;
using testing::kMiB;

TEST(CompactionRoomTest, TreeRoomIsRunsPlusTenthPlusStep) {
  LayersShape tree;
  tree.base_live_bytes = tree.base_file_bytes = 100 * kMiB;
  tree.run_file_bytes = 3 * kMiB;
  EXPECT_EQ(RoomForCompactions(tree).of_step, kMiB);
  EXPECT_NEAR(static_cast<double>(RoomForCompactions(tree).waiting), 13.0 * kMiB, 100);
  tree.base_file_bytes += 4 * kMiB;  // dead pages that are there already
  EXPECT_NEAR(static_cast<double>(RoomForCompactions(tree).waiting), 9.0 * kMiB, 100);
  tree.base_file_bytes += 40 * kMiB;
  EXPECT_EQ(RoomForCompactions(tree).waiting, 3 * kMiB);
  tree.base_live_bytes = 4 * kMiB;
  EXPECT_EQ(RoomForCompactions(tree).of_step, 512 * kKiB);
  EXPECT_EQ(RoomForCompactions(LayersShape{}).of_step, 16 * kKiB);
}

TEST(CompactionRoomTest, LsmRoomIsUpperLevelsPlusOneFile) {
  LayersShape lsm;
  lsm.run_file_bytes = 2 * kMiB;
  lsm.levels.resize(2);
  lsm.levels[0].file_bytes = 5 * kMiB;
  lsm.levels[0].file_count = 3;
  lsm.levels[1].file_bytes = 40 * kMiB;
  lsm.levels[1].file_count = 10;
  EXPECT_EQ(RoomForCompactions(lsm).of_step, (2 + 5 + 4) * kMiB);
  EXPECT_EQ(RoomForCompactions(lsm).waiting, 0u);
}

SharedCompactionRoom Shared(const std::vector<CompactionRoom>& rooms, std::uint64_t jobs) {
  SumOfRooms sum;
  for (const CompactionRoom& room : rooms) sum.Add(room);
  return sum.For(jobs);
}

TEST(CompactionRoomTest, RoomOfAllFamiliesIsAtMost64MiB) {
  const CompactionRoom small = {.of_step = kMiB, .waiting = 2 * kMiB};
  const CompactionRoom large = {.of_step = 10 * kMiB, .waiting = 0};
  EXPECT_EQ(Shared(std::vector{small, large, small}, 1).bytes, (4 + 10) * kMiB);
  EXPECT_EQ(Shared(std::vector{small, large, small}, 2).bytes, (4 + 2 * 10) * kMiB) << "two steps at once";
  EXPECT_EQ(Shared(std::vector{small}, 8).bytes, 3 * kMiB);
  EXPECT_EQ(Shared(std::vector(100, small), 2).bytes, 64 * kMiB);
  EXPECT_EQ(Shared(std::vector(8, large), 8).bytes, 64 * kMiB);
  EXPECT_EQ(Shared(std::vector(8, large), 4).at_once, 4u);
  // Families whose bytes are mostly in the log need none.
  EXPECT_EQ(Shared(std::vector(3, CompactionRoom{}), 4).bytes, 0u);
  EXPECT_EQ(Shared(std::vector(3, CompactionRoom{}), 4).at_once, 1u);
}

}  // namespace
}  // namespace cambium
