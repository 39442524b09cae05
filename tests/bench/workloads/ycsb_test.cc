// YCSB's generators compared with YCSB's definitions.
#include "workloads/ycsb/request_distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace cambium::bench {
namespace {

// Rank 0 has 1 / zeta of all draws, and FNV sends it to one record.
TEST(YcsbTest, ScrambledZipfSendsItsWarmestRankToOneRecord) {
  const ScrambledZipf zipf(1000);
  std::map<std::uint64_t, int> counts;
  Prng random(1);
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) ++counts[zipf.Next(&random)];
  const auto warmest = std::max_element(counts.begin(), counts.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_EQ(warmest->first, YcsbHash(0) % 1000);
  // In addition to the 1 / 26.469 of rank 0, this record gets the shares of other ranks that fall on it.
  EXPECT_NEAR(static_cast<double>(warmest->second) / kDraws, 1 / 26.469 + 0.0006, 0.003);
  EXPECT_GT(counts.size(), 990u) << "cold records are read too";
  EXPECT_LT(counts.rbegin()->first, 1000u);
}

TEST(YcsbTest, LatestPrefersTheNewest) {
  LatestZipf latest(Zipf(1000, kYcsbTheta));
  Prng random(2);
  std::map<std::uint64_t, int> counts;
  for (int i = 0; i < 100'000; ++i) ++counts[latest.Next(1000, &random)];
  EXPECT_NEAR(counts[999] / 100'000.0, Zipf(1000, kYcsbTheta).ShareOfFirst(), 0.005);
  EXPECT_GT(counts[999], counts[998]);
  EXPECT_GT(counts[998], counts[500]);
  // One record more: that is the newest then.
  counts.clear();
  for (int i = 0; i < 100'000; ++i) ++counts[latest.Next(1001, &random)];
  EXPECT_GT(counts[1000], 10'000);
  EXPECT_EQ(counts.rbegin()->first, 1000u);
}

TEST(YcsbTest, GrownZipfEqualsALargerOne) {
  Zipf grown(100, kYcsbTheta);
  grown.GrowTo(500);
  const Zipf made(500, kYcsbTheta);
  EXPECT_DOUBLE_EQ(grown.ShareOfFirst(), made.ShareOfFirst());
  Prng a(3);
  Prng b(3);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(grown.Next(&a), made.Next(&b));
}

}  // namespace
}  // namespace cambium::bench
