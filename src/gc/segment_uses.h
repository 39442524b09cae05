// Derives from the MANIFEST's state how log GC may treat each segment, and the sizes by which victims are chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "gc/victims.h"
#include "manifest/state.h"
#include "manifest/state_index.h"

namespace cambium {

enum class GcStanding : std::uint8_t {
  kMember,      // a member of F in victims.h
  kLargeValue,  // a file of its own, deleted with its last reference
  kNotSealed,
  kAfterUnsealed,  // an older log segment is not sealed, and this one's first record may say where that one ends
  kInReplay,       // recovery still reads it, because some of its records are not in the layers
  kHolesUnknown,   // it has holes of unknown size
};

// The effect that punching has had on a segment. In bytes.
struct PunchedUse {
  std::uint64_t holes = 0;            // of punched records and of the cut
  std::uint64_t kept = 0;             // bytes of the punched records that remain
  std::uint64_t garbage_at_look = 0;  // garbage that was left when punching last looked at it
  std::uint64_t live_most = std::numeric_limits<std::uint64_t>::max();  // at most this many bytes are live
};

// Finds the standing and the use of a segment of the state. `index` is that of the state. `min_punch_size`: 0 if nothing
// is punched. `punched` returns the figures of a segment, or nothing if it does not know them; a segment with holes is
// then kHolesUnknown. For a segment that is not a member, the use has only its number and its account.
GcStanding FindSegmentUse(const ManifestState& state, const StateIndex& index, const SegmentInfo& info,
                          std::uint64_t min_punch_size,
                          const std::function<std::optional<PunchedUse>(std::uint64_t number)>& punched,
                          SegmentUse* use);
// Visits all segments by number. The other parameters are those of FindSegmentUse.
void VisitSegmentUses(const ManifestState& state, const StateIndex& index, std::uint64_t min_punch_size,
                      const std::function<std::optional<PunchedUse>(std::uint64_t number)>& punched,
                      const std::function<void(const SegmentInfo&, GcStanding, SegmentUse)>& visit);

}  // namespace cambium
