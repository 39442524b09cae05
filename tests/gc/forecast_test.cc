#include "gc/forecast.h"

#include <gtest/gtest.h>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Simulates a read of the live records of a log. Records have one size, and each is live with probability u. Returns
// the bytes read, with the gaps that are read too.
std::uint64_t ReadOf(std::uint64_t records, std::uint64_t size, double u, std::uint64_t* live) {
  Prng prng(SeedFromEnvironment(5));
  std::uint64_t read = 0;
  std::uint64_t gap = 0;
  *live = 0;
  for (std::uint64_t i = 0; i < records; ++i) {
    if (static_cast<double>(prng.Uniform(1'000'000)) >= u * 1e6) {
      gap += size;
      continue;
    }
    if (*live > 0 && gap <= kGcReadGapMax) read += gap;
    gap = 0;
    read += size;
    ++*live;
  }
  return read;
}

TEST(ForecastTest, MatchesASimulationOfScatteredRecords) {
  for (const std::uint64_t size : {100u, 1000u, 4000u, 20'000u}) {
    for (const double u : {0.02, 0.1, 0.3, 0.5, 0.9}) {
      SCOPED_TRACE(::testing::Message() << size << " bytes, alive " << u);
      constexpr std::uint64_t kRecords = 200'000;
      std::uint64_t live = 0;
      const std::uint64_t read = ReadOf(kRecords, size, u, &live);
      SegmentUse use;
      use.bytes = kRecords * size + 5000;
      use.overhead_bytes = 5000;
      use.live_bytes = live * size;
      use.live_records = live;
      GcCost cost;
      cost.Add(use);
      EXPECT_EQ(cost.segments, 1u);
      EXPECT_EQ(cost.bytes_written, live * size);
      EXPECT_EQ(cost.bytes_freed, use.bytes - live * size);
      EXPECT_NEAR(static_cast<double>(cost.bytes_read - 5000), static_cast<double>(read), 0.03 * static_cast<double>(read));
      GcCost twice = cost;
      twice.Add(use);
      EXPECT_EQ(twice.bytes_read, 2 * cost.bytes_read);
    }
  }
}

TEST(ForecastTest, AllDeadOrAllAlive) {
  SegmentUse use;
  use.bytes = 1000;
  use.overhead_bytes = 100;
  GcCost dead;
  dead.Add(use);
  EXPECT_EQ(dead.bytes_read, 100u) << "only its index is read, which says that nothing is alive";
  EXPECT_EQ(dead.bytes_freed, 1000u);
  use.live_bytes = 5000;  // sizes in accounts are rounded up
  use.live_records = 9;
  GcCost all;
  all.Add(use);
  EXPECT_EQ(all.bytes_read, 1000u);
  EXPECT_EQ(all.bytes_written, 900u);
  EXPECT_EQ(all.bytes_freed, 100u);
}

}  // namespace
}  // namespace cambium::testing
