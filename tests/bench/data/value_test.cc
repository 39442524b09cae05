#include "data/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "data/mix.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 8, 15, 16, 17, 24, 33, 100, 1024, 65536, (2u << 20) + 5};

TEST(ValueTest, SameSeedIdAndVersionGiveTheSameBytes) {
  for (const std::size_t size : kSizes) {
    const ValuePool a(7, size, 1);
    const ValuePool b(7, size, 1);
    ValueMaker maker_a(a);
    ValueMaker maker_b(b);
    // Values made in between must not change later ones.
    for (std::uint64_t i = 0; i < 50; ++i) (void)maker_b.Make(i, i);
    EXPECT_EQ(maker_a.Make(3, 5), maker_b.Make(3, 5)) << size;
  }
}

TEST(ValueTest, IdVersionAndSeedChangeTheValue) {
  const ValuePool pool(7, 100, 1);
  const ValuePool other_seed(8, 100, 1);
  ValueMaker maker(pool);
  std::set<std::string> values;
  for (std::uint64_t id = 0; id < 10; ++id) {
    for (std::uint64_t version = 0; version < 10; ++version) values.insert(maker.Make(id, version).ToString());
  }
  EXPECT_EQ(values.size(), 100u);
  EXPECT_FALSE(other_seed.Matches(1, maker.Make(1, 1), CheckDepth::kFull));
}

// Headers are written into the maker's copy of the pool. Before a later body covers the place of a header, the pool's
// bytes there must be restored. Many values almost as large as the pool make such overlaps certain.
TEST(ValueTest, EveryValueMadeMatchesItsKey) {
  for (const std::size_t size : kSizes) {
    const ValuePool pool(1, size, 1);
    ValueMaker maker(pool);
    const std::uint64_t count = size > 100000 ? 20 : 2000;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Slice value = maker.Make(i * 977, i);
      ASSERT_EQ(value.size(), size);
      ASSERT_TRUE(pool.Matches(i * 977, value, CheckDepth::kFull)) << pool.Explain(i * 977, value);
      ASSERT_TRUE(pool.Matches(i * 977, value, CheckDepth::kEnds));
    }
  }
}

TEST(ValueTest, AnyWrongByteIsCaught) {
  for (const std::size_t size : {1u, 15u, 16u, 17u, 40u, 300u}) {
    const ValuePool pool(1, size, 1);
    std::string value = ValueMaker(pool).Make(42, 9).ToString();
    for (std::size_t i = 0; i < size; ++i) {
      value[i] = static_cast<char>(value[i] ^ 1);
      // A changed version selects another slice of the pool. Without a body nothing can differ.
      const bool is_version = size == kValueHeaderSize && i >= 8;
      EXPECT_EQ(pool.Matches(42, value, CheckDepth::kFull), is_version) << size << " byte " << i;
      value[i] = static_cast<char>(value[i] ^ 1);
    }
    EXPECT_TRUE(pool.Matches(42, value, CheckDepth::kFull));
  }
}

TEST(ValueTest, CheckOfEndsReadsHeaderAndEndsOnly) {
  const ValuePool pool(1, 1000, 1);
  std::string value = ValueMaker(pool).Make(42, 9).ToString();
  const auto caught = [&](std::size_t at) {
    std::string changed = value;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    return !pool.Matches(42, changed, CheckDepth::kEnds);
  };
  EXPECT_TRUE(caught(0));
  EXPECT_TRUE(caught(16));
  EXPECT_TRUE(caught(999));
  EXPECT_FALSE(caught(500));
}

TEST(ValueTest, ValueOfAnotherKeyOrSizeIsCaught) {
  for (const std::size_t size : {8u, 100u}) {
    const ValuePool pool(1, size, 1);
    const std::string value = ValueMaker(pool).Make(42, 9).ToString();
    EXPECT_FALSE(pool.Matches(43, value, CheckDepth::kFull));
    EXPECT_FALSE(pool.Matches(42, Slice(value.data(), size - 1), CheckDepth::kEnds));
  }
}

TEST(ValueTest, ExplanationNamesTheByte) {
  const ValuePool pool(1, 100, 1);
  std::string value = ValueMaker(pool).Make(42, 9).ToString();
  value[57] = static_cast<char>(value[57] ^ 1);
  EXPECT_NE(pool.Explain(42, value).find("key 42, version 9, differs at byte 57"), std::string::npos)
      << pool.Explain(42, value);
  EXPECT_NE(pool.Explain(41, value).find("belongs to key 42"), std::string::npos);
}

TEST(ValueTest, CompressionRatioIsTheRandomPart) {
  const ValuePool pool(1, 0, 0.5);
  const std::string& bytes = pool.bytes();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(bytes[i], bytes[i + 64]);
  EXPECT_NE(bytes.substr(0, 64), bytes.substr(128, 64));
}

TEST(ValueTest, SizesFollowTheirDistribution) {
  for (const SizeDistribution distribution : {SizeDistribution::kUniform, SizeDistribution::kNormal}) {
    const ValueSizes sizes{distribution, 100, 1300};
    double sum = 0, squares = 0;
    constexpr int kCount = 20000;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const auto size = static_cast<double>(sizes.Of(Mix(i)));
      ASSERT_GE(size, 100);
      ASSERT_LE(size, 1300);
      sum += size;
      squares += size * size;
    }
    const double mean = sum / kCount;
    const double deviation = std::sqrt(squares / kCount - mean * mean);
    EXPECT_NEAR(mean, 700, 10);
    // Uniform distribution: the range over the square root of 12. Normal distribution: a sixth of the range, and a
    // little less, because its ends are cut off.
    EXPECT_NEAR(deviation, distribution == SizeDistribution::kUniform ? 1200 / std::sqrt(12) : 200, 10);
  }
}

TEST(ValueTest, ValuesOfEverySizeMatchAndTruncatedOnesDoNot) {
  const ValuePool pool(1, ValueSizes{SizeDistribution::kUniform, 0, 300}, 1);
  ValueMaker maker(pool);
  std::set<std::size_t> sizes;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Slice value = maker.Make(i, i % 7);
    sizes.insert(value.size());
    ASSERT_TRUE(pool.Matches(i, value, CheckDepth::kFull)) << pool.Explain(i, value);
    if (value.size() > 20 || (value.size() > 4 && value.size() < 16)) {
      ASSERT_FALSE(pool.Matches(i, Slice(value.data(), value.size() - 1), CheckDepth::kFull)) << value.size();
    }
  }
  EXPECT_EQ(sizes.size(), 301u);
  EXPECT_EQ(maker.Make(5, 5, 77).size(), 77u) << "a size may be asked for";
  EXPECT_FALSE(pool.Matches(5, std::string(301, 'x'), CheckDepth::kFull));
}

TEST(ValueTest, ValuesFromFilesAreWholeFiles) {
  const ValuePool pool(1, std::vector<std::string>{"an oak", "", std::string(5000, 'b')});
  ValueMaker maker(pool);
  std::set<std::string> bodies;
  for (std::uint64_t id = 0; id < 100; ++id) {
    const Slice value = maker.Make(id, 3);
    ASSERT_TRUE(pool.Matches(id, value, CheckDepth::kFull)) << pool.Explain(id, value);
    ASSERT_FALSE(pool.Matches(id + 1, value, CheckDepth::kFull));
    ASSERT_FALSE(pool.Matches(id, Slice(value.data(), value.size() - 1), CheckDepth::kFull));
    bodies.insert(value.ToString().substr(kValueHeaderSize));
  }
  EXPECT_EQ(bodies, (std::set<std::string>{"an oak", "", std::string(5000, 'b')}));
  EXPECT_EQ(pool.size_max(), 5016u);
  EXPECT_EQ(pool.size_typical(), (6 + 0 + 5000) / 3 + 16u) << "the mean of the files, not the middle of their sizes";
}

}  // namespace
}  // namespace cambium::bench
