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

TEST(ReserveTest, IsFourPercentWithinBounds) {
  EXPECT_EQ(ReserveBytes(0), 0u);
  EXPECT_EQ(ReserveBytes(kMiB - 1), 0u);
  EXPECT_EQ(ReserveBytes(kMiB), 64 * kKiB) << "a sixteenth";
  EXPECT_EQ(ReserveBytes(8 * kMiB), 512 * kKiB);
  EXPECT_EQ(ReserveBytes(10 * kMiB), 512 * kKiB);
  EXPECT_EQ(ReserveBytes(20 * kMiB), kMiB);
  EXPECT_EQ(ReserveBytes(24 * kMiB), kMiB) << "the minimum, unless the database is tiny";
  EXPECT_NEAR(static_cast<double>(ReserveBytes(kGiB)), 0.04 * kGiB, 4096);
  EXPECT_EQ(ReserveBytes(100 * kGiB), 64 * kMiB);
  std::uint64_t before = 0;
  for (std::uint64_t bytes = 1; bytes < 10 * kGiB; bytes += bytes / 7 + 1) {
    const std::uint64_t reserve = ReserveBytes(bytes);
    ASSERT_GE(reserve, before) << bytes;
    ASSERT_LE(reserve, bytes / 16);
    ASSERT_LE(reserve, std::max(512 * kKiB, bytes / 20)) << "the ceiling counts it";
    ASSERT_LE(KeptForOpen(reserve), reserve / 2);
    ASSERT_TRUE(reserve == 0 || KeptForOpen(reserve) >= 32 * kKiB);
    ASSERT_FALSE(IsWorthResizing(reserve, reserve)) << bytes;
    before = reserve;
  }
}

// From nothing to 64 MiB the reserve grows about twenty times; small changes of the database do not resize it.
TEST(ReserveTest, IsSeldomResized) {
  std::uint64_t has = 0;
  int resized = 0;
  for (std::uint64_t bytes = kMiB; bytes < 10 * kGiB; bytes += bytes / 1000 + 1) {
    const std::uint64_t wanted = ReserveBytes(bytes);
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
