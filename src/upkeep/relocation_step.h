// RelocationStep: carries out one step of log GC: copies the values, writes the runs that lead to them, and commits, unless
// flushes or compactions were faster.
#pragma once

#include <cstdint>
#include <memory>
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

namespace cambium {

// For one step. One thread. Everything that it is given outlives it.
class RelocationStep {
 public:
  RelocationStep(DbState* state, RunMaker* runs, Compactor* compactor, GcSegments* segments, CopyBuffers* buffers,
                 const GcPick& pick, RelocationWriter* writer, GcReport* report);

  // Moves the records, which are alive in the layers of the pick, and drops the sources that the report calls emptied.
  Status Execute(std::span<const GcRecord> records);
  // A MANIFEST record names the new segment, or may.
  [[nodiscard]] bool is_named() const { return is_named_; }

 private:
  // Values of one family that are moved.
  struct Moves {
    std::shared_ptr<Family> family;
    std::vector<MovedValue> values;
    std::shared_ptr<const Layers> newest_in;  // the layers in which all of them were found to be the newest
    std::vector<std::shared_ptr<const Run>> runs;
    AccountDelta accounts;
  };

  Status Copy(std::span<const GcRecord> records);
  Status WriteRuns(Moves* moves);
  // False: some values are no longer the newest of their keys, and the runs without these have to be written first.
  Result<bool> TryCommit() CAMBIUM_EXCLUDES(commit_lock);
  // Looks at the values again, in the layers of now, and leaves out those that are no longer the newest. False: there were
  // some, and their family's runs have to be written again.
  Result<bool> AreStillNewest() CAMBIUM_REQUIRES(commit_lock);
  // Adds what the commit says, and the layers of each family after it. It says nothing if nothing is left to be moved or
  // dropped.
  void FillEdit(Edit* edit, std::vector<std::shared_ptr<const Layers>>* next) CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] bool UsesWriter() const;
  // How many more bytes of the family's log are hidden after the commit: those that values were moved from, as long as the
  // segment is there; less what was hidden in segments that are dropped, which is all that accounts still count in them.
  [[nodiscard]] std::int64_t HiddenAfter(const Moves& moves) const CAMBIUM_REQUIRES(commit_lock);
  void NoteCommitted(const std::vector<std::int64_t>& hidden) CAMBIUM_REQUIRES(commit_lock);
  // How fast space is freed while steps follow one another, for the pace of writers.
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
  Relocation copied_;  // values of moves_ that are inline now borrow from it
  bool is_named_ = false;
};

}  // namespace cambium
