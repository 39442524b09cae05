// Samples are drawn with known parameters, and the fits must find them again.
#include "trace/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "data/key.h"
#include "trace/minimise.h"
#include "trace/mixgraph_fit.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

std::uint64_t DrawPareto(const ParetoFit& p, Prng* prng) {
  const double u = 1 - prng->NextDouble();
  return static_cast<std::uint64_t>(
      std::ceil(p.k == 0 ? p.theta - p.sigma * std::log(u) : p.theta + p.sigma * (std::pow(u, -p.k) - 1) / p.k));
}

TEST(TraceFitTest, MinimiseFindsTheValleyOfRosenbrock) {
  const auto at = Minimise<2>(
      [](const std::array<double, 2>& x) {
        return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
      },
      {-1.2, 1}, {0.5, 0.5}, 5000);
  EXPECT_NEAR(at[0], 1, 1e-4);
  EXPECT_NEAR(at[1], 1, 1e-4);
}

// The values and scans of FAST'20, and others. With 100,000 numbers the standard error of k is below 0.01, that of
// sigma below one per cent; five standard errors are allowed.
TEST(TraceFitTest, ParetoIsRecovered) {
  for (const ParetoFit& truth : {ParetoFit{0, 0.2615, 25.45}, ParetoFit{0, 2.517, 14.236}, ParetoFit{0, 0, 100},
                                 ParetoFit{0, -0.2, 1000}, ParetoFit{500, 0.5, 40}}) {
    SCOPED_TRACE(truth.k);
    Prng prng(7);
    Counts counts;
    for (int i = 0; i < 100'000; ++i) ++counts[DrawPareto(truth, &prng)];
    const std::optional<ParetoFit> fit = FitPareto(counts);
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->k, truth.k, 0.05);
    EXPECT_NEAR(fit->sigma, truth.sigma, 0.04 * truth.sigma);
    EXPECT_NEAR(fit->theta, truth.theta, 1);
  }
}

// mixgraph turns every size below 10 into 10: a third of all with its defaults.
TEST(TraceFitTest, ParetoIsRecoveredFromClampedSizes) {
  const ParetoFit truth{0, 0.2615, 25.45};
  Prng prng(8);
  Counts counts;
  for (int i = 0; i < 100'000; ++i) ++counts[std::max<std::uint64_t>(10, DrawPareto(truth, &prng))];
  ASSERT_GT(counts[10], 25'000u);
  const std::optional<ParetoFit> fit = FitPareto(counts);
  ASSERT_TRUE(fit.has_value());
  EXPECT_EQ(fit->theta, 0);
  EXPECT_NEAR(fit->k, truth.k, 0.05);
  EXPECT_NEAR(fit->sigma, truth.sigma, 0.04 * truth.sigma);
}

TEST(TraceFitTest, ParetoOfEqualSizesIsThatSize) {
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{1} << 20}) {
    const std::optional<ParetoFit> fit = FitPareto({{size, 1000}});
    ASSERT_TRUE(fit.has_value());
    Prng prng(9);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(DrawPareto(*fit, &prng), size);
  }
  EXPECT_FALSE(FitPareto({}).has_value());
  EXPECT_TRUE(FitPareto({{0, 5}, {1, 5}}).has_value());
}

// Returns how often each rank is drawn if the cumulative share is a x^b, as mixgraph draws.
std::vector<std::uint64_t> DrawPower(double a, double b, int draws, Prng* prng) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(std::ceil(std::pow(1 / a, 1 / b))) + 1);
  for (int i = 0; i < draws; ++i) {
    ++counts[static_cast<std::size_t>(std::ceil(std::pow(prng->NextDouble() / a, 1 / b)))];
  }
  return counts;
}

TEST(TraceFitTest, PowerIsRecovered) {
  for (const double b : {0.3467, 0.6, 0.9}) {
    SCOPED_TRACE(b);
    Prng prng(10);
    const double a = std::pow(20'000.0, -b);
    const std::optional<PowerFit> fit = FitPower({DrawPower(a, b, 1'000'000, &prng)});
    ASSERT_TRUE(fit.has_value());
    EXPECT_NEAR(fit->b, b, 0.05);
    EXPECT_NEAR(fit->a, a, 0.25 * a);
    // a and b may deviate together, but the curve must fit.
    for (const double x : {1.0, 10.0, 100.0, 1000.0}) {
      EXPECT_NEAR(fit->a * std::pow(x, fit->b), a * std::pow(x, b), 0.1 * a * std::pow(x, b)) << x;
    }
  }
}

TEST(TraceFitTest, PowerWithinRangesIsThatOfEach) {
  Prng prng(11);
  const double b = 0.5;
  const double a = std::pow(2'000.0, -b);
  std::vector<std::vector<std::uint64_t>> ranges;
  for (const int draws : {400'000, 100'000, 20'000}) ranges.push_back(DrawPower(a, b, draws, &prng));
  const std::optional<PowerFit> fit = FitPower(ranges);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->b, b, 0.05);
  EXPECT_NEAR(fit->a, a, 0.25 * a);
}

TEST(TraceFitTest, PowerNeedsSomeKeys) {
  EXPECT_FALSE(FitPower({}).has_value());
  EXPECT_FALSE(FitPower({{5, 3}}).has_value());
  EXPECT_FALSE(FitPower({{0, 0, 0, 0}}).has_value());
}

// The parameters of the authors' own command (RocksDB's pull request 5953).
constexpr ExponentialsFit kReference{.a = 14.18, .b = -2.917, .c = 0.0164, .d = -0.08082};

std::vector<double> PartsOf(const ExponentialsFit& curve, int ranges) {
  std::vector<double> parts;
  double sum = 0;
  for (int x = 1; x <= ranges; ++x) parts.push_back(curve.At(x));
  for (const double part : parts) sum += part;
  for (double& part : parts) part /= sum;
  return parts;
}

TEST(TraceFitTest, ExponentialsAreRecovered) {
  const std::vector<double> parts = PartsOf(kReference, 30);
  const std::optional<ExponentialsFit> fit = FitExponentials(parts, 1e6);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->b, kReference.b, 0.02);
  EXPECT_NEAR(fit->d, kReference.d, 0.002);
  for (int x = 1; x <= 30; ++x) EXPECT_NEAR(fit->At(x), parts[static_cast<std::size_t>(x - 1)], 1e-4);
}

TEST(TraceFitTest, ExponentialsAreRecoveredFromAMillionDraws) {
  const std::vector<double> parts = PartsOf(kReference, 30);
  Prng prng(12);
  std::vector<double> counted(parts.size());
  for (int i = 0; i < 1'000'000; ++i) {
    double u = prng.NextDouble();
    std::size_t x = 0;
    while (x + 1 < parts.size() && u >= parts[x]) u -= parts[x++];
    counted[x] += 1e-6;
  }
  std::sort(counted.begin(), counted.end(), std::greater<>());
  const std::optional<ExponentialsFit> fit = FitExponentials(counted, 1e6);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->b, kReference.b, 0.1);
  EXPECT_NEAR(fit->d, kReference.d, 0.01);
  for (int x = 1; x <= 30; ++x) {
    const double part = parts[static_cast<std::size_t>(x - 1)];
    EXPECT_NEAR(fit->At(x), part, 0.07 * part) << x;
  }
}

TEST(TraceFitTest, ExponentialsOfOneTermAndOfEvenPartsFollowTheParts) {
  for (const ExponentialsFit& truth : {ExponentialsFit{1, -0.5, 0, -0.1}, ExponentialsFit{0, -1, 0.05, 0}}) {
    const std::vector<double> parts = PartsOf(truth, 20);
    const std::optional<ExponentialsFit> fit = FitExponentials(parts, 1e5);
    ASSERT_TRUE(fit.has_value());
    for (int x = 1; x <= 20; ++x) {
      const double part = parts[static_cast<std::size_t>(x - 1)];
      EXPECT_NEAR(fit->At(x), part, 0.01 * part + 1e-5) << x;
    }
  }
  EXPECT_FALSE(FitExponentials(std::vector<double>{0.5, 0.3, 0.2}, 100).has_value());
}

TEST(TraceFitTest, SineIsRecovered) {
  const SineFit truth{.a = 350, .b = 0.0105, .c = 0.7, .d = 5000};
  Prng prng(13);
  std::vector<double> rates;
  for (int i = 0; i < 600; ++i) {
    const double t = (i + 0.5) * 5;
    rates.push_back(truth.a * std::sin(truth.b * t + truth.c) + truth.d + 200 * (prng.NextDouble() - 0.5));
  }
  const std::optional<SineFit> fit = FitSine(rates, 5);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->a, truth.a, 0.05 * truth.a);
  EXPECT_NEAR(fit->b, truth.b, 0.01 * truth.b);
  EXPECT_NEAR(fit->c, truth.c, 0.1);
  EXPECT_NEAR(fit->d, truth.d, 0.01 * truth.d);
  EXPECT_GT(fit->explained, 0.8);
}

TEST(TraceFitTest, SineOfNoiseExplainsLittle) {
  Prng prng(14);
  std::vector<double> rates;
  for (int i = 0; i < 600; ++i) rates.push_back(1000 + 100 * prng.NextDouble());
  const std::optional<SineFit> fit = FitSine(rates, 1);
  ASSERT_TRUE(fit.has_value());
  EXPECT_LT(fit->explained, 0.2);
  EXPECT_FALSE(FitSine(std::vector<double>(15, 1.0), 1).has_value());
}

// A trace with db_bench's keys, in warm ranges with warm keys in them, as mixgraph draws them, except that the ranges
// are in the order of their warmth.
TEST(TraceFitTest, FitOfATraceGivesItsMixgraphCommand) {
  constexpr std::uint64_t kNum = 60'000;
  constexpr std::uint64_t kRanges = 30;
  constexpr std::uint64_t kRangeSize = kNum / kRanges;
  const std::vector<double> parts = PartsOf(kReference, kRanges);
  const double b = 0.5;
  const double a = std::pow(static_cast<double>(kRangeSize), -b);
  const ParetoFit values{0, 0.2615, 25.45};
  const ParetoFit scans{0, 0.3, 14};
  Prng prng(15);
  KeyBuffer key(16);
  TraceStatistics statistics;
  for (int i = 0; i < 500'000; ++i) {
    double u = prng.NextDouble();
    std::uint64_t range = 0;
    while (range + 1 < kRanges && u >= parts[range]) u -= parts[range++];
    const auto rank = static_cast<std::uint64_t>(std::ceil(std::pow(prng.NextDouble() / a, 1 / b)));
    TracedOp op;
    op.micros = static_cast<std::uint64_t>(i) * 100;
    op.key = key.Make(range * kRangeSize + rank * 7919 % kRangeSize).ToString();
    const double kind = prng.NextDouble();
    if (kind < 0.7) {
      op.kind = TracedKind::kGet;
    } else if (kind < 0.9) {
      op.kind = TracedKind::kPut;
      op.value_size = std::max<std::uint64_t>(10, DrawPareto(values, &prng));
    } else {
      op.kind = TracedKind::kSeek;
      op.scan_length = DrawPareto(scans, &prng);
    }
    statistics.Add(op);
  }
  const MixgraphFit fit = FitMixgraph(statistics, 0, kRanges);
  EXPECT_TRUE(fit.keys_have_ids);
  EXPECT_NEAR(static_cast<double>(fit.num), kNum, 0.02 * kNum);
  EXPECT_EQ(fit.key_size, 16u);
  EXPECT_NEAR(fit.get_ratio, 0.7, 0.005);
  EXPECT_NEAR(fit.put_ratio, 0.2, 0.005);
  EXPECT_NEAR(fit.seek_ratio, 0.1, 0.005);
  ASSERT_TRUE(fit.values.has_value() && fit.scans.has_value() && fit.ranges.has_value() && fit.keys.has_value());
  EXPECT_NEAR(fit.values->k, values.k, 0.05);
  EXPECT_NEAR(fit.values->sigma, values.sigma, 0.05 * values.sigma);
  EXPECT_NEAR(fit.scans->k, scans.k, 0.05);
  EXPECT_NEAR(fit.scans->sigma, scans.sigma, 0.05 * scans.sigma);
  EXPECT_TRUE(fit.has_warm_ranges);
  EXPECT_NEAR(fit.ranges->b, kReference.b, 0.15);
  EXPECT_NEAR(fit.ranges->d, kReference.d, 0.015);
  EXPECT_NEAR(fit.keys->b, b, 0.05);
  EXPECT_NEAR(fit.keys->a, a, 0.25 * a);
  EXPECT_FALSE(fit.has_sine) << "10,000 a second throughout";
  const std::string command = fit.Command();
  for (const char* flag : {"--benchmarks=filluniquerandom,mixgraph", "--num=", "--key_size=16", "--mix_get_ratio=0.",
                           "--value_k=0.2", "--iter_sigma=1", "--keyrange_num=30", "--keyrange_dist_a=",
                           "--keyrange_dist_d=-0.0", "--key_dist_a=0.02", "--key_dist_b=0."}) {
    EXPECT_NE(command.find(flag), std::string::npos) << flag << " in " << command;
  }
  EXPECT_EQ(command.find("sine"), std::string::npos);
}

// Keys of arbitrary bytes, all equally warm: no ranges, and an almost straight curve.
TEST(TraceFitTest, EvenKeysHaveNoWarmRanges) {
  Prng prng(16);
  TraceStatistics statistics;
  for (int i = 0; i < 200'000; ++i) {
    TracedOp op;
    op.key = "user" + std::to_string(prng.Uniform(1000));
    op.value_size = 5;
    statistics.Add(op);
  }
  const MixgraphFit fit = FitMixgraph(statistics, 0, 30);
  EXPECT_FALSE(fit.keys_have_ids);
  EXPECT_EQ(fit.num, 1000u);
  EXPECT_FALSE(fit.has_warm_ranges);
  ASSERT_TRUE(fit.keys.has_value());
  EXPECT_NEAR(fit.keys->b, 1, 0.06);
  EXPECT_EQ(fit.Command().find("keyrange"), std::string::npos);
}

TEST(TraceFitTest, EmptyTraceFitsNothing) {
  const MixgraphFit fit = FitMixgraph(TraceStatistics(), 0, 30);
  EXPECT_FALSE(fit.values.has_value() || fit.scans.has_value() || fit.keys.has_value() || fit.rate.has_value());
  EXPECT_NE(fit.Command(), "");
}

}  // namespace
}  // namespace cambium::bench
