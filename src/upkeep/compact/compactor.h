// Compactor: runs compactions of both indexes step by step. Compactions that are due run in the background. A
// CompactRange runs its compactions in its caller's thread, in turn with those that are due.
//
//   claim the family's compaction ─▶ Index::Compact writes files ─▶ sync ─▶ Stage against the layers of that moment,
//   commit ─▶ a view with the new layers ─▶ old files are obsolete
//
// A family has one compaction at a time (Jobs::ClaimCompaction). Steps of several families with small indexes are
// synced together and committed by one edit: with many families, the syncs of each commit would take most of the time.
//
// The code is in compactor.cc; compaction_step.cc has one step of one family, small_compactions.cc steps of several
// families, and compactor_filter.cc the calls of compaction filters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "index/index.h"
#include "state/db_state.h"
#include "upkeep/pace.h"
#include "upkeep/run_maker.h"

namespace cambium {

class FilterJob;

class Compactor {
 public:
  Compactor(DbState* state, Pace* pace, RunMaker* runs);

  // Runs a step of a compaction that is due. If the family's index is small, also steps of other families whose
  // compactions are scheduled. The job kCompact.
  Status CompactDue(const std::shared_ptr<Family>& family);
  [[nodiscard]] bool IsDue(const Family& family) const CAMBIUM_EXCLUDES(commit_lock);
  // Compacts the flushed entries with keys in [begin, end] into the lowest layer, in the caller's thread. A null bound
  // is no bound. `rewrites`: every page of the index is rewritten. With a compaction filter or `rewrites`, the caller
  // has begun a FilterCall.
  Status CompactKeys(const std::shared_ptr<Family>& family, const Slice* begin, const Slice* end, bool rewrites);
  // Waits for a step of a compaction that is under way. If none is, or if it fails, waits for a step in the background.
  // Returns false if no step was due, or if the step has failed: waiting longer may not help.
  Result<bool> WaitForStep(Family* family) CAMBIUM_EXCLUDES_ROLES;

  // ---- For flushes into the tree ----

  // The number of bytes that a step may write before it commits.
  [[nodiscard]] std::uint64_t StepBytes(const Family& family) const;
  // Sets the limits of a step on a full disk.
  void LimitOnFullDisk(const Family& family, CompactionInput* input) const;
  // Sets the limits of a step of a tree under a ceiling.
  void LimitDeadPages(const Family& family, CompactionInput* input) const;
  // On a full disk: whether compactions have room to merge the run of a step of log GC, in any family.
  [[nodiscard]] bool CanMergeRuns() const CAMBIUM_EXCLUDES(commit_lock);
  [[nodiscard]] std::vector<std::string> PathsOf(const std::vector<NumberedFile>& files) const;

 private:
  // On a full disk: whether a step that only empties files of a tree is due.
  [[nodiscard]] bool IsWorthEmptying(const Family& family, const Layers& layers) const;
  // On a full disk: whether there is room to rewrite the whole index and for `spare` bytes more. If most bytes of the
  // family are in the index: true, but an LSM with `spare` > 0 needs the room of a step and `spare` bytes.
  [[nodiscard]] bool HasRoomToRewrite(const Family& family, const Layers& layers, std::uint64_t spare) const
      CAMBIUM_EXCLUDES(commit_lock);
  // Whether a step of a compaction may begin.
  [[nodiscard]] bool MayRun(const Family& family, const Layers& layers) const CAMBIUM_EXCLUDES(commit_lock);

  [[nodiscard]] bool IsRoomTakenByDroppedFiles() const;
  // The bytes, or less if the ceiling or the disk leaves less for files that are not committed.
  [[nodiscard]] std::uint64_t WithinRoom(std::uint64_t bytes) const;

  // The step that is due.
  struct DueStep {
    std::shared_ptr<const Layers> layers;  // null: no step is due
    CompactionRequest* request = nullptr;
    CompactionReason reason{};
    bool only_empties = false;  // see IsWorthEmptying
  };
  class OneStep;
  struct SmallStep;
  class SmallSteps;

  // The caller of the next nine functions has claimed the family's compaction.
  [[nodiscard]] DueStep FindDue(Family* family) CAMBIUM_EXCLUDES(commit_lock);
  // Whether the request that `squeeze` holds, or a new one, has a step to do.
  [[nodiscard]] bool IsSqueezeDue(Family* family, const Layers& layers);
  Status StepAlone(Family* family, DueStep due);
  Status Step(Family* family, std::shared_ptr<const Layers> layers, CompactionRequest* request, CompactionReason reason);
  [[nodiscard]] CompactionInput InputFor(Family* family, std::shared_ptr<const Layers> layers,
                                         CompactionRequest* request);
  // Whether the step can be committed together with those of other families.
  [[nodiscard]] bool MayShareCommit(const Family& family, const DueStep& due) const;
  Status CompactSmall(const std::shared_ptr<Family>& family, DueStep due);
  void NoteStep(Family* family);
  Status TakeTurnOfBackground(Family* family);

  Status CarryOut(const std::shared_ptr<Family>& family, CompactionRequest* request);
  [[nodiscard]] std::shared_ptr<const FilteredPart> FilteredOf(const Family& family) const
      CAMBIUM_EXCLUDES(commit_lock);

  // ---- Compaction filters, compactor_filter.cc ----

  using Creations = std::map<std::uint64_t, BlobFileCreation>;  // by file number
  // Null if the family has no compaction filter.
  std::unique_ptr<FilterJob> NewFilterJob(const Family& family, const CompactionRequest* request,
                                          const CompactionInput& input, Creations* creations);
  static Status SyncChanged(FilterJob* filter);
  void EndFilterJob(FilterJob* filter, const Status& done, Creations* creations);
  std::optional<CompactionRequest> RequestForMoved(const Family& family, const CompactionRequest& request,
                                                   std::set<std::uint64_t>* taken) const;

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  SpaceControl& space_;
  const FullDisk& disk_;
  Pace& pace_;
  RunMaker& runs_;
};

}  // namespace cambium
