// WalkSegment visits the records of a segment in order, and continues after damage.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "cambium/file_system.h"
#include "util/result.h"
#include "vlog/segment_scanner.h"

namespace cambium {

// A part of a file without anything valid.
struct DamagedStretch {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  // offset of the next valid record or page, or the end of the walk
  std::string reason;
};

struct SegmentWalkCallbacks {
  // An error of a callback ends the walk and is returned. Slices are valid during the call.
  std::function<Status(const ScannedRecord&)> on_record;
  std::function<Status(const DamagedStretch&)> on_damage;
};

// Walks the records in [first, end) of a file with this seed; `holes` are the offsets of records whose values are
// punched. After damage, continues at the next record whose header validates; if the header of the damaged record is
// valid, searches for it after the damaged record. Zeros up to `end` are preallocated space, not damage. Sets *log_end
// to the end of the last record. Returns errors other than damage; a record of a later version is NotSupported. Memory:
// the largest record.
Status WalkSegment(const File& file, std::uint64_t seed, std::uint64_t first, std::uint64_t end,
                   std::span<const std::uint64_t> holes, const SegmentWalkCallbacks& callbacks, std::uint64_t* log_end);

}  // namespace cambium
