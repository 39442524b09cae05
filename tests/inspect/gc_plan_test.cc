#include "inspect/gc_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "inspect/inspected_store.h"

namespace cambium::testing {
namespace {

// A closed database with a third of its log live, and a tail.
void Fill(InspectedStore* store) {
  store->options.enable_blob_garbage_collection = false;
  store->options.blob_garbage_collection_age_cutoff = 1;
  store->MustOpen();
  for (int i = 0; i < 120; ++i) store->Put(NumberedKey(i), std::string(1000, 'v'));
  store->Flush();
  for (int i = 0; i < 120; ++i) {
    if (i % 3 != 0) store->Put(NumberedKey(i), std::string(1000, 'w'));
  }
  store->Compact();
  store->RunUntilIdle();
  store->Put("tail", std::string(1000, 't'));
  store->MustClose();
}

Result<GcPlan> Plan(InspectedStore* store, InspectedDatabase* database, const GcRound& round) {
  return PlanGc(database, store->options, {{kDefaultColumnFamilyName, store->options}}, round);
}

std::size_t CountOf(const GcPlan& plan, GcVerdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(plan.segments, verdict, &GcPlanSegment::verdict));
}

TEST(GcPlanTest, RoundMovesThePlannedBytes) {
  InspectedStore store;
  Fill(&store);
  const GcRound round{.all = true, .cutoff = 1};
  std::uint64_t written = 0;
  {
    const std::unique_ptr<InspectedDatabase> database = store.Inspect();
    ASSERT_NE(database, nullptr);
    const Result<GcPlan> plan = Plan(&store, database.get(), round);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    // Open removes the segments that recovery rejects: those without a record, for example.
    EXPECT_EQ(plan->segments.size(), database->state().segments.size() - database->replayed().rejected.size());
    EXPECT_GT(CountOf(*plan, GcVerdict::kMoved), 0u);
    EXPECT_GT(CountOf(*plan, GcVerdict::kInReplay) + CountOf(*plan, GcVerdict::kNotSealed), 0u);
    EXPECT_EQ(plan->eligible_count, plan->member_count);
    EXPECT_FALSE(plan->is_enabled);
    written = plan->moved.bytes_written;
    EXPECT_GT(written, 0u);
  }
  store.MustOpen();
  ASSERT_TRUE(RunGcRound(store.db.get(), round).ok());
  EXPECT_EQ(store.Property("gc-bytes-written"), written);
}

TEST(GcPlanTest, CutoffOfZeroLeavesEverySegmentTooYoung) {
  InspectedStore store;
  Fill(&store);
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  const Result<GcPlan> plan = Plan(&store, database.get(), {.all = true, .cutoff = 0});
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->eligible_count, 0u);
  EXPECT_EQ(CountOf(*plan, GcVerdict::kMoved), 0u);
  EXPECT_EQ(CountOf(*plan, GcVerdict::kTooYoung), plan->member_count);
  EXPECT_EQ(plan->moved.bytes_written, 0u);
}

TEST(GcPlanTest, DamagedFooterIsAProblemAndItsSegmentIsLeftAlone) {
  InspectedStore store;
  Fill(&store);
  std::uint64_t victim = 0;
  {
    const std::unique_ptr<InspectedDatabase> database = store.Inspect();
    ASSERT_NE(database, nullptr);
    for (const auto& [number, info] : database->state().segments) {
      if (victim != 0 || !info.has_footer) continue;
      victim = number;
      const std::string path = FilePath(kStorePath, FileKindOf(info.kind), number);
      ASSERT_TRUE(store.fs->tampering().FlipBit(path, info.file_size - 40, 0).ok());
    }
  }
  ASSERT_NE(victim, 0u);
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  const Result<GcPlan> plan = Plan(&store, database.get(), {.all = true, .cutoff = 1});
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  const auto found = std::ranges::find(plan->segments, victim, [](const GcPlanSegment& s) { return s.info.number; });
  ASSERT_NE(found, plan->segments.end());
  EXPECT_EQ(found->verdict, GcVerdict::kDamaged);
  EXPECT_FALSE(database->problems().empty());
}

TEST(GcPlanTest, EveryVerdictHasAName) {
  for (int i = 0; i <= static_cast<int>(GcVerdict::kInReplay); ++i) {
    EXPECT_STRNE(NameOf(static_cast<GcVerdict>(i)), "unknown") << i;
  }
}

}  // namespace
}  // namespace cambium::testing
