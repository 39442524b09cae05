// ScanLength: the usual number of values that a scan of a family asks for: a moving average over recent scans.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cambium {

// Any thread. An estimate: if threads add scans at the same moment, some may be lost.
class ScanLength {
 public:
  // Adds a scan that has ended, and that asked for this many values in a row.
  void Add(std::size_t values) const {
    const std::int64_t before = sixteenths_.load(std::memory_order_relaxed);
    const auto added = static_cast<std::int64_t>(std::min(values, kMax)) * 16;
    const std::int64_t after = before + (added - before) / 8;
    // While all scans have the same length, nothing is stored, so the cache line stays shared by all cores.
    if (after != before) sixteenths_.store(after, std::memory_order_relaxed);
  }
  // Rounded; 0 before any scan has asked for a value.
  [[nodiscard]] std::size_t usual() const {
    return static_cast<std::size_t>((sixteenths_.load(std::memory_order_relaxed) + 8) / 16);
  }

 private:
  static constexpr std::size_t kMax = 1000;
  mutable std::atomic<std::int64_t> sixteenths_{0};
};

}  // namespace cambium
