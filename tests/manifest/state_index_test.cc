#include "manifest/state_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "edit_generator.h"
#include "manifest/apply_edit.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Compares the answers of the index with walks over the state.
void ExpectAnswers(const StateIndex& index, const ManifestState& state) {
  std::set<std::uint64_t> unreferenced;
  std::optional<std::uint64_t> unsealed;
  std::set<Slot> taken(state.shadowed_slots);
  for (const auto& [number, segment] : state.segments) {
    Account total;
    for (const auto& [id, family] : state.families) {
      const auto account = family.accounts.find(segment.slot);
      if (account == family.accounts.end()) continue;
      total.references += account->second.references;
      total.bytes += account->second.bytes;
    }
    ASSERT_EQ(index.TotalOf(segment.slot), total);
    ASSERT_EQ(index.SegmentOf(segment.slot), number);
    ASSERT_TRUE(index.HasFile(number));
    taken.insert(segment.slot);
    if (total.references == 0) unreferenced.insert(number);
    if (segment.kind == SegmentKind::kLog && !segment.sealed && !unsealed.has_value()) unsealed = number;
  }
  std::uint64_t sealed_bytes = 0;
  std::map<std::uint64_t, SegmentKind> all_unsealed;
  for (const auto& [number, segment] : state.segments) {
    sealed_bytes += segment.sealed ? segment.file_size : 0;
    if (!segment.sealed) all_unsealed.emplace(number, segment.kind);
  }
  ASSERT_EQ(index.sealed_bytes(), sealed_bytes);
  ASSERT_EQ(index.unsealed(), all_unsealed);
  ASSERT_EQ(index.unreferenced(), unreferenced);
  ASSERT_EQ(index.FirstUnsealedLog(), unsealed);
  FamilySums all;
  for (const auto& [id, family] : state.families) {
    FamilySums sums;
    for (const auto& [slot, account] : family.accounts) {
      if (!state.shadowed_slots.contains(slot)) sums.Add(account);
    }
    for (const RunInfo& run : family.runs) sums.run_bytes += (run.file_size + 4095) / 4096 * 4096;
    for (const auto& [number, run] : family.level_runs) sums.base_bytes += (run.info.file_size + 4095) / 4096 * 4096;
    for (const auto& [number, segment] : family.index_segments) sums.base_bytes += segment.length;
    ASSERT_EQ(index.SumsOf(id), sums);
    all.Add(sums);
    ASSERT_TRUE(index.HasFamilyNamed(family.name));
    for (const RunInfo& run : family.runs) ASSERT_TRUE(index.HasFile(run.number));
  }
  ASSERT_EQ(index.sums(), all);
  ASSERT_FALSE(index.HasFile(state.next_file_number));
  ASSERT_FALSE(index.HasFamilyNamed("no such family"));
  std::uint32_t free = 0;
  while (taken.contains(Slot{free})) ++free;
  ASSERT_EQ(index.FreeSlot([](Slot) { return false; }), Slot{free});
  const std::uint32_t rejected = free;
  do ++free;
  while (taken.contains(Slot{free}));
  ASSERT_EQ(index.FreeSlot([rejected](Slot slot) { return slot == Slot{rejected}; }), Slot{free});
}

TEST(StateIndexTest, FollowsEveryEdit) {
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(20); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    EditGenerator generator(seed);
    ManifestState state = generator.Start();
    StateIndex index(state);
    for (int step = 0; step < 150; ++step) {
      const Edit edit = generator.Next(state);
      ASSERT_TRUE(ApplyEdit(edit, &state, &index).ok());
      ASSERT_TRUE(index == StateIndex(state)) << step;
      ExpectAnswers(index, state);
      if (HasFatalFailure()) return;
    }
  }
}

// A slot and a name may go from one owner to another within one edit.
TEST(StateIndexTest, OneEditMayReassignASlotAndAName) {
  ManifestState state;
  state.database_id[0] = 1;
  state.epoch = 1;
  state.next_file_number = 2;
  StateIndex index(state);
  const auto segment_of = [](std::uint64_t number) {
    SegmentInfo segment;
    segment.number = number;
    segment.slot = Slot{0};
    segment.kind = SegmentKind::kLargeValue;
    segment.epoch = 1;
    segment.sealed = true;
    segment.sealed_length = segment.file_size = 1000;
    return segment;
  };
  const auto family_of = [](std::uint32_t id) {
    FamilyEdit family;
    family.id = id;
    family.create = {"name", IndexType::kBTree, "cambium.BytewiseComparator", 4096};
    return family;
  };
  Edit made;
  made.next_file_number = 20;
  made.next_family_id = 3;
  made.set_segments = {segment_of(10)};
  FamilyEdit first = family_of(0);
  first.create->name = "default";
  made.families = {first, family_of(1)};
  made.families[1].accounts.Add(Slot{0}, {2, 200});
  ASSERT_TRUE(ApplyEdit(made, &state, &index).ok());
  EXPECT_EQ(index.TotalOf(Slot{0}), (Account{2, 200}));
  Edit passed;
  passed.next_family_id = 4;
  passed.drop_families = {1};
  passed.drop_segments = {10};
  passed.set_segments = {segment_of(11)};
  passed.families = {family_of(3)};
  const Status s = ApplyEdit(passed, &state, &index);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(index == StateIndex(state));
  EXPECT_EQ(index.SegmentOf(Slot{0}), 11u);
  EXPECT_EQ(index.TotalOf(Slot{0}), Account{});
  EXPECT_EQ(index.unreferenced(), std::set<std::uint64_t>{11});
}

// A forged MANIFEST may name the largest slot.
TEST(StateIndexTest, TheLargestSlotTakesLittleMemory) {
  ManifestState state;
  for (const std::uint32_t slot : {0u, kSlotCountMax - 1}) {
    SegmentInfo segment;
    segment.number = slot + 1;
    segment.slot = Slot{slot};
    state.segments.emplace(segment.number, segment);
  }
  const StateIndex index(state);
  EXPECT_EQ(index.FreeSlot([](Slot) { return false; }), Slot{1});
  EXPECT_EQ(index.FreeSlot([](Slot) { return true; }), std::nullopt);
}

SegmentInfo SegmentOfSlot(std::uint32_t slot) {
  SegmentInfo segment;
  segment.number = slot + 1;
  segment.slot = Slot{slot};
  return segment;
}

// Slots are taken and freed in any order. Returns whether the answer is always the smallest free one.
bool FreeSlotIsTheSmallest() {
  Prng prng(SeedFromEnvironment(1));
  std::set<std::uint32_t> taken;
  IndexChange change;
  StateIndex index;
  for (std::uint32_t slot = 0; slot < 10'000; ++slot) {
    change.new_segments.push_back(SegmentOfSlot(slot));
    taken.insert(slot);
  }
  index.Apply(change);
  for (int i = 0; i < 2'000; ++i) {
    const auto slot = static_cast<std::uint32_t>(prng.Uniform(10'100));
    IndexChange one;
    if (taken.erase(slot) == 1) {
      one.dropped_segments = {SegmentOfSlot(slot)};
    } else {
      one.new_segments = {SegmentOfSlot(slot)};
      taken.insert(slot);
    }
    index.Apply(one);
    std::uint32_t free = 0;
    while (taken.contains(free)) ++free;
    if (index.FreeSlot([](Slot) { return false; }) != Slot{free}) return false;
  }
  return true;
}

TEST(StateIndexTest, FreeSlotIsTheSmallestOfMany) {
  EXPECT_TRUE(FreeSlotIsTheSmallest());
  const MutantScope mutant(Mutant::kFullWordsStayFull);
  EXPECT_FALSE(FreeSlotIsTheSmallest());
}

TEST(StateIndexTest, FirstUnsealedLogIsTheOldest) {
  IndexChange change;
  for (const std::uint32_t slot : {5, 7, 9}) change.new_segments.push_back(SegmentOfSlot(slot));
  StateIndex index;
  index.Apply(change);
  EXPECT_EQ(index.FirstUnsealedLog(), 6u);
  IndexChange seal;
  seal.sealed = {6};
  index.Apply(seal);
  EXPECT_EQ(index.FirstUnsealedLog(), 8u);
  const MutantScope mutant(Mutant::kNewestUnsealedIsFirst);
  EXPECT_NE(index.FirstUnsealedLog(), 8u);
}

}  // namespace
}  // namespace cambium::testing
