// A compaction filter during a sweep in steps: the layers and the accounts agree with the model after each step, and
// the cursor advances with each step, also if the filter drops entries of pages that are copied to empty their file.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sweep_program.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "tree_family.h"
#include "util/checksum.h"

namespace cambium::testing {
namespace {

// For one step. Removes or changes entries; the answer depends on the seed, the key and the entry.
class HashingFilter final : public ValueFilter {
 public:
  HashingFilter(TreeFamily* family, std::uint64_t seed) : family_(*family), seed_(seed) {}

  Status Begin(std::uint32_t /*level*/, bool /*is_full*/) override { return Status::OK(); }
  Result<FilterVerdict> Ask(Slice key, const Entry& entry) override {
    value_bytes_ += ValueBytesOf(entry);
    const std::uint64_t hash = Checksum64(key, seed_ + (entry.HasAddress() ? entry.address.word() : 1));
    FilterVerdict verdict;
    if (hash % 2 == 0) {
      verdict.kind = FilterVerdict::Kind::kRemove;
      answers_.push_back({key.ToString(), ModelOf(key, entry), std::nullopt});
    } else if (hash % 8 == 1) {
      verdict.kind = FilterVerdict::Kind::kChange;
      ModelEntry now = family_.NewSeparated(key.ToString(), 200);
      if (hash % 16 == 1) now = ModelOf(key, Entry::Inline("changed", entry.version()));
      answers_.push_back({key.ToString(), ModelOf(key, entry), now});
      verdict.changed = now.kind == EntryKind::kInline ? Entry::Inline("changed", entry.version()) : now.entry();
    }
    return verdict;
  }
  FilterVerdict Pass(Slice /*key*/, const Entry& /*entry*/) override { return {}; }
  [[nodiscard]] std::uint64_t value_bytes() const override { return value_bytes_; }

  void StepHasCommitted() {
    for (const Answer& answer : answers_) family_.Filtered(answer.key, answer.of, answer.now);
  }

 private:
  struct Answer {
    std::string key;
    ModelEntry of;
    std::optional<ModelEntry> now;
  };
  static ModelEntry ModelOf(Slice key, const Entry& entry) {
    return {key.ToString(), entry.kind, entry.address, entry.inline_value.ToString()};
  }

  TreeFamily& family_;
  const std::uint64_t seed_;
  std::uint64_t value_bytes_ = 0;
  std::vector<Answer> answers_;
};

Status FilteredStep(TreeFamily& family, std::uint64_t step_bytes, std::uint64_t seed) {
  HashingFilter filter(&family, seed);
  CAMBIUM_RETURN_IF_ERROR(family.Step(step_bytes, nullptr, &filter));
  filter.StepHasCommitted();
  return family.Check();
}

// A filter comes to a tree that had none: first entries are merged without it, then swept with it, in small steps,
// with flushes in between. Small files, of which many are emptied, spread the copied pages over all keys. The keys of
// each run are few, and at the right end, so that the cursor is soon far to the right of most pages.
Status SweepWithANewFilter(const Comparator* comparator, std::uint64_t seed) {
  Prng prng(seed);
  TreeFamilyOptions options;
  options.comparator = comparator;
  options.segment_bytes_max = 4 * options.page_size;
  options.evacuation.small_segments_max = 1;
  TreeFamily family(options);
  const std::uint64_t keys = prng.Between(200, 1500);
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < keys; i += prng.Between(1, 4)) family.Put(NumberKey(i), 100);
    CAMBIUM_RETURN_IF_ERROR(family.FlushIntoTree());
  }
  CAMBIUM_RETURN_IF_ERROR(family.Check());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 60; ++i) family.Put(NumberKey(prng.Uniform(keys)), 100);
    if (prng.OneIn(3)) family.DeleteRange(NumberKey(prng.Uniform(keys)), NumberKey(prng.Uniform(keys)));
    CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
    std::uint64_t steps = 0;
    do {
      CAMBIUM_RETURN_IF_ERROR(FilteredStep(family, prng.Between(1, 6) * 1000, seed + steps));
      if (++steps > 2000) return Status::Incomplete("the sweep does not end");
      if (!prng.OneIn(8)) continue;
      for (int i = 0; i < 10; ++i) family.Put(NumberKey(prng.Uniform(keys)), 100);
      CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
    } while (family.layers().parts().sweep.has_value());
  }
  return Status::OK();
}

Status FirstError(const Comparator* comparator) {
  const std::uint64_t seed = SeedFromEnvironment(1);
  for (std::uint64_t i = 0; i < ScaledCount(40); ++i) {
    const Status s = SweepWithANewFilter(comparator, seed + i);
    if (!s.ok()) return s.WithContext("CAMBIUM_SEED=" + std::to_string(seed + i));
  }
  return Status::OK();
}

// Regression: pages left of the cursor are copied to empty their file. If the filter dropped entries in them, the step
// could end there. Then the keys from there on were merged again: under byte order every step failed from then on,
// under an order of the user's the accounts lost references that were needed.
TEST(SweepFilterTest, CursorAdvancesWhileTheFilterDropsEntriesLeftOfIt) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(), LengthFirstComparator()}) {
    const Status s = FirstError(comparator);
    EXPECT_TRUE(s.ok()) << s.ToString();
    const MutantScope mutant(Mutant::kStepEndsLeftOfItsCursor);
    const Status caught = FirstError(comparator);
    EXPECT_TRUE(caught.IsCorruption()) << caught.ToString();
    EXPECT_NE(caught.message().find("the cursor of a sweep does not advance"), std::string::npos) << caught.ToString();
  }
}

// Random programs of all kinds of keys, in which the filter comes and goes.
class SweepFilterModelTest : public ::testing::TestWithParam<SweepProgramParam> {};

TEST_P(SweepFilterModelTest, LayersAndAccountsAgreeWithTheModel) {
  const std::uint64_t seed = SeedFromEnvironment(0xf117e5);
  Prng prng(seed);
  for (std::uint64_t round = 0; round < ScaledCount(8); ++round) {
    TreeFamilyOptions options;
    options.comparator = GetParam().comparator();
    options.page_size = GetParam().page_size;
    options.segment_bytes_max = prng.OneIn(2) ? 4 * options.page_size : 64 * options.page_size;
    options.evacuation.small_segments_max = prng.Between(1, 4);
    TreeFamily family(options);
    const std::uint64_t space = prng.Between(2, 3000);
    bool has_filter = false;
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + " round " + std::to_string(round) + " step " +
                   std::to_string(step));
      for (std::uint64_t n = prng.Skewed(8); n > 0; --n) RandomWrite(family, prng, RandomSweepKey(prng, space), 25);
      if (prng.OneIn(6)) family.DeleteRange(RandomSweepKey(prng, space), RandomSweepKey(prng, space));
      const bool can_merge = !has_filter && !family.layers().parts().sweep.has_value();
      Status s;
      switch (prng.Uniform(8)) {
        case 0: s = can_merge ? family.FlushIntoTree() : family.FlushRun(); break;
        case 1: s = family.FlushRun(); break;
        case 2: has_filter = !has_filter; break;
        case 3: s = family.Reopen(); break;
        default: {
          const std::uint64_t few = prng.Uniform(20) * options.page_size;
          const std::uint64_t step_bytes = prng.OneIn(4) ? IndexFamily::kWholeStep : few;
          s = has_filter ? FilteredStep(family, step_bytes, prng.Next()) : family.Step(step_bytes);
          break;
        }
      }
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_TRUE((s = family.Check()).ok()) << s.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SweepFilterModelTest, SweepProgramParams(),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace cambium::testing
