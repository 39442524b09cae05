// WritePacer: limits many writers to a rate in bytes per second, without a lock.
//
// Each write reserves a slice of time, as long as its bytes take at the current rate, after the slices of earlier
// writes. It may go on when its slice begins (a leaky bucket: ITU-T I.371's virtual scheduling).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace cambium {

class WritePacer {
 public:
  // Returns when a write of `bytes` may go on, in microseconds of the same clock as `now`. Unused time before `now` is
  // lost, except for kBurstMicros. A rate of 0 counts as one byte a second. The rate may change soon, so a slice is no
  // longer than kPieceMicros: the next write then uses a newer rate.
  std::uint64_t Reserve(std::uint64_t bytes, double bytes_per_second, std::uint64_t now) {
    if (bytes_per_second == std::numeric_limits<double>::infinity()) return now;
    const std::uint64_t length = Length(bytes, bytes_per_second);
    std::uint64_t free = free_from_.load(std::memory_order_relaxed);
    std::uint64_t begin = 0;
    do {
      begin = std::max(free, Earliest(now));
    } while (!free_from_.compare_exchange_weak(free, begin + length, std::memory_order_relaxed));
    return std::max(now, begin / kUnits);
  }

  // Reserves a slice only if the write may go on at once. Returns whether it may.
  bool TryReserve(std::uint64_t bytes, double bytes_per_second, std::uint64_t now) {
    if (bytes_per_second == std::numeric_limits<double>::infinity()) return true;
    const std::uint64_t length = Length(bytes, bytes_per_second);
    std::uint64_t free = free_from_.load(std::memory_order_relaxed);
    std::uint64_t begin = 0;
    do {
      begin = std::max(free, Earliest(now));
      if (begin / kUnits > now) return false;
    } while (!free_from_.compare_exchange_weak(free, begin + length, std::memory_order_relaxed));
    return true;
  }

 private:
  static std::uint64_t Length(std::uint64_t bytes, double bytes_per_second) {
    const double micros = std::min(static_cast<double>(bytes) * 1e6 / std::max(bytes_per_second, 1.0), kPieceMicros);
    return static_cast<std::uint64_t>(micros * kUnits);  // pieces below a microsecond add up
  }
  static std::uint64_t Earliest(std::uint64_t now) { return (now - std::min(now, kBurstMicros)) * kUnits; }

  static constexpr std::uint64_t kUnits = 256;  // per microsecond
  static constexpr double kPieceMicros = 1e6;
  static constexpr std::uint64_t kBurstMicros = 200;  // a shorter sleep costs more than the delay that it makes
  std::atomic<std::uint64_t> free_from_{0};
};

}  // namespace cambium
