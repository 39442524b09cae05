// Functions that open the files that a ManifestState names, and check each against the MANIFEST. Open, read-only Open
// and VerifyDB share them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "manifest/state.h"
#include "util/result.h"
#include "vlog/segment.h"

namespace cambium {

// Whether the family has a run or an index segment of this number.
[[nodiscard]] bool HasFile(const FamilyState& family, std::uint64_t number);

// Returns Corruption if the state has no default column family: every database has one.
Status CheckDefaultFamily(const std::string& directory, const ManifestState& state);

// Opens a run or an index segment for reading. Corruption, naming the file, if it is missing or belongs to another
// database; IOError if it cannot be opened. Only the header is checked.
Result<std::unique_ptr<File>> OpenLayerFile(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                            FileKind kind, std::uint64_t number);

// Opens a segment of the log or the file of a large value. Also Corruption if its file id differs, or if it is shorter
// than its sealed length. `writable`: open an unsealed segment for writing, so that it can be synced. `on_release` is
// Segment's.
Result<std::shared_ptr<Segment>> OpenSegment(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                             const SegmentInfo& info, bool writable,
                                             std::function<void(const std::string&)> on_release);

// Looks for log segments that the MANIFEST does not name. A segment is named before the first record is written to it.
// So if an unnamed one has records and is of the MANIFEST's epoch or a later one, the MANIFEST has lost its end:
// Corruption.
Status CheckStrayLogs(FileSystem& fs, const std::string& directory, const ManifestState& state);

}  // namespace cambium
