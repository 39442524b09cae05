// StatisticsImpl: the implementation of Statistics, with one set of counters for each thread stripe.
//
//   stripe of a thread ──▶ [ticker][ticker]... [histogram ▶ buckets][null]...      made when the thread first counts
//
// A reset does not clear counters but records their current values, under a mutex that counting never takes. So only
// counting writes to a counter, and a thread with a stripe of its own needs no locked instruction.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "cambium/statistics.h"
#include "util/histogram.h"
#include "util/mutex.h"
#include "util/thread_stripe.h"

namespace cambium {

class StatisticsImpl final : public Statistics {
 public:
  StatisticsImpl();
  ~StatisticsImpl() override;

  // ---- For counting, called by Meter ----
  [[nodiscard]] bool Counts(StatsLevel level) const { return level_.load(std::memory_order_relaxed) >= level; }
  void Tick(Tickers ticker, std::uint64_t count) {
    if (!Counts(kExceptHistogramOrTimers)) return;
    ThreadStripe stripe = ThreadStripe::OfThisThread();
    Counters* const counters = CountersOf(&stripe);
    stripe.Add(&counters->tickers[ticker], count);
  }
  // The caller has checked the level.
  void Measure(Histograms histogram, std::uint64_t value);

  // ---- Statistics ----
  [[nodiscard]] std::uint64_t getTickerCount(std::uint32_t ticker) const override;
  std::uint64_t getAndResetTickerCount(std::uint32_t ticker) override;
  bool getTickerMap(std::map<std::string, std::uint64_t>* tickers) const override;
  void histogramData(std::uint32_t histogram, HistogramData* data) const override;
  [[nodiscard]] std::string getHistogramString(std::uint32_t histogram) const override;
  [[nodiscard]] std::string ToString() const override;
  Status Reset() override;
  void set_stats_level(StatsLevel level) override { level_.store(level, std::memory_order_relaxed); }
  [[nodiscard]] StatsLevel get_stats_level() const override { return level_.load(std::memory_order_relaxed); }

 private:
  using Buckets = SmallHistogram::Buckets;
  struct alignas(64) Cells {
    std::array<std::atomic<std::uint64_t>, Buckets::kCount> counts{};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> min{UINT64_MAX};  // min and max since the last reset
    std::atomic<std::uint64_t> max{0};
  };
  struct alignas(64) Counters {
    std::array<std::atomic<std::uint64_t>, TICKER_ENUM_MAX> tickers{};
    std::array<std::atomic<Cells*>, HISTOGRAM_ENUM_MAX> histograms{};
  };
  // The contents of a histogram at its last reset.
  struct Base {
    std::array<std::uint64_t, Buckets::kCount> counts{};
    std::uint64_t sum = 0;
  };

  // Returns the counters of *stripe. If there is no memory for them, sets *stripe to the common one and returns its
  // counters.
  Counters* CountersOf(ThreadStripe* stripe) {
    Counters* const mine = counters_[stripe->index()].load(std::memory_order_acquire);
    return mine != nullptr ? mine : MakeCounters(stripe);
  }
  Counters* MakeCounters(ThreadStripe* stripe);
  static Cells* CellsOf(Counters* counters, Histograms histogram);  // null: out of memory

  [[nodiscard]] std::uint64_t Total(std::uint32_t ticker) const;    // since creation: ignores resets
  [[nodiscard]] Base TotalOf(std::uint32_t histogram) const;
  [[nodiscard]] SmallHistogram Read(std::uint32_t histogram) const;

  std::atomic<StatsLevel> level_{kExceptDetailedTimers};
  std::array<std::atomic<Counters*>, ThreadStripe::kCount> counters_{};  // owned; the common stripe's is never null

  mutable Mutex mutex_;
  std::array<std::uint64_t, TICKER_ENUM_MAX> ticker_bases_ CAMBIUM_GUARDED_BY(mutex_) = {};
  std::array<std::unique_ptr<Base>, HISTOGRAM_ENUM_MAX> histogram_bases_
      CAMBIUM_GUARDED_BY(mutex_);  // null: never reset
};

}  // namespace cambium
