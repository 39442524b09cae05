// Reading MANIFESTs: which one rules, and what it says. Nothing here writes.
//
// The highest numbered MANIFEST with a whole snapshot rules. One without is what a crash in the middle of its creation
// left: it is passed over, unless it shows that it once was whole.
//
//   how a file ends                                            what it means
//   nothing behind the last valid record                       the end
//   bytes that are no record, and no valid header behind them  torn: the commit that wrote them was never acknowledged
//   bytes that are no record, a valid header behind them       damage within: Corruption
//   a valid record that does not fit the state before it       Corruption
//   a valid header of an unknown type, tag or version          NotSupported
//
// The last record has no witness behind it: if just this one rots after it was acknowledged, the state before it is
// returned. It is then older than the log and the files around it, which recovery compares. After a clean shutdown the
// last record says only that it was one.
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
  FileHeader header;               // of the file that rules
  std::uint64_t number = 0;        // in its name
  std::uint64_t valid_length = 0;  // bytes of it that validate; a torn record may stand behind
  std::uint64_t record_count = 0;
};

// Finds and reads the ruling MANIFEST of a directory. NotFound if there is no MANIFEST at all; Corruption (naming file
// and offset) if there are some but none has a whole snapshot, or if the ruling one is damaged within; NotSupported if
// it, or one above it, is of a later version; IOError as the file system says.
Result<ManifestRead> ReadManifest(FileSystem& fs, const std::string& directory);

// A record that validates, before it is applied. `edit` lives for the call.
struct ManifestRecordSeen {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // in the file, header and padding included
  bool is_snapshot = false;
  const Edit* edit = nullptr;
};
using OnManifestRecord = std::function<void(const ManifestRecordSeen&)>;

// One MANIFEST by itself, whatever it is called and whichever rules. Errors are those of above; *read is what the records
// before the flaw say, and of `on_record`, which may be empty, also a record that does not fit the state is told.
Status ReadManifestFile(FileSystem& fs, const std::string& path, const OnManifestRecord& on_record, ManifestRead* read);

// What is left of the MANIFESTs, for whoever repairs: the highest one with a whole snapshot, read up to the first record
// that does not validate or fit and cannot be mended (record_mend.h), whatever stands behind it.
struct ManifestRemains {
  bool has_state = false;
  ManifestState state;  // as it was at one time
  FileHeader header;
  Status flaw;          // OK: ReadManifest would have said the same, but for what was mended
  std::vector<std::string> mended;  // where: damaged, and known for certain all the same
};
// NotSupported if it, or one above it, is of a later version; an error of the directory.
Result<ManifestRemains> ReadManifestRemains(FileSystem& fs, const std::string& directory);

// True if the directory holds what a crash during the first creation of a database leaves: MANIFESTs, none of them
// whole, and no other numbered file of ours. Then nothing was ever committed in it, and creating it again loses
// nothing. (More than one MANIFEST, if creating it again met a crash too.) False if there is no MANIFEST.
//
// So that this can be told, a creation makes its MANIFEST before any other numbered file.
Result<bool> IsHalfBorn(FileSystem& fs, const std::string& directory);

}  // namespace cambium
