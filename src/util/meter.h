// Meter: how the parts of a database record their statistics. It has the Statistics, if the user set one, and the
// clock.
#pragma once

#include <cstdint>
#include <memory>

#include "cambium/clock.h"
#include "util/statistics_impl.h"

namespace cambium {

// Without statistics each call costs one predictable branch. Cheap to copy. Does not own the statistics and the clock.
// Any thread.
class Meter {
 public:
  Meter() = default;
  // Only the library makes Statistics, so the cast is safe.
  Meter(Statistics* statistics, Clock* clock) : statistics_(static_cast<StatisticsImpl*>(statistics)), clock_(clock) {}

  [[nodiscard]] bool is_on() const { return statistics_ != nullptr; }
  void Tick(Tickers ticker, std::uint64_t count = 1) const {
    if (statistics_ != nullptr) statistics_->Tick(ticker, count);
  }
  // Records bytes. For times use a Stopwatch.
  void Measure(Histograms histogram, std::uint64_t value) const {
    if (statistics_ != nullptr && statistics_->Counts(kExceptTimers)) statistics_->Measure(histogram, value);
  }
  // Records a time that the caller has measured for another purpose.
  void MeasureMicros(Histograms histogram, std::uint64_t micros) const {
    if (statistics_ != nullptr && statistics_->Counts(kExceptDetailedTimers)) statistics_->Measure(histogram, micros);
  }

 private:
  friend class Stopwatch;
  StatisticsImpl* statistics_ = nullptr;
  Clock* clock_ = nullptr;
};

// Records its own lifetime, in microseconds, in a histogram.
class Stopwatch {
 public:
  // A null `meter` records nothing. Use level kAll for times so short that measuring them takes about as long.
  Stopwatch(const Meter* meter, Histograms histogram, StatsLevel level = kExceptDetailedTimers)
      : histogram_(histogram) {
    if (meter == nullptr || meter->statistics_ == nullptr || !meter->statistics_->Counts(level)) return;
    meter_ = meter;
    start_ = meter->clock_->NowMicros();
  }
  ~Stopwatch() {
    if (meter_ != nullptr) meter_->statistics_->Measure(histogram_, meter_->clock_->NowMicros() - start_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const Meter* meter_ = nullptr;
  const Histograms histogram_;
  std::uint64_t start_ = 0;
};

}  // namespace cambium
