#include "gc/segment_use_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

SegmentUse DrawUse(std::uint64_t number, Prng* prng) {
  SegmentUse use;
  use.number = number;
  use.bytes = prng->Skewed(30);
  use.live_bytes = prng->Uniform(use.bytes + 1);
  use.hole_bytes = prng->OneIn(3) ? prng->Skewed(20) : 0;
  use.is_damaged = prng->OneIn(8);
  use.is_worth_punching = prng->OneIn(4);
  return use;
}

// After random changes the table has the members of a map, and its sums are those of a walk.
TEST(SegmentUseTableTest, SumsFollowEveryChange) {
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(30); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    Prng prng(seed);
    SegmentUseTable table;
    std::map<std::uint64_t, SegmentUse> model;
    for (int round = 0; round < 100; ++round) {
      SegmentUseTable::Changes changes;
      for (std::uint64_t left = prng.Skewed(5); left > 0; --left) {
        const std::uint64_t number = 1 + prng.Uniform(100);
        changes[number] = prng.OneIn(3) ? std::nullopt : std::optional(DrawUse(number, &prng));
        model.erase(number);
        if (changes[number].has_value()) model[number] = *changes[number];
      }
      table.Apply(changes);
      if (prng.OneIn(10)) table.SetSpaceGarbageLeast(prng.OneIn(2) ? 0.5 : 0.01);
      std::vector<SegmentUse> expected;
      for (const auto& [number, use] : model) expected.push_back(use);
      ASSERT_EQ(table.all(), expected);
      ASSERT_EQ(table.sums(), table.Recount());
    }
    std::uint64_t garbage = 0;
    std::uint64_t damaged_garbage = 0;
    for (const auto& [number, use] : model) (use.is_damaged ? damaged_garbage : garbage) += use.garbage();
    EXPECT_EQ(table.sums().garbage, garbage);
    EXPECT_EQ(table.sums().damaged_garbage, damaged_garbage);
  }
}

}  // namespace
}  // namespace cambium::testing
