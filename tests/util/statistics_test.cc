#include "cambium/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "util/meter.h"
#include "util/prng.h"

namespace cambium {
namespace {

// A clock that the test advances.
class StepClock final : public Clock {
 public:
  std::uint64_t NowMicros() override { return now; }
  std::uint64_t WallSeconds() override { return 0; }
  void SleepMicros(std::uint64_t micros) override { now += micros; }
  std::uint64_t now = 5;
};

struct Counted {
  Counted() : statistics(CreateDBStatistics()), meter(statistics.get(), &clock) {}
  StepClock clock;
  std::shared_ptr<Statistics> statistics;
  Meter meter;
};

TEST(StatisticsTest, TickersAddUpAndReset) {
  Counted counted;
  counted.meter.Tick(MEMTABLE_HIT);
  counted.meter.Tick(MEMTABLE_HIT, 41);
  EXPECT_EQ(counted.statistics->getTickerCount(MEMTABLE_HIT), 42u);
  EXPECT_EQ(counted.statistics->getTickerCount(MEMTABLE_MISS), 0u);
  EXPECT_EQ(counted.statistics->getAndResetTickerCount(MEMTABLE_HIT), 42u);
  EXPECT_EQ(counted.statistics->getTickerCount(MEMTABLE_HIT), 0u);
  counted.meter.Tick(MEMTABLE_HIT, 3);
  EXPECT_EQ(counted.statistics->getAndResetTickerCount(MEMTABLE_HIT), 3u);
  EXPECT_EQ(counted.statistics->getTickerCount(TICKER_ENUM_MAX), 0u);
  EXPECT_EQ(counted.statistics->getAndResetTickerCount(TICKER_ENUM_MAX + 7), 0u);
}

TEST(StatisticsTest, HistogramsReportMeasuredValues) {
  Counted counted;
  HistogramData data;
  counted.statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, 0u);
  EXPECT_EQ(data.max, 0);
  EXPECT_EQ(data.min, 0);
  for (std::uint64_t i = 1; i <= 1000; ++i) counted.meter.Measure(BYTES_PER_READ, i);
  counted.statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, 1000u);
  EXPECT_EQ(data.sum, 500'500u);
  EXPECT_EQ(data.min, 1);
  EXPECT_EQ(data.max, 1000);
  EXPECT_DOUBLE_EQ(data.average, 500.5);
  EXPECT_NEAR(data.median, 500, 500 * 0.063);
  EXPECT_NEAR(data.percentile95, 950, 950 * 0.063);
  EXPECT_NEAR(data.percentile99, 990, 990 * 0.063);
  EXPECT_NEAR(data.standard_deviation, 288.7, 10);
  counted.statistics->histogramData(HISTOGRAM_ENUM_MAX, &data);
  EXPECT_EQ(data.count, 0u);
}

TEST(StatisticsTest, ResetForgetsEverything) {
  Counted counted;
  counted.meter.Tick(BYTES_READ, 9);
  counted.meter.Measure(BYTES_PER_READ, 1'000'000);
  ASSERT_TRUE(counted.statistics->Reset().ok());
  HistogramData data;
  counted.statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, 0u);
  EXPECT_EQ(data.max, 0);
  EXPECT_EQ(counted.statistics->getTickerCount(BYTES_READ), 0u);
  counted.meter.Measure(BYTES_PER_READ, 7);
  counted.statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, 1u);
  EXPECT_EQ(data.sum, 7u);
  EXPECT_EQ(data.max, 7);
  EXPECT_EQ(data.min, 7);
  EXPECT_EQ(data.median, 7);
}

TEST(StatisticsTest, StopwatchUsesTheClock) {
  Counted counted;
  {
    const Stopwatch watch(&counted.meter, DB_GET);
    counted.clock.now += 11;
  }
  { const Stopwatch unused(nullptr, DB_GET); }
  HistogramData data;
  counted.statistics->histogramData(DB_GET, &data);
  EXPECT_EQ(data.count, 1u);
  EXPECT_EQ(data.max, 11);
}

TEST(StatisticsTest, EachLevelCountsMoreThanThePrevious) {
  Counted counted;
  EXPECT_EQ(counted.statistics->get_stats_level(), kExceptDetailedTimers);
  const auto counts = [&](StatsLevel level) {
    counted.statistics->set_stats_level(level);
    EXPECT_TRUE(counted.statistics->Reset().ok());
    counted.meter.Tick(BYTES_READ);
    counted.meter.Measure(BYTES_PER_READ, 1);
    { const Stopwatch watch(&counted.meter, DB_GET); }
    { const Stopwatch watch(&counted.meter, BLOB_DB_COMPRESSION_MICROS, kAll); }
    std::uint64_t sum = counted.statistics->getTickerCount(BYTES_READ);
    for (const auto& [histogram, name] : HistogramsNameMap) {
      HistogramData data;
      counted.statistics->histogramData(histogram, &data);
      sum += data.count;
    }
    return sum;
  };
  EXPECT_EQ(counts(kDisableAll), 0u);
  EXPECT_EQ(counts(kExceptHistogramOrTimers), 1u);
  EXPECT_EQ(counts(kExceptTimers), 2u);
  EXPECT_EQ(counts(kExceptDetailedTimers), 3u);
  EXPECT_EQ(counts(static_cast<StatsLevel>(4)), 3u);
  EXPECT_EQ(counts(kAll), 4u);
}

TEST(StatisticsTest, TextHasALineForEachStatistic) {
  Counted counted;
  counted.meter.Tick(WAL_FILE_SYNCED, 12);
  counted.meter.Measure(BYTES_PER_READ, 7);
  const std::string text = counted.statistics->ToString();
  EXPECT_NE(text.find("rocksdb.wal.synced COUNT : 12\n"), std::string::npos) << text;
  EXPECT_NE(text.find("rocksdb.bytes.per.read P50 : 7 P95 : 7 P99 : 7 P100 : 7 COUNT : 1 SUM : 7\n"),
            std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), TickersNameMap.size() + HistogramsNameMap.size());
  EXPECT_EQ(counted.statistics->getHistogramString(BYTES_PER_READ),
            "count 1 mean 7.0 min 7 p50 7 p95 7 p99 7 p99.9 7 max 7");
  std::map<std::string, std::uint64_t> tickers;
  EXPECT_TRUE(counted.statistics->getTickerMap(&tickers));
  EXPECT_EQ(tickers.size(), TICKER_ENUM_MAX);
  EXPECT_EQ(tickers.at("rocksdb.wal.synced"), 12u);
}

// There are more threads than stripes, so some threads share one. Meanwhile another thread keeps resetting the ticker,
// and adds up the values that it read. No count is lost or counted twice.
TEST(StatisticsTest, ManyThreadsAndResetsLoseNothing) {
  constexpr int kThreads = 80;
  constexpr std::uint64_t kEach = 20'000;
  Counted counted;
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < kEach; ++n) {
        counted.meter.Tick(BYTES_READ);
        if (n % 16 == 0) counted.meter.Measure(BYTES_PER_READ, n);
      }
      left.fetch_sub(1);
    });
  }
  std::uint64_t taken = 0;
  while (left.load() > 0) {
    taken += counted.statistics->getAndResetTickerCount(BYTES_READ);
    HistogramData data;
    counted.statistics->histogramData(BYTES_PER_READ, &data);
    EXPECT_LE(data.max, static_cast<double>(kEach));
  }
  for (std::thread& thread : threads) thread.join();
  taken += counted.statistics->getAndResetTickerCount(BYTES_READ);
  EXPECT_EQ(taken, kThreads * kEach);
  HistogramData data;
  counted.statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, kThreads * kEach / 16);
}

}  // namespace
}  // namespace cambium
