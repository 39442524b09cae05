// ExpectAllReadPaths: checks that many runs in the simulator together have read values by every read path.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "io/sim/sim_read_counts.h"

namespace cambium::testing {

// `in_part`: also expects chunks that are only partly in memory, which needs values spread over more than 16 KiB.
inline void ExpectAllReadPaths(const SimReadCounts& reads, bool in_part = true) {
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%llu maps, %llu mapped copies, %llu reads found in memory and %llu not, %llu chunks in memory in part, "
              "%llu + %llu queued reads, up to %llu together\n",
              number(reads.maps), number(reads.mapped_copies), number(reads.cached), number(reads.not_cached),
              number(reads.in_part), number(reads.queued[0]), number(reads.queued[1]), number(reads.together_max));
  EXPECT_GT(reads.maps, 0u);
  EXPECT_GT(reads.mapped_copies, 0u);
  EXPECT_GT(reads.cached, 0u);
  EXPECT_GT(reads.not_cached, 0u);
  if (in_part) {
    EXPECT_GT(reads.in_part, 0u);
  }
  EXPECT_GT(reads.queued[0], 0u);
  EXPECT_GT(reads.queued[1], 0u);
  EXPECT_GT(reads.together_max, 1u);
}

}  // namespace cambium::testing
