// Puncher: large values that are dead become holes in their file, and nothing is copied.
//
//   commit mutex: pin the view, choose segments ─▶ look their values up in its layers
//        ─▶ commit mutex: the MANIFEST says which records are dead for good, and the view gets a new Segment for the file
//        ─▶ the last reader of the old Segment releases it ─▶ holes
//
// A value that is not the newest of its key in durable layers, and lies below the replay position, never is again: later
// layers only hide more, and recovery reads nothing of the segment. A thread that may still read it holds a view from before
// the commit, and with it the old Segment. What a crash leaves undone the next Open does: the MANIFEST names the records.
#pragma once

#include <cstdint>
#include <vector>

#include "gc/punch.h"
#include "state/db_state.h"
#include "upkeep/relocator.h"

namespace cambium {

class Puncher {
 public:
  Puncher(DbState* state, GcSegments* segments, Relocator* relocator);

  // Runs a step if one is due. False: none is.
  Result<bool> RunIfDue();
  // Makes the holes whose segments have no reader any more. The first error; the others are tried all the same.
  Status MakeReadyHoles();
  // At the end of Open: holes that are to be made or counted again.
  void Resume();

 private:
  bool Pick(GcPick* pick);
  Status Run(const GcPick& pick, GcReport* report);
  Status Commit(const GcPick& pick, const std::vector<PunchPlan>& plans, GcReport* report);
  struct Change;
  Status PlanChange(const GcSource& source, const PunchPlan& plan, Change* change) CAMBIUM_REQUIRES(commit_lock);
  void Committed(const View& before, const Change& change) CAMBIUM_REQUIRES(commit_lock);
  Result<PunchedBytes> MakeHoles(const SegmentInfo& info, const std::vector<std::uint64_t>& offsets);
  void NoteHoles(const PunchedSegments::ReadyHoles& ready, const SegmentInfo& info, const Result<PunchedBytes>& made)
      CAMBIUM_EXCLUDES(commit_lock);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  GcSegments& segments_;
  Relocator& relocator_;
};

}  // namespace cambium
