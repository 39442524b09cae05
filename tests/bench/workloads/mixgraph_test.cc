// The generators of mixgraph compared with what follows from their parameters. The reference parameters are those that
// the authors of the model gave with db_bench's mixgraph (RocksDB, pull request 5953).
#include "workloads/mixgraph/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "data/mix.h"
#include "presets/presets.h"
#include "workloads/mixgraph/mixgraph.h"
#include "workloads/mixgraph/sine_rate.h"

namespace cambium::bench {
namespace {

MixgraphFlags ReferenceCommand() {
  MixgraphFlags f;
  f.key_dist_a = 0.002312;
  f.key_dist_b = 0.3467;
  f.keyrange_dist_a = 14.18;
  f.keyrange_dist_b = -2.917;
  f.keyrange_dist_c = 0.0164;
  f.keyrange_dist_d = -0.08082;
  f.keyrange_num = 30;
  f.mix_get_ratio = 0.85;
  f.mix_put_ratio = 0.14;
  f.mix_seek_ratio = 0.01;
  return f;
}

TEST(MixgraphTest, WeightsOfRangesAreTheTwoExponentials) {
  const KeyRanges ranges(ReferenceCommand());
  const std::vector<double>& w = ranges.weights();
  EXPECT_NEAR(w[0], 0.7822, 0.0001);
  EXPECT_NEAR(w[1], 0.0554, 0.0001);
  EXPECT_NEAR(w[2], 0.0151, 0.0001);
  EXPECT_NEAR(w[29], 0.00145, 0.00001);
  EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 0.98853, 0.00001);
}

TEST(MixgraphTest, CompatibleSharesMatchDbBench) {
  const KeyRanges ranges(ReferenceCommand());
  const std::vector<std::uint64_t> shares = {538, 38, 10, 8, 7, 6, 6, 5, 5, 5, 4, 4, 3, 3, 3,
                                             3,   2,  2,  2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(ranges.shares(), shares);
  EXPECT_EQ(ranges.shares_in_all(), 667u);
}

TEST(MixgraphTest, WarmestRangeGetsItsShare) {
  const KeyRanges ranges(ReferenceCommand());
  std::vector<std::uint64_t> exact(30, 0);
  std::vector<std::uint64_t> compatible(30, 0);
  Prng random(1);
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    ++exact[ranges.Exact(random.NextDouble())];
    ++compatible[ranges.Compatible(random.Next() >> 1)];
  }
  const auto warmest = std::max_element(exact.begin(), exact.end());
  EXPECT_NEAR(static_cast<double>(*warmest) / kDraws, 0.791, 0.003);
  EXPECT_NEAR(static_cast<double>(*std::max_element(compatible.begin(), compatible.end())) / kDraws, 0.807, 0.003);
  EXPECT_EQ(warmest - exact.begin(), std::max_element(compatible.begin(), compatible.end()) - compatible.begin())
      << "both lie at the same place";
  EXPECT_EQ(std::count(exact.begin(), exact.end(), 0u), 0) << "every range is used";
}

TEST(MixgraphTest, ValueSizesAndScanLengthsFollowTheirDistributions) {
  const MixgraphModel puts([] {
    MixgraphFlags f = ReferenceCommand();
    f.mix_get_ratio = 0;
    f.mix_seek_ratio = 0;
    return f;
  }(), 5'000'000);
  std::vector<std::uint64_t> sizes;
  Prng random(2);
  for (int i = 0; i < 200'000; ++i) sizes.push_back(puts.Draw(0, &random).value_size);
  std::sort(sizes.begin(), sizes.end());
  const auto at = [](const std::vector<std::uint64_t>& v, double part) {
    return static_cast<double>(v[static_cast<std::size_t>(part * static_cast<double>(v.size()))]);
  };
  EXPECT_NEAR(std::accumulate(sizes.begin(), sizes.end(), 0.0) / 200'000, 36.4, 0.7);
  EXPECT_NEAR(at(sizes, 0.5), 20, 1);
  EXPECT_NEAR(at(sizes, 0.9), 81, 2);
  EXPECT_NEAR(at(sizes, 0.99), 227, 10);
  EXPECT_NEAR(static_cast<double>(std::upper_bound(sizes.begin(), sizes.end(), 10u) - sizes.begin()) / 200'000, 0.31, 0.02);

  MixgraphFlags seeks = ReferenceCommand();
  seeks.mix_get_ratio = seeks.mix_put_ratio = 0;
  const MixgraphModel scans(seeks, 5'000'000);
  std::vector<std::uint64_t> lengths;
  for (int i = 0; i < 200'000; ++i) lengths.push_back(scans.Draw(0, &random).scan_length);
  std::sort(lengths.begin(), lengths.end());
  EXPECT_NEAR(std::accumulate(lengths.begin(), lengths.end(), 0.0) / 200'000, 570, 25);
  EXPECT_NEAR(at(lengths, 0.5), 27, 1);
  EXPECT_NEAR(at(lengths, 0.9), 1490, 100);
  EXPECT_NEAR(at(lengths, 0.99), 8499, 150);
}

TEST(MixgraphTest, OperationsHaveTheirRatios) {
  for (const bool compatible : {false, true}) {
    MixgraphFlags f = ReferenceCommand();
    f.mixgraph_compat = compatible;
    const MixgraphModel model(f, 1'000'000);
    std::vector<int> counts(3, 0);
    Prng random(3);
    for (int i = 0; i < 100'000; ++i) {
      ++counts[static_cast<std::size_t>(model.Draw(random.Uniform(1'000'000), &random).kind)];
    }
    EXPECT_NEAR(counts[0], 85'000, 500);
    EXPECT_NEAR(counts[1], 14'000, 500);
    EXPECT_NEAR(counts[2], 1'000, 150);
  }
}

// The inverse of the share y = a x^b of the x warmest keys: for u = 0.1 it is (0.1 / a)^(1 / b).
TEST(MixgraphTest, PowerModeRepeatsWarmKeys) {
  MixgraphFlags f;
  f.key_dist_a = 0.002312;
  f.key_dist_b = 0.3467;
  constexpr std::uint64_t kKeys = 100'000'000;
  const MixgraphModel model(f, kKeys);
  std::set<std::uint64_t> warm;  // where the thousand warmest lie
  for (std::uint64_t warmth = 1; warmth <= 1000; ++warmth) warm.insert(Mix(warmth) % kKeys);
  Prng random(4);
  int warmest = 0;
  int among_the_warm = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t id = model.Draw(0, &random).id;
    warmest += id == Mix(1) % kKeys ? 1 : 0;
    among_the_warm += warm.contains(id) ? 1 : 0;
  }
  // y(1) = a, y(1000) = a 1000^b = 0.02535.
  EXPECT_NEAR(static_cast<double>(warmest) / kDraws, 0.002312, 0.0004);
  EXPECT_NEAR(static_cast<double>(among_the_warm) / kDraws, 0.02535, 0.0012);
}

// With the authors' a of 0.002312 most draws were folded back evenly over a million keys or fewer, and the power law
// was lost. If n keys get everything, y(x) = (x / n)^b.
TEST(MixgraphTest, PowerLawOfThePresetCoversItsKeys) {
  const std::vector<PresetRun> runs = Fast20Runs(0.2);
  const auto value = [](const PresetRun& run, const std::string& option) {
    for (const std::string& word : run.arguments) {
      if (word.starts_with(option + "=")) return std::stod(word.substr(option.size() + 1));
    }
    return 0.0;
  };
  int with_power = 0;
  for (const PresetRun& run : runs) {
    if (value(run, "--key_dist_b") == 0) continue;
    ++with_power;
    MixgraphFlags f;
    f.key_dist_a = value(run, "--key_dist_a");
    f.key_dist_b = value(run, "--key_dist_b");
    const double ranges = std::max(1.0, value(run, "--keyrange_num"));
    const auto keys = static_cast<std::uint64_t>(value(run, "--num") / ranges);
    EXPECT_NEAR(f.key_dist_a * std::pow(static_cast<double>(keys), f.key_dist_b), 1, 0.001) << run.experiment;
    const MixgraphModel model(f, keys);  // draws the offset within one range
    std::set<std::uint64_t> warm;
    for (std::uint64_t warmth = 1; warmth <= keys / 1000; ++warmth) warm.insert(Mix(warmth) % keys);
    Prng random(8);
    int among_the_warm = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) among_the_warm += warm.contains(model.Draw(0, &random).id) ? 1 : 0;
    // 0.0912, plus a thousandth for other keys that the hash folds onto the same places.
    EXPECT_NEAR(static_cast<double>(among_the_warm) / kDraws, std::pow(0.001, f.key_dist_b), 0.004) << run.experiment;
  }
  EXPECT_EQ(with_power, 4);
}

TEST(MixgraphTest, CompatibleDrawsDependOnlyOnTheirNumber) {
  MixgraphFlags f = ReferenceCommand();
  f.mixgraph_compat = true;
  const MixgraphModel model(f, 1'000'000);
  for (const std::uint64_t r : {0u, 1u, 77u, 999'999u}) {
    Prng one(5);
    Prng other(6);
    const MixOperation a = model.Draw(r, &one);
    const MixOperation b = model.Draw(r, &other);
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.value_size, b.value_size);
    EXPECT_LT(a.id, 1'000'000u);
  }
  // db_bench looks at --key_dist first: there, ranges alone change nothing, and here they do.
  f.key_dist_a = 0;
  Prng random(7);
  EXPECT_EQ(MixgraphModel(f, 1000).Draw(123, &random).id, 123u);
  f.mixgraph_compat = false;
  const MixgraphModel ranges_only(f, 30'000);
  std::vector<int> hits(30, 0);
  for (int i = 0; i < 30'000; ++i) ++hits[ranges_only.Draw(0, &random).id / 1000];
  EXPECT_GT(*std::max_element(hits.begin(), hits.end()), 23'000);
}

TEST(MixgraphTest, RateIsASine) {
  MixgraphFlags f;
  f.sine_a = 350;
  f.sine_b = 0.0105;
  f.sine_d = 50'000;
  Prng random(1);
  EXPECT_DOUBLE_EQ(SineRate(f, 0, &random), 50'000);
  EXPECT_NEAR(SineRate(f, 149.6, &random), 50'350, 1) << "a quarter of 2 pi / b later";
  f.sine_mix_rate_noise = 1;
  for (int i = 0; i < 100; ++i) EXPECT_NEAR(SineRate(f, 0, &random), 50'000, 176);
  f.sine_a = 0.5;
  f.sine_d = 0;
  EXPECT_DOUBLE_EQ(SineRate(f, 0, &random), 1) << "never nothing at all";
}

TEST(MixgraphTest, ImpossibleFlagsAreRefusedByName) {
  BenchFlags flags;
  EXPECT_EQ(ComplainOfMixgraph(flags), "");
  flags.mixgraph = ReferenceCommand();
  EXPECT_EQ(ComplainOfMixgraph(flags), "");
  const auto named = [](const std::string& name, const std::function<void(BenchFlags*)>& change) {
    BenchFlags wrong;
    change(&wrong);
    EXPECT_NE(ComplainOfMixgraph(wrong).find(name), std::string::npos) << name << ": " << ComplainOfMixgraph(wrong);
  };
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  named("--keyrange_dist_a", [](BenchFlags* f) { f->mixgraph.keyrange_dist_a = -1; });
  named("--keyrange_dist_a", [](BenchFlags* f) { f->mixgraph.keyrange_dist_a = 1e10; });
  named("--keyrange_dist_d", [](BenchFlags* f) { f->mixgraph.keyrange_dist_d = kNoNumber; });
  named("--keyrange_num", [](BenchFlags* f) { f->mixgraph.keyrange_num = f->num + 1; });
  named("--keyrange_num", [](BenchFlags* f) {
    f->num = 10'000'000;
    f->mixgraph.keyrange_num = f->num;
  });
  named("--mix_get_ratio", [](BenchFlags* f) { f->mixgraph.mix_get_ratio = 0; });
  named("--mix_get_ratio", [](BenchFlags* f) { f->mixgraph.mix_get_ratio = kNoNumber; });
  named("--mix_put_ratio", [](BenchFlags* f) { f->mixgraph.mix_put_ratio = -0.5; });
  named("--mix_seek_ratio", [](BenchFlags* f) { f->mixgraph.mix_seek_ratio = std::numeric_limits<double>::infinity(); });
  named("--mix_max_scan_len", [](BenchFlags* f) { f->mixgraph.mix_max_scan_len = 0; });
  named("--mix_max_value_size", [](BenchFlags* f) { f->mixgraph.mix_max_value_size = 0; });
  named("--value_sigma", [](BenchFlags* f) { f->mixgraph.value_sigma = 0; });
  named("--iter_sigma", [](BenchFlags* f) { f->mixgraph.iter_sigma = -1; });
  named("--iter_k", [](BenchFlags* f) { f->mixgraph.iter_k = kNoNumber; });
  named("--key_dist_a", [](BenchFlags* f) { f->mixgraph.key_dist_a = -0.1; });
  named("--sine_a", [](BenchFlags* f) { f->mixgraph.sine_a = 1e300; });
  named("--sine_mix_rate_noise", [](BenchFlags* f) { f->mixgraph.sine_mix_rate_noise = 2; });
  named("--read_random_exp_range", [](BenchFlags* f) {
    f->mixgraph = ReferenceCommand();
    f->read_random_exp_range = 5;
  });
}

// With the smallest allowed lengths, and with sizes above db_bench's cap.
TEST(MixgraphTest, LimitsOfSizesAndLengthsAreKept) {
  MixgraphFlags f;
  f.mix_get_ratio = 0;
  f.mix_put_ratio = f.mix_seek_ratio = 1;
  f.mix_max_scan_len = 1;
  f.mix_max_value_size = std::uint64_t{1} << 40;
  f.value_sigma = 1e9;
  BenchFlags flags;
  flags.mixgraph = f;
  EXPECT_EQ(ComplainOfMixgraph(flags), "");
  EXPECT_EQ(ValueRoomOfMixgraph(flags), 1u << 20);
  const MixgraphModel model(f, 1000);
  Prng random(8);
  std::uint64_t largest = 0;
  for (int i = 0; i < 1000; ++i) {
    const MixOperation operation = model.Draw(0, &random);
    EXPECT_EQ(operation.scan_length, 0u);
    largest = std::max(largest, operation.value_size);
  }
  EXPECT_LE(largest, 1u << 20);
  EXPECT_GT(largest, 1u << 19);
}

TEST(MixgraphTest, RandomModeKeepsTheDrawnKeys) {
  Prng random(9);
  for (const bool compatible : {false, true}) {
    MixgraphFlags f;
    f.mixgraph_compat = compatible;
    EXPECT_EQ(MixgraphModel(f, 1000).Draw(321, &random).id, 321u) << "with whatever skew --read_random_exp_range gives them";
  }
}

}  // namespace
}  // namespace cambium::bench
