// SnapshotRuns: bounds the memory that snapshots pin. A flushed memtable stays in memory while a snapshot may see older
// versions in it. Above a budget, the versions that snapshots see are written to private runs: in a file that no
// MANIFEST names, which is removed with the last of these snapshots, or as an orphan after a crash.
//
// All snapshots that hold a memtable share one file. It has a run for each of them that sees something of its own:
//
//   snapshots of a memtable, by age     1  2  3  ...  16  17  18  ...  32  33
//   run n has what n sees and not...    0  1  2  ...   0  16  17  ...  16  32      0: the layers below
//   17 reads the runs 17 and 16; 33 reads 33, 32 and 16
//
// So a version is written once, and again for each power of 16 snapshots; a snapshot reads at most 15 runs for each.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "state/db_state.h"
#include "upkeep/run_maker.h"

namespace cambium {

class SnapshotRuns {
 public:
  SnapshotRuns(DbState* state, RunMaker* runs)
      : db_(state->context), commits_(state->commits), snapshots_(state->snapshots), runs_(*runs) {}

  // Writes private runs if the memtables that only snapshots hold take more memory than the write buffers of one family
  // may, or than half of the WriteBudget. Called at the end of each flush, in its thread.
  Status BoundPinnedMemory();
  // The bytes of the family's memtables, in the current view and in snapshots.
  [[nodiscard]] std::size_t AllTableBytes(std::uint32_t family) const;

 private:
  // A flushed memtable, and the snapshots that hold it, by age.
  struct Pinned {
    std::shared_ptr<const LogTable> table;
    std::vector<SnapshotImpl*> holders;
  };
  // By family and age.
  using PinnedTables = std::map<std::pair<std::uint32_t, SequenceNumber>, Pinned>;
  using Runs = std::vector<std::shared_ptr<const Run>>;  // oldest first

  // Writes the runs of one memtable, and gives its holders views with them instead of it.
  Status MoveToRuns(const Family& family, const Pinned& pinned);
  // Returns for each holder the runs that it reads instead of the memtable.
  Result<std::vector<Runs>> WriteRuns(const Family& family, const Pinned& pinned, TableFiles* files);
  // Adds the runs that hold the changes from `after` to `snapshot`: a reader at `after` who also reads these runs sees
  // the contents at `snapshot`.
  Status WriteRun(const Family& family, const LogTable& table, SequenceNumber after, SequenceNumber snapshot,
                  std::unique_ptr<PrivateRunsBuilder>* file, TableFiles* files, Runs* runs);

  const DbContext& db_;
  CommitPoint& commits_;
  SnapshotList& snapshots_;
  RunMaker& runs_;
};

}  // namespace cambium
