// ScanLength: how many values the scans of a family ask for, by those that ended lately.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cambium {

// Any thread. A guess: threads that add at once may lose each other's scans.
class ScanLength {
 public:
  // A scan has ended that asked for so many values, one after the other.
  void Add(std::size_t values) const {
    const std::int64_t before = sixteenths_.load(std::memory_order_relaxed);
    const auto it = static_cast<std::int64_t>(std::min(values, kMax)) * 16;
    const std::int64_t after = before + (it - before) / 8;
    // Where scans are of one length nobody writes, so that the line stays in all caches.
    if (after != before) sixteenths_.store(after, std::memory_order_relaxed);
  }
  // Rounded; 0 before anybody has asked for a value.
  [[nodiscard]] std::size_t usual() const {
    return static_cast<std::size_t>((sixteenths_.load(std::memory_order_relaxed) + 8) / 16);
  }

 private:
  static constexpr std::size_t kMax = 1000;
  mutable std::atomic<std::int64_t> sixteenths_{0};
};

}  // namespace cambium
