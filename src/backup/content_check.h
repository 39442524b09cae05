// CheckContents compares the contents of a file of a database with the checksums in it: header, records, footer, pages,
// filter, range deletes, the large value. It reads the file in pieces, so it needs memory for the largest logged record
// (64 MiB at most), one page, or one footer, never for a whole file.
//
// Damage in bytes that no restored database needs does no harm. But CheckContents cannot tell such bytes from others:
// see damage_judge.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "manifest/file_names.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

enum class DamagedPart : std::uint8_t {
  kNeeded,   // a restored database needs these bytes in any case
  kRecords,  // records of a segment: needed if an index entry or the replay of the log refers to them
  kPages,    // pages of a run or a tree: needed if the layers reach them
  kFooter,   // of a segment: needed only if its records cannot be walked instead
};

struct FileDamage {
  NumberedFile file;
  DamagedPart part = DamagedPart::kNeeded;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  // of records: where the next valid one begins
  std::string what;       // file, offset and reason
};

// A file that has the bytes of a segment, run or index segment of a state.
struct FileToCheck {
  NumberedFile name;          // in the database
  std::string path;           // where its bytes are
  std::string shown;          // the path for messages
  std::uint64_t log_end = 0;  // of a segment that is not sealed: where its records end
};

// Finds all damage, or the first kDamageMax places. Asks `go_on` between records and pages, and returns its errors, and
// those of reading. NotSupported for a record of a later version.
inline constexpr std::size_t kDamageMax = 1000;
Result<std::vector<FileDamage>> CheckContents(FileSystem& fs, const ManifestState& state, const FileToCheck& file,
                                              const std::function<Status()>& go_on);

}  // namespace cambium
