// Filters in the branches above the leaves: lookups of absent keys end there, and present keys are found. Both hold
// after any sweeps, and for any values that the option had at the time.
#include <gtest/gtest.h>

#include "index/filter.h"
#include "index/tree_check.h"
#include "index/tree_cursor.h"
#include "tree_family.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"

namespace cambium::testing::tree_filters_test {
namespace {

std::string Key(std::uint64_t n) { return "key" + std::to_string(1'000'000 + n); }

// Returns the number of pages that lookups of `count` absent keys load into an empty pool.
std::uint64_t PagesReadByMisses(TreeFamily& family, std::uint64_t count) {
  EXPECT_TRUE(family.Reopen().ok());
  const std::uint64_t before = family.pool().stats().misses;
  for (std::uint64_t i = 0; i < count; ++i) {
    PageRef keep;
    Entry entry;
    const Result<bool> found = family.layers().Find(Key(i) + "?", &keep, &entry);
    EXPECT_TRUE(found.ok() && !*found);
  }
  return family.pool().stats().misses - before;
}

TEST(TreeFiltersTest, LookupsOfAbsentKeysReadNoLeaves) {
  std::uint64_t pages[2] = {};
  for (const unsigned bits : {0u, 10u}) {
    TreeFamilyOptions options;
    options.filter_bits_per_key = bits;
    TreeFamily family(options);
    for (std::uint64_t i = 0; i < 5000; ++i) family.Put(Key(i), 500);
    ASSERT_TRUE(family.FlushIntoTree().ok());
    const Result<TreeFacts> facts = family.Walk();
    ASSERT_TRUE(facts.ok());
    ASSERT_GT(facts->leaves, 100u);
    pages[bits > 0] = PagesReadByMisses(family, 5000);
    if (bits == 0) {
      EXPECT_EQ(pages[0], facts->leaves + facts->branches);
    } else {
      // About 1 in 100 is a false positive.
      EXPECT_LE(pages[1], facts->branches + 5000 / 50);
    }
  }
  EXPECT_LT(pages[1] * 2, pages[0]);
}

// If keys with different bytes may be equal, there must be no filters, or keys would be lost.
TEST(TreeFiltersTest, CaseFoldingComparatorHasNoFilters) {
  TreeFamilyOptions options;
  options.comparator = CaseFoldingComparator();
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < 500; ++i) family.Put(Key(i), 500);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  PageRef keep;
  Entry entry;
  const Result<bool> found = family.layers().Find("KEY1000100", &keep, &entry);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(*found);
  ASSERT_GT(family.state().root.height, 1u);
}

// filter_bits_per_key changes between sweeps. A sweep keeps most leaves and writes new branches, so a leaf that had a
// branch with a filter may get one without, and vice versa.
Status SweepsUnderChangingOptions(std::uint64_t seed) {
  Prng prng(seed);
  TreeFamilyOptions options;
  options.segment_bytes_max = 32 * 1024;
  options.page_size = prng.OneIn(2) ? 512 : 4096;
  TreeFamily family(options);
  for (int round = 0; round < 80; ++round) {
    ColumnFamilyOptions changed;
    changed.filter_bits_per_key = static_cast<int>(prng.OneIn(3) ? 0 : prng.OneIn(4) ? 64 : prng.Uniform(30));
    family.index().SetOptions(changed);
    // A few adjacent keys, so that most leaves are kept by address.
    const std::uint64_t base = prng.Uniform(3000);
    const std::uint64_t count = 1 + prng.Skewed(7);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string key = Key(base + prng.Uniform(count * 2));
      if (prng.OneIn(4)) {
        family.Delete(key);
      } else if (prng.OneIn(3)) {
        family.PutInline(key, prng.Bytes(prng.Uniform(100)));
      } else {
        family.Put(key, 500);
      }
    }
    if (prng.OneIn(2)) {
      CAMBIUM_RETURN_IF_ERROR(family.FlushIntoTree());
    } else {
      CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
      while (family.layers().runs().size() > 0) CAMBIUM_RETURN_IF_ERROR(family.Step(prng.Between(1, 8192)));
    }
    if (round % 8 == 7) CAMBIUM_RETURN_IF_ERROR(family.Reopen());
    CAMBIUM_RETURN_IF_ERROR(family.Check());
  }
  return Status::OK();
}

TEST(TreeFiltersTest, ChangedOptionLosesNoKey) {
  const std::uint64_t seed = SeedFromEnvironment(0xf117e2);
  for (std::uint64_t i = 0; i < 4 * ScaleFromEnvironment(); ++i) {
    const Status s = SweepsUnderChangingOptions(seed + i);
    EXPECT_TRUE(s.ok()) << "CAMBIUM_SEED=" << seed + i << ": " << s.ToString();
  }
  MutantScope mutant(Mutant::kForgetGraftedKeys);
  EXPECT_FALSE(SweepsUnderChangingOptions(seed).ok());
}

// Stale keys stay in the filter for a while, but not for ever. Here all keys are replaced many times, a few adjacent
// ones at a time, so that no branch is ever made of new leaves only.
TEST(TreeFiltersTest, FiltersDoNotFillUpWithStaleKeys) {
  const std::uint64_t seed = SeedFromEnvironment(0xf117e3);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  TreeFamily family({});
  std::vector<std::uint64_t> there;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    there.push_back(i * 1000);
    family.Put(Key(there.back()), 500);
  }
  ASSERT_TRUE(family.FlushIntoTree().ok());
  for (int round = 0; round < 1000; ++round) {
    const std::size_t first = prng.Uniform(there.size() - 20);
    for (std::size_t i = first; i < first + 20; ++i) {
      family.Delete(Key(there[i]));
      there[i] = there[i] / 1000 * 1000 + prng.Uniform(1000);
      family.Put(Key(there[i]), 500);
    }
    ASSERT_TRUE(family.FlushIntoTree().ok());
    if (round % 200 != 199) continue;
    std::uint64_t filters = 0;
    TreeCheckStats stats;
    TreeCheckCallbacks callbacks;
    callbacks.on_page = [&](const PageView& page) {
      if (page.level() != 1) return Status::OK();
      ++filters;
      EXPECT_GT(page.filter().count, 0u);
      EXPECT_LE(page.filter().keys, page.entry_count() * 3 / 2);
      return Status::OK();
    };
    const TreeLayers::Parts& parts = family.layers().parts();
    ASSERT_TRUE(CheckTree(parts.root, parts.files, parts.comparator, callbacks, &stats).ok());
    EXPECT_GT(filters, 3u);
  }
  const Status s = family.Check();
  EXPECT_TRUE(s.ok()) << s.ToString();
}

// A sweep may read a leaf that it keeps by address, to put the leaf's keys into a filter. If the leaf cannot be read,
// the sweep does not fail.
TEST(TreeFiltersTest, UnreadableLeafCostsOnlyTheFilter) {
  TreeFamilyOptions options;
  options.filter_bits_per_key = 0;
  options.segment_bytes_max = 8u << 20;
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < 300; ++i) family.Put(Key(i), 500);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  const Result<TreeFacts> facts = family.Walk();
  ASSERT_TRUE(facts.ok());
  ASSERT_GT(facts->leaves, 4u);
  ASSERT_TRUE(family.Reopen().ok());
  const PageId damaged = facts->leaf_ids.back();
  for (const auto& file : family.fs().probe().ListFiles()) {
    if (!file.path.ends_with(".idx")) continue;
    ASSERT_TRUE(
        family.fs().tampering().Overwrite(file.path, UnitOffsetOf(damaged) * options.page_size + 100, "xx").ok());
  }
  ColumnFamilyOptions changed;
  changed.filter_bits_per_key = 10;
  family.index().SetOptions(changed);
  family.Put(Key(0), 500);
  const Status s = family.FlushIntoTree();
  ASSERT_TRUE(s.ok()) << s.ToString();
  PageRef keep;
  Entry entry;
  EXPECT_TRUE(*family.layers().Find(Key(1), &keep, &entry));
  EXPECT_TRUE(family.layers().Find(Key(299), &keep, &entry).status().IsCorruption());
}

// The tree was made under a comparator that wrongly promised that equal keys have equal bytes. Under a comparator
// without this promise, its filters must not be used.
TEST(TreeFiltersTest, FiltersAreIgnoredUnderACaseFoldingComparator) {
  TreeFamily family({});
  for (std::uint64_t i = 0; i < 500; ++i) family.Put(Key(i), 500);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  const TreeLayers::Parts& parts = family.layers().parts();
  PageRef keep;
  Entry entry;
  const std::string key = "KEY1000100";
  const Result<bool> found = TreeFind(parts.root, parts.files, parts.pool, CaseFoldingComparator(), key,
                                      FilterHash(key), &keep, &entry);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(*found);
}

// CheckTree compares filters with the keys below them.
TEST(TreeFiltersTest, CheckTreeDetectsAFilterWithoutAKey) {
  TreeFamily family({});
  for (std::uint64_t i = 0; i < 1000; ++i) family.Put(Key(i * 2), 500);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  const auto check = [&family] {
    TreeCheckStats stats;
    const TreeLayers::Parts& parts = family.layers().parts();
    return CheckTree(parts.root, parts.files, parts.comparator, {}, &stats);
  };
  ASSERT_TRUE(check().ok()) << check().ToString();
  MutantScope mutant(Mutant::kForgetGraftedKeys);
  family.Put(Key(1001), 500);
  ASSERT_TRUE(family.FlushIntoTree().ok());
  EXPECT_TRUE(check().IsCorruption());
  EXPECT_NE(check().ToString().find("filter"), std::string::npos) << check().ToString();
}

}  // namespace
}  // namespace cambium::testing::tree_filters_test
