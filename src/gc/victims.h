// Which segments log GC empties next, and why: pure functions of numbers. The database carries out what they say.
//
// F are the segments that are sealed and lie wholly below the replay position, in the order of their numbers: the layers
// know everything that is in them. The options speak of F as RocksDB's speak of blob files: the first
// trunc(age_cutoff * |F|) of it are old enough.
//
// Of segments that are worth it, the one goes first that has most to lose by waiting least: what is alive in a segment
// decays, the faster the younger the segment is for what it has lost. With u the part that is alive,
//
//   (1 - u) / u * sqrt(age)
//
// is, but for the number of records, the root of the inverse of what waiting would save (minimal declining cost: Lomet and
// Luo, "Efficiently Reclaiming Space in a Log Structured Store", 2021). The age is the segment's: a segment of moved values
// begins with all of them alive, however old they are. With the age of what it holds, as in cost-benefit cleaning
// (Rosenblum and Ousterhout, 1992), it would be emptied again long before its time.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "cambium/types.h"

namespace cambium {

// A member of F. Bytes.
struct SegmentUse {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;            // that it takes on disk
  std::uint64_t hole_bytes = 0;       // that punching has taken from it already
  std::uint64_t overhead_bytes = 0;   // of these, header and footer, which any segment has
  std::uint64_t live_bytes = 0;       // what its account says: hidden garbage counts as live
  std::uint64_t live_records = 0;     // the same as references
  SequenceNumber made_at = 0;         // the newest sequence number when it was made
  std::uint32_t generation = 0;
  bool is_damaged = false;            // a record of it did not validate: never a victim
  bool is_worth_punching = false;     // dead values of it may give back much without a copy

  [[nodiscard]] std::uint64_t garbage() const {
    const std::uint64_t kept = live_bytes + overhead_bytes;
    return bytes - (kept < bytes ? kept : bytes);
  }
};

struct VictimPolicy {
  double age_cutoff = 0.25;
  double force_threshold = 1.0;
  // A segment is worth its while from so much garbage on: when nothing forces anybody, and when space is short, where the
  // least means that 32 bytes are moved for one that comes free.
  double idle_garbage_least = 0.25;
  double space_garbage_least = 1.0 / 32;
  // What is smaller than a sixteenth of the target is joined, whatever its garbage, once there are so many of one
  // generation. Segments grow with the database, so that a load leaves some that are small by now, 11 for each doubling of
  // the data at a ceiling of 1.5, 22 at 1.25: nothing is moved for their sake. What is tiny was never full, an opening or
  // a rest has ended it, and there may be any number of them.
  std::uint64_t target_bytes = 256u << 20;
  std::size_t small_segments_max = 128;
  std::size_t tiny_segments_max = 4;
  // Live bytes of a step, if it has more than one victim.
  std::uint64_t step_bytes = 64u << 20;
  // On a full disk, what is free on it.
  std::uint64_t free_bytes = std::numeric_limits<std::uint64_t>::max();
};

// How badly space is wanted.
enum class GcUrgency : std::uint8_t {
  kForced,  // what the user's force_threshold demands, and no more
  kIdle,    // and what is worth it, since nobody needs the device
  kSpace,   // the ceiling is near: whatever has garbage, age ignored
  kFull,    // the disk is full: what leaves the least to be moved, and only what there is room for
};

enum class GcReason : std::uint8_t { kNone, kForceThreshold, kSmallSegments, kCostBenefit, kCeiling, kFullDisk, kRequested, kClustering };

struct VictimChoice {
  GcReason reason = GcReason::kNone;
  std::vector<std::uint64_t> numbers;  // of one generation, in the order in which they go; empty: none
};

// What goes first: the law above, times a number that is the same for all.
[[nodiscard]] double GcBenefit(const SegmentUse& segment, SequenceNumber now);

// Whether log GC would take it for want of space.
[[nodiscard]] bool IsWorthSpace(const SegmentUse& segment, const VictimPolicy& policy);

// `segments`: F, by number. `now`: the newest sequence number.
[[nodiscard]] VictimChoice PickGcVictims(std::span<const SegmentUse> segments, const VictimPolicy& policy,
                                       SequenceNumber now, GcUrgency urgency);

// Those of `wanted` that are left, as far as a step goes, oldest first; garbage or not.
[[nodiscard]] VictimChoice PickRequested(std::span<const SegmentUse> segments, const std::set<std::uint64_t>& wanted,
                                         const VictimPolicy& policy);

// What a CompactRange collects: the first trunc(age_cutoff * |F|), all of them or those that are worth it when nobody
// needs the device.
[[nodiscard]] std::set<std::uint64_t> WorthRequesting(std::span<const SegmentUse> segments, const VictimPolicy& policy,
                                                      bool all);

// How many of F are old enough.
[[nodiscard]] std::size_t EligibleByAge(std::size_t segment_count, double age_cutoff);

}  // namespace cambium
