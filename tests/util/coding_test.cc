#include "util/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Every power of two, its neighbours, 0 and the largest number.
std::vector<std::uint64_t> EdgeNumbers() {
  std::vector<std::uint64_t> numbers = {0, std::numeric_limits<std::uint64_t>::max()};
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
  }
  return numbers;
}

TEST(CodingTest, FixedWidthsAreLittleEndian) {
  std::string bytes;
  PutFixed<std::uint32_t>(&bytes, 0x04030201u);
  PutFixed<std::uint16_t>(&bytes, 0x0605u);
  EXPECT_EQ(bytes, "\x01\x02\x03\x04\x05\x06");
  Slice in(bytes);
  std::uint32_t a = 0;
  std::uint16_t b = 0;
  ASSERT_TRUE(GetFixed(&in, &a));
  ASSERT_TRUE(GetFixed(&in, &b));
  EXPECT_EQ(a, 0x04030201u);
  EXPECT_EQ(b, 0x0605u);
  EXPECT_TRUE(in.empty());
  EXPECT_FALSE(GetFixed(&in, &b));
}

TEST(CodingTest, VarintsRoundTripInMinimalSize) {
  for (const std::uint64_t number : EdgeNumbers()) {
    std::string bytes;
    PutVarint64(&bytes, number);
    const std::size_t bits = number == 0 ? 1 : static_cast<std::size_t>(std::bit_width(number));
    EXPECT_EQ(bytes.size(), (bits + 6) / 7) << number;
    bytes += "rest";
    Slice in(bytes);
    std::uint64_t back = 0;
    ASSERT_TRUE(GetVarint64(&in, &back)) << number;
    EXPECT_EQ(back, number);
    EXPECT_EQ(in, Slice("rest"));
  }
}

TEST(CodingTest, TruncatedVarintIsRejected) {
  for (const std::uint64_t number : EdgeNumbers()) {
    std::string bytes;
    PutVarint64(&bytes, number);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      Slice in(bytes.data(), n);
      std::uint64_t back = 0;
      EXPECT_FALSE(GetVarint64(&in, &back)) << number << " cut at " << n;
    }
  }
}

TEST(CodingTest, VarintOfMoreThan64BitsIsRejected) {
  const std::string too_large = std::string(9, '\xff') + '\x02';
  const std::string endless(20, '\x80');
  for (const std::string& bytes : {too_large, endless}) {
    Slice in(bytes);
    std::uint64_t number = 0;
    EXPECT_FALSE(GetVarint64(&in, &number));
  }
}

TEST(CodingTest, Varint32RejectsLargerNumbers) {
  std::string bytes;
  PutVarint64(&bytes, 0xffffffffu);
  PutVarint64(&bytes, 0x100000000u);
  Slice in(bytes);
  std::uint32_t number = 0;
  ASSERT_TRUE(GetVarint32(&in, &number));
  EXPECT_EQ(number, 0xffffffffu);
  EXPECT_FALSE(GetVarint32(&in, &number));
}

TEST(CodingTest, LengthBeyondTheInputIsRejected) {
  std::string bytes;
  PutLengthPrefixed(&bytes, "abc");
  PutLengthPrefixed(&bytes, "");
  Slice in(bytes);
  Slice piece;
  ASSERT_TRUE(GetLengthPrefixed(&in, &piece));
  EXPECT_EQ(piece, Slice("abc"));
  ASSERT_TRUE(GetLengthPrefixed(&in, &piece));
  EXPECT_TRUE(piece.empty());
  for (const std::uint64_t lie : {std::uint64_t{4}, std::uint64_t{1} << 32, std::numeric_limits<std::uint64_t>::max()}) {
    std::string hostile;
    PutVarint64(&hostile, lie);
    hostile += "abc";
    Slice rest(hostile);
    EXPECT_FALSE(GetLengthPrefixed(&rest, &piece)) << lie;
  }
}

TEST(CodingTest, ZigZagKeepsSmallNumbersOfEitherSignSmall) {
  EXPECT_EQ(ZigZag(0), 0u);
  EXPECT_EQ(ZigZag(-1), 1u);
  EXPECT_EQ(ZigZag(1), 2u);
  for (const std::int64_t number : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-12345}, std::int64_t{0},
                                    std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(UnZigZag(ZigZag(number)), number);
  }
}

// Compares the order of heads with the order of their strings: random strings over a small alphabet with zeros.
TEST(CodingTest, HeadsCompareAsTheirStringsOrEqual) {
  Prng prng(testing::SeedFromEnvironment(1));
  const auto draw = [&prng] {
    std::string bytes;
    for (std::uint64_t n = prng.Uniform(11); n > 0; --n) bytes += "\0\x01\x7f\x80\xff"[prng.Uniform(5)];
    return bytes;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = draw();
    const std::string b = draw();
    if (BigEndianHead32(a) != BigEndianHead32(b)) {
      EXPECT_EQ(BigEndianHead32(a) < BigEndianHead32(b), Slice(a) < Slice(b));
    }
    if (BigEndianHead64(a) != BigEndianHead64(b)) {
      EXPECT_EQ(BigEndianHead64(a) < BigEndianHead64(b), Slice(a) < Slice(b));
    }
  }
  EXPECT_EQ(BigEndianHead32("\x01\x02\x03\x04\x05"), 0x01020304u);
  EXPECT_EQ(BigEndianHead64("\x01"), 0x0100000000000000u);
  EXPECT_EQ(BigEndianHead32(Slice()), 0u);
}

TEST(CodingTest, AlignUpReturnsTheNextMultiple) {
  EXPECT_EQ(AlignUp(0, 8), 0u);
  EXPECT_EQ(AlignUp(1, 8), 8u);
  EXPECT_EQ(AlignUp(8, 8), 8u);
  EXPECT_EQ(AlignUp(9, 24), 24u);
}

}  // namespace
}  // namespace cambium
