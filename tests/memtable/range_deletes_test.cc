#include "memtable/range_deletes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/coding.h"
#include "util/prng.h"
#include "vlog/entry.h"

namespace cambium {
namespace {

std::string Show(const RangeDeletes& ranges) {
  std::string text;
  for (std::size_t i = 0; i < ranges.count(); ++i) text += "[" + ranges.begin(i) + "," + ranges.end(i) + ")";
  return text;
}

RangeDeletes Of(std::vector<RangeDeletes::Range> ranges) { return RangeDeletes(BytewiseComparator(), ranges); }

TEST(MemTableRangeDeletesTest, OverlappingAndTouchingRangesAreJoined) {
  EXPECT_EQ(Show(Of({{"c", "f"}, {"a", "b"}, {"e", "h"}, {"b", "bb"}})), "[a,bb)[c,h)");
  EXPECT_EQ(Show(Of({{"a", "z"}, {"c", "d"}})), "[a,z)");
  EXPECT_EQ(Show(Of({{"", "a"}})), "[,a)");
}

TEST(MemTableRangeDeletesTest, EmptyRangeIsIgnored) {
  EXPECT_TRUE(Of({{"a", "a"}, {"c", "b"}}).empty());
  EXPECT_TRUE(Of({}).empty());
  EXPECT_FALSE(Of({}).Covers("a"));
  EXPECT_FALSE(Of({}).Overlaps(nullptr, nullptr));
  EXPECT_EQ(Of({}).StretchOf("a").from, std::nullopt);
}

TEST(MemTableRangeDeletesTest, StretchIsTheLargestIntervalWithTheSameCover) {
  const RangeDeletes ranges = Of({{"b", "d"}, {"f", "h"}});
  EXPECT_FALSE(ranges.StretchOf("a").covered);
  EXPECT_EQ(ranges.StretchOf("a").from, std::nullopt);
  EXPECT_EQ(*ranges.StretchOf("a").to, "b");
  EXPECT_TRUE(ranges.StretchOf("b").covered);
  EXPECT_EQ(*ranges.StretchOf("c").from, "b");
  EXPECT_EQ(*ranges.StretchOf("c").to, "d");
  EXPECT_FALSE(ranges.StretchOf("d").covered);
  EXPECT_EQ(*ranges.StretchOf("d").from, "d");
  EXPECT_EQ(*ranges.StretchOf("d").to, "f");
  EXPECT_EQ(ranges.StretchOf("h").to, std::nullopt);
}

// A few keys, so that every relation of bounds occurs.
const std::vector<std::string> kUniverse = {"", "a", "A", "b", "B", "ab", "bb", "c", "C", "cc", "d"};

const std::string& AnyKey(Prng* prng) { return kUniverse[prng->Uniform(kUniverse.size())]; }

// Some ranges, and a check of every one of them for every key.
struct Drawn {
  // Draws up to nine ranges, in up to three parts that are joined, and perhaps cuts them to an interval.
  static Drawn Draw(const Comparator* order, Prng* prng) {
    Drawn drawn{.order = order, .ranges = RangeDeletes(order)};
    std::vector<RangeDeletes> parts;
    for (std::uint64_t n = prng->Uniform(4); n > 0; --n) {
      std::vector<std::pair<std::string, std::string>> mine;
      for (std::uint64_t k = prng->Uniform(4); k > 0; --k) {
        const std::string& begin = AnyKey(prng);
        mine.emplace_back(begin, AnyKey(prng));
      }
      std::vector<RangeDeletes::Range> ranges;
      for (const auto& [begin, end] : mine) ranges.push_back({begin, end});
      parts.emplace_back(order, ranges);
      drawn.all.insert(drawn.all.end(), mine.begin(), mine.end());
    }
    std::vector<const RangeDeletes*> pointers;
    for (const RangeDeletes& part : parts) pointers.push_back(&part);
    drawn.ranges = RangeDeletes::Union(order, pointers);

    std::optional<Slice> from;
    std::optional<Slice> to;
    if (prng->OneIn(2)) from = AnyKey(prng);
    if (prng->OneIn(2)) to = AnyKey(prng);
    if (prng->OneIn(2)) {
      drawn.ranges = drawn.ranges.Within(from ? &*from : nullptr, to ? &*to : nullptr);
      drawn.from = from;
      drawn.to = to;
    }
    return drawn;
  }
  [[nodiscard]] bool Covers(const std::string& key) const {
    if ((from && order->Compare(key, *from) < 0) || (to && order->Compare(key, *to) >= 0)) return false;
    for (const auto& [begin, end] : all) {
      if (order->Compare(begin, key) <= 0 && order->Compare(key, end) < 0) return true;
    }
    return false;
  }

  const Comparator* order;
  RangeDeletes ranges;
  std::vector<std::pair<std::string, std::string>> all = {};  // as they were drawn
  std::optional<Slice> from = {};
  std::optional<Slice> to = {};
};

void ExpectSortedAndApart(const RangeDeletes& ranges, const Comparator* order) {
  for (std::size_t i = 0; i < ranges.count(); ++i) {
    ASSERT_LT(order->Compare(ranges.begin(i), ranges.end(i)), 0);
    if (i > 0) {
      ASSERT_LT(order->Compare(ranges.end(i - 1), ranges.begin(i)), 0);
    }
  }
}

// Every key, and the stretch around it.
void ExpectStretches(const Drawn& drawn) {
  const Comparator* const order = drawn.order;
  for (const std::string& key : kUniverse) {
    ASSERT_EQ(drawn.ranges.Covers(key), drawn.Covers(key)) << Show(drawn.ranges) << " " << key;
    const RangeDeletes::Stretch stretch = drawn.ranges.StretchOf(key);
    ASSERT_EQ(stretch.covered, drawn.Covers(key));
    for (const std::string& other : kUniverse) {
      const bool inside = (!stretch.from.has_value() || order->Compare(*stretch.from, other) <= 0) &&
                          (!stretch.to.has_value() || order->Compare(other, *stretch.to) < 0);
      if (inside) {
        ASSERT_EQ(drawn.Covers(other), stretch.covered);
      }
    }
  }
}

// What the ranges have in [low, high).
void ExpectOverlaps(const Drawn& drawn, Slice low, Slice high) {
  const Comparator* const order = drawn.order;
  if (order->Compare(low, high) >= 0) return;
  bool any = false;
  bool every = true;
  for (const std::string& key : kUniverse) {
    if (order->Compare(key, low) < 0 || order->Compare(key, high) >= 0) continue;
    any |= drawn.Covers(key);
    every &= drawn.Covers(key);
  }
  if (any) {
    ASSERT_TRUE(drawn.ranges.Overlaps(&low, &high));
    ASSERT_TRUE(drawn.ranges.Overlaps(&low, nullptr));
    ASSERT_TRUE(drawn.ranges.Overlaps(nullptr, &high));
  }
  if (drawn.ranges.CoversAllOf(&low, &high)) {
    ASSERT_TRUE(every);
  }
  ASSERT_EQ(drawn.ranges.Within(&low, &high).empty(), !drawn.ranges.Overlaps(&low, &high));
}

void ExpectSameAfterDecoding(const RangeDeletes& ranges, const Comparator* order) {
  std::string bytes;
  ranges.AppendTo(&bytes);
  const Result<RangeDeletes> decoded = RangeDeletes::Decode(bytes, order);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  ASSERT_TRUE(*decoded == ranges);
}

TEST(MemTableRangeDeletesTest, AgreesWithACheckOfEveryRangeForEveryKey) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x7a9);
  Prng prng(seed);
  const Comparator* orders[] = {BytewiseComparator(), ReverseBytewiseComparator(), testing::CaseFoldingComparator(),
                                testing::LengthFirstComparator()};
  for (std::uint64_t round = 0; round < testing::ScaledCount(3000); ++round) {
    const Comparator* const order = orders[prng.Uniform(4)];
    const Drawn drawn = Drawn::Draw(order, &prng);
    ASSERT_NO_FATAL_FAILURE(ExpectSortedAndApart(drawn.ranges, order));
    ASSERT_NO_FATAL_FAILURE(ExpectStretches(drawn));
    const Slice low = AnyKey(&prng);
    const Slice high = AnyKey(&prng);
    ASSERT_NO_FATAL_FAILURE(ExpectOverlaps(drawn, low, high));
    ASSERT_NO_FATAL_FAILURE(ExpectSameAfterDecoding(drawn.ranges, order));
  }
}

// Any bytes either decode or are Corruption, and take memory in proportion to their size.
TEST(MemTableRangeDeletesTest, MalformedBytesAreCorruption) {
  std::string bytes;
  Of({{"apple", "banana"}, {"cherry", "date"}}).AppendTo(&bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(RangeDeletes::Decode({bytes.data(), size}, BytewiseComparator()).status().IsCorruption()) << size;
  }
  EXPECT_TRUE(RangeDeletes::Decode(bytes + "x", BytewiseComparator()).status().IsCorruption());
  EXPECT_TRUE(RangeDeletes::Decode(bytes, ReverseBytewiseComparator()).status().IsCorruption());
  std::string many;
  PutVarint64(&many, ~std::uint64_t{0});
  EXPECT_TRUE(RangeDeletes::Decode(many + bytes, BytewiseComparator()).status().IsCorruption());
  std::string too_long;
  PutVarint64(&too_long, 1);
  PutLengthPrefixed(&too_long, "a");
  PutLengthPrefixed(&too_long, std::string(kMaxKeySize + 1, 'b'));
  EXPECT_TRUE(RangeDeletes::Decode(too_long, BytewiseComparator()).status().IsCorruption());

  Prng prng(testing::SeedFromEnvironment(0x7aa));
  for (std::uint64_t round = 0; round < testing::ScaledCount(20000); ++round) {
    std::string damaged = bytes;
    for (std::uint64_t n = prng.Between(1, 4); n > 0; --n) {
      damaged[prng.Uniform(damaged.size())] = static_cast<char>(prng.Uniform(256));
    }
    const Result<RangeDeletes> decoded = RangeDeletes::Decode(damaged, BytewiseComparator());
    if (!decoded.ok()) {
      EXPECT_TRUE(decoded.status().IsCorruption());
      continue;
    }
    std::string again;
    decoded->AppendTo(&again);
    EXPECT_LE(again.size(), damaged.size());  // less if a length was encoded with more bytes than it needs
  }
}

}  // namespace
}  // namespace cambium
