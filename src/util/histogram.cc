#include "util/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

namespace cambium {

std::size_t Histogram::BucketOf(std::uint64_t value) {
  if (value < kExact) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kPartBits - 1;  // >= 1
  return kExact + (shift - 1) * kParts + static_cast<std::size_t>((value >> shift) - kParts);
}

std::uint64_t Histogram::MiddleOf(std::size_t bucket) {
  if (bucket < kExact) return bucket;
  const std::size_t shift = (bucket - kExact) / kParts + 1;
  const std::uint64_t low = std::uint64_t{kParts + (bucket - kExact) % kParts} << shift;
  return low + (std::uint64_t{1} << (shift - 1));
}

void Histogram::Add(std::uint64_t value) {
  ++counts_[BucketOf(value)];
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

void Histogram::Merge(const Histogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double Histogram::Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

std::uint64_t Histogram::Percentile(double percent) const {
  if (count_ == 0) return 0;
  if (percent <= 0) return min_;
  if (percent >= 100) return max_;
  // 99.9 is a little more than 99.9 in binary; that must not cost a whole rank.
  const double rank = percent * static_cast<double>(count_) / 100 * (1 - 1e-12);
  const auto wanted = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(rank)), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::clamp(MiddleOf(i), min_, max_);
  }
  return max_;
}

std::string Histogram::ToString() const {
  char text[256];
  const auto p = [this](double percent) { return static_cast<unsigned long long>(Percentile(percent)); };
  std::snprintf(text, sizeof(text), "count %llu mean %.1f min %llu p50 %llu p95 %llu p99 %llu p99.9 %llu max %llu",
                static_cast<unsigned long long>(count_), Mean(), p(0), p(50), p(95), p(99), p(99.9), p(100));
  return text;
}

}  // namespace cambium
