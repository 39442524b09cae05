// Histogram: the distribution of microseconds, bytes or any non-negative numbers, in a fixed 30 KB.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cambium {

// Maps numbers to buckets. Below 2 * kParts each number has its own bucket. Above, each power of two is divided into
// kParts = 2^kPartBits equal buckets, so the width of a bucket is at most 1/kParts of its values.
template <unsigned kPartBits>
struct LogBuckets {
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;
  static constexpr std::size_t kExact = 2 * kParts;
  static constexpr std::size_t kCount = kExact + (64 - kPartBits - 1) * kParts;

  static constexpr std::size_t Of(std::uint64_t value) {
    if (value < kExact) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kPartBits - 1;  // >= 1
    return kExact + (shift - 1) * kParts + static_cast<std::size_t>((value >> shift) - kParts);
  }
  static constexpr std::uint64_t MiddleOf(std::size_t bucket) {
    if (bucket < kExact) return bucket;
    const std::size_t shift = (bucket - kExact) / kParts + 1;
    const std::uint64_t low = std::uint64_t{kParts + (bucket - kExact) % kParts} << shift;
    return low + (std::uint64_t{1} << (shift - 1));
  }
};

// One thread at a time: each measuring thread keeps its own histogram, and one thread merges them.
template <unsigned kPartBits>
class BasicHistogram {
 public:
  using Buckets = LogBuckets<kPartBits>;

  void Add(std::uint64_t value);
  void Merge(const BasicHistogram& other);
  // Adds values that were counted elsewhere, by bucket. `sum`, `min` and `max` are those of the values.
  void Merge(std::span<const std::uint64_t, Buckets::kCount> counts, double sum, std::uint64_t min, std::uint64_t max);
  void Clear() { *this = BasicHistogram(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Both are exact, and 0 if nothing was added.
  [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] double Mean() const;
  // Computed from the middles of the buckets, or from min() and max() if a middle is beyond them.
  [[nodiscard]] double StandardDeviation() const;
  // Returns the smallest value that at least `percent` % of the values do not exceed, or 0 if nothing was added. The
  // 0th is min(), the 100th max(); between them it is the middle of a bucket.
  [[nodiscard]] std::uint64_t Percentile(double percent) const;

  // "count 3 mean 2.0 min 1 p50 2 p95 3 p99 3 p99.9 3 max 3"
  [[nodiscard]] std::string ToString() const;

 private:
  std::array<std::uint64_t, Buckets::kCount> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

// Exact below 128; above, Percentile is at most 0.8 % off.
using Histogram = BasicHistogram<6>;
// Takes 4 KB. Exact below 16; above, Percentile is at most 6.3 % off.
using SmallHistogram = BasicHistogram<3>;

extern template class BasicHistogram<6>;
extern template class BasicHistogram<3>;

}  // namespace cambium
