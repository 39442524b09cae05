// The table of segments: what is at each slot, and that a change of one slot costs little if there are many.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "io/sim/sim_file_system.h"
#include "testing/mutant_scope.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"
#include "util/prng.h"
#include "vlog/segment.h"

namespace cambium::testing {
namespace {

class SegmentTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<Segment> SegmentAt(Slot slot) {
    std::unique_ptr<File> file;
    EXPECT_TRUE(fs_.Open("/segment" + std::to_string(++count_), OpenMode::kCreateNew, {}, &file).ok());
    return std::make_shared<Segment>(count_, slot, "", std::move(file), FileHeader(), nullptr);
  }
  // Bytes that a new segment allocates in a table with `count` others.
  static std::uint64_t BytesToAdd(const std::shared_ptr<Segment>& segment, std::uint32_t count) {
    SegmentTable table;
    for (std::uint32_t slot = 0; slot < count; slot += 4096) table = table.With(Slot{slot}, nullptr);
    const AllocatedBytes allocated;
    const SegmentTable next = table.With(segment->slot(), segment);
    return allocated.get();
  }

 private:
  SimFileSystem fs_;
  std::uint64_t count_ = 0;
};

TEST_F(SegmentTableTest, CopiesKeepTheirSegments) {
  Prng prng(SeedFromEnvironment(1));
  SegmentTable table;
  std::map<std::uint32_t, std::shared_ptr<Segment>> model;
  std::vector<std::pair<SegmentTable, std::map<std::uint32_t, std::shared_ptr<Segment>>>> copies;
  for (int i = 0; i < 600; ++i) {
    const auto slot = static_cast<std::uint32_t>(prng.OneIn(3) ? prng.Uniform(kSlotCountMax) : prng.Uniform(200));
    if (model.erase(slot) == 1) {
      table = table.Without(Slot{slot});
    } else {
      model[slot] = SegmentAt(Slot{slot});
      table = table.With(Slot{slot}, model[slot]);
    }
    if (i % 100 == 0) copies.emplace_back(table, model);
  }
  copies.emplace_back(table, model);
  for (const auto& [copy, its] : copies) {
    std::map<std::uint32_t, std::shared_ptr<Segment>> found;
    copy.ForEach([&](const std::shared_ptr<Segment>& segment) {
      found[static_cast<std::uint32_t>(segment->slot())] = segment;
    });
    ASSERT_EQ(found, its);
    for (const auto& [slot, segment] : its) ASSERT_EQ(copy.Find(Slot{slot}), segment);
    std::uint32_t empty = 0;
    while (its.contains(empty)) ++empty;
    ASSERT_EQ(copy.Find(Slot{empty}), nullptr);
  }
}

TEST_F(SegmentTableTest, AddingToLargeTableAllocatesLittle) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  const std::shared_ptr<Segment> segment = SegmentAt(Slot{100});
  const std::uint64_t few = BytesToAdd(segment, 40);
  EXPECT_LE(BytesToAdd(segment, 40'960), few + 1024);
  const MutantScope mutant(Mutant::kViewCopiesSegmentTable);
  EXPECT_GT(BytesToAdd(segment, 40'960), few + 1024);
}

}  // namespace
}  // namespace cambium::testing
