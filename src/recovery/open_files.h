// Opening the files that a ManifestState names, each compared with what the MANIFEST says of it. Open, read-only Open and
// verify share this.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "manifest/state.h"
#include "util/result.h"
#include "vlog/segment.h"

namespace cambium {

// Whether a run or an index segment of this number is the family's.
[[nodiscard]] bool HasFile(const FamilyState& family, std::uint64_t number);

// Corruption if there is none: no database is ever without it.
Status CheckDefaultFamily(const std::string& directory, const ManifestState& state);

// A run or an index segment, for reading. Corruption naming the file if it is missing or is another file; IOError if it
// could not be opened. What is in it is checked by whoever reads it.
Result<std::unique_ptr<File>> OpenLayerFile(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                            FileKind kind, std::uint64_t number);

// The same for a segment of the log, or a large value's file; also Corruption if it is shorter than its seal says.
// `writable`: as far as the segment is not sealed, so that it can be synced. `on_release` as for Segment.
Result<std::shared_ptr<Segment>> OpenSegment(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                             const SegmentInfo& info, bool writable,
                                             std::function<void(const std::string&)> on_release);

// A log segment is named in the MANIFEST before anything is written to it. So one that is not named, was made in the
// epoch that the MANIFEST shows, and holds records means that the MANIFEST has lost its end.
Status CheckStrayLogs(FileSystem& fs, const std::string& directory, const ManifestState& state);

}  // namespace cambium
