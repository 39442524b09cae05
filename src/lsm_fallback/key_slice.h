// A slice of the key space: a part of a level small enough to be compacted in one step.
//
// Slices are cut at the file borders of the guide, one sorted sequence of files: the tier that the slice is merged
// with, or, if there is none, the largest tier of the level itself. So no file of the guide crosses a border.
//
//   guide     [a..c] [d..h] [i..p] [q..z]
//   borders          d      i      q            the first slice begins before all keys, the last one ends after all
//   tiers      [b....e]  [f....k]   [s..]
#pragma once

#include <optional>

#include "lsm_fallback/compaction_shape.h"

namespace cambium {

// The index of the guide's last file that begins at or before `key`; the first file if none does.
[[nodiscard]] std::size_t BorderBefore(const KeyOrder& order, const TierShape& guide, Slice key);

// Returns a slice of the guide's files, never empty. It begins at file `start`, or at the next one (wrapping around)
// that has input of `tiers` in its range, and ends once it has `budget` bytes of the tiers; the guide's own bytes count
// if `with_guide`.
[[nodiscard]] Stretch CutSlice(const KeyOrder& order, const TierShape& guide, std::span<const TierShape> tiers,
                               bool with_guide, std::size_t start, std::uint64_t budget);

}  // namespace cambium
