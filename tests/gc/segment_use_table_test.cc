#include "gc/segment_use_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "testing/scale.h"
#include "testing/scarce_memory.h"
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

using Model = std::map<std::uint64_t, SegmentUse>;

SegmentUseTable::Changes DrawChanges(Prng* prng, std::uint64_t count) {
  SegmentUseTable::Changes changes;
  for (; count > 0; --count) {
    const std::uint64_t number = 1 + prng->Uniform(100);
    changes[number] = prng->OneIn(3) ? std::nullopt : std::optional(DrawUse(number, prng));
  }
  return changes;
}

void ApplyTo(const SegmentUseTable::Changes& changes, Model* model) {
  for (const auto& [number, use] : changes) {
    model->erase(number);
    if (use.has_value()) model->emplace(number, *use);
  }
}

std::vector<SegmentUse> UsesOf(const Model& model) {
  std::vector<SegmentUse> uses;
  for (const auto& [number, use] : model) uses.push_back(use);
  return uses;
}

SegmentUseSums SumsOf(const Model& model, double space_garbage_least) {
  VictimPolicy policy;
  policy.space_garbage_least = space_garbage_least;
  SegmentUseSums sums;
  for (const auto& [number, use] : model) {
    if (use.is_damaged) sums.damaged_garbage += use.garbage();
    if (!use.is_damaged) sums.garbage += use.garbage();
    if (IsWorthSpace(use, policy)) sums.collectable += use.garbage();
    sums.holes += use.hole_bytes;
    sums.live_overhead += use.live_overhead();
    if (use.is_worth_punching) ++sums.worth_punching;
  }
  return sums;
}

// After random changes the table has the members of a map, and their sums.
TEST(SegmentUseTableTest, SumsFollowEveryChange) {
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(30); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    Prng prng(seed);
    SegmentUseTable table;
    Model model;
    double least = VictimPolicy().space_garbage_least;
    for (int round = 0; round < 100; ++round) {
      const SegmentUseTable::Changes changes = DrawChanges(&prng, prng.Skewed(5));
      ApplyTo(changes, &model);
      table.Apply(changes);
      if (prng.OneIn(10)) {
        least = prng.OneIn(2) ? 0.5 : 0.01;
        VictimPolicy policy;
        policy.space_garbage_least = least;
        table.SetPolicy(policy);
      }
      ASSERT_EQ(table.all(), UsesOf(model));
      ASSERT_EQ(table.sums(), SumsOf(model, least));
      ASSERT_EQ(table.sums(), table.Recount());
    }
  }
}

VictimPolicy DrawPolicy(Prng* prng) {
  VictimPolicy policy;
  policy.age_cutoff = prng->OneIn(2) ? 0.25 : prng->OneIn(2) ? 1 : 0;
  policy.force_threshold = prng->OneIn(2) ? 1 : 0.4;
  policy.space_garbage_least = prng->OneIn(2) ? 1.0 / 32 : 0.9;
  policy.target_bytes = std::uint64_t{1} << prng->Between(10, 34);
  policy.small_segments_max = prng->Uniform(20);
  policy.tiny_segments_max = prng->Uniform(10);
  return policy;
}

// The table knows without a walk whether PickGcVictims finds something.
TEST(SegmentUseTableTest, VictimsAreKnownWithoutAWalk) {
  const std::uint64_t first = SeedFromEnvironment(1);
  std::uint64_t with = 0;
  std::uint64_t without = 0;
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(30); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    Prng prng(seed);
    SegmentUseTable table;
    VictimPolicy policy = DrawPolicy(&prng);
    const std::uint64_t generations = 1 + prng.Uniform(3);
    for (int round = 0; round < 100; ++round) {
      SegmentUseTable::Changes changes = DrawChanges(&prng, prng.Skewed(5));
      for (auto& [number, use] : changes) {
        if (use.has_value()) use->generation = static_cast<std::uint32_t>(prng.Uniform(generations));
        if (use.has_value() && !prng.OneIn(3)) use->live_bytes = use->bytes;  // no garbage
      }
      table.Apply(changes);
      if (prng.OneIn(10)) policy = DrawPolicy(&prng);
      table.SetPolicy(policy);
      for (const GcUrgency urgency : {GcUrgency::kForced, GcUrgency::kIdle, GcUrgency::kSpace, GcUrgency::kFull}) {
        const bool may = table.MayHaveVictims(policy, urgency);
        const bool has = !PickGcVictims(table.all(), policy, 1000, urgency).numbers.empty();
        ASSERT_TRUE(may || !has) << "a victim is overlooked, urgency " << static_cast<int>(urgency);
        const bool is_exact = urgency != GcUrgency::kFull && policy.force_threshold == 1;
        ASSERT_TRUE(!is_exact || may == has) << "a walk in vain, urgency " << static_cast<int>(urgency);
        ++(may ? with : without);
      }
    }
  }
  EXPECT_GT(std::min(with, without), (with + without) / 10);
}

// Each allocation of Apply fails once. Then the table is as it was.
TEST(SegmentUseTableTest, ChangesAreMadeAllOrNotAtAll) {
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(30); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    Prng prng(seed);
    SegmentUseTable table;
    Model model;
    const double least = VictimPolicy().space_garbage_least;
    for (int round = 0; round < 20; ++round) {
      SegmentUseTable::Changes changes = DrawChanges(&prng, prng.Uniform(40));
      for (auto& [number, use] : changes) {
        if (use.has_value()) use->generation = static_cast<std::uint32_t>(prng.Uniform(4));
      }
      std::uint64_t refused = 1;
      for (std::uint64_t granted = 0; refused != 0; ++granted) {
        ScarceMemory scarce(granted);
        try {
          table.Apply(changes);
        } catch (const std::bad_alloc&) {
        }
        refused = scarce.End();
        if (refused == 0) ApplyTo(changes, &model);
        ASSERT_EQ(table.all(), UsesOf(model));
        ASSERT_EQ(table.sums(), SumsOf(model, least));
        for (const GcUrgency urgency : {GcUrgency::kForced, GcUrgency::kIdle, GcUrgency::kSpace}) {
          const bool has = !PickGcVictims(table.all(), VictimPolicy(), 1000, urgency).numbers.empty();
          ASSERT_EQ(table.MayHaveVictims(VictimPolicy(), urgency), has);
        }
      }
    }
  }
}

// A table from which members only leave needs no more memory than it had.
TEST(SegmentUseTableTest, ATableThatShrinksIsNotMoved) {
  Prng prng(1);
  SegmentUseTable table;
  std::vector<SegmentUse> uses;
  for (std::uint64_t number = 1; number <= 100; ++number) uses.push_back(DrawUse(number, &prng));
  table.Reset(std::move(uses));
  const SegmentUse* const place = table.all().data();
  for (std::uint64_t number = 100; number >= 1; --number) {
    table.Apply({{number, std::nullopt}});
    ASSERT_EQ(table.all().data(), place);
  }
}

}  // namespace
}  // namespace cambium::testing
