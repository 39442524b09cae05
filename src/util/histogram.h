// Histogram: how many microseconds (or bytes, or whatever counts up from 0) things took, in 30 KB whatever is added.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cambium {

// Which bucket a number falls into. Buckets are exact below 2 * kParts; above, each power of two is cut into kParts =
// 2^kPartBits equal parts, so that a bucket is at most 1/kParts of its values wide.
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

// One thread at a time; threads that measure keep one each and Merge them.
template <unsigned kPartBits>
class BasicHistogram {
 public:
  using Buckets = LogBuckets<kPartBits>;

  void Add(std::uint64_t value);
  void Merge(const BasicHistogram& other);
  // What was counted elsewhere, bucket by bucket. `min` and `max` are those of the values, `sum` is theirs.
  void Merge(std::span<const std::uint64_t, Buckets::kCount> counts, double sum, std::uint64_t min, std::uint64_t max);
  void Clear() { *this = BasicHistogram(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Exact, and 0 when nothing was added.
  [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] double Mean() const;
  // Of the buckets' middles.
  [[nodiscard]] double StandardDeviation() const;
  // The smallest value that at least `percent` of a hundred values do not exceed; 0 when nothing was added. The 0th is
  // min(), the 100th max(); between them it is the middle of a bucket.
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

// Exact below 128; what Percentile says is at most 0.8 % off.
using Histogram = BasicHistogram<6>;
// In 4 KB: exact below 16, at most 6.3 % off.
using SmallHistogram = BasicHistogram<3>;

extern template class BasicHistogram<6>;
extern template class BasicHistogram<3>;

}  // namespace cambium
