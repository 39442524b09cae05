// Zipf: numbers from [0, n) of which the i-th is drawn in proportion to 1 / (i + 1)^theta, as YCSB draws them (Gray and
// others, "Quickly generating billion-record synthetic databases", SIGMOD 1994, section 3.2). For theta in (0, 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "util/prng.h"

namespace cambium::bench {

// Immutable. To make one takes time in proportion to n.
class Zipf {
 public:
  Zipf(std::uint64_t n, double theta) : n_(n), theta_(theta) {
    for (std::uint64_t i = 1; i <= n; ++i) zeta_ += 1 / std::pow(static_cast<double>(i), theta);
    const double zeta_of_two = 1 + std::pow(0.5, theta);
    alpha_ = 1 / (1 - theta);
    eta_ = (1 - std::pow(2.0 / static_cast<double>(n), 1 - theta)) / (1 - zeta_of_two / zeta_);
  }

  [[nodiscard]] std::uint64_t Next(Prng* random) const {
    const double u = random->NextDouble();
    const double uz = u * zeta_;
    if (uz < 1) return 0;
    if (uz < 1 + std::pow(0.5, theta_)) return 1;
    const double rank = static_cast<double>(n_) * std::pow(eta_ * u - eta_ + 1, alpha_);
    return std::min(static_cast<std::uint64_t>(rank), n_ - 1);
  }
  // The part of all draws that the first number gets.
  [[nodiscard]] double ShareOfFirst() const { return 1 / zeta_; }

 private:
  std::uint64_t n_;
  double theta_;
  double zeta_ = 0;
  double alpha_ = 0;
  double eta_ = 0;
};

}  // namespace cambium::bench
