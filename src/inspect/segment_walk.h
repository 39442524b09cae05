// WalkSegment: the records of a segment one after the other, and on behind damage.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cambium/file_system.h"
#include "util/result.h"
#include "vlog/segment_scanner.h"

namespace cambium {

// A stretch of a file that holds nothing valid.
struct DamagedStretch {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  // where something valid stands again, or the end of what was to be read
  std::string reason;
};

struct SegmentWalkCallbacks {
  // An error of either ends the walk and is returned. Slices live for the call.
  std::function<Status(const ScannedRecord&)> on_record;
  std::function<Status(const DamagedStretch&)> on_damage;
};

// Records in [first, end) of a file with this seed, at `holes` without their values. Behind a damaged record the walk
// goes on at the next one whose header validates: where the header is whole, behind its body. Zeros to the end are
// space that the file was given ahead of its log: no damage. *log_end is behind the last record. Other errors than
// damage are returned; an operation of a later version is NotSupported. Memory: the largest record, and a little.
Status WalkSegment(const File& file, std::uint64_t seed, std::uint64_t first, std::uint64_t end,
                   std::span<const std::uint64_t> holes, const SegmentWalkCallbacks& callbacks, std::uint64_t* log_end);

}  // namespace cambium
