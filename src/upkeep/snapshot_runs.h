// SnapshotRuns: snapshots that outlive their memtables. A table that was flushed lives on while a snapshot can see older
// versions in it. Above a budget, what such a snapshot sees of the table is written to a private run: a file that no
// MANIFEST names, which is removed with the snapshot, or as an orphan after a crash.
#pragma once

#include "state/db_state.h"
#include "upkeep/run_maker.h"

namespace cambium {

class SnapshotRuns {
 public:
  SnapshotRuns(DbState* state, RunMaker* runs)
      : commits_(state->commits), snapshots_(state->snapshots), runs_(*runs) {}

  // Writes private runs if the memtables that only snapshots hold take more than the write buffers of a family may. Called
  // at the end of each flush, in its thread.
  Status BoundPinnedMemory();
  // The bytes of the family's memtables, in the current view and in snapshots.
  [[nodiscard]] std::size_t AllTableBytes(std::uint32_t family) const;

 private:
  Status MovePinnedToRuns(SnapshotImpl* snapshot, const View& current);

  CommitPoint& commits_;
  SnapshotList& snapshots_;
  RunMaker& runs_;
};

}  // namespace cambium
