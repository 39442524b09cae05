// Reads MANIFESTs: which file is current, and the state in it. Nothing here writes.
//
// The current file is the highest numbered MANIFEST with a whole snapshot. A file without one is left by a crash during
// its creation and is ignored, unless a later record shows that its snapshot once was whole.
//
//   how a file ends                                     what it means
//   at the last valid record                            the end
//   in invalid bytes without a valid header after them  torn: the commit that wrote them was never acknowledged
//   in invalid bytes with a valid header after them     damage: Corruption
//   in a valid record that does not fit the state       Corruption
//   in a valid header of an unknown type or version,
//   or an edit with an unknown tag                      NotSupported
//
// The last record has no witness after it: if it alone rots after it was acknowledged, the state before it is returned.
// That state is older than the log and the other files, and recovery compares them. After a clean shutdown the last
// record says only that the shutdown was clean.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

struct Edit;

struct ManifestRead {
  ManifestState state;
  FileHeader header;               // of the current file
  std::uint64_t number = 0;        // in its name
  std::uint64_t valid_length = 0;  // of its valid bytes; a torn record may follow
  std::uint64_t record_count = 0;
};

// Finds and reads the current MANIFEST of a directory. NotFound if there is no MANIFEST at all; Corruption (naming file
// and offset) if none has a whole snapshot, or if the current one is damaged; NotSupported if it, or one with a higher
// number, is of a later version; IOError from the file system.
Result<ManifestRead> ReadManifest(FileSystem& fs, const std::string& directory);

// A valid record, before it is applied. `edit` lives only during the call.
struct ManifestRecordSeen {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // in the file, header and padding included
  bool is_snapshot = false;
  const Edit* edit = nullptr;
};
using OnManifestRecord = std::function<void(const ManifestRecordSeen&)>;

// Reads one MANIFEST, with any name, current or not. Errors as for ReadManifest. After an error *read is the state of
// the records before it. Calls `on_record`, unless it is empty, for each valid record, even one that does not fit the
// state.
Status ReadManifestFile(FileSystem& fs, const std::string& path, const OnManifestRecord& on_record, ManifestRead* read);

// What salvage can use of the MANIFESTs: the highest one with a whole snapshot, read up to the first record that is
// invalid or does not fit, and cannot be mended (record_mend.h). Records after that are ignored.
struct ManifestRemains {
  bool has_state = false;
  ManifestState state;  // as it was after some commit
  FileHeader header;
  Status flaw;                      // OK if ReadManifest would return the same, except for what was mended
  std::vector<std::string> mended;  // places of damage that was mended with certainty
};
// NotSupported if that MANIFEST, or one with a higher number, is of a later version. Fails if the directory cannot be
// read.
Result<ManifestRemains> ReadManifestRemains(FileSystem& fs, const std::string& directory);

// True if a crash has interrupted the creation of the database in this directory: there are MANIFESTs, none of them
// whole, and no other numbered file of ours. (There are several MANIFESTs if creating it again also crashed.) Then
// nothing was ever committed in the directory, and creating it again loses nothing. False if there is no MANIFEST.
//
// For this to work, a creation makes its MANIFEST before any other numbered file.
Result<bool> IsHalfCreated(FileSystem& fs, const std::string& directory);

}  // namespace cambium
