#include "repair/sequence_cover.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/prng.h"

namespace cambium {
namespace {

TEST(SequenceCoverTest, CoversIntervalsWithoutAGap) {
  Prng prng(5);
  for (int round = 0; round < 100; ++round) {
    SequenceCover cover;
    std::vector<bool> seen(30);
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t sequence = 1 + prng.Uniform(29);
      cover.Add(sequence);
      seen[sequence] = true;
      for (std::uint64_t first = 1; first < 30; ++first) {
        bool all = true;
        for (std::uint64_t last = first; last < 30; ++last) {
          all = all && seen[last];
          ASSERT_EQ(cover.Covers(first, last), all) << round << ": " << first << " to " << last;
        }
      }
    }
  }
  EXPECT_TRUE(SequenceCover().Covers(5, 4));  // an empty range
}

}  // namespace
}  // namespace cambium
