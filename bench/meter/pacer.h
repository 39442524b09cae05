// Pacer: limits the rate of several threads together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#include "meter/op_meter.h"

namespace cambium::bench {

// Any thread may call any function. Unused rate is saved up for a tenth of a second at most, so that no burst follows a
// pause.
class Pacer {
 public:
  explicit Pacer(double per_second) : per_second_(per_second) {}

  // With a rate of 0 or less, Take() waits until another rate is set or the caller is stopped.
  void SetRate(double per_second) { per_second_.store(per_second, std::memory_order_relaxed); }

  // Returns when `amount` more may be used, or at most a tenth of a second after `stop` is set.
  void Take(double amount, const std::atomic<bool>& stop) {
    std::uint64_t until;
    {
      const std::lock_guard lock(mutex_);
      const std::uint64_t now = NowNanos();
      double rate = per_second_.load(std::memory_order_relaxed);
      while (rate <= 0 && !stop.load(std::memory_order_relaxed)) {
        Pause(kSlice);
        rate = per_second_.load(std::memory_order_relaxed);
      }
      if (rate <= 0) return;
      if (free_at_ + kSaved < now) free_at_ = now - kSaved;
      free_at_ += static_cast<std::uint64_t>(amount / rate * 1e9);
      until = free_at_;
    }
    for (std::uint64_t now = NowNanos(); now < until && !stop.load(std::memory_order_relaxed); now = NowNanos()) {
      Pause(until - now < kSlice ? until - now : kSlice);
    }
  }

 private:
  static constexpr std::uint64_t kSlice = 100'000'000;
  static constexpr std::uint64_t kSaved = 100'000'000;
  static void Pause(std::uint64_t nanos) { std::this_thread::sleep_for(std::chrono::nanoseconds(nanos)); }

  std::atomic<double> per_second_;
  std::mutex mutex_;  // guards free_at_
  std::uint64_t free_at_ = 0;
};

}  // namespace cambium::bench
