// The cut: log GC on a full disk frees the beginning of a segment, if there is no room to copy all live values of any
// segment. The rest of the segment stays in place.
//
//   before   header | dead  A  dead  dead  B  dead  C  dead  dead  D ... | footer        A, B, C, D: live
//   after    header |             hole            | C  dead  dead  D ... | footer        A, B: copied to another segment
//                                                 ^ cut
//
// A step copies the first live values, as many as fit into the room, and in the same MANIFEST record moves the cut to
// the first live value that is left. So even with little room and large segments, a step can free more than it writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gc/live_records.h"

namespace cambium {

struct CutPlan {
  std::uint64_t cut = 0;           // the new cut; 0: the segment is not cut
  bool empties = false;            // all live records are moved, and the segment is dropped
  std::uint64_t hole_bytes = 0;    // freed by the new cut, in addition to holes that the segment has
  std::uint64_t live_left = 0;     // bytes of the live records after the cut
  std::uint64_t covered_kept = 0;  // bytes that punching has kept of the punched records before the cut

  [[nodiscard]] bool any() const { return empties || cut != 0; }
};

// Plans a step that copies the live records before the new cut. `live`: all live records of the segment, by offset.
// `punched`: its punched records, by offset. `room`: bytes that the step may write. `runs_stay`: there is no room for a
// compaction that would merge the step's run into the index and drop the entries that the run hides.
//
// A step must free more than it writes: copies, their part of the footer and of the run, and blocks that files fill in
// part. If the garbage at the beginning is too thin for that, a step may nevertheless be planned, if all steps that
// empty the segment together free more than they write, and none of them leaves less than half of the room.
[[nodiscard]] CutPlan PlanCut(const SegmentInfo& info, std::span<const GcRecord> live,
                              std::span<const GcRecord> punched, std::uint64_t room, bool runs_stay);

}  // namespace cambium
