// The names of a database's files. Other files in its directory are not ours.
//
//   MANIFEST-000012   the commit point             000012.log   a segment of the commit log
//   000012.run        a run                        000012.val   one large value
//   000012.idx        a segment of tree pages      000012.gc    values relocated by log GC
//   OPTIONS-000012    options in force, as text    000012.dbtmp an OPTIONS file while it is written
//   000012.rsv        space reserved for a full disk
//   LOCK              a file that is locked while the database is open
//   LOG               messages for people       LOG.old      the messages of the Open before
//
// A number has at least six digits, and no leading zero if it has more, so each file has exactly one name. All kinds
// draw their numbers from one counter, so a number identifies a file without its kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cambium/file_system.h"
#include "io/file_header.h"
#include "io/lock_file_name.h"
#include "manifest/page_id.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::string_view kInfoLogFileName = "LOG";

// Numbers are from 1 to kFileNumberMax: a page id has 38 bits for the file number. A file with a larger number is not
// ours. The counter continues after the largest number on disk, so otherwise a stray file could make it overflow.
inline constexpr std::uint64_t kFileNumberMax = kPageFileNumberMax;

struct NumberedFile {
  FileKind kind = FileKind::kManifest;
  std::uint64_t number = 0;
  friend auto operator<=>(const NumberedFile&, const NumberedFile&) = default;
};

// Returns a name such as "000012.log". The number must be legal.
[[nodiscard]] std::string FileName(FileKind kind, std::uint64_t number);
[[nodiscard]] std::string FilePath(const std::string& directory, FileKind kind, std::uint64_t number);

// Returns the file kind of a segment.
[[nodiscard]] FileKind FileKindOf(SegmentKind kind);

// Parses a name that FileName makes; nullopt for any other. LOCK and LOG are not numbered.
[[nodiscard]] std::optional<NumberedFile> ParseFileName(std::string_view name);

// Returns the numbered files of a directory, ordered by kind and number. Files that are not ours are left out.
Result<std::vector<NumberedFile>> ListNumberedFiles(FileSystem& fs, const std::string& directory);

// Returns the largest number, or 0 if there are no files.
[[nodiscard]] std::uint64_t LargestNumber(const std::vector<NumberedFile>& files);

}  // namespace cambium
