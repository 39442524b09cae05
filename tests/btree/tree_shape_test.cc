// The shape of trees after many sweeps: pages stay full, small changes write little, nothing accumulates.
#include <gtest/gtest.h>

#include <algorithm>

#include "tree_family.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

std::string Key(std::uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
  return text;
}
// Keys in pseudo-random order.
std::string ScatteredKey(std::uint64_t n) { return Key(n * 0x9e3779b97f4a7c15u); }

void LoadScattered(TreeFamily& family, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) family.Put(ScatteredKey(i), 500);
  ASSERT_TRUE(family.FlushIntoTree().ok());
}

// `fill_min` is the least fill of a page that is not on the right edge. Where the pages of a level are redistributed,
// they are two thirds full on average. A page may have less if its keys share more bytes than its neighbours' do, or if
// values of a quarter of a page cannot be distributed evenly.
void ExpectGoodShape(const TreeFamily& family, unsigned fill_min) {
  const Result<TreeFacts> facts = family.Walk();
  ASSERT_TRUE(facts.ok()) << facts.status().ToString();
  if (facts->leaves > 20) {
    EXPECT_GE(facts->leaf_fill, 60);
    EXPECT_GE(facts->leaf_fill_min, fill_min);
  }
  EXPECT_GE(facts->children_min, 2u);
  if (family.state().root.height > 1) {
    EXPECT_GE(facts->root_children, 2u);
  }
}

struct ShapeParam {
  std::uint32_t page_size;
  bool inline_values;
};
class TreeShapeTest : public ::testing::TestWithParam<ShapeParam> {};

// Phases of growing, shrinking and both, in batches from one key to a tenth of all, uniform or in a small region.
TEST_P(TreeShapeTest, PagesStayFullThroughRandomInsertsAndDeletes) {
  const std::uint64_t seed = SeedFromEnvironment(0x511a);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  TreeFamilyOptions options;
  options.page_size = GetParam().page_size;
  options.segment_bytes_max = 256 * 1024;
  TreeFamily family(options);
  const std::uint64_t space = GetParam().inline_values ? 3'000 : 20'000;
  for (std::uint64_t round = 0; round < ScaledCount(240); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const unsigned delete_percent = (round / 40) % 3 == 0 ? 10 : (round / 40) % 3 == 1 ? 90 : 50;
    const std::uint64_t region = prng.OneIn(3) ? space / 50 : space;
    const std::uint64_t base = prng.Uniform(space - region + 1);
    const std::uint64_t count = 1 + prng.Skewed(11);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string key = Key((base + prng.Uniform(region)) * 1'000'003);
      if (prng.Uniform(100) < delete_percent) {
        family.Delete(key);
      } else if (GetParam().inline_values) {
        family.PutInline(key, prng.Bytes(prng.Uniform(options.page_size / 4 + 1)));
      } else {
        family.Put(key, 500);
      }
    }
    ASSERT_TRUE(family.FlushIntoTree().ok());
    ExpectGoodShape(family, GetParam().inline_values ? 40 : 45);
  }
  const Status s = family.Check();
  ASSERT_TRUE(s.ok()) << s.ToString();
}

INSTANTIATE_TEST_SUITE_P(All, TreeShapeTest,
                         ::testing::Values(ShapeParam{512, false}, ShapeParam{512, true}, ShapeParam{4096, false},
                                           ShapeParam{4096, true}),
                         [](const auto& param) {
                           return std::to_string(param.param.page_size) + (param.param.inline_values ? "inline" : "");
                         });

// Inserts single keys everywhere: each insert meets full leaves, and a naive builder would rewrite many of them.
void ExpectSmallSingleInserts(unsigned filter_bits_per_key, std::uint64_t lowest_branch_pages) {
  TreeFamilyOptions options;
  options.filter_bits_per_key = filter_bits_per_key;
  options.evacuation.file_percent_max = 1'000'000;  // so that only the inserts write
  options.evacuation.small_segments_max = 1000;
  TreeFamily family(options);
  LoadScattered(family, 5000);
  const Result<TreeFacts> before = family.Walk();
  ASSERT_TRUE(before.ok());
  ASSERT_GT(before->leaves, 100u);
  std::uint64_t bytes = 0;
  constexpr std::uint64_t kInserts = 1500;
  std::uint64_t worst = 0;
  for (std::uint64_t i = 0; i < kInserts; ++i) {
    family.Put(ScatteredKey(5000 + i), 500);
    ASSERT_TRUE(family.FlushIntoTree().ok());
    bytes += family.last_stats().bytes_written;
    worst = std::max(worst, family.last_stats().bytes_written);
  }
  ExpectGoodShape(family, 60);
  // A path has one page per level, except for the lowest branch. Now and then one or two neighbours are rewritten when
  // a leaf or a branch is split.
  const std::uint64_t path =
      (family.state().root.height - 1 + lowest_branch_pages) * std::uint64_t{options.page_size};
  EXPECT_LE(bytes / kInserts, path + options.page_size / 2);
  EXPECT_LE(worst, 5 * path);
}
TEST(TreeShapeOfSmallBatchesTest, SingleInsertsWriteAFewPagesEach) { ExpectSmallSingleInserts(0, 1); }
TEST(TreeShapeOfSmallBatchesTest, SingleInsertsWriteAFewPagesEachUnderFilters) {
  ExpectSmallSingleInserts(10, kFilteredBranchUnits);
}

TEST(TreeShapeOfSmallBatchesTest, ClusteredBatchKeepsAllOtherPagesByAddress) {
  TreeFamilyOptions options;
  options.segment_bytes_max = 8u << 20;
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < 20'000; ++i) family.Put(Key(i * 10), 500);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  Result<TreeFacts> before = family.Walk();
  ASSERT_TRUE(before.ok());
  // 60 updates and 10 inserts next to each other.
  for (std::uint64_t i = 9'000; i < 9'060; ++i) family.Put(Key(i * 10), 600);
  for (std::uint64_t i = 9'000; i < 9'010; ++i) family.Put(Key(i * 10 + 5), 600);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  Result<TreeFacts> after = family.Walk();
  ASSERT_TRUE(after.ok());
  std::sort(before->leaf_ids.begin(), before->leaf_ids.end());
  std::sort(after->leaf_ids.begin(), after->leaf_ids.end());
  std::vector<PageId> kept;
  std::set_intersection(before->leaf_ids.begin(), before->leaf_ids.end(), after->leaf_ids.begin(),
                        after->leaf_ids.end(), std::back_inserter(kept));
  const std::uint64_t keys_per_leaf = 20'000 / before->leaves;
  const std::uint64_t touched = 60 / keys_per_leaf + 2;
  EXPECT_GE(kept.size() + touched + 2, before->leaves);
  EXPECT_LE(family.last_stats().bytes_written / options.page_size, touched + 2 + 2 * family.state().root.height);
  const Status s = family.Check();
  ASSERT_TRUE(s.ok()) << s.ToString();
}

TEST(TreeShapeOfSmallBatchesTest, LoadInKeyOrderWritesFullLeavesAboutOnce) {
  TreeFamilyOptions options;
  options.segment_bytes_max = 8u << 20;
  TreeFamily family(options);
  std::uint64_t bytes = 0;
  for (std::uint64_t batch = 0; batch < 100; ++batch) {
    for (std::uint64_t i = 0; i < 500; ++i) family.Put(Key(batch * 500 + i), 500);
    ASSERT_TRUE(family.Flush().ok());
    EXPECT_EQ(family.layers().runs().size(), 0u) << "a load after the last key makes no run";
    bytes += family.last_stats().bytes_written;
  }
  const Result<TreeFacts> facts = family.Walk();
  ASSERT_TRUE(facts.ok());
  EXPECT_GE(facts->leaf_fill, 92);
  EXPECT_LE(static_cast<double>(bytes), 1.35 * static_cast<double>(facts->page_bytes));
}

TEST(TreeShapeOfSmallBatchesTest, DeletingAllKeysDropsLevelsAndFiles) {
  TreeFamily family({});
  LoadScattered(family, 5000);
  ASSERT_GE(family.state().root.height, 3u);
  for (std::uint64_t i = 10; i < 5000; ++i) family.Delete(ScatteredKey(i));
  ASSERT_TRUE(family.FlushIntoTree().ok());
  EXPECT_EQ(family.state().root.height, 1u);
  EXPECT_EQ(family.state().root.entry_count, 10u);
  ASSERT_TRUE(family.Check().ok());
  for (std::uint64_t i = 0; i < 10; ++i) family.Delete(ScatteredKey(i));
  ASSERT_TRUE(family.FlushIntoTree().ok());
  EXPECT_EQ(family.state().root, TreeRoot{});
  EXPECT_TRUE(family.state().index_segments.empty());
  EXPECT_TRUE(family.state().accounts.empty());
  ASSERT_TRUE(family.Check().ok());
}

// Keys of every length up to the longest, in pages of 512 bytes: most pages have several units.
TEST(TreeShapeOfSmallBatchesTest, TreesOfLongKeysStayFlat) {
  const std::uint64_t seed = SeedFromEnvironment(0x10);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  TreeFamilyOptions options;
  options.segment_bytes_max = 1u << 20;
  options.pool_bytes = 1u << 20;
  TreeFamily family(options);
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t n = prng.Uniform(600);
      std::string key = std::string(static_cast<std::size_t>(n * 13 % MaxKeySizeFor(512)), 'k') + Key(n);
      key.resize(std::min(key.size(), MaxKeySizeFor(512)));
      if (prng.Uniform(100) < (round < 20 ? 20u : 60u)) {
        family.Delete(key);
      } else {
        family.Put(key, 100);
      }
    }
    ASSERT_TRUE(family.FlushIntoTree().ok());
    const Status s = family.Check();
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_LE(family.state().root.height, 7u);
    const Result<TreeFacts> facts = family.Walk();
    ASSERT_TRUE(facts.ok());
    EXPECT_GE(facts->children_min, 2u);
  }
}

}  // namespace
}  // namespace cambium::testing
