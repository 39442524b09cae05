// Cuts of segments in a commit. The MANIFEST moves the cut, and the view gets a new Segment for the same file. The hole
// is made when the last reader has released the old Segment.
#pragma once

#include <memory>
#include <optional>

#include "gc/cut.h"
#include "state/db_state.h"

namespace cambium {

struct SegmentCut {
  SegmentInfo info;                  // to be written to the MANIFEST
  std::shared_ptr<Segment> segment;  // the same file, for readers after the commit
  CutPlan plan;
};

// Opens the file of a segment again, with the holes of `info`.
Result<std::shared_ptr<Segment>> OpenAgain(DbContext* db, CommitPoint* commits, const SegmentInfo& info)
    CAMBIUM_REQUIRES(commit_lock);

// Nullopt if the segment cannot be cut any more: it was dropped or cut meanwhile, or its file has a second name.
Result<std::optional<SegmentCut>> PrepareCut(DbContext* db, CommitPoint* commits, const GcSource& source,
                                             const CutPlan& plan) CAMBIUM_REQUIRES(commit_lock);
// Called after the commit. `before`: the view that it replaced.
void NoteCut(CommitPoint* commits, const View& before, const SegmentCut& cut) CAMBIUM_REQUIRES(commit_lock);

}  // namespace cambium
