#include "state/space_control.h"

#include <gtest/gtest.h>

#include "testing/mutant_scope.h"
#include "testing/units.h"

namespace cambium {
namespace {

using testing::kMiB;

TEST(SpaceControlTest, BytesInFlightMoveThePosition) {
  SpaceControl space;
  space.written.store(100 * kMiB);
  EXPECT_EQ(space.Position(), 100 * kMiB);
  {
    InFlight flush(&space.in_flight);
    flush.Add(3 * kMiB);
    EXPECT_EQ(space.Position(), 103 * kMiB);
  }
  EXPECT_EQ(space.Position(), 100 * kMiB);
}

// Rule C14: the bytes of a step of log GC, and of the segments that it has dropped, have room of their own.
TEST(SpaceControlTest, BytesWithinGcStepDoNotCount) {
  SpaceControl space;
  space.written.store(100 * kMiB);
  space.step_room.store(8 * kMiB);
  InFlight step(&space.gc_in_flight);
  step.Add(8 * kMiB);
  EXPECT_EQ(space.Position(), 100 * kMiB);
  {
    const testing::MutantScope mutant(Mutant::kGcStepStopsWriters);
    EXPECT_EQ(space.Position(), 108 * kMiB);
  }
  step.Add(kMiB);
  EXPECT_EQ(space.Position(), 101 * kMiB);
  space.gc_leaving.store(5 * kMiB);
  EXPECT_EQ(space.Position(), 106 * kMiB);
}

}  // namespace
}  // namespace cambium
