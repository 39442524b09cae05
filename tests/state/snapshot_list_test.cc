// Tests the list of snapshots by itself: its order, and which snapshots share a state.
#include "state/snapshot_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace cambium::testing {
namespace {

std::vector<SequenceNumber> SequencesOf(const SnapshotList& list) {
  std::vector<SequenceNumber> sequences;
  for (const auto& state : list.All()) sequences.push_back(state->GetSequenceNumber());
  return sequences;
}

// Threads that take snapshots at the same time may add them in another order than that of their numbers.
TEST(SnapshotListTest, SnapshotsAreInTheOrderOfTheirNumbers) {
  const auto view = std::make_shared<const View>();
  SnapshotList list;
  EXPECT_EQ(list.oldest(), 0u);
  std::vector<const Snapshot*> held;
  for (const SequenceNumber sequence : {3, 7, 5, 9, 4, 2}) held.push_back(list.Add(sequence, view));
  EXPECT_EQ(SequencesOf(list), (std::vector<SequenceNumber>{2, 3, 4, 5, 7, 9}));
  EXPECT_EQ(list.oldest(), 2u);
  list.Release(held.back());
  EXPECT_EQ(list.oldest(), 3u);
  EXPECT_EQ(list.size(), 5u);
}

TEST(SnapshotListTest, SnapshotsOfOneMomentShareTheirState) {
  const auto view = std::make_shared<const View>();
  const auto later = std::make_shared<const View>();
  SnapshotList list;
  const Snapshot* const first = list.Add(1, view);
  const Snapshot* const same = list.Add(1, view);
  const Snapshot* const other_view = list.Add(1, later);
  const Snapshot* const other_number = list.Add(2, later);
  EXPECT_EQ(list.Find(first), list.Find(same));
  EXPECT_NE(list.Find(first), list.Find(other_view));
  EXPECT_NE(list.Find(other_view), list.Find(other_number));
  EXPECT_EQ(list.All().size(), 3u);
  EXPECT_EQ(list.size(), 4u);
  list.Release(first);
  EXPECT_EQ(list.Find(first), nullptr);
  ASSERT_NE(list.Find(same), nullptr);
  EXPECT_EQ(same->GetSequenceNumber(), 1u);
  EXPECT_EQ(list.All().size(), 3u);
}

}  // namespace
}  // namespace cambium::testing
