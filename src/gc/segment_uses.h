// How each segment stands with log GC, and what it takes: what a MANIFEST says, in the numbers that victims are chosen
// by.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "gc/victims.h"
#include "manifest/state.h"

namespace cambium {

enum class GcStanding : std::uint8_t {
  kMember,      // of F in victims.h
  kLargeValue,  // a file of its own goes with its last reference
  kNotSealed,
  kBehindOpen,    // an older segment of the log is not sealed, and this one may have to say where that ends
  kInReplay,      // recovery would read it: the layers do not know all that is in it
  kHolesUnknown,  // how much it takes is not known
};

// What punching has made of a segment. Bytes.
struct PunchedUse {
  std::uint64_t holes = 0;
  std::uint64_t kept = 0;             // that stay of the records in question
  std::uint64_t garbage_at_look = 0;  // that was left when it was last looked at
};

// Visits all segments by number. `min_punch_size`: 0 if nothing is punched. `punched` says what it knows of a
// segment, and of one that has dead ranges it must know. The use of a segment that is no member has its number and its
// account, and no more.
void VisitSegmentUses(const ManifestState& state, std::uint64_t min_punch_size,
                      const std::function<std::optional<PunchedUse>(std::uint64_t number)>& punched,
                      const std::function<void(const SegmentInfo&, GcStanding, SegmentUse)>& visit);

}  // namespace cambium
