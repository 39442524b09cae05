// The curves of the mixgraph model, fitted to what a trace shows. The model is that of Cao, Dong, Vemuri and Du,
// "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at Facebook", FAST 2020. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cambium::bench {

// The number of occurrences of each size or length.
using Counts = std::map<std::uint64_t, std::uint64_t>;

// Generalised Pareto: S(x) = (1 + k (x - theta) / sigma)^(-1/k) is the share above x; for k = 0, exp(-(x - theta) /
// sigma).
struct ParetoFit {
  double theta = 0;
  double k = 0;
  double sigma = 1;
};
// Fits whole numbers by maximum likelihood. mixgraph rounds up, so v has the probability S(v - 1) - S(v). The smallest
// number seen stands for all that are not larger, 1 - S(v), because generators and programs clamp there. sigma and k
// are found by Nelder and Mead; theta is 0 or one less than the smallest number, whichever is likelier; -0.45 < k < 10.
// Moments, and probability-weighted moments (Hosking and Wallis, Technometrics 29, 1987), do not exist for k >= 1, and
// FAST's scans have k = 2.5. Nothing if there are no numbers.
std::optional<ParetoFit> FitPareto(const Counts& counts);

// The x warmest keys get a x^b of the accesses.
struct PowerFit {
  double a = 0;
  double b = 0;
  std::uint64_t ranks = 0;  // the number of ranks used for the fit
};
// `accesses`: accesses per key, one set for each range of keys. Sets are ranked separately, and their curves averaged,
// weighted by accesses. Least squares of ln y = ln a + b ln x over ranks about evenly spaced in ln x. Keys with fewer
// than 8 accesses are left out if there are enough others, because the order of such keys is chance. Nothing for fewer
// than three ranks.
std::optional<PowerFit> FitPower(const std::vector<std::vector<std::uint64_t>>& accesses);

// The x-th warmest of several ranges gets the share a e^(b x) + c e^(d x) of all accesses.
struct ExponentialsFit {
  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
  [[nodiscard]] double At(double x) const;
};
// `parts`: the shares of the ranges in `total` accesses, in falling order. Least squares, in which each share is
// weighted by the inverse of the variance that it has by chance. a and c follow from b and d by linear equations; b and
// d are found by Nelder and Mead from a grid of guesses. Nothing for fewer than four ranges.
std::optional<ExponentialsFit> FitExponentials(std::span<const double> parts, double total);

// a sin(b t + c) + d, t in seconds.
struct SineFit {
  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
  double explained = 0;  // the share of the variance, 0 to 1
};
// Fits rates, measured in the middle of intervals of `interval_seconds`. Uses least squares: solves linear equations
// for each of many frequencies, from one period in all to one in four intervals, and refines the best. Nothing for
// fewer than 16 rates.
std::optional<SineFit> FitSine(std::span<const double> rates, double interval_seconds);

}  // namespace cambium::bench
