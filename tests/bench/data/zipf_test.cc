#include "data/zipf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "space/law.h"
#include "testing/seed.h"

namespace cambium::bench {
namespace {

// The shares of the first ranks are 1 / (i^theta * zeta), within five standard deviations of the count.
TEST(ZipfTest, RanksHaveTheirShares) {
  constexpr std::uint64_t kNumbers = 10'000;
  constexpr std::uint64_t kDraws = 400'000;
  const Zipf zipf(kNumbers, 0.99);
  Prng random(testing::SeedFromEnvironment(5));
  std::vector<std::uint64_t> counts(kNumbers);
  for (std::uint64_t i = 0; i < kDraws; ++i) ++counts[zipf.Next(&random)];
  for (const std::uint64_t rank : {0, 1}) {
    const double share = zipf.ShareOfFirst() / std::pow(static_cast<double>(rank + 1), 0.99);
    const double expected = share * kDraws;
    EXPECT_NEAR(static_cast<double>(counts[rank]), expected, 5 * std::sqrt(expected)) << rank;
  }
  // For ranks after the first two, the generator is an approximation, so sums are compared.
  double share = 0;
  std::uint64_t count = 0;
  for (std::uint64_t rank = 0; rank < kNumbers / 10; ++rank) {
    share += zipf.ShareOfFirst() / std::pow(static_cast<double>(rank + 1), 0.99);
    count += counts[rank];
  }
  EXPECT_NEAR(static_cast<double>(count) / kDraws, share, 0.02);
  EXPECT_GT(counts[kNumbers - 1] + counts[kNumbers - 2] + counts[kNumbers - 3], 0u) << "all ranks are drawn";
}

// The expected figures are those of a simulation of uniform overwrites.
TEST(LawTest, MatchesSimulatedUniformOverwrites) {
  const struct {
    double space_amp;
    double write_amp;
  } kPoints[] = {{1.1, 5.68}, {1.25, 2.69}, {1.5, 1.72}, {1.75, 1.40}, {2, 1.26}, {3, 1.06}};
  for (const auto& point : kPoints) EXPECT_NEAR(WriteAmpOfUniform(point.space_amp), point.write_amp, 0.01);
}

}  // namespace
}  // namespace cambium::bench
