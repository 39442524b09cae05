// Pareto: the generalised Pareto distribution, with density (1/sigma) (1 + k (x - theta) / sigma)^(-1/k - 1) for
// x >= theta. Cao, Dong, Vemuri and Du, "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at
// Facebook", FAST 2020, found that sizes of values and lengths of scans follow it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace cambium::bench {

struct Pareto {
  double theta = 0;
  double k = 0;
  double sigma = 1;

  // Returns the value that is exceeded with probability u of (0, 1], rounded up.
  [[nodiscard]] std::uint64_t AtSurvival(double u) const {
    const double x = k == 0 ? theta - sigma * std::log(u) : theta + sigma * (std::pow(u, -k) - 1) / k;
    const double whole = std::ceil(x);
    if (!(whole > 0)) return 0;
    // No size or length is larger.
    return whole >= 0x1p62 ? std::uint64_t{1} << 62 : static_cast<std::uint64_t>(whole);
  }
};

}  // namespace cambium::bench
