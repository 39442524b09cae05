// Statistics: every ticker and every histogram is used, and the exact ones are exact.
#include "cambium/statistics.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "testing/test_store.h"
#include "cambium/rate_limiter.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

using Ticker = std::uint32_t;

struct CountedStore : TestStore {
  explicit CountedStore(SimOptions sim = {}) : TestStore(sim) { options.statistics = CreateDBStatistics(); }
  [[nodiscard]] std::uint64_t Count(Ticker ticker) const { return options.statistics->getTickerCount(ticker); }
  [[nodiscard]] HistogramData Data(std::uint32_t histogram) const {
    HistogramData data;
    options.statistics->histogramData(histogram, &data);
    return data;
  }
};

// ---- Exact tickers ----

TEST(ApiStatisticsTest, UserCallsAreCountedExactly) {
  CountedStore store;
  store.MustOpen();
  store.Put("a", std::string(100, 'x'));
  store.Put("b", "small");
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("c", "1").ok());
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_EQ(store.Count(WRITE_WITH_WAL), 3u);
  EXPECT_EQ(store.Count(NUMBER_KEYS_WRITTEN), 4u);
  EXPECT_EQ(store.Count(BYTES_WRITTEN), 101u + 6u + 2u + 1u);
  EXPECT_EQ(store.Data(BYTES_PER_WRITE).max, 101);
  EXPECT_EQ(store.Data(DB_WRITE).count, 3u);
  EXPECT_EQ(store.Count(WAL_FILE_SYNCED), 0u);
  store.Put("d", "synced", true);
  EXPECT_EQ(store.Count(WAL_FILE_SYNCED), 1u);
  EXPECT_EQ(store.Data(WAL_FILE_SYNC_MICROS).count, 1u);

  EXPECT_EQ(store.Get("a"), "NotFound");
  EXPECT_EQ(store.Get("b"), "small");
  EXPECT_EQ(store.Get("e"), "NotFound");
  EXPECT_EQ(store.Count(NUMBER_KEYS_READ), 3u);
  EXPECT_EQ(store.Count(BYTES_READ), 5u);
  EXPECT_EQ(store.Count(MEMTABLE_HIT), 2u) << "a deletion is an answer";
  EXPECT_EQ(store.Count(MEMTABLE_MISS), 1u);
  EXPECT_EQ(store.Data(DB_GET).count, 3u);
  EXPECT_EQ(store.Data(BYTES_PER_READ).count, 1u);

  std::vector<std::string> values;
  static_cast<void>(store.db->MultiGet({}, {Slice("b"), Slice("c"), Slice("x")}, &values));
  EXPECT_EQ(store.Count(NUMBER_MULTIGET_CALLS), 1u);
  EXPECT_EQ(store.Count(NUMBER_MULTIGET_KEYS_READ), 3u);
  EXPECT_EQ(store.Count(NUMBER_MULTIGET_KEYS_FOUND), 2u);
  EXPECT_EQ(store.Count(NUMBER_MULTIGET_BYTES_READ), 6u);
  EXPECT_EQ(store.Count(NUMBER_KEYS_READ), 3u) << "MultiGet has tickers of its own";
}

TEST(ApiStatisticsTest, FailedWriteIsNotCounted) {
  CountedStore store;
  store.MustOpen();
  EXPECT_FALSE(store.db->Put({}, std::string(1u << 20, 'k'), "v").ok());
  EXPECT_EQ(store.Count(NUMBER_KEYS_WRITTEN), 0u);
  EXPECT_EQ(store.Count(BYTES_WRITTEN), 0u);
  EXPECT_EQ(store.Count(WRITE_WITH_WAL), 0u);
}

TEST(ApiStatisticsTest, IteratorMovesAreCounted) {
  CountedStore store;
  store.MustOpen();
  for (const char* key : {"a", "b", "c"}) store.Put(key, std::string(100, 'v'));
  ASSERT_TRUE(store.db->Delete({}, "b").ok());
  {
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    it->SeekToFirst();  // at a
    EXPECT_EQ(store.Count(ITER_BYTES_READ), 101u);
    EXPECT_EQ(it->value().size(), 100u);
    EXPECT_EQ(store.Count(ITER_BYTES_READ), 101u) << "each value is read once";
    it->Next();  // at c
    it->Next();  // at the end
    it->SeekForPrev("b");  // at a
    it->Prev();            // before it
    it->Seek("x");         // at the end
    EXPECT_EQ(store.Count(NO_ITERATOR_DELETED), 0u);
  }
  EXPECT_EQ(store.Count(NO_ITERATOR_CREATED), 1u);
  EXPECT_EQ(store.Count(NO_ITERATOR_DELETED), 1u);
  EXPECT_EQ(store.Count(NUMBER_DB_SEEK), 3u);
  EXPECT_EQ(store.Count(NUMBER_DB_SEEK_FOUND), 2u);
  EXPECT_EQ(store.Count(NUMBER_DB_NEXT), 2u);
  EXPECT_EQ(store.Count(NUMBER_DB_NEXT_FOUND), 1u);
  EXPECT_EQ(store.Count(NUMBER_DB_PREV), 1u);
  EXPECT_EQ(store.Count(NUMBER_DB_PREV_FOUND), 0u);
  EXPECT_EQ(store.Count(NUMBER_ITER_SKIP), 2u) << "b, on the way there and back";
  EXPECT_EQ(store.Data(DB_SEEK).count, 3u);
  const std::uint64_t before = store.Count(ITER_BYTES_READ);
  ReadOptions read;
  read.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
  it->SeekToFirst();
  EXPECT_EQ(store.Count(ITER_BYTES_READ), before + 1) << "no value was asked for";
  EXPECT_TRUE(it->PrepareValue());
  EXPECT_EQ(store.Count(ITER_BYTES_READ), before + 101);
}

// Lookups by log GC, or by a flush that samples keys, do not count as user reads.
TEST(ApiStatisticsTest, HitsByLayerAreCountedForUserReadsOnly) {
  CountedStore store;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) store.Put(NumberedKey(i), std::string(500, static_cast<char>('a' + round)));
    store.Flush();
  }
  store.Compact();
  store.RunUntilIdle();
  ASSERT_GT(store.Count(BLOB_DB_GC_NUM_KEYS_RELOCATED) + store.Count(LOG_GC_BYTES_FREED), 0u);
  const auto hits = [&] {
    return store.Count(GET_HIT_L0) + store.Count(GET_HIT_L1) + store.Count(GET_HIT_L2_AND_UP) +
           store.Count(GET_HIT_TREE);
  };
  EXPECT_EQ(hits(), 0u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(store.Get(NumberedKey(i)), std::string(500, 'c'));
  EXPECT_EQ(hits(), 200u);
  EXPECT_EQ(store.Count(MEMTABLE_MISS), 200u);
}

// The pages of a hundred keys are cached. Then everything is read, by each kind of call. Without fill_cache the hundred
// keys' pages stay cached; with fill_cache they do not.
TEST(ApiStatisticsTest, ReadsWithoutFillCacheEvictNothing) {
  for (const bool fills : {false, true}) {
    CountedStore store;
    store.options.page_cache_size = 96u << 10;
    store.options.allow_mmap_reads = false;  // a leaf that is copied out of a mapping seldom enters the cache
    store.MustOpen();
    const auto key = [](int i) { return "key" + std::to_string(100'000 + i); };
    for (int i = 0; i < 8000; ++i) store.Put(key(i), std::string(30, 'v'));
    store.Compact();
    store.RunUntilIdle();
    const auto misses_of_kept = [&] {
      const std::uint64_t before = store.Count(BLOCK_CACHE_MISS);
      for (int i = 4000; i < 4100; ++i) EXPECT_EQ(store.Get(key(i)), std::string(30, 'v'));
      return store.Count(BLOCK_CACHE_MISS) - before;
    };
    misses_of_kept();
    ASSERT_EQ(misses_of_kept(), 0u);
    ReadOptions read;
    read.fill_cache = fills;
    std::uint64_t misses = 0;
    const auto look = [&](const char* how) {
      EXPECT_GT(store.Count(BLOCK_CACHE_MISS), misses + 100) << how << " reads pages";
      const std::uint64_t kept = misses_of_kept();
      EXPECT_EQ(kept > 0, fills) << how << ": " << kept;
      misses = store.Count(BLOCK_CACHE_MISS);
    };
    {
      const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
      for (it->SeekToFirst(); it->Valid(); it->Next()) EXPECT_EQ(it->value().size(), 30u);
      look("forward");
      for (it->SeekToLast(); it->Valid(); it->Prev()) EXPECT_EQ(it->value().size(), 30u);
      look("backward");
    }
    for (int i = 0; i < 8000; ++i) EXPECT_EQ(store.Get(key(i), read).size(), 30u);
    look("Get");
    for (int i = 0; i < 8000; i += 50) {
      std::vector<std::string> names;
      for (int j = 0; j < 50; ++j) names.push_back(key(i + j));
      const std::vector<Slice> keys(names.begin(), names.end());
      std::vector<PinnableSlice> values(50);
      std::vector<Status> statuses(50);
      store.db->MultiGet(read, store.db->DefaultColumnFamily(), 50, keys.data(), values.data(), statuses.data());
      for (const Status& s : statuses) EXPECT_TRUE(s.ok()) << s.ToString();
    }
    look("MultiGet");
  }
}

TEST(ApiStatisticsTest, WithoutStatisticsThePropertyIsEmpty) {
  CountedStore store;
  store.MustOpen();
  store.Put("a", "b");
  std::string text;
  ASSERT_TRUE(store.db->GetProperty("rocksdb.options-statistics", &text));
  EXPECT_NE(text.find("rocksdb.number.keys.written COUNT : 1\n"), std::string::npos);
  store.options.statistics = nullptr;
  store.Reopen();
  ASSERT_TRUE(store.db->GetProperty("rocksdb.options-statistics", &text));
  EXPECT_EQ(text, "");
}

// Counting has no side effect: the same calls leave the same files.
TEST(ApiStatisticsTest, FilesAreTheSameWithAndWithoutStatistics) {
  std::map<std::string, std::string> files[2];
  for (const bool is_counted : {false, true}) {
    CountedStore store;
    if (!is_counted) store.options.statistics = nullptr;
    store.MustOpen();
    for (int i = 0; i < 300; ++i) store.Put(NumberedKey(i % 50), std::string(static_cast<std::size_t>(i), 'v'));
    store.Compact();
    store.RunUntilIdle();
    store.MustClose();
    files[is_counted ? 1 : 0] = store.Files();
  }
  EXPECT_EQ(files[0], files[1]);
}

// ---- All tickers and histograms ----

// Uses every part of a database a little. Every ticker and every histogram of `statistics` must change.
void DoEverything(const std::shared_ptr<Statistics>& statistics, IndexKind index) {
  SCOPED_TRACE(index == kLsm ? "lsm" : "btree");
  CountedStore store;
  store.options.statistics = statistics;
  store.options.index_type = index;
  store.options.page_cache_size = 64u << 10;
  store.options.compression = kLZ4Compression;
  store.options.blob_compression_type = kLZ4Compression;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.options.max_bytes_for_level_base = 16u << 10;
  store.options.target_file_size_base = 16u << 10;
  store.options.level0_file_num_compaction_trigger = 1;
  store.options.level0_slowdown_writes_trigger = 1;
  store.options.rate_limiter.reset(NewGenericRateLimiter(1 << 20, 1000));
  store.MustOpen();
  Prng prng(1);
  const auto value = [&prng](std::size_t size) { return prng.Bytes(size / 2) + std::string(size - size / 2, 'c'); };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 600; ++i) store.Put(NumberedKey(i), value(i % 3 == 0 ? 500 : 40), i % 100 == 0);
    store.Flush();
    for (int i = 0; i < 600; ++i) static_cast<void>(store.Get(NumberedKey(i) + (i % 2 == 0 ? "" : "x")));
  }
  store.Put("large", value(20'000));
  EXPECT_EQ(store.Get("large").size(), 20'000u);
  ASSERT_TRUE(store.db->Delete({}, NumberedKey(3)).ok());
  store.Compact();
  store.RunUntilIdle();
  store.Put(NumberedKey(7), value(500));
  for (int i = 0; i < 600; ++i) static_cast<void>(store.Get(NumberedKey(i)));
  std::vector<std::string> values;
  static_cast<void>(store.db->MultiGet({}, {Slice("k0001"), Slice("k0002"), Slice("none")}, &values));
  ASSERT_TRUE(store.db->Delete({}, NumberedKey(9)).ok());
  {
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) static_cast<void>(it->value());
    for (it->SeekToLast(); it->Valid(); it->Prev()) static_cast<void>(it->value());
  }
  store.MustClose();
}

// Values that are read from the device one by one.
void ReadFromTheDevice(const std::shared_ptr<Statistics>& statistics) {
  SimOptions sim;
  sim.residency = false;
  CountedStore store(sim);
  store.options.statistics = statistics;
  store.MustOpen();
  store.Put("a", std::string(3000, 'v'));
  store.Flush();
  static_cast<void>(store.Get("a"));
  store.MustClose();
}

// Writes that wait for space: more is overwritten than a ceiling near 1 allows, and the jobs have not run yet.
void WaitForSpace(const std::shared_ptr<Statistics>& statistics) {
  CountedStore store;
  store.options.statistics = statistics;
  store.options.max_space_amplification = 1.1;
  store.options.min_blob_size = 0;
  store.options.write_buffer_size = 1u << 20;
  store.options.max_total_wal_size = 0;
  store.options.blob_file_size = 256u << 10;
  store.MustOpen();
  for (int i = 0; i < 20'000 && statistics->getTickerCount(SPACE_STALL_MICROS) == 0; ++i) {
    store.Put(NumberedKey(i % 100), std::string(4000, 'v'));
    if (i % 20 == 0 && store.executor->pending() > 0) store.executor->RunOneInstead();
  }
  store.MustClose();
}

TEST(ApiStatisticsTest, EveryTickerAndHistogramIsUsed) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  statistics->set_stats_level(kAll);
  DoEverything(statistics, kBTree);
  DoEverything(statistics, kLsm);
  ReadFromTheDevice(statistics);
  WaitForSpace(statistics);
  for (const auto& [ticker, name] : TickersNameMap) EXPECT_GT(statistics->getTickerCount(ticker), 0u) << name;
  for (const auto& [histogram, name] : HistogramsNameMap) {
    HistogramData data;
    statistics->histogramData(histogram, &data);
    EXPECT_GT(data.count, 0u) << name;
  }
}

}  // namespace
}  // namespace cambium::testing
