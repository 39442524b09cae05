#include "workloads/mixgraph/key_ranges.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace cambium::bench {

KeyRanges::KeyRanges(const MixgraphFlags& f) {
  const std::uint64_t n = std::max<std::uint64_t>(1, f.keyrange_num);
  for (std::uint64_t i = 1; i <= n; ++i) {
    const auto x = static_cast<double>(i);
    const double weight = f.keyrange_dist_a * std::exp(f.keyrange_dist_b * x) + f.keyrange_dist_c * std::exp(f.keyrange_dist_d * x);
    weights_.push_back(weight < 1e-16 ? 0 : weight);
  }
  // db_bench's integer shares: scaled so that the coldest range with a weight gets 1.
  double least = 0;
  for (std::uint64_t i = n; i > 0 && least == 0; --i) least = weights_[i - 1];
  if (least == 0) {  // no range has a weight: all are equal
    std::fill(weights_.begin(), weights_.end(), 1.0);
    least = 1;
  }
  const double amplified = std::floor(1 / least) + 1;
  std::uint64_t sum = 0;
  for (const double weight : weights_) {
    shares_.push_back(static_cast<std::uint64_t>(std::floor(amplified * weight)));
    sum += shares_.back();
  }
  // The order of the ranges in the key space. The standard defines the generator, so it is the same everywhere.
  std::vector<std::uint64_t> order(n);
  for (std::uint64_t i = 0; i < n; ++i) order[i] = i;
  std::mt19937_64 generator(sum);
  for (std::uint64_t i = 0; i < n; ++i) std::swap(order[i], order[generator() % n]);
  double exact = 0;
  std::uint64_t shares = 0;
  for (const std::uint64_t warmth : order) {
    exact_ends_.push_back(exact += weights_[warmth]);
    share_ends_.push_back(shares += shares_[warmth]);
  }
}

std::uint64_t KeyRanges::Exact(double u) const {
  const auto end = std::upper_bound(exact_ends_.begin(), exact_ends_.end(), u * exact_ends_.back());
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(end - exact_ends_.begin()), count() - 1);
}

std::uint64_t KeyRanges::Compatible(std::uint64_t r) const {
  const auto end = std::upper_bound(share_ends_.begin(), share_ends_.end(), r % share_ends_.back());
  return static_cast<std::uint64_t>(end - share_ends_.begin());
}

}  // namespace cambium::bench
