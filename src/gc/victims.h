// Which segments log GC empties next, and why: pure functions of numbers. GcSegments supplies the numbers, and
// Collector has the chosen segments emptied.
//
// F is the list of the segments that are sealed and lie completely below the replay position, ordered by number: the
// layers know all of their records. The options treat F as RocksDB treats blob files: the first trunc(age_cutoff * |F|)
// are old enough.
//
// Among segments that are worth emptying, the best victim is the one that gains least by waiting. The live part of a
// segment decays. Relative to the part already lost, it decays faster in a younger segment. With u the live share,
//
//   (1 - u) / u * sqrt(age)
//
// is largest for the segment for which waiting would save least. (It is the square root of the inverse of the saved
// cost, apart from the number of records. See "minimal declining cost" in Lomet and Luo, "Efficiently Reclaiming Space
// in a Log Structured Store", 2021.) The age is that of the segment: a segment of relocated values begins with all of
// them alive, however old they are. If the age of its contents counted, as in cost-benefit cleaning (Rosenblum and
// Ousterhout, 1992), it would be emptied again much too early.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "cambium/types.h"
#include "gc/space.h"
#include "manifest/state.h"

namespace cambium {

// A member of F. Sizes in bytes.
struct SegmentUse {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;            // on disk
  std::uint64_t hole_bytes = 0;       // already freed by punching
  std::uint64_t overhead_bytes = 0;   // part of `bytes`: header and footer, which any segment has
  std::uint64_t live_bytes = 0;       // according to its account: hidden garbage counts as live
  std::uint64_t live_records = 0;     // its references
  SequenceNumber made_at = 0;         // the newest sequence number when it was made
  std::uint32_t generation = 0;
  bool is_damaged = false;            // a record did not validate: never a victim
  bool is_worth_punching = false;     // punching its dead values may free much without a copy
  bool can_cut = false;               // see gc/cut.h

  friend bool operator==(const SegmentUse&, const SegmentUse&) = default;

  [[nodiscard]] std::uint64_t garbage() const {
    const std::uint64_t kept = live_bytes + overhead_bytes;
    return bytes - (kept < bytes ? kept : bytes);
  }
  // The part of overhead_bytes that the live records have, by bytes. Segments are at most some GiB, so the product fits.
  [[nodiscard]] std::uint64_t live_overhead() const {
    const std::uint64_t records = live_bytes + garbage();
    return records == 0 ? 0 : overhead_bytes * live_bytes / records;
  }
};

struct VictimPolicy {
  double age_cutoff = 0.25;
  double force_threshold = 1.0;
  // The least share of garbage that makes a segment worth emptying: in idle time, and when space is short. The second
  // value means that up to 31 bytes are moved for each byte freed.
  double idle_garbage_least = 0.25;
  double space_garbage_least = 1.0 / 32;
  // Small segments are joined even if they have no garbage, once one generation has more than small_segments_max of
  // them. Small: below a sixteenth of the target and below half a step. Segments grow with the database, so a load
  // leaves some that are small by now (11 per doubling of the data at a ceiling of 1.5, 22 at 1.25): the limit
  // tolerates them. Tiny segments (below half a MiB) were never full: an Open ended them, or they hold a remainder.
  // Their number does not follow the size of the data, so it has a limit of its own.
  std::uint64_t target_bytes = 256u << 20;
  std::size_t small_segments_max = 128;
  std::size_t tiny_segments_max = 4;
  // Live bytes of a step with more than one victim.
  std::uint64_t step_bytes = 64u << 20;
  // The free bytes of the disk. A step may take half of them: its run and footer need space too.
  std::uint64_t free_bytes = std::numeric_limits<std::uint64_t>::max();
  [[nodiscard]] std::uint64_t Room() const { return free_bytes / 2; }
};

// How urgently space is needed.
enum class GcUrgency : std::uint8_t {
  kForced,  // only what the user's force_threshold demands
  kIdle,    // also segments that are worth it, because the database is idle
  kSpace,   // the ceiling is near: any segment with garbage, whatever its age
  kFull,    // the disk is full: the segments with the fewest live bytes first, and only if there is room to move these
};

enum class GcReason : std::uint8_t { kNone, kForceThreshold, kSmallSegments, kCostBenefit, kCeiling, kFullDisk, kRequested, kClustering };

struct VictimChoice {
  GcReason reason = GcReason::kNone;
  std::vector<std::uint64_t> numbers;  // of one generation, in the order of choice; empty: none
  bool cuts = false;                   // the only segment is cut
};

// The priority of a segment: the law above, up to a constant factor.
[[nodiscard]] double GcBenefit(const SegmentUse& segment, SequenceNumber now);

// Whether the segment has at least this share of garbage, and not so little that it is never worth a step.
[[nodiscard]] bool HasGarbage(const SegmentUse& segment, double share);

// Segments of a size below the result are small; among them, those below the constant are tiny.
[[nodiscard]] std::uint64_t SmallBelow(const VictimPolicy& policy);
inline constexpr std::uint64_t kTinySegmentBytes = kSegmentBytesLeast / 2;
[[nodiscard]] inline std::uint64_t SizeWithHoles(const SegmentUse& segment) {
  return segment.bytes + segment.hole_bytes;
}

// Whether log GC would take the segment when space is short.
[[nodiscard]] bool IsWorthSpace(const SegmentUse& segment, const VictimPolicy& policy);

// `segments`: F, by number. `now`: the newest sequence number.
[[nodiscard]] VictimChoice PickGcVictims(std::span<const SegmentUse> segments, const VictimPolicy& policy,
                                       SequenceNumber now, GcUrgency urgency);

// The figures at the last look at a segment on a full disk, which found nothing to do. While they stay the same,
// another look would find nothing either.
struct CutLook {
  LogPosition replay;           // the layers have all records before it
  std::uint64_t room = 0;       // for the copies of a step
  std::uint64_t garbage = 0;    // of the segment, in bytes
};

// The segment to cut next on a full disk: the one with the most garbage for each live byte. If no segment has known
// garbage, it is one whose records have not been looked up since the replay position moved; at most kLooksPerFlush
// segments are looked up for one replay position. `looks`: by segment, the looks that found nothing to do.
[[nodiscard]] VictimChoice PickToCut(std::span<const SegmentUse> segments, const VictimPolicy& policy,
                                     const std::map<std::uint64_t, CutLook>& looks, const LogPosition& replay);
inline constexpr std::size_t kLooksPerFlush = 32;

// The segments of `wanted` that still exist, oldest first, as many as a step takes, with or without garbage.
[[nodiscard]] VictimChoice PickRequested(std::span<const SegmentUse> segments, const std::set<std::uint64_t>& wanted,
                                         const VictimPolicy& policy);

// The segments that a CompactRange collects: of the first trunc(age_cutoff * |F|), either all or those with at least
// idle_garbage_least.
[[nodiscard]] std::set<std::uint64_t> WorthRequesting(std::span<const SegmentUse> segments, const VictimPolicy& policy,
                                                      bool all);

// How many members of F are old enough.
[[nodiscard]] std::size_t EligibleByAge(std::size_t segment_count, double age_cutoff);

}  // namespace cambium
