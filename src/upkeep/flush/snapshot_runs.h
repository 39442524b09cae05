// SnapshotRuns: bounds the memory that snapshots pin. A flushed memtable stays in memory while a snapshot may see older
// versions in it. Above a budget, the versions that snapshots see are written to private runs: in a file that no
// MANIFEST names, which is removed with the last of these snapshots, or as an orphan after a crash.
//
// All snapshots that hold a memtable share one file. It has a run for each of them that sees something of its own:
//
//   snapshots of a memtable, by age     1  2  3  ...  16  17  18  ...  32  33
//   run n has what n sees, but not    0  1  2  ...   0  16  17  ...  16  32      0: the layers below
//   17 reads the runs 17 and 16; 33 reads 33, 32 and 16
//
// So with fewer than 16^k snapshots, a version is written at most k times, and a snapshot reads at most 15 k runs.
//
// A memtable whose snapshots lie close together stays in memory: a run takes at least a page, and the view of its
// snapshot some memory, which would be more than the memtable takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "state/db_state.h"
#include "upkeep/run_maker.h"

namespace cambium {

// A memtable with less memory than this for each of its snapshots stays in memory.
#ifdef CAMBIUM_TEST_HOOKS
inline std::atomic<std::size_t> bytes_per_snapshot_least{4096};
#else
inline constexpr std::size_t bytes_per_snapshot_least = 4096;
#endif

class SnapshotRuns {
 public:
  SnapshotRuns(DbState* state, RunMaker* runs)
      : db_(state->context), commits_(state->commits), snapshots_(state->snapshots), runs_(*runs) {}

  // Writes private runs if the memtables that only snapshots hold take more memory than the write buffers of one family
  // may, or than half of the WriteBudget. Called at the end of each flush, in its thread. As long as readers hold less
  // than that, it takes the same time with any number of snapshots.
  Status BoundPinnedMemory();
  // The bytes of the family's memtables, in the current view and in snapshots.
  [[nodiscard]] std::size_t AllTableBytes(std::uint32_t family) const;

 private:
  // A flushed memtable, and the snapshots that hold it, by age.
  struct Pinned {
    std::shared_ptr<const LogTable> table;
    std::vector<SnapshotImpl*> holders;
    bool stays = false;  // in memory
  };
  // By family and age.
  using PinnedTables = std::map<std::pair<std::uint32_t, SequenceNumber>, Pinned>;
  using Runs = std::vector<std::shared_ptr<const Run>>;  // oldest first

  // The most bytes of memtables that only snapshots may hold.
  [[nodiscard]] std::size_t Budget() const;
  // Whether snapshots may have exceeded the budget since the last look: readers hold more, or there are fewer snapshots.
  [[nodiscard]] bool IsLookDue(std::size_t budget);
  // Decides which memtables stay in memory, and for which of their holders the others move. Returns the bytes that can
  // be freed.
  [[nodiscard]] std::size_t DecideWhatStays(PinnedTables* pinned) const;
  // Whether the runs of the memtable would take less memory than the memtable.
  [[nodiscard]] bool IsWorthMoving(const Pinned& pinned) const;
  [[nodiscard]] bool HasLimit() const;
  // Writes the runs of one memtable, and gives its holders views with them instead of it.
  Status MoveToRuns(const Family& family, const Pinned& pinned);
  // Returns for each holder the runs that it reads instead of the memtable.
  Result<std::vector<Runs>> WriteRuns(const Family& family, const Pinned& pinned, TableFiles* files);
  // Adds the runs that hold the entries of the cursor and the ranges: what a snapshot sees and its base does not.
  Status WriteRun(const Family& family, EntryCursor* cursor, std::shared_ptr<const RangeDeletes> ranges,
                  std::unique_ptr<PrivateRunsBuilder>* file, TableFiles* files, Runs* runs);

  const DbContext& db_;
  CommitPoint& commits_;
  SnapshotList& snapshots_;
  RunMaker& runs_;
  // The least bytes that readers held since the last look, less those that snapshots may still move to runs.
  std::atomic<std::size_t> left_{0};
  std::atomic<std::size_t> listed_{0};  // how many snapshots there were at the last look
};

}  // namespace cambium
