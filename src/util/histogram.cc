#include "util/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cambium {

template <unsigned kPartBits>
void BasicHistogram<kPartBits>::Add(std::uint64_t value) {
  ++counts_[Buckets::Of(value)];
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

template <unsigned kPartBits>
void BasicHistogram<kPartBits>::Merge(const BasicHistogram& other) {
  Merge(other.counts_, other.sum_, other.min_, other.max_);
}

template <unsigned kPartBits>
void BasicHistogram<kPartBits>::Merge(std::span<const std::uint64_t, Buckets::kCount> counts, double sum,
                                      std::uint64_t min, std::uint64_t max) {
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    counts_[i] += counts[i];
    count_ += counts[i];
  }
  min_ = std::min(min_, min);
  max_ = std::max(max_, max);
  sum_ += sum;
}

template <unsigned kPartBits>
double BasicHistogram<kPartBits>::Mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

template <unsigned kPartBits>
double BasicHistogram<kPartBits>::StandardDeviation() const {
  if (count_ == 0) return 0;
  const double mean = Mean();
  double squares = 0;
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    if (counts_[i] == 0) continue;
    const double off = static_cast<double>(std::clamp(Buckets::MiddleOf(i), min_, max_)) - mean;
    squares += static_cast<double>(counts_[i]) * off * off;
  }
  return std::sqrt(squares / static_cast<double>(count_));
}

template <unsigned kPartBits>
std::uint64_t BasicHistogram<kPartBits>::Percentile(double percent) const {
  if (count_ == 0) return 0;
  if (percent <= 0) return min_;
  if (percent >= 100) return max_;
  // The double nearest to 99.9 is slightly larger than 99.9; rounding up must not add a rank because of that.
  const double rank = percent * static_cast<double>(count_) / 100 * (1 - 1e-12);
  const auto wanted = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(rank)), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::max(min_, std::min(Buckets::MiddleOf(i), max_));
  }
  return max_;
}

template <unsigned kPartBits>
std::string BasicHistogram<kPartBits>::ToString() const {
  char text[256];
  const auto p = [this](double percent) { return static_cast<unsigned long long>(Percentile(percent)); };
  std::snprintf(text, sizeof(text), "count %llu mean %.1f min %llu p50 %llu p95 %llu p99 %llu p99.9 %llu max %llu",
                static_cast<unsigned long long>(count_), Mean(), p(0), p(50), p(95), p(99), p(99.9), p(100));
  return text;
}

template class BasicHistogram<6>;
template class BasicHistogram<3>;

}  // namespace cambium
