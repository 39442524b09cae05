// The parts of ManifestState::Check that an edit repeats for what it touches.
#pragma once

#include "cambium/comparator.h"
#include "manifest/state.h"

namespace cambium {

// The comparator of this name if its order is known here, else null.
[[nodiscard]] const Comparator* BuiltInComparator(const std::string& name);

// One segment by itself.
Status CheckSegment(const SegmentInfo& segment);

// One family by itself. Whether its file numbers are nobody else's, and whether the segments that its accounts speak of
// live, only the whole state can tell.
Status CheckFamily(const FamilyState& family);

// The replay position against the segments.
Status CheckReplay(const LogPosition& replay, std::uint64_t next_file_number, const SegmentInfo* segment);

// True if [offset, offset + size) of a file ends at or below `end`, in whatever way the numbers were made up.
[[nodiscard]] constexpr bool FitsBelow(std::uint64_t offset, std::uint64_t size, std::uint64_t end) {
  return offset <= end && size <= end - offset;
}

}  // namespace cambium
