// SnapshotRuns: bounds the memory that snapshots pin. A flushed memtable stays in memory while a snapshot may see older
// versions in it. Above a budget, the versions that the snapshot sees are written to a private run: a file that no
// MANIFEST names, which is removed with the snapshot, or as an orphan after a crash.
#pragma once

#include "state/db_state.h"
#include "upkeep/run_maker.h"

namespace cambium {

class SnapshotRuns {
 public:
  SnapshotRuns(DbState* state, RunMaker* runs)
      : commits_(state->commits), snapshots_(state->snapshots), runs_(*runs) {}

  // Writes private runs if the memtables that only snapshots hold take more memory than the write buffers of one family
  // may. Called at the end of each flush, in its thread.
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
