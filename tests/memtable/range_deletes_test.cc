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

// A few keys under four orders, so that every relation of bounds occurs. Each answer is compared with a check of every
// range for every key.
TEST(MemTableRangeDeletesTest, AgreesWithACheckOfEveryRangeForEveryKey) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x7a9);
  Prng prng(seed);
  std::vector<std::string> universe{""};
  for (const char* text : {"a", "A", "b", "B", "ab", "bb", "c", "C", "cc", "d"}) universe.emplace_back(text);
  const Comparator* orders[] = {BytewiseComparator(), ReverseBytewiseComparator(), testing::CaseFoldingComparator(),
                                testing::LengthFirstComparator()};
  for (std::uint64_t round = 0; round < testing::ScaledCount(3000); ++round) {
    const Comparator* order = orders[prng.Uniform(4)];
    const auto random_key = [&]() -> const std::string& { return universe[prng.Uniform(universe.size())]; };
    std::vector<RangeDeletes> parts;
    std::vector<std::pair<std::string, std::string>> all;
    for (std::uint64_t n = prng.Uniform(4); n > 0; --n) {
      std::vector<std::pair<std::string, std::string>> mine;
      for (std::uint64_t k = prng.Uniform(4); k > 0; --k) mine.emplace_back(random_key(), random_key());
      std::vector<RangeDeletes::Range> ranges;
      for (const auto& [begin, end] : mine) ranges.push_back({begin, end});
      parts.emplace_back(order, ranges);
      all.insert(all.end(), mine.begin(), mine.end());
    }
    std::vector<const RangeDeletes*> pointers;
    for (const RangeDeletes& part : parts) pointers.push_back(&part);
    RangeDeletes ranges = RangeDeletes::Union(order, pointers);

    std::optional<Slice> from;
    std::optional<Slice> to;
    if (prng.OneIn(2)) from = random_key();
    if (prng.OneIn(2)) to = random_key();
    if (prng.OneIn(2)) ranges = ranges.Within(from ? &*from : nullptr, to ? &*to : nullptr);
    else from = to = std::nullopt;

    const auto covers = [&](const std::string& key) {
      if ((from && order->Compare(key, *from) < 0) || (to && order->Compare(key, *to) >= 0)) return false;
      for (const auto& [begin, end] : all) {
        if (order->Compare(begin, key) <= 0 && order->Compare(key, end) < 0) return true;
      }
      return false;
    };
    for (std::size_t i = 0; i < ranges.count(); ++i) {
      ASSERT_LT(order->Compare(ranges.begin(i), ranges.end(i)), 0);
      if (i > 0) {
        ASSERT_LT(order->Compare(ranges.end(i - 1), ranges.begin(i)), 0);
      }
    }
    for (const std::string& key : universe) {
      ASSERT_EQ(ranges.Covers(key), covers(key)) << Show(ranges) << " " << key;
      const RangeDeletes::Stretch stretch = ranges.StretchOf(key);
      ASSERT_EQ(stretch.covered, covers(key));
      for (const std::string& other : universe) {
        const bool inside = (!stretch.from.has_value() || order->Compare(*stretch.from, other) <= 0) &&
                            (!stretch.to.has_value() || order->Compare(other, *stretch.to) < 0);
        if (inside) {
          ASSERT_EQ(covers(other), stretch.covered);
        }
      }
    }
    const Slice low = random_key();
    const Slice high = random_key();
    bool any = false;
    bool every = true;
    for (const std::string& key : universe) {
      if (order->Compare(key, low) < 0 || order->Compare(key, high) >= 0) continue;
      any |= covers(key);
      every &= covers(key);
    }
    if (order->Compare(low, high) < 0) {
      if (any) {
        ASSERT_TRUE(ranges.Overlaps(&low, &high));
        ASSERT_TRUE(ranges.Overlaps(&low, nullptr));
        ASSERT_TRUE(ranges.Overlaps(nullptr, &high));
      }
      if (ranges.CoversAllOf(&low, &high)) {
        ASSERT_TRUE(every);
      }
      ASSERT_EQ(ranges.Within(&low, &high).empty(), !ranges.Overlaps(&low, &high));
    }
    std::string bytes;
    ranges.AppendTo(&bytes);
    const Result<RangeDeletes> decoded = RangeDeletes::Decode(bytes, order);
    ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
    ASSERT_TRUE(*decoded == ranges);
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
