// WritePacer: bytes per second, for many writers, without a lock.
//
// Each write takes a piece of the time line as long as its bytes last at the rate of the moment, behind the pieces of
// those who came before it, and goes on when its piece begins (a leaky bucket: ITU-T I.371's virtual scheduling).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace cambium {

class WritePacer {
 public:
  // When a write of so many bytes may go on, in microseconds of the same clock as `now`. What was not used of the time
  // before now is lost, but for `kBurstMicros` of it. A rate of 0 counts as one byte a second. The rate is that of the
  // moment, so that a piece takes no more than kPieceMicros: whoever comes then knows better.
  std::uint64_t Reserve(std::uint64_t bytes, double bytes_per_second, std::uint64_t now) {
    if (bytes_per_second == std::numeric_limits<double>::infinity()) return now;
    const double micros = std::min(static_cast<double>(bytes) * 1e6 / std::max(bytes_per_second, 1.0), kPieceMicros);
    // Sub-microsecond pieces add up.
    const auto length = static_cast<std::uint64_t>(micros * kUnits);
    const std::uint64_t earliest = (now - std::min(now, kBurstMicros)) * kUnits;
    std::uint64_t free = free_from_.load(std::memory_order_relaxed);
    std::uint64_t begin = 0;
    do {
      begin = std::max(free, earliest);
    } while (!free_from_.compare_exchange_weak(free, begin + length, std::memory_order_relaxed));
    return std::max(now, begin / kUnits);
  }

 private:
  static constexpr std::uint64_t kUnits = 256;        // to a microsecond
  static constexpr double kPieceMicros = 1e6;
  static constexpr std::uint64_t kBurstMicros = 200;  // sleeping for less costs more than it slows down
  std::atomic<std::uint64_t> free_from_{0};
};

}  // namespace cambium
