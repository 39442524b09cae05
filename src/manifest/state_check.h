// Checks that ManifestState::Check makes, and that StageEdit repeats for the parts of the state that an edit changes.
// (ManifestState::Check is in the same .cc file.)
#pragma once

#include "cambium/comparator.h"
#include "manifest/state.h"

namespace cambium {

// Returns the built-in comparator of this name, or null.
[[nodiscard]] const Comparator* BuiltInComparator(const std::string& name);

// Checks one segment by itself.
Status CheckSegment(const SegmentInfo& segment);

// The checks of a family by itself, without its accounts. They cannot check whether its file numbers are unique: that
// needs the whole state. Most edits change only a few of a family's files, so each file has a check of its own.
Status CheckFamilyWithoutFiles(const FamilyState& family);
Status CheckRun(const FamilyState& family, const RunInfo& run);
Status CheckLevelRun(const FamilyState& family, std::uint64_t number, const LevelRun& run);
Status CheckIndexSegment(const FamilyState& family, std::uint64_t number, const IndexSegmentInfo& segment);
// Makes the four checks above, for the family and all its files.
Status CheckFamily(const FamilyState& family);
// Checks an account by itself.
Status CheckAccount(const FamilyState& family, Slot slot, const Account& account);

// Checks the replay position. `segment` is the one it names, or null.
Status CheckReplay(const LogPosition& replay, std::uint64_t next_file_number, const SegmentInfo* segment);

// True if [offset, offset + size) ends at or below `end`. Safe for any numbers: nothing overflows.
[[nodiscard]] constexpr bool FitsBelow(std::uint64_t offset, std::uint64_t size, std::uint64_t end) {
  return offset <= end && size <= end - offset;
}

}  // namespace cambium
