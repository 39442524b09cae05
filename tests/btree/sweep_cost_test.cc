// The bytes that sweeps write, compared with the cost law, and the bytes that they leave on disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "tree_family.h"
#include "testing/seed.h"

namespace cambium::testing::sweep_cost_test {
namespace {

std::string Key(std::uint64_t n) {
  // 16 bytes in pseudo-random order.
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n * 0x9e3779b97f4a7c15u));
  return text;
}

struct Cost {
  std::uint64_t batch;
  double law;        // bytes per update
  double measured;   // bytes per update, without those that were copied out of victims
  double evacuated;  // bytes per update that were copied out of victims
};

// Measures uniform updates of `keys` keys, `batch` at a time.
Cost Measure(std::uint64_t keys, std::uint64_t batch, std::uint64_t rounds, std::uint64_t seed) {
  TreeFamilyOptions options;
  options.page_size = 4096;
  options.segment_bytes_max = 128 * 1024;
  options.pool_bytes = 64u << 20;
  options.write_bytes = 256 * 1024;
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < keys; ++i) family.Put(Key(i), 500);
  EXPECT_TRUE(family.FlushIntoTree().ok());
  const Result<TreeFacts> facts = family.Walk();
  EXPECT_TRUE(facts.ok());

  Prng prng(seed);
  double law = 0;
  double written = 0;
  double evacuated = 0;
  double updates = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::uint64_t i = 0; i < batch; ++i) family.Put(Key(prng.Uniform(keys)), 500);
    const auto distinct = static_cast<double>(family.memtable_keys());
    EXPECT_TRUE(family.FlushIntoTree().ok());
    const auto leaves = static_cast<double>(facts->leaves);
    law += 4096 * PagesTouched(leaves, distinct) + static_cast<double>(facts->page_bytes - 4096 * facts->leaves);
    written += static_cast<double>(family.last_stats().bytes_written - family.last_stats().bytes_evacuated);
    evacuated += static_cast<double>(family.last_stats().bytes_evacuated);
    updates += distinct;
  }
  EXPECT_TRUE(family.Check().ok());
  return {batch, law / updates, written / updates, evacuated / updates};
}

TEST(SweepCostTest, BytesPerUpdateFollowTheLaw) {
  const std::uint64_t seed = SeedFromEnvironment(0xc057);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  std::printf("N = 100000, pages of 4096 bytes\n%10s %12s %12s %12s\n", "batch", "law B/op", "measured", "+ copied");
  for (const std::uint64_t batch : {100u, 400u, 1600u, 12'500u, 50'000u}) {
    // Enough rounds to replace every page a few times, so that the cost of emptying victims is included.
    const Cost cost = Measure(100'000, batch, std::max<std::uint64_t>(8, 8'000 / batch), seed);
    std::printf("%10llu %12.0f %12.0f %12.0f\n", static_cast<unsigned long long>(batch), cost.law, cost.measured,
                cost.evacuated);
    EXPECT_NEAR(cost.measured, cost.law, 0.25 * cost.law) << "batch " << batch;
    EXPECT_LE(cost.evacuated, 0.35 * cost.law) << "batch " << batch;
  }
}

// Updates only one in a hundred of the keys, for a long time: cold pages must not pin files full of garbage.
TEST(SweepCostTest, ColdPagesDoNotPinFiles) {
  const std::uint64_t seed = SeedFromEnvironment(0xc01d);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  TreeFamilyOptions options;
  options.segment_bytes_max = 64 * 1024;
  TreeFamily family(options);
  // A load in random order, so that hot and cold pages are in the same files.
  Prng prng(seed);
  constexpr std::uint64_t kKeys = 20'000;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    family.Put(Key(i), 500);
    if (i % 2000 == 1999) {
      ASSERT_TRUE(family.FlushIntoTree().ok());
    }
  }
  std::uint64_t dropped = 0;
  for (int round = 0; round < 600; ++round) {
    const std::size_t before = family.state().index_segments.size();
    for (int i = 0; i < 10; ++i) family.Put(Key(prng.Uniform(kKeys / 100)), 500);
    ASSERT_TRUE(family.FlushIntoTree().ok());
    dropped += family.state().index_segments.size() < before ? 1 : 0;
    const std::uint64_t live = family.layers().shape().base_live_bytes;
    // One sweep may exceed the bound; the next one corrects that.
    ASSERT_LE(family.index_file_bytes(), 2 * live + options.segment_bytes_max) << "round " << round;
  }
  EXPECT_GT(dropped, 10u);
  const Status s = family.Check();
  ASSERT_TRUE(s.ok()) << s.ToString();
}

// Every Open leaves a small file. Such files are joined: they become victims, and all their live pages are copied.
TEST(SweepCostTest, ManyOpensDoNotLeaveManyFiles) {
  const auto most_files = [](std::size_t small_segments_max) {
    TreeFamilyOptions options;
    options.segment_bytes_max = 256 * 1024;
    options.filter_bits_per_key = 0;  // so that branches have one page, and files are small
    options.evacuation.small_segments_max = small_segments_max;
    TreeFamily family(options);
    for (std::uint64_t i = 0; i < 2000; ++i) family.Put(Key(i), 500);
    EXPECT_TRUE(family.FlushIntoTree().ok());
    std::size_t most = 0;
    for (std::uint64_t round = 0; round < 60; ++round) {
      family.Put(Key(round), 500);
      EXPECT_TRUE(family.FlushIntoTree().ok());
      EXPECT_TRUE(family.Reopen().ok());
      most = std::max(most, family.state().index_segments.size());
    }
    const Status s = family.Check();
    EXPECT_TRUE(s.ok()) << s.ToString();
    return most;
  };
  EXPECT_LE(most_files(4), 10u);
  EXPECT_GT(most_files(1000), 20u);
}

// A full sweep in bounded steps: each writes about its limit, and all together write about as much as one sweep.
TEST(SweepCostTest, StepsAreBoundedAndTogetherWriteLittleMoreThanOneSweep) {
  const auto make = [](TreeFamily& family) {
    for (std::uint64_t i = 0; i < 20'000; ++i) family.Put(Key(i), 500);
    ASSERT_TRUE(family.FlushIntoTree().ok());
    for (std::uint64_t i = 0; i < 5'000; ++i) family.Put(Key(i * 4), 500);
    ASSERT_TRUE(family.FlushRun().ok());
  };
  TreeFamilyOptions options;
  options.segment_bytes_max = 64 * 1024;
  TreeFamily at_once(options);
  make(at_once);
  ASSERT_TRUE(at_once.SweepAll().ok());
  TreeFamily in_steps(options);
  make(in_steps);
  constexpr std::uint64_t kStep = 64 * 1024;
  std::uint64_t total = 0;
  do {
    ASSERT_TRUE(in_steps.Step(kStep).ok());
    total += in_steps.last_stats().bytes_written;
    // Beyond its limit, a step writes pages held back at the edge of each level, branches above, and pages of victims.
    EXPECT_LE(in_steps.last_stats().bytes_written, kStep + kStep / 2 + 32u * options.page_size);
  } while (in_steps.state().sweep.has_value());
  EXPECT_LE(total, at_once.last_stats().bytes_written * 3 / 2);
  EXPECT_TRUE(in_steps.Check().ok());
}

// If file_percent_max is low, even files whose pages are mostly live must be emptied, each as a whole. So no file is
// larger than a step, and a step writes at most two files. (Regression: a file was an eighth of the tree, however small
// the steps were.)
TEST(SweepCostTest, FileIsNoLargerThanAStep) {
  const std::uint64_t seed = SeedFromEnvironment(0xf11e);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  TreeFamilyOptions options;
  options.page_size = 4096;
  options.segment_bytes_max = 64u << 20;
  options.file_percent_max = 110;
  options.pool_bytes = 64u << 20;
  options.write_bytes = 256 * 1024;
  TreeFamily family(options);
  constexpr std::uint64_t kKeys = 300'000;
  constexpr std::uint64_t kStep = 2u << 20;
  const auto put = [&family](std::uint64_t i) { family.PutInline(Key(i), std::string(100, 'v')); };
  for (std::uint64_t i = 0; i < kKeys; ++i) put(i);
  Prng prng(seed);
  std::uint64_t evacuated = 0;
  for (std::uint64_t sweep = 0; sweep < 8; ++sweep) {
    ASSERT_TRUE(family.FlushRun().ok());
    do {
      ASSERT_TRUE(family.Step(kStep).ok());
      const CompactionStats& stats = family.last_stats();
      EXPECT_LE(stats.bytes_evacuated, kStep);
      EXPECT_LE(stats.bytes_written, 2 * kStep + 16u * options.page_size);  // plus the branches above the last page
      evacuated += stats.bytes_evacuated;
    } while (family.layers().parts().sweep.has_value());
    for (const auto& [number, segment] : family.state().index_segments) EXPECT_LE(segment.length, kStep);
    for (std::uint64_t i = 0; i < kKeys / 256; ++i) put(prng.Uniform(kKeys));
  }
  EXPECT_GT(evacuated, 8 * kStep) << "otherwise the test shows nothing";
  const Status s = family.Check();
  EXPECT_TRUE(s.ok()) << s.ToString();
}

// Figures of a tree that was swept in steps until all of it had been replaced several times: the size of its files in
// per cent of the live bytes, at the end and at most, and the bytes written per update.
struct Swept {
  double percent_at_rest;
  double percent_at_most;
  double bytes;
  std::uint64_t least_merged = ~std::uint64_t{0};  // entries, by a step that was not the last of its sweep
};
constexpr std::uint64_t kStepOfSwept = 256 * 1024;
Swept AfterSweeps(std::uint64_t file_percent_max, std::uint64_t seed, std::optional<StepBounds> bounds = std::nullopt) {
  constexpr std::uint64_t kKeys = 40'000;
  constexpr std::string_view kValue = "of a hundred bytes, as they lie in a leaf, so that a page has thirty of them "
                                      "and a sweep meets all.";
  TreeFamilyOptions options;
  options.page_size = 4096;
  options.segment_bytes_max = 512 * 1024;
  options.pool_bytes = 64u << 20;
  options.write_bytes = 256 * 1024;
  options.file_percent_max = file_percent_max;
  options.bounds = bounds;
  TreeFamily family(options);
  for (std::uint64_t i = 0; i < kKeys; ++i) family.PutInline(Key(i), std::string(kValue));
  EXPECT_TRUE(family.FlushIntoTree().ok());
  Prng prng(seed);
  double written = 0;
  double most = 0;
  Swept swept;
  const auto percent = [&family] {
    const auto live = static_cast<double>(family.layers().shape().base_live_bytes);
    return 100 * static_cast<double>(family.index_file_bytes()) / live;
  };
  constexpr std::uint64_t kSweeps = 5;
  for (std::uint64_t sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::uint64_t i = 0; i < kKeys / 8; ++i) family.PutInline(Key(prng.Uniform(kKeys)), std::string(kValue));
    EXPECT_TRUE(family.FlushRun().ok());
    do {
      EXPECT_TRUE(family.Step(kStepOfSwept).ok());
      const CompactionStats& stats = family.last_stats();
      written += static_cast<double>(stats.bytes_written);
      most = std::max(most, percent());
      const bool is_last = !family.layers().parts().sweep.has_value();
      if (!is_last) swept.least_merged = std::min(swept.least_merged, stats.entries_merged);
    } while (family.layers().parts().sweep.has_value());
  }
  EXPECT_TRUE(family.Check().ok());
  swept.percent_at_rest = percent();
  swept.percent_at_most = most;
  swept.bytes = written / (kSweeps * kKeys / 8);
  return swept;
}

// After updates of small values, about one page in fifty of an old segment is still live. Without file_percent_max,
// sweeps copy these pages only when the files have twice the live bytes, which would exceed a lower ceiling. With the
// bound they copy them earlier, at almost no cost.
TEST(SweepCostTest, FilesStayWithinFilePercentMax) {
  const std::uint64_t seed = SeedFromEnvironment(0x5eed);
  const Swept without = AfterSweeps(~std::uint64_t{0}, seed);
  const Swept with = AfterSweeps(125, seed);
  EXPECT_GT(without.percent_at_rest, 140) << "otherwise the test shows nothing";
  EXPECT_GT(without.percent_at_most, 180);
  EXPECT_LE(with.percent_at_rest, 130);
  EXPECT_LE(with.percent_at_most, 150) << "plus a segment that is half swept";
  EXPECT_LE(with.bytes, without.bytes * 1.1);
}

// If few pages may be dead, most pages that a step writes are copies. If copies counted against the merged bytes, a
// step would merge one key and copy much.
TEST(SweepCostTest, OnlyHardBoundsLimitMergingByCopies) {
  const std::uint64_t seed = SeedFromEnvironment(0x5eed);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  StepBounds bounds;
  bounds.copy_bytes_max = kStepOfSwept;
  bounds.growth_bytes_max = kStepOfSwept / 8;
  const Swept usual = AfterSweeps(115, seed);
  const Swept bounded = AfterSweeps(115, seed, bounds);
  bounds.is_hard = true;
  const Swept hard = AfterSweeps(115, seed, bounds);
  for (const Swept& its : {usual, bounded, hard}) {
    std::printf("files %.0f %% at most, %.0f %% at rest, %.0f bytes per update, at least %llu entries a step\n",
                its.percent_at_most, its.percent_at_rest, its.bytes, static_cast<unsigned long long>(its.least_merged));
  }
  EXPECT_LT(bounded.percent_at_most, usual.percent_at_most);
  EXPECT_GE(bounded.least_merged, 8u) << "two pages have about eight of the sweep's entries";
  EXPECT_LT(hard.least_merged, 8u) << "otherwise the test shows nothing";
  EXPECT_LT(bounded.bytes, hard.bytes / 2);
}

}  // namespace
}  // namespace cambium::testing::sweep_cost_test
