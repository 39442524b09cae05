// Zipf: draws numbers of [0, n), number i in proportion to 1 / (i + 1)^theta, as YCSB draws them (Gray and others,
// "Quickly generating billion-record synthetic databases", SIGMOD 1994, section 3.2). For theta in (0, 1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "util/prng.h"

namespace cambium::bench {

// The constructor takes time in proportion to n. Any thread may draw with its own Prng, while no thread calls GrowTo().
class Zipf {
 public:
  Zipf(std::uint64_t n, double theta) : Zipf(n, theta, Zeta(0, n, theta)) {}
  // `zeta` must be the sum of 1 / i^theta for i from 1 to n.
  Zipf(std::uint64_t n, double theta, double zeta) : n_(n), theta_(theta), zeta_(zeta) {
    alpha_ = 1 / (1 - theta);
    SetEta();
  }

  // Extends the range to [0, n), in time in proportion to the growth. Requires n to be no less than before.
  void GrowTo(std::uint64_t n) {
    if (n == n_) return;
    zeta_ += Zeta(n_, n, theta_);
    n_ = n;
    SetEta();
  }
  [[nodiscard]] std::uint64_t n() const { return n_; }

  [[nodiscard]] std::uint64_t Next(Prng* random) const {
    const double u = random->NextDouble();
    const double uz = u * zeta_;
    if (uz < 1) return 0;
    if (uz < 1 + std::pow(0.5, theta_)) return 1;
    const double rank = static_cast<double>(n_) * std::pow(eta_ * u - eta_ + 1, alpha_);
    return std::min(static_cast<std::uint64_t>(rank), n_ - 1);
  }
  // The share of number 0 in all draws.
  [[nodiscard]] double ShareOfFirst() const { return 1 / zeta_; }

 private:
  static double Zeta(std::uint64_t from, std::uint64_t to, double theta) {
    double sum = 0;
    for (std::uint64_t i = from + 1; i <= to; ++i) sum += 1 / std::pow(static_cast<double>(i), theta);
    return sum;
  }
  void SetEta() {
    const double zeta_of_two = 1 + std::pow(0.5, theta_);
    eta_ = (1 - std::pow(2.0 / static_cast<double>(n_), 1 - theta_)) / (1 - zeta_of_two / zeta_);
  }

  std::uint64_t n_;
  double theta_;
  double zeta_ = 0;
  double alpha_ = 0;
  double eta_ = 0;
};

}  // namespace cambium::bench
