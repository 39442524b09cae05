#include "cambium/slice.h"

#include <gtest/gtest.h>

#include "cambium/comparator.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

TEST(SliceTest, ConvertsFromStringTypes) {
  EXPECT_TRUE(Slice().empty());
  EXPECT_NE(Slice().data(), nullptr);
  EXPECT_TRUE(Slice(static_cast<const char*>(nullptr)).empty());
  EXPECT_EQ(Slice("a\0b", 3).size(), 3u);
  EXPECT_EQ(Slice(std::string("a\0b", 3)), Slice("a\0b", 3));
  EXPECT_EQ(Slice(std::string_view("xy")).ToString(), "xy");
}

TEST(SliceTest, ComparesUnsignedBytesAndPrefixesFirst) {
  EXPECT_LT(Slice("\x7f"), Slice("\x80"));
  EXPECT_LT(Slice("a"), Slice("a\0", 2));
  EXPECT_LT(Slice(""), Slice("\0", 1));
  EXPECT_EQ(Slice("ab").compare("ab"), 0);
}

TEST(SliceTest, RemovesAndComparesParts) {
  Slice slice("abcdef");
  slice.remove_prefix(2);
  slice.remove_suffix(1);
  EXPECT_EQ(slice, Slice("cde"));
  EXPECT_EQ(slice.substr(1, 2), Slice("de"));
  EXPECT_TRUE(slice.starts_with("cd"));
  EXPECT_TRUE(slice.starts_with(""));
  EXPECT_FALSE(slice.starts_with("cdef"));
  EXPECT_TRUE(slice.ends_with("de"));
  EXPECT_FALSE(slice.ends_with("bcde"));
  EXPECT_EQ(slice[0], 'c');
  slice.clear();
  EXPECT_TRUE(slice.empty());
}

TEST(SliceTest, HexShowsEveryByte) {
  EXPECT_EQ(Slice("\x00\x1f\xff", 3).ToString(true), "001fff");
  EXPECT_EQ(Slice("\x00z", 2).ToString(false), std::string("\0z", 2));
}

// Compares with an independent definition: the lexicographic order of unsigned bytes.
TEST(ComparatorTest, OrdersAsUnsignedBytesAndInReverse) {
  Prng prng(testing::SeedFromEnvironment(8));
  const auto sign = [](int n) { return (n > 0) - (n < 0); };
  for (int i = 0; i < 10'000; ++i) {
    std::string a = prng.Bytes(prng.Uniform(4));
    std::string b = prng.OneIn(2) ? prng.Bytes(prng.Uniform(4)) : a + prng.Bytes(prng.Uniform(2));
    const bool less = std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
    });
    const int expected = less ? -1 : a == b ? 0 : 1;
    EXPECT_EQ(sign(BytewiseComparator()->Compare(a, b)), expected);
    EXPECT_EQ(sign(ReverseBytewiseComparator()->Compare(a, b)), -expected);
  }
  EXPECT_STREQ(BytewiseComparator()->Name(), "cambium.BytewiseComparator");
  EXPECT_TRUE(BytewiseComparator()->EqualMeansSameBytes());
}

}  // namespace
}  // namespace cambium
