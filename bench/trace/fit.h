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

// Sizes or lengths, and how many have each.
using Counts = std::map<std::uint64_t, std::uint64_t>;

// Generalised Pareto: S(x) = (1 + k (x - theta) / sigma)^(-1/k) is the part above x; for k = 0, exp(-(x - theta) / sigma).
struct ParetoFit {
  double theta = 0;
  double k = 0;
  double sigma = 1;
};
// Maximum likelihood of whole numbers. mixgraph rounds up, so v has the probability S(v - 1) - S(v); the smallest number
// that is seen stands for all that are not larger, 1 - S(v), since generators and programs clamp there. sigma and k by
// Nelder and Mead, theta 0 or one less than the smallest number, whichever is likelier. -0.45 < k < 10. Moments, and
// probability-weighted ones (Hosking and Wallis, Technometrics 29, 1987), do not exist for k >= 1, and FAST's scans have
// 2.5. Nothing without numbers.
std::optional<ParetoFit> FitPareto(const Counts& counts);

// The x warmest keys get a x^b of the accesses.
struct PowerFit {
  double a = 0;
  double b = 0;
  std::uint64_t ranks = 0;  // how many the fit rests on
};
// `accesses` per key; several sets are ranked apart, and their curves averaged by accesses: keys of several ranges.
// Least squares of ln y = ln a + b ln x over ranks about evenly spaced in ln x. Keys with fewer than 8 accesses are left
// out, where others are enough: their order is chance. Nothing if there are fewer than three ranks.
std::optional<PowerFit> FitPower(const std::vector<std::vector<std::uint64_t>>& accesses);

// The x-th warmest of several ranges gets a part a e^(b x) + c e^(d x) of all.
struct ExponentialsFit {
  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
  [[nodiscard]] double At(double x) const;
};
// `parts` in falling order, of `total` accesses. Least squares, each weighted by the inverse of the variance that a part of
// its size has by chance: a and c follow from b and d by linear equations, b and d by Nelder and Mead from a grid of
// guesses. Nothing for fewer than four ranges.
std::optional<ExponentialsFit> FitExponentials(std::span<const double> parts, double total);

// a sin(b t + c) + d, t in seconds.
struct SineFit {
  double a = 0;
  double b = 0;
  double c = 0;
  double d = 0;
  double explained = 0;  // the part of the variance, 0 to 1
};
// Of rates in the middles of intervals of so many seconds. Least squares: for each of many frequencies, from one period in
// all to one in four intervals, linear equations; the best is refined. Nothing for fewer than 16 rates.
std::optional<SineFit> FitSine(std::span<const double> rates, double interval_seconds);

}  // namespace cambium::bench
