// GetApproximateSizes: the reported size of a range of keys, compared with its real size.
#include <algorithm>

#include "cambium/statistics.h"
#include "testing/test_store.h"
#include "testing/seed.h"
#include "util/prng.h"
#include "vlog/record_format.h"

namespace cambium {
namespace {

using namespace cambium::testing;

std::uint64_t IndexBytesOf(const TestStore& store) {
  std::uint64_t bytes = 0;
  for (const auto& file : store.fs->probe().ListFiles()) {
    if (file.path.ends_with(".run") || file.path.ends_with(".idx")) bytes += file.size;
  }
  return bytes;
}

class ApproximateSizesTest : public ::testing::Test {
 protected:
  std::uint64_t SizeOf(Slice start, Slice limit, const SizeApproximationOptions& how = {}) {
    const Range range{start, limit};
    std::uint64_t size = ~std::uint64_t{0};
    const Status s = store_.db->GetApproximateSizes(how, store_.db->DefaultColumnFamily(), &range, 1, &size);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return size;
  }
  std::uint64_t SizeOfNumbers(int first, int end, const SizeApproximationOptions& how = {}) {
    return SizeOf(NumberedKey(first), NumberedKey(end), how);
  }
  std::uint64_t SizeOfAll() { return SizeOf("", "z"); }

  [[nodiscard]] std::uint64_t IndexBytes() const { return IndexBytesOf(store_); }
  // The bytes in the log that the layers refer to, counted by a walk through all of them.
  [[nodiscard]] std::uint64_t ReferredBytes() const {
    Options copy = store_.options;
    copy.file_system = std::make_shared<SimFileSystem>(store_.fs->Snapshot());
    VerifyReport report;
    const Status s = VerifyDB(kStorePath, copy, {}, &report);
    EXPECT_TRUE(s.ok() && report.problems.empty()) << s.ToString();
    return report.live_bytes;
  }

  TestStore store_;
};

// The bytes of a value's record, as its address states them: exact up to 2048 units of 8 bytes.
std::uint64_t RecordBytes(std::size_t key, std::size_t value) { return (kRecordHeaderSize + key + value + 7) / 8 * 8; }

// Values count exactly; entries count by their share of all index pages, so the error is at most the size of these
// pages.
TEST_F(ApproximateSizesTest, SeparatedValuesCountExactlyAndEntriesByTheirShareOfPages) {
  const std::uint64_t seed = SeedFromEnvironment(0x512e);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  store_.MustOpen();
  constexpr int kKeys = 1500;
  std::vector<std::uint64_t> records(kKeys);
  for (int i = 0; i < kKeys; ++i) {
    const std::size_t size = 100 + prng.Uniform(3000);
    records[static_cast<std::size_t>(i)] = RecordBytes(NumberedKey(i).size(), size);
    store_.Put(NumberedKey(i), std::string(size, static_cast<char>('a' + i % 26)));
  }
  store_.Flush();
  store_.Compact();
  const std::uint64_t index = IndexBytes();
  for (int round = 0; round < 300; ++round) {
    const int first = static_cast<int>(prng.Uniform(kKeys));
    const int end = first + static_cast<int>(prng.Uniform(static_cast<std::uint64_t>(kKeys - first) + 1));
    std::uint64_t values = 0;
    for (int i = first; i < end; ++i) values += records[static_cast<std::size_t>(i)];
    const std::uint64_t said = SizeOfNumbers(first, end);
    EXPECT_GE(said, values) << first << " " << end;
    // Keys are alike here, so the share of pages is exact except for the differences between a level's files.
    EXPECT_LE(said, values + 2 * index * static_cast<std::uint64_t>(end - first) / kKeys) << first << " " << end;
  }
}

TEST_F(ApproximateSizesTest, EmptyAndInvertedRangesAreZero) {
  store_.MustOpen();
  for (int i = 0; i < 100; ++i) store_.Put(NumberedKey(i), std::string(500, 'v'));
  store_.Flush();
  const SizeApproximationOptions both{.include_memtables = true, .include_files = true};
  EXPECT_EQ(SizeOfNumbers(50, 50, both), 0u);
  EXPECT_EQ(SizeOfNumbers(70, 30, both), 0u);
  EXPECT_EQ(SizeOf("", "", both), 0u);
  EXPECT_EQ(SizeOf("a", "b", both), 0u);              // before all keys
  EXPECT_EQ(SizeOf("l", "z", both), 0u);              // after all keys
  EXPECT_EQ(SizeOf("k0050\x01", "k0051", both), 0u);  // between two keys
  EXPECT_GT(SizeOfNumbers(50, 51), 500u);
}

// Several ranges in one call are independent; parts add up to the whole.
TEST_F(ApproximateSizesTest, SizesOfPartsAddUpToTheWhole) {
  store_.MustOpen();
  for (int i = 0; i < 1000; ++i) store_.Put(NumberedKey(i * 7919 % 1000), std::string(200, 'v'));
  store_.Flush();
  std::vector<std::string> keys;
  for (int i = 0; i <= 1000; i += 100) keys.push_back(NumberedKey(i));
  std::vector<Range> ranges;
  for (std::size_t i = 1; i < keys.size(); ++i) ranges.push_back({keys[i - 1], keys[i]});
  std::vector<std::uint64_t> sizes(ranges.size());
  ASSERT_TRUE(store_.db->GetApproximateSizes(ranges.data(), static_cast<int>(ranges.size()), sizes.data()).ok());
  std::uint64_t sum = 0;
  for (const std::uint64_t size : sizes) {
    EXPECT_GT(size, 100 * 200u);
    sum += size;
  }
  const std::uint64_t whole = SizeOfAll();
  EXPECT_LE(sum, whole);
  EXPECT_GE(sum + 1000, whole);  // rounding
}

// In runs, levels, and a tree that a sweep has half passed, each reference counts once. Values are so large that
// counting one twice would add more than the size of all index pages.
TEST_F(ApproximateSizesTest, SizesAreRightAfterEachCompactionStep) {
  const std::uint64_t seed = SeedFromEnvironment(0x512e);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  store_.executor->OnNothingToRun([] {});
  store_.options.write_buffer_size = 4u << 10;  // steps of sweeps are this short too
  store_.MustOpen();
  for (int i = 0; i < 20000; ++i) store_.Put(NumberedKey(i), std::string(100, 'v'));
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 100; ++i) {
      store_.Put(NumberedKey(static_cast<int>(prng.Uniform(3000))), std::string(3000 + prng.Uniform(2000), 'v'));
    }
    store_.Flush();
    for (std::uint64_t tasks = prng.Uniform(4); tasks > 0; --tasks) store_.executor->RunOneInstead();
    const std::uint64_t values = ReferredBytes();
    const std::uint64_t said = SizeOfAll();
    EXPECT_GE(said, values) << round;
    EXPECT_LE(said, values + IndexBytes()) << round;
    EXPECT_GE(said, SizeOfNumbers(0, 4000));
  }
  std::map<std::string, std::string> stats;
  ASSERT_TRUE(store_.db->GetMapProperty("cambium.index-stats", &stats));
  const int whole = TestsUseLsm() ? 0 : std::stoi(stats.at("sweeps")) + std::stoi(stats.at("straight_merges"));
  EXPECT_GT(std::stoi(stats.at("merges")), whole + 5);  // measured in the middle of sweeps
}

// Inline values are part of the pages, which count already. In a compressed LSM the compressed pages count.
TEST_F(ApproximateSizesTest, InlineValuesCountOnceAsPartOfPages) {
  for (const std::size_t page_size : {std::size_t{512}, std::size_t{4096}}) {
    TestStore fresh;
    fresh.options.page_size = page_size;
    UseIndexOfTest(&fresh.options);
    fresh.MustOpen();
    for (int i = 0; i < 2000; ++i) fresh.Put(NumberedKey(i), std::string(60, static_cast<char>('a' + i % 26)));
    fresh.Flush();
    fresh.Compact();
    const std::uint64_t index = IndexBytesOf(fresh);
    const std::string first = NumberedKey(500);
    const std::string end = NumberedKey(1500);
    const Range half{first, end};
    std::uint64_t said = 0;
    ASSERT_TRUE(fresh.db->GetApproximateSizes(&half, 1, &said).ok());
    EXPECT_GE(said, index / 4) << page_size;
    EXPECT_LE(said, index * 3 / 4) << page_size;
    fresh.MustClose();
  }
}

// A few values of 7000 bytes among values of 30 bytes count in the ranges that contain them, and in no others.
TEST_F(ApproximateSizesTest, MixedValueSizesAreCounted) {
  store_.MustOpen();
  std::uint64_t large = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool is_large = i % 100 == 50;
    store_.Put(NumberedKey(i), std::string(is_large ? 7000 : 30, 'v'));
    if (is_large) large += RecordBytes(5, 7000);
  }
  store_.Flush();
  store_.Compact();
  const std::uint64_t said = SizeOfAll();
  EXPECT_GE(said, large);
  EXPECT_LE(said, large + IndexBytes() + 1000 * 30);
  EXPECT_GE(SizeOfNumbers(150, 151), 7000u);
  EXPECT_LE(SizeOfNumbers(151, 250), 99 * (30 + 60u));
}

TEST_F(ApproximateSizesTest, RangesUseTheFamilysComparator) {
  store_.options.comparator = ReverseBytewiseComparator();
  store_.MustOpen();
  for (int i = 0; i < 500; ++i) store_.Put(NumberedKey(i), std::string(300, 'v'));
  store_.Flush();
  EXPECT_EQ(SizeOfNumbers(100, 200), 0u);  // inverted in this order
  EXPECT_GE(SizeOfNumbers(200, 100), 100 * 300u);
  EXPECT_LE(SizeOfNumbers(200, 100), 100 * (300 + 150u));
}

TEST_F(ApproximateSizesTest, MemtablesCountIfRequested) {
  store_.MustOpen();
  store_.options.write_buffer_size = 1u << 20;
  store_.Reopen();
  const SizeApproximationOptions memory{.include_memtables = true, .include_files = false};
  const SizeApproximationOptions both{.include_memtables = true, .include_files = true};
  for (int i = 0; i < 50; ++i) store_.Put(NumberedKey(i), std::string(1000, 'v'));
  EXPECT_EQ(SizeOfNumbers(0, 50), 0u);
  // One leaf is in memory: its part is exact.
  EXPECT_GE(SizeOfNumbers(10, 20, memory), 10 * 1000u);
  EXPECT_LE(SizeOfNumbers(10, 20, memory), 10 * (1000 + 200u));
  for (int i = 50; i < 2000; ++i) store_.Put(NumberedKey(i * 7919 % 1950 + 50), std::string(100, 'v'));
  const std::uint64_t all = SizeOfNumbers(0, 2000, memory);
  // An estimate by the shape of the tree, which may be wrong by a factor of two.
  EXPECT_GE(SizeOfNumbers(500, 1500, memory), all / 4);
  EXPECT_LE(SizeOfNumbers(500, 1500, memory), all);
  EXPECT_EQ(SizeOfNumbers(0, 2000, both), all);
  store_.Flush();
  EXPECT_EQ(SizeOfNumbers(0, 2000, memory), 0u);
  EXPECT_EQ(SizeOfNumbers(0, 2000, both), SizeOfNumbers(0, 2000));
  EXPECT_GE(SizeOfNumbers(0, 2000), 50 * 1000 + 1950 * 100u);
}

// Deleted keys count until a compaction has removed them, and not after it.
TEST_F(ApproximateSizesTest, DeletedKeysCountUntilCompacted) {
  store_.MustOpen();
  for (int i = 0; i < 400; ++i) store_.Put(NumberedKey(i), std::string(500, 'v'));
  store_.Flush();
  store_.Compact();
  const std::uint64_t before = SizeOfNumbers(100, 200);
  for (int i = 100; i < 150; ++i) ASSERT_TRUE(store_.db->Delete({}, NumberedKey(i)).ok());
  EXPECT_EQ(SizeOfNumbers(100, 200), before);
  ASSERT_TRUE(store_.db->DeleteRange({}, NumberedKey(150), NumberedKey(200)).ok());
  store_.Compact();
  EXPECT_EQ(SizeOfNumbers(100, 200), 0u);
  EXPECT_GE(SizeOfNumbers(200, 400), 200 * 500u);
}

// GetApproximateSizes reads neither values nor the pages between the ends of a range.
TEST_F(ApproximateSizesTest, ReadsOnePagePerLevelForEachEnd) {
  store_.options.statistics = CreateDBStatistics();
  store_.options.page_cache_size = 64u << 10;
  store_.MustOpen();
  for (int i = 0; i < 5000; ++i) store_.Put(NumberedKey(i), std::string(100, 'v'));
  store_.Flush();
  store_.Compact();
  const std::uint64_t before = store_.options.statistics->getTickerCount(BLOCK_CACHE_MISS) +
                               store_.options.statistics->getTickerCount(BLOCK_CACHE_HIT);
  EXPECT_GE(SizeOfNumbers(100, 4900), 4800 * 100u);
  const std::uint64_t pages = store_.options.statistics->getTickerCount(BLOCK_CACHE_MISS) +
                              store_.options.statistics->getTickerCount(BLOCK_CACHE_HIT) - before;
  EXPECT_LE(pages, 2 * 2 * 6u);  // two ends, at most two layers, at most six levels; there are 150 leaves
}

TEST_F(ApproximateSizesTest, InvalidArgumentsAreRejected) {
  store_.MustOpen();
  std::uint64_t size = 0;
  const Range range{"a", "b"};
  ColumnFamilyHandle* const family = store_.db->DefaultColumnFamily();
  EXPECT_TRUE(
      store_.db->GetApproximateSizes({.include_memtables = false, .include_files = false}, family, &range, 1, &size)
          .IsInvalidArgument());
  EXPECT_TRUE(store_.db->GetApproximateSizes(&range, -1, &size).IsInvalidArgument());
  EXPECT_TRUE(store_.db->GetApproximateSizes(nullptr, &range, 1, &size).IsInvalidArgument());
  EXPECT_TRUE(store_.db->GetApproximateSizes(&range, 0, &size).ok());
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store_.db->CreateColumnFamily(store_.options, "other", &other).ok());
  ASSERT_TRUE(store_.db->Put({}, other, "a", std::string(100, 'v')).ok());
  ASSERT_TRUE(store_.db->Flush({}, other).ok());
  EXPECT_TRUE(store_.db->GetApproximateSizes(other, &range, 1, &size).ok());
  EXPECT_GE(size, 100u);
  EXPECT_TRUE(store_.db->GetApproximateSizes(&range, 1, &size).ok());
  EXPECT_EQ(size, 0u);
  ASSERT_TRUE(store_.db->DropColumnFamily(other).ok());
  EXPECT_TRUE(store_.db->GetApproximateSizes(other, &range, 1, &size).IsColumnFamilyDropped());
  delete other;
}

// A damaged page is an error, not a size.
TEST_F(ApproximateSizesTest, DamagedPageIsCorruption) {
  store_.MustOpen();
  for (int i = 0; i < 500; ++i) store_.Put(NumberedKey(i), std::string(100, 'v'));
  store_.Flush();
  store_.Compact();
  store_.MustClose();
  for (const auto& file : store_.fs->probe().ListFiles()) {
    if (!file.path.ends_with(IndexFileSuffix())) continue;
    std::string bytes;  // a bit of each of the first pages; a run's footer and filter stay intact
    ASSERT_TRUE(store_.fs->probe().ReadContents(file.path, &bytes).ok());
    for (std::size_t at = 512 + 100; at < bytes.size() / 2; at += 512) bytes[at] = static_cast<char>(bytes[at] ^ 4);
    ASSERT_TRUE(store_.fs->tampering().Overwrite(file.path, 0, bytes).ok());
  }
  store_.MustOpen();
  std::uint64_t size = 0;
  const std::string first = NumberedKey(10);
  const Range range{first, "z"};
  EXPECT_TRUE(store_.db->GetApproximateSizes(&range, 1, &size).IsCorruption());
}

}  // namespace
}  // namespace cambium
