// A slice of the key space: so much of a level that it can be compacted in one step.
//
// Its borders are those of the guide, one sorted sequence of files: the tier that is merged with, or, if none is, the
// largest one of the level itself. So no file of the guide lies across a border.
//
//   guide     [a..c] [d..h] [i..p] [q..z]
//   borders          d      i      q            the first slice has all before its first border, the last one the rest
//   tiers      [b....e]  [f....k]   [s..]
#pragma once

#include <optional>

#include "lsm_fallback/compaction_shape.h"

namespace cambium {

// The last file of the guide that does not begin behind `key`; the first one if all do.
[[nodiscard]] std::size_t BorderBefore(const KeyOrder& order, const TierShape& guide, Slice key);

// The slice from the guide's file `start` on, or from the first behind it where the tiers have anything (after the last
// comes the first), to where it has `budget` bytes, those of the guide included if `with_guide`. Not empty.
[[nodiscard]] Stretch CutSlice(const KeyOrder& order, const TierShape& guide, std::span<const TierShape> tiers,
                               bool with_guide, std::size_t start, std::uint64_t budget);

}  // namespace cambium
