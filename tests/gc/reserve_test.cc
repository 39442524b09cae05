// The size of the reserve, and when it is resized. Tests with numbers only, without files.
#include "gc/reserve.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/units.h"

namespace cambium {
namespace {

using testing::kKiB;
using testing::kMiB;
using testing::kGiB;

std::uint64_t ReserveOf(std::uint64_t on_disk) {
  ReserveInput database;
  database.on_disk = on_disk;
  return ReserveBytes(database);
}

TEST(ReserveTest, IsFourPercentWithinBounds) {
  EXPECT_EQ(ReserveOf(0), 0u);
  EXPECT_EQ(ReserveOf(kMiB - 1), 0u);
  EXPECT_EQ(ReserveOf(kMiB), 64 * kKiB) << "a sixteenth";
  EXPECT_EQ(ReserveOf(8 * kMiB), 512 * kKiB);
  EXPECT_EQ(ReserveOf(10 * kMiB), 512 * kKiB);
  EXPECT_EQ(ReserveOf(20 * kMiB), kMiB);
  EXPECT_EQ(ReserveOf(24 * kMiB), kMiB) << "the minimum, unless the database is tiny";
  EXPECT_NEAR(static_cast<double>(ReserveOf(kGiB)), 0.04 * kGiB, 4096);
  EXPECT_EQ(ReserveOf(100 * kGiB), 64 * kMiB);
  std::uint64_t before = 0;
  for (std::uint64_t bytes = 1; bytes < 10 * kGiB; bytes += bytes / 7 + 1) {
    const std::uint64_t reserve = ReserveOf(bytes);
    ASSERT_GE(reserve, before) << bytes;
    ASSERT_LE(reserve, bytes / 16);
    ASSERT_LE(reserve, std::max(512 * kKiB, bytes / 20)) << "the ceiling counts it";
    ASSERT_LE(KeptForOpen(reserve), reserve / 2);
    ASSERT_TRUE(reserve == 0 || KeptForOpen(reserve) >= 32 * kKiB);
    ASSERT_FALSE(IsWorthResizing(reserve, reserve)) << bytes;
    before = reserve;
  }
}

TEST(ReserveTest, HasRoomForTheKeysOfMovedValues) {
  ReserveInput database;
  database.on_disk = 24 * kMiB;
  database.log_bytes = 20 * kMiB;
  database.segment_bytes = kMiB;
  database.slack_bytes = 16 * kMiB;
  database.footer_bytes = database.log_bytes / 16;
  EXPECT_EQ(ReserveBytes(database), kMiB) << "keys of 16 bytes, values of 520 and more";
  database.footer_bytes = database.log_bytes / 4;
  EXPECT_NEAR(static_cast<double>(ReserveBytes(database)), 2.5 * kMiB, 4096) << "eight times what exceeds a 16th";
  database.footer_bytes = database.log_bytes / 2;
  EXPECT_NEAR(static_cast<double>(ReserveBytes(database)), 3.4 * kMiB, 4096) << "at most a tenth more";
  database.slack_bytes = 2 * kMiB;
  EXPECT_EQ(ReserveBytes(database), 1536 * kKiB) << "at most a quarter of the space that the ceiling leaves";
  database.on_disk = 12 * kMiB;
  database.log_bytes = 12 * kMiB;
  database.footer_bytes = 2 * kMiB;
  EXPECT_NEAR(static_cast<double>(ReserveBytes(database)), (0.6 + 0.41667) * kMiB, 8192) << "four times in a small one";
  database.on_disk = kMiB - 1;
  EXPECT_EQ(ReserveBytes(database), 0u);
}

// From nothing to 64 MiB the reserve grows about twenty times; small changes of the database do not resize it.
TEST(ReserveTest, SmallChangesDoNotResizeTheReserve) {
  std::uint64_t has = 0;
  int resized = 0;
  for (std::uint64_t bytes = kMiB; bytes < 10 * kGiB; bytes += bytes / 1000 + 1) {
    const std::uint64_t wanted = ReserveOf(bytes);
    if (!IsWorthResizing(has, wanted)) continue;
    has = wanted;
    ++resized;
  }
  EXPECT_LE(resized, 30);
  EXPECT_GE(has, 48 * kMiB);
  EXPECT_FALSE(IsWorthResizing(has, has - has / 3));
  EXPECT_TRUE(IsWorthResizing(has, has / 3));
  EXPECT_TRUE(IsWorthResizing(0, 64 * kKiB));
  EXPECT_FALSE(IsWorthResizing(0, 0));
  EXPECT_TRUE(IsWorthResizing(64 * kKiB, 0));
}

TEST(ReserveTest, FullDiskEndsAtMoreFreeBytesThanItBegins) {
  for (const std::uint64_t wanted : {64 * kKiB, kMiB, 64 * kMiB}) {
    for (const bool may_free_more : {false, true}) {
      EXPECT_GT(FreeBytesToGoOn(wanted, wanted, may_free_more), wanted + kFreeBytesLeft) << "writers must have room";
      EXPECT_GT(FreeBytesToGoOn(0, wanted, may_free_more), kFreeBytesLeft);
    }
    EXPECT_EQ(FreeBytesToGoOn(0, wanted, true), FreeBytesToGoOn(0, wanted, false) + wanted / 2);
  }
  EXPECT_LE(BytesUntilNextLook(0), kFreeBytesLeft / 2) << "two checks must not miss it";
  EXPECT_LE(BytesUntilNextLook(kGiB), kGiB / 8);
}

// A memtable of this size and its flush fit into the free space that writers may use.
TEST(ReserveTest, MemtablesShrinkWithTheFreeSpace) {
  EXPECT_EQ(TableBytesMax(3 * kMiB, kMiB), kMiB);
  EXPECT_EQ(TableBytesMax(kMiB, kMiB), 64 * kKiB) << "smaller runs would be mostly parts of blocks";
  EXPECT_EQ(TableBytesMax(0, kMiB), 64 * kKiB);
}

}  // namespace
}  // namespace cambium
