// Background work asks the rate limiter with its purpose and size, waits as long as the limiter demands, and stops
// waiting when a user needs that.
#include "cambium/rate_limiter.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "testing/test_store.h"
#include "cambium/statistics.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

struct LimitedStore : TestStore {
  explicit LimitedStore(std::int64_t rate) {
    options.rate_limiter.reset(NewGenericRateLimiter(rate, 1000));
    options.blob_garbage_collection_age_cutoff = 1;
  }
  [[nodiscard]] std::uint64_t Through(IOPriority priority) const {
    return static_cast<std::uint64_t>(options.rate_limiter->GetTotalBytesThrough(priority));
  }
  void Overwrite(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < 200; ++i) {
        if (round == 0 || i % 4 != 0) Put(NumberedKey(i), std::string(i % 2 == 0 ? 1000 : 30, static_cast<char>('a' + round)));
      }
    }
  }
};

TEST(UpkeepRateLimiterTest, FlushTakesAsLongAsItsBytes) {
  LimitedStore store(16 << 10);
  store.options.write_buffer_size = 1u << 20;
  store.options.max_total_wal_size = 16u << 20;
  store.MustOpen();
  for (int i = 0; i < 1000; ++i) store.Put(NumberedKey(i), std::string(60, 'v'));
  const std::uint64_t written = store.clock->NowMicros();
  EXPECT_LT(written, 1'010'000u) << "what users write never waits for it";
  ASSERT_EQ(store.db->Flush({}).ToString(), "OK");
  // The first piece, 256 KiB at most, finds a full bucket; the next ones wait for it.
  store.Put("x", std::string(60, 'v'));
  ASSERT_EQ(store.db->Flush({}).ToString(), "OK");
  const double seconds = static_cast<double>(store.clock->NowMicros() - written) / 1e6;
  const auto bytes = static_cast<double>(store.Through(IO_USER) + store.Through(IO_MID));
  EXPECT_GT(bytes, 40'000);
  EXPECT_NEAR(seconds, bytes / (16 << 10), bytes / (16 << 10) * 0.2);
}

// Every byte of index files, and of log GC, was requested with its purpose.
TEST(UpkeepRateLimiterTest, EachKindOfWorkHasItsPriority) {
  LimitedStore store(std::int64_t{1} << 30);
  store.options.statistics = CreateDBStatistics();
  store.MustOpen();
  store.Overwrite(4);
  store.Flush();
  store.Compact();
  store.RunUntilIdle();
  const auto count = [&](Tickers ticker) { return store.options.statistics->getTickerCount(ticker); };
  ASSERT_GT(count(BLOB_DB_GC_BYTES_RELOCATED), 0u);
  EXPECT_GT(store.Through(IO_USER), 0u);
  EXPECT_GT(store.Through(IO_LOW), count(BLOB_DB_GC_BYTES_RELOCATED)) << "and the runs that say where";
  EXPECT_EQ(store.Through(IO_HIGH), 0u) << "there is no ceiling";
  EXPECT_GE(store.Through(IO_USER) + store.Through(IO_MID), count(FLUSH_WRITE_BYTES) + count(COMPACT_WRITE_BYTES));
  EXPECT_EQ(store.Through(IO_TOTAL), store.Through(IO_USER) + store.Through(IO_MID) + store.Through(IO_LOW));
}

TEST(UpkeepRateLimiterTest, WorkNearTheCeilingHasHighPriority) {
  LimitedStore store(std::int64_t{1} << 30);
  store.options.max_space_amplification = 1.1;
  store.options.min_blob_size = 0;
  store.options.write_buffer_size = 1u << 20;
  store.options.max_total_wal_size = 0;
  store.options.blob_file_size = 256u << 10;
  store.MustOpen();
  for (int i = 0; i < 4000; ++i) {
    store.Put(NumberedKey(i % 100), std::string(4000, 'v'));
    if (i % 20 == 0 && store.executor->pending() > 0) store.executor->RunOneInstead();
  }
  EXPECT_GT(store.Through(IO_HIGH), 0u);
}

TEST(UpkeepRateLimiterTest, InvalidRateLimiterIsRejected) {
  LimitedStore store(12);
  const Status s = store.Open();
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("rate_bytes_per_sec is 12"), std::string::npos) << s.ToString();
}

// Half a megabyte is flushed at 16 KiB per second in its own thread: half a minute. Close does not wait for that, and
// nothing is lost.
TEST(UpkeepRateLimiterTest, CloseDoesNotWaitForTheLimiter) {
  const TempDirectory directory;
  Options options = SmallOptions();
  options.write_buffer_size = 1u << 20;
  options.max_total_wal_size = 64u << 20;
  options.info_log = NullLogger();
  options.rate_limiter.reset(NewGenericRateLimiter(16 << 10));
  std::unique_ptr<DB> db;
  ASSERT_EQ(DB::Open(options, directory.File("db"), &db).ToString(), "OK");
  for (int i = 0; i < 8000; ++i) ASSERT_TRUE(db->Put({}, NumberedKey(i), std::string(60, 'v')).ok());
  ASSERT_TRUE(db->Flush({.wait = false}).ok());
  ASSERT_EQ(db->Close().ToString(), "OK");  // if it waits, the test times out
  db.reset();
  options.rate_limiter = nullptr;
  ASSERT_EQ(DB::Open(options, directory.File("db"), &db).ToString(), "OK");
  std::string value;
  for (int i = 0; i < 8000; ++i) ASSERT_TRUE(db->Get({}, NumberedKey(i), &value).ok()) << i;
}

// The flush may wait in the queue until the only background thread, which waits for the limiter, is free.
TEST(UpkeepRateLimiterTest, StalledWriterDoesNotWaitForTheLimiter) {
  LimitedStore store(16 << 10);
  store.options.write_buffer_size = 4096;
  store.options.max_write_buffer_number = 2;
  store.options.statistics = CreateDBStatistics();
  store.MustOpen();
  for (int i = 0; i < 2000; ++i) store.Put(NumberedKey(i % 300), std::string(50, 'v'));
  EXPECT_GT(store.options.statistics->getTickerCount(FLUSH_WRITE_BYTES), 50'000u) << "three seconds at that rate";
  EXPECT_EQ(store.options.statistics->getTickerCount(RATE_LIMITER_MICROS), 0u);
  EXPECT_EQ(store.Property("background-share"), 100u);
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
