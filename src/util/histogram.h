// Histogram: how many microseconds (or bytes, or whatever counts up from 0) things took, in 30 KB whatever is added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cambium {

// Buckets are exact below 128; above, each power of two is cut into 64 equal parts. So a bucket is at most 1/64 of its
// values wide, and what Percentile says, its middle, is at most 0.8 % off. One thread at a time; threads that measure
// keep one each and Merge them.
class Histogram {
 public:
  void Add(std::uint64_t value);
  void Merge(const Histogram& other);
  void Clear() { *this = Histogram(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Exact, and 0 when nothing was added.
  [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] double Mean() const;
  // The smallest value that at least `percent` of a hundred values do not exceed; 0 when nothing was added. The 0th is
  // min(), the 100th max().
  [[nodiscard]] std::uint64_t Percentile(double percent) const;

  // "count 3 mean 2.0 min 1 p50 2 p95 3 p99 3 p99.9 3 max 3"
  [[nodiscard]] std::string ToString() const;

 private:
  static constexpr unsigned kPartBits = 6;
  static constexpr std::size_t kParts = std::size_t{1} << kPartBits;
  static constexpr std::size_t kExact = 2 * kParts;
  static constexpr std::size_t kBuckets = kExact + (64 - kPartBits - 1) * kParts;

  static std::size_t BucketOf(std::uint64_t value);
  static std::uint64_t MiddleOf(std::size_t bucket);

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace cambium
