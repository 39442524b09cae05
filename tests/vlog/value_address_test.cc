#include "vlog/value_address.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/mutant_scope.h"
#include "util/prng.h"

namespace cambium {
namespace {

using testing::MutantScope;

// Sizes around every boundary of the size code, and random ones.
std::vector<std::uint64_t> SizesToTry() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t code = 0; code < 4096; ++code) {
    const std::uint64_t size = UnitsOfSizeCode(static_cast<std::uint32_t>(code)) * kRecordAlignment;
    for (std::uint64_t near = size < 16 ? 0 : size - 16; near <= size + 16; ++near) {
      if (near > 0 && near <= (std::uint64_t{255} << 22)) sizes.push_back(near);
    }
  }
  Prng prng(1);
  for (int i = 0; i < 100'000; ++i) sizes.push_back(1 + prng.Skewed(29));
  return sizes;
}

TEST(ValueAddressTest, SizeIsRoundedUpByLessThanOnePercent) {
  for (const std::uint64_t size : SizesToTry()) {
    const std::uint64_t stored = (size + 7) / 8 * 8;
    const std::uint64_t said = ValueAddress::InLog(Slot{1}, 128, size).size();
    ASSERT_GE(said, stored) << size;
    if (stored < 16 << 10) {
      ASSERT_EQ(said, stored) << size;
    }
    ASSERT_LE(said - stored, stored / 125) << size;  // 0.8 %
  }
}

TEST(ValueAddressTest, SizeOfALargeValueFileCountsPages) {
  Prng prng(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t size = 1 + prng.Skewed(33);
    const std::uint64_t said = ValueAddress::OwnFile(Slot{1}, size).size();
    const std::uint64_t pages = (size + 4095) / 4096 * 4096;
    ASSERT_GE(said, pages);
    ASSERT_LE(said - pages, pages / 125);
  }
  EXPECT_GE(ValueAddress::OwnFile(Slot{}, (std::uint64_t{4} << 30) + (128 << 10)).size(), std::uint64_t{4} << 30);
}

TEST(ValueAddressTest, SizeCodesRoundTrip) {
  for (std::uint32_t code = 0; code < 4096; ++code) EXPECT_EQ(SizeCodeOf(UnitsOfSizeCode(code)), code);
}

// The figures in docs/LIMITS.md.
TEST(ValueAddressTest, TwoMillionSegmentsOfAGibibyteHaveAddresses) {
  EXPECT_EQ(kSlotCountMax, 2'097'152u);
  EXPECT_EQ(kLogOffsetMax, std::uint64_t{1} << 30);
}

TEST(ValueAddressTest, FieldsDoNotOverlap) {
  const auto last_slot = static_cast<Slot>(kSlotCountMax - 1);
  const ValueAddress address = ValueAddress::InLog(last_slot, kLogOffsetMax - 8, 8);
  EXPECT_EQ(address.kind(), EntryKind::kValue);
  EXPECT_EQ(address.slot(), last_slot);
  EXPECT_EQ(address.offset(), kLogOffsetMax - 8);
  EXPECT_EQ(address.size(), 8u);
  const ValueAddress own = ValueAddress::OwnFile(last_slot, 4096);
  EXPECT_EQ(own.kind(), EntryKind::kLargeValue);
  EXPECT_EQ(own.slot(), last_slot);
  EXPECT_EQ(own.offset(), 0u);
  EXPECT_EQ(ValueAddress::InLog(Slot{5}, 128, 1000).word(), 0x107d000028000010u);  // golden: stored in every leaf
}

// A reader reads as many bytes as the code says: a code below the true size would truncate the record.
bool CodesEverRoundDown() {
  for (const std::uint64_t size : SizesToTry()) {
    if (ValueAddress::InLog(Slot{1}, 128, size).size() < size) return true;
  }
  return false;
}

TEST(ValueAddressTest, SizeCodesNeverRoundDown) {
  EXPECT_FALSE(CodesEverRoundDown());
  const MutantScope mutant(Mutant::kSizeCodeRoundsDown);
  EXPECT_TRUE(CodesEverRoundDown());
}

}  // namespace
}  // namespace cambium
