// RelocationStep: executes one step of log GC: copies the values, writes runs with their new addresses, and commits. If
// flushes or compactions changed some of the keys meanwhile, it writes the runs again without these.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gc/copy_buffers.h"
#include "gc/relocation.h"
#include "gc/relocation_writer.h"
#include "index/run.h"
#include "manifest/accounts.h"
#include "state/db_state.h"
#include "upkeep/compactor.h"
#include "upkeep/relocator.h"
#include "upkeep/run_maker.h"
#include "upkeep/segment_cut.h"
#include "upkeep/unsynced_files.h"

namespace cambium {

// For one step. One thread. All constructor arguments outlive it.
class RelocationStep {
 public:
  RelocationStep(DbState* state, RunMaker* runs, Compactor* compactor, GcSegments* segments, CopyBuffers* buffers,
                 const GcPick& pick, RelocationWriter* writer, GcReport* report);

  // Relocates the records, which are live in the layers of the pick, and drops the sources that the report marks as
  // emptied.
  Status Execute(std::span<const GcRecord> records);
  // True if a MANIFEST record names the new segment, or may name it.
  [[nodiscard]] bool is_named() const { return is_named_; }

 private:
  // The relocated values of one family.
  struct Moves {
    std::shared_ptr<Family> family;
    std::vector<MovedValue> values;
    std::shared_ptr<const Layers> newest_in;  // the layers in which all values were last found to be the newest
    // The part by which was_filtered of the values was set; null: was_filtered is false for all.
    std::shared_ptr<const FilteredPart> filtered;
    std::vector<std::shared_ptr<const Run>> runs;
    std::size_t unfiltered_runs = 0;  // this many at the beginning have the values with was_filtered = false
    AccountDelta accounts;
  };

  Status Copy(std::span<const GcRecord> records);
  // During a FilterCall, finds out which values the filter was asked about.
  Status LookAtFilterCalls() CAMBIUM_EXCLUDES(commit_lock);
  Status WriteRuns(Moves* moves, UnsyncedFiles* unsynced);
  // False: some values are no longer the newest of their keys, and the runs must be written again without these.
  Result<bool> TryCommit() CAMBIUM_EXCLUDES(commit_lock);
  // Looks the values up again in the current layers, and removes those that are no longer the newest of their keys.
  // False: there were some, or the filter was asked about some meanwhile, and the runs of their families must be
  // written again.
  Result<bool> AreStillNewest() CAMBIUM_REQUIRES(commit_lock);
  // Fills in the edit, and the layers of each family after the commit. The edit is empty if nothing is left to relocate
  // or drop.
  void FillEdit(Edit* edit, std::vector<std::shared_ptr<const Layers>>* next) CAMBIUM_REQUIRES(commit_lock);
  // Adds the cut of the first source to the edit, if the step makes one. False: it cannot be made any more.
  Result<bool> AddCut(Edit* edit) CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] bool UsesWriter() const;
  // The change of the family's hidden bytes by the commit: plus the old copies of relocated values, minus all bytes
  // that accounts count in the dropped segments. The values in these segments were hidden, or were just relocated.
  [[nodiscard]] std::int64_t HiddenAfter(const Moves& moves) const CAMBIUM_REQUIRES(commit_lock);
  void NoteCommitted(const std::vector<std::int64_t>& hidden) CAMBIUM_REQUIRES(commit_lock);
  // Notes that the filter was asked about the values in the new runs, if it was.
  static void NoteFiltered(const Moves& moves) CAMBIUM_REQUIRES(commit_lock);
  // Updates the rate at which consecutive steps free space, by which writers are paced.
  void NoteFreed(std::uint64_t moved_bytes) CAMBIUM_REQUIRES(commit_lock);
  void DropSources();
  void Count() const;

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  SpaceControl& space_;
  ReadQueues& read_queues_;
  RunMaker& runs_;
  Compactor& compactor_;
  GcSegments& segments_;
  CopyBuffers& buffers_;
  const GcPick& pick_;
  RelocationWriter& writer_;
  GcReport& report_;
  std::vector<Moves> moves_;
  Relocation copied_;  // values of moves_ that have become inline refer to it
  bool is_named_ = false;
  std::optional<SegmentCut> cut_;  // of the first source
};

}  // namespace cambium
