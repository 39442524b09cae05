#include "trace/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "trace/minimise.h"
#include "util/histogram.h"

namespace cambium::bench {
namespace {

double Survival(const ParetoFit& p, double x) {
  if (x <= p.theta) return 1;
  const double z = (x - p.theta) / p.sigma;
  if (std::abs(p.k) < 1e-9) return std::exp(-z);
  const double base = 1 + p.k * z;
  return base <= 0 ? 0 : std::pow(base, -1 / p.k);
}

// The count of the numbers above `above`, up to `up_to`.
struct Group {
  double above;
  double up_to;
  double count;
};

// Returns a group for each small number, and one for each range of larger numbers, which differ by one or two per cent.
// That makes a few thousand groups at most, and the likelihood of a group is exact. Numbers not above `lowest` are one
// group.
std::vector<Group> GroupsOf(const Counts& counts, std::uint64_t lowest) {
  using Buckets = LogBuckets<6>;
  std::vector<Group> groups = {{-1, static_cast<double>(lowest), 0}};
  std::size_t bucket = 0;
  for (const auto& [value, count] : counts) {
    if (value > lowest && (groups.size() == 1 || Buckets::Of(value) != bucket)) {
      bucket = Buckets::Of(value);
      // The middle of a bucket is half its width above its lowest number. Buckets below kExact have one number each.
      const std::uint64_t width = bucket < Buckets::kExact ? 1 : std::uint64_t{1} << ((bucket - Buckets::kExact) / Buckets::kParts + 1);
      const std::uint64_t first = Buckets::MiddleOf(bucket) - width / 2;
      const std::uint64_t low = std::max(first, lowest + 1);
      const std::uint64_t high = first + (width - 1);
      groups.push_back({static_cast<double>(low - 1), static_cast<double>(high), 0});
    }
    groups.back().count += static_cast<double>(count);
  }
  return groups;
}

// Returns minus the logarithm of the likelihood, per number.
double Unlikelihood(const ParetoFit& p, const std::vector<Group>& groups, double total) {
  double sum = 0;
  for (const Group& group : groups) {
    const double above = group.above < 0 ? 1 : Survival(p, group.above);
    sum += group.count * std::log(std::max(above - Survival(p, group.up_to), 1e-300));
  }
  return -sum / total;
}

// Solves a symmetric system with 2 unknowns. False if there is no unique solution.
bool Solve2(double m00, double m01, double m11, double r0, double r1, double* x0, double* x1) {
  const double determinant = m00 * m11 - m01 * m01;
  if (!(std::abs(determinant) > 1e-12 * std::abs(m00 * m11))) return false;
  *x0 = (r0 * m11 - r1 * m01) / determinant;
  *x1 = (r1 * m00 - r0 * m01) / determinant;
  return std::isfinite(*x0) && std::isfinite(*x1);
}

// Sets a and c for the given b and d, and returns the remaining sum of weighted squares.
double LinearPart(std::span<const double> parts, std::span<const double> weights, ExponentialsFit* fit) {
  double ee = 0;
  double ef = 0;
  double ff = 0;
  double ey = 0;
  double fy = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto x = static_cast<double>(i + 1);
    const double e = std::exp(fit->b * x);
    const double f = std::exp(fit->d * x);
    ee += weights[i] * e * e;
    ef += weights[i] * e * f;
    ff += weights[i] * f * f;
    ey += weights[i] * e * parts[i];
    fy += weights[i] * f * parts[i];
  }
  if (!Solve2(ee, ef, ff, ey, fy, &fit->a, &fit->c)) return 1e300;
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double off = fit->At(static_cast<double>(i + 1)) - parts[i];
    sum += weights[i] * off * off;
  }
  return sum;
}

// Fits the amplitudes of sine and cosine and a constant at this frequency, and returns the remaining sum of squares.
double FitAtFrequency(std::span<const double> rates, double interval, double frequency, double mean, SineFit* fit) {
  double ss = 0;
  double sc = 0;
  double cc = 0;
  double s1 = 0;
  double c1 = 0;
  double sy = 0;
  double cy = 0;
  const auto n = static_cast<double>(rates.size());
  const auto time = [&](std::size_t i) { return (static_cast<double>(i) + 0.5) * interval; };
  for (std::size_t i = 0; i < rates.size(); ++i) {
    s1 += std::sin(frequency * time(i)) / n;
    c1 += std::cos(frequency * time(i)) / n;
  }
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double s = std::sin(frequency * time(i)) - s1;
    const double c = std::cos(frequency * time(i)) - c1;
    const double y = rates[i] - mean;
    ss += s * s;
    sc += s * c;
    cc += c * c;
    sy += s * y;
    cy += c * y;
  }
  double in_sine = 0;
  double in_cosine = 0;
  if (!Solve2(ss, sc, cc, sy, cy, &in_sine, &in_cosine)) return 1e300;
  double left = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double off = in_sine * (std::sin(frequency * time(i)) - s1) + in_cosine * (std::cos(frequency * time(i)) - c1) -
                       (rates[i] - mean);
    left += off * off;
  }
  fit->a = std::hypot(in_sine, in_cosine);
  fit->b = frequency;
  fit->c = std::atan2(in_cosine, in_sine);
  fit->d = mean - in_sine * s1 - in_cosine * c1;
  return left;
}

}  // namespace

std::optional<ParetoFit> FitPareto(const Counts& counts) {
  double total = 0;
  double sum = 0;
  for (const auto& [value, count] : counts) {
    total += static_cast<double>(count);
    sum += static_cast<double>(value) * static_cast<double>(count);
  }
  if (total == 0) return std::nullopt;
  const std::uint64_t lowest = std::max<std::uint64_t>(1, counts.begin()->first);
  const auto low = static_cast<double>(lowest);
  if (counts.rbegin()->first <= lowest) return ParetoFit{.theta = low - 0.5, .k = 0, .sigma = 1e-3};  // all are equal
  const std::vector<Group> groups = GroupsOf(counts, lowest);
  const double mean = std::max(sum / total, 1.0);
  ParetoFit best;
  double least = 1e300;
  for (const double theta : {0.0, low - 1}) {
    const auto unlikelihood = [&](const std::array<double, 2>& at) {
      const ParetoFit p{.theta = theta, .k = at[1], .sigma = std::exp(at[0])};
      if (p.k <= -0.45 || p.k >= 10 || at[0] > 60 || at[0] < -20) return 1e300;
      return Unlikelihood(p, groups, total);
    };
    for (const double k : {0.05, 0.6, 2.0}) {
      const double scale = std::max(mean - theta, 0.5) / (1 + 4 * k);
      const auto at = Minimise<2>(unlikelihood, {std::log(scale), k}, {0.5, 0.2}, 600, 1e-13);
      const double value = unlikelihood(at);
      if (value >= least - 1e-9) continue;  // of two equal fits, the smaller theta
      least = value;
      best = {.theta = theta, .k = at[1], .sigma = std::exp(at[0])};
    }
    if (low <= 1) break;
  }
  return best;
}

std::optional<PowerFit> FitPower(const std::vector<std::vector<std::uint64_t>>& accesses) {
  constexpr std::uint64_t kEnough = 8;
  // For each rank, the sum of the parts of all sets up to that rank, weighted by accesses, is the share of accesses up
  // to that rank in all accesses.
  std::vector<std::vector<std::uint64_t>> ranked = accesses;
  std::size_t longest = 0;
  double total = 0;
  for (std::vector<std::uint64_t>& set : ranked) {
    std::erase(set, 0);
    std::sort(set.begin(), set.end(), std::greater<>());
    longest = std::max(longest, set.size());
    for (const std::uint64_t count : set) total += static_cast<double>(count);
  }
  if (total == 0) return std::nullopt;
  // For each rank, the accesses of the keys of that rank.
  std::vector<double> at_rank(longest);
  for (const auto& set : ranked) {
    for (std::size_t i = 0; i < set.size(); ++i) at_rank[i] += static_cast<double>(set[i]);
  }
  // The ranks at which the keys have enough accesses, in most sets.
  std::size_t sure = 0;
  while (sure < longest && at_rank[sure] >= static_cast<double>(kEnough * ranked.size())) ++sure;
  if (sure < 10) sure = longest;
  std::vector<std::pair<double, double>> points;  // ln x, ln y
  double cumulated = 0;
  double next = 1;
  for (std::size_t i = 0; i < sure; ++i) {
    cumulated += at_rank[i];
    const auto rank = static_cast<double>(i + 1);
    if (rank < next && i + 1 != sure) continue;
    points.emplace_back(std::log(rank), std::log(cumulated / total));
    next = std::max(rank + 1, rank * 1.05);
  }
  if (points.size() < 3) return std::nullopt;
  const auto n = static_cast<double>(points.size());
  double sx = 0;
  double sy = 0;
  double sxx = 0;
  double sxy = 0;
  for (const auto& [x, y] : points) {
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double b = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  return PowerFit{.a = std::exp((sy - b * sx) / n), .b = b, .ranks = sure};
}

double ExponentialsFit::At(double x) const { return a * std::exp(b * x) + c * std::exp(d * x); }

std::optional<ExponentialsFit> FitExponentials(std::span<const double> parts, double total) {
  if (parts.size() < 4 || total <= 0) return std::nullopt;
  std::vector<double> weights;
  for (const double part : parts) weights.push_back(total / std::max(part, 1 / total));
  ExponentialsFit best;
  double least = 1e300;
  const auto left = [&](const std::array<double, 2>& at) {
    if (std::abs(at[0]) > 50 || std::abs(at[1]) > 50) return 1e300;
    ExponentialsFit fit{.b = at[0], .d = at[1]};
    return LinearPart(parts, weights, &fit);
  };
  const auto n = static_cast<double>(parts.size());
  for (const double b : {-6.0, -2.5, -1.0, -0.4}) {
    for (const double d : {-2.0 / n, -0.3 / n, -10.0 / n}) {
      if (b >= d) continue;
      const auto at = Minimise<2>(left, {b, d}, {0.3 * std::abs(b), 0.3 * std::abs(d)}, 1000, 1e-13);
      const double value = left(at);
      if (value >= least) continue;
      least = value;
      best = {.b = at[0], .d = at[1]};
    }
  }
  if (least >= 1e300) return std::nullopt;
  LinearPart(parts, weights, &best);
  if (best.b > best.d) {  // the steep one comes first
    std::swap(best.a, best.c);
    std::swap(best.b, best.d);
  }
  return best;
}

std::optional<SineFit> FitSine(std::span<const double> rates, double interval_seconds) {
  if (rates.size() < 16) return std::nullopt;
  const auto n = static_cast<double>(rates.size());
  double mean = 0;
  for (const double rate : rates) mean += rate / n;
  double variance = 0;
  for (const double rate : rates) variance += (rate - mean) * (rate - mean);
  const double span = n * interval_seconds;
  SineFit best;
  double least = 1e300;
  // Frequencies are a quarter of a period apart over the whole time, so that no peak lies between two of them.
  for (double periods = 1; periods <= n / 4; periods += 0.25) {
    SineFit fit;
    const double left =
        FitAtFrequency(rates, interval_seconds, 2 * std::numbers::pi * periods / span, mean, &fit);
    if (left >= least) continue;
    least = left;
    best = fit;
  }
  const double step = 2 * std::numbers::pi * 0.1 / span;
  const auto at = Minimise<1>(
      [&](const std::array<double, 1>& frequency) {
        SineFit fit;
        return frequency[0] <= 0 ? 1e300 : FitAtFrequency(rates, interval_seconds, frequency[0], mean, &fit);
      },
      {best.b}, {step}, 200, 1e-13);
  least = FitAtFrequency(rates, interval_seconds, at[0], mean, &best);
  best.explained = variance > 0 ? std::max(0.0, 1 - least / variance) : 0;
  return best;
}

}  // namespace cambium::bench
