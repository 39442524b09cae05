// Flusher: writes a frozen memtable to a run, or merges it straight into the tree.
//
//   sync the log up to the end of the memtable ─▶ write and sync the run
//        ─▶ commit: the run on top of the current layers, the references of its entries, the replay position
//        ─▶ install a view without the memtable
//
// The oldest memtable is flushed first: flushes of a family commit in order.
#pragma once

#include <memory>

#include "cambium/listener.h"
#include "state/db_state.h"
#include "upkeep/compactor.h"
#include "upkeep/run_maker.h"
#include "upkeep/snapshot_runs.h"

namespace cambium {

class Flusher {
 public:
  Flusher(DbState* state, Pace* pace, RunMaker* runs, SnapshotRuns* snapshots, Compactor* compactor);

  // Flushes the oldest frozen memtable of the family. The job kFlush.
  Status FlushOldest(const std::shared_ptr<Family>& family);
  // Freezes the active memtable of the family and schedules its flush. `wait`: returns after everything published
  // before the call is flushed. The caller holds no lock.
  Status FlushNow(Family* family, bool wait);
  // Waits until operations up to `sequence` are in the durable layers; if `sequence` is 0, until one flush has ended.
  // Fails if the flush fails, so that no caller waits for a flush that finds no space. The caller holds no lock.
  Status WaitFor(Family* family, SequenceNumber sequence);

 private:
  Status FlushTable(const std::shared_ptr<Family>& family, const FrozenTable& table, FlushJobInfo* info);
  using SharedRanges = std::shared_ptr<const RangeDeletes>;  // null: the memtable has none
  Status WriteRun(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                  FlushJobInfo* info);
  Status CommitRuns(Family* family, const FrozenTable& table, const std::vector<std::shared_ptr<const Run>>& made,
                    AccountDelta accounts);
  // Tries to merge the memtable into the tree. Aborted if the memtable has to become a run.
  Status TryFlushIntoTree(Family* family, const FrozenTable& table, const MemtableShape& shape, EntryCursor* cursor,
                          const SharedRanges& ranges, FlushJobInfo* info);
  // The caller has claimed the family's compaction.
  Status FlushIntoTree(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                       FlushJobInfo* info);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  SpaceControl& space_;
  const FullDisk& disk_;
  Pace& pace_;
  RunMaker& runs_;
  SnapshotRuns& snapshot_runs_;
  Compactor& compactor_;
};

}  // namespace cambium
