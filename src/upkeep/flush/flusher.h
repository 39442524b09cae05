// Flusher: flushes frozen memtables.
//
//   sync the log up to the end of the memtable ─▶ write a run, or pages of the tree (table_flush.h) ─▶ sync them
//        ─▶ commit: the new layers, the references of their entries, the replay position
//        ─▶ install a view without the memtable
//
// The oldest memtable is flushed first: flushes of a family commit in order. Small memtables of several families are
// flushed together, with one commit: with many families, the syncs of each commit would take most of the time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "state/db_state.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/flush/snapshot_runs.h"
#include "upkeep/flush/table_flush.h"
#include "upkeep/run_maker.h"

namespace cambium {

class Flusher {
 public:
  Flusher(DbState* state, Pace* pace, RunMaker* runs, SnapshotRuns* snapshots, Compactor* compactor);

  // Flushes the oldest frozen memtable of the family; if it is small, then also those of other families whose flush is
  // scheduled. The job kFlush.
  Status FlushOldest(const std::shared_ptr<Family>& family);
  // Flushes the frozen memtables of the family during Open, when no job runs. Calls no listener: Open does.
  Status FlushDuringOpen(const std::shared_ptr<Family>& family);
  // Returns which jobs are due after a flush of the family.
  [[nodiscard]] JobWork::Next NextOf(const Family& family, const Status& flushed) const;
  // Freezes the active memtable of the family and schedules its flush. `wait`: returns after everything published
  // before the call is flushed.
  Status FlushNow(Family* family, bool wait) CAMBIUM_EXCLUDES_ROLES;
  // Waits until operations up to `sequence` are in the durable layers; if `sequence` is 0, until one flush has ended.
  // Fails if the flush fails, so that no caller waits for a flush that finds no space.
  Status WaitFor(Family* family, SequenceNumber sequence) CAMBIUM_EXCLUDES_ROLES;

 private:
  using Flushes = std::vector<std::unique_ptr<TableFlush>>;
  class TakenFlushes;

  [[nodiscard]] std::optional<FrozenTable> OldestOf(const Family& family) const;
  // Writes and commits; the result of each flush is its status. True if the MANIFEST has refused the edit of several.
  bool Run(const Flushes& flushes);
  void RetryAlone(const Flushes& flushes, bool is_edit_refused);
  // Syncs what the flushes have written. False: a sync has failed for good, and all flushes are stopped.
  bool SyncTogether(const Flushes& flushes);
  void Stop(const Flushes& flushes, const Status& fatal);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  SnapshotRuns& snapshot_runs_;
  Compactor& compactor_;
  const FlushTools tools_;
};

}  // namespace cambium
