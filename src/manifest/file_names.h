// The names of a database's files, and nothing else in its directory is ours.
//
//   MANIFEST-000012   the commit point             000012.log   a segment of the commit log
//   000012.run        a run                        000012.val   one large value
//   000012.idx        a segment of tree pages      000012.gc    values that log GC has moved
//   OPTIONS-000012    options in force, as text    000012.dbtmp one of them that is being written
//   000012.rsv        space kept for a full disk
//   LOCK              whose identity and lock say who has the database open
//   LOG               messages for people
//
// A number is written with at least six digits, and with no zero in front if it has more: each file has exactly one
// name. All kinds draw from one counter, so a number says which file it is without its kind.
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

// Numbers are 1 to this: the pages of a file carry its number in 38 bits. A name with a larger one is not ours, so that
// whoever counts on from the largest number on disk cannot be made to wrap around by a stray file.
inline constexpr std::uint64_t kFileNumberMax = kPageFileNumberMax;

struct NumberedFile {
  FileKind kind = FileKind::kManifest;
  std::uint64_t number = 0;
  friend auto operator<=>(const NumberedFile&, const NumberedFile&) = default;
};

// "000012.log". The number must be legal.
[[nodiscard]] std::string FileName(FileKind kind, std::uint64_t number);
[[nodiscard]] std::string FilePath(const std::string& directory, FileKind kind, std::uint64_t number);

// Of the file that a segment is.
[[nodiscard]] FileKind FileKindOf(SegmentKind kind);

// What a name stands for, or nullopt if FileName makes no such name. LOCK and LOG are not numbered.
[[nodiscard]] std::optional<NumberedFile> ParseFileName(std::string_view name);

// The numbered files of a directory, ordered by kind and number. Names that are not ours are left out.
Result<std::vector<NumberedFile>> ListNumberedFiles(FileSystem& fs, const std::string& directory);

// The largest number of all, 0 for none.
[[nodiscard]] std::uint64_t LargestNumber(const std::vector<NumberedFile>& files);

}  // namespace cambium
