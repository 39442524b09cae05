// Puncher: punches dead large values out of their file, so that their space is freed without copying.
//
//   commit lock: pin the view, choose segments ─▶ look their values up in its layers
//        ─▶ commit lock: the MANIFEST records which values are punched, and the view gets a new Segment for the file
//        ─▶ the last reader of the old Segment releases it ─▶ holes
//
// If a value is not the newest of its key in durable layers, and lies below the replay position, it stays dead: later
// layers only hide more, and recovery does not read the segment. A thread that may still read the value holds a view
// from before the commit, and with it the old Segment. After a crash the next Open makes the missing holes: the
// MANIFEST names the records.
#pragma once

#include <cstdint>
#include <vector>

#include "gc/punch.h"
#include "state/db_state.h"
#include "upkeep/log_gc/relocator.h"

namespace cambium {

class Puncher {
 public:
  Puncher(DbState* state, GcSegments* segments, Relocator* relocator);

  // Runs a step if one is due. False: none is.
  Result<bool> RunIfDue();
  // Makes the holes that have no reader any more. Tries all; returns the first error.
  Status MakeReadyHoles();
  // Called at the end of Open: queues the holes of all punched segments. The job makes those that are missing, and
  // counts all.
  void Resume();

 private:
  bool Pick(GcPick* pick);
  Status Run(const GcPick& pick, GcReport* report);
  Status Commit(const GcPick& pick, const std::vector<PunchPlan>& plans, GcReport* report);
  struct Change;
  Status PlanChange(const GcSource& source, const PunchPlan& plan, Change* change) CAMBIUM_REQUIRES(commit_lock);
  // Only in a mutant: makes the holes that the edit is to name.
  Status PunchBeforeCommit(const Edit& edit);
  void Committed(const View& before, const Change& change) CAMBIUM_REQUIRES(commit_lock);
  Result<PunchedBytes> MakeHoles(const SegmentInfo& info, const std::vector<std::uint64_t>& offsets, std::uint64_t cut);
  void NoteHoles(const PunchedSegments::ReadyHoles& ready, const SegmentInfo& info, const Result<PunchedBytes>& made)
      CAMBIUM_EXCLUDES(commit_lock);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  GcSegments& segments_;
  Relocator& relocator_;
};

}  // namespace cambium
