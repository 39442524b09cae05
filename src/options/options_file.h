// The OPTIONS file: the options that were in force when it was written, as text. Nothing depends on it: the database is
// opened with the options that its caller gives. It is there to be asked for them (LoadLatestOptions), and to be read.
//
//   # The options of a Cambium database ...
//   [Version]
//     options_file_version=1
//   [DBOptions]
//     create_if_missing=true
//     ...
//   [CFOptions "default"]
//     comparator=cambium.BytewiseComparator
//     ...
//   checksum=0123456789abcdef        XXH3 of every byte before this line, seed 0, in hexadecimal
//
// Section Version may have a line `values_moved_as_they_were=codec,size`, or one of the two: segments that were written
// since have values that lost nothing of their form on the way, whatever these options say of it. Else a segment with a
// larger number than the file's has all values as the options say: packed by that codec, none smaller than min_blob_size.
//
// Lines end in '\n'; space at both ends of a line does not count, and neither do empty lines and those that begin with
// '#'. Names of families, and values, are escaped (EscapeText). Objects are not in it. A file is written under another
// name, synced and renamed, so there is never half of one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "options/options_text.h"
#include "cambium/column_family.h"
#include "cambium/convenience.h"
#include "cambium/file_system.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::uint64_t kOptionsFileVersion = 1;
inline constexpr std::uint64_t kOptionsFileSizeMax = 256u << 20;  // of one that is read; all families there can be
inline constexpr std::size_t kOptionsFilesKept = 2;

// What of a value's form stays as it is when it is moved.
struct KeptForm {
  bool codec = false;
  bool size = false;  // whether it is in the log or in the index
  [[nodiscard]] bool any() const { return codec || size; }
  friend bool operator==(const KeptForm&, const KeptForm&) = default;
};

[[nodiscard]] std::string EncodeOptionsFile(const DBOptions& options,
                                            const std::vector<ColumnFamilyDescriptor>& families, KeptForm kept = {});

// What a file says, not compared with what this version knows.
struct OptionsFileText {
  std::uint64_t version = 0;
  KeptForm kept;
  OptionTexts db;
  std::vector<std::pair<std::string, OptionTexts>> families;  // by name, in the order of the file
  std::vector<std::string> unknown_sections;
};
// `path` is for messages. Corruption, with the offset, unless the checksum is right and every line has a meaning.
Result<OptionsFileText> DecodeOptionsFile(Slice bytes, const std::string& path);
Result<OptionsFileText> ReadOptionsFile(FileSystem& fs, const std::string& path);

// The options that the text stands for, checked. See LoadLatestOptions for errors.
Status OptionsFromFileText(const OptionsFileText& text, const ConfigOptions& config, const std::string& path,
                           DBOptions* options, std::vector<ColumnFamilyDescriptor>* families);

// Whether a file says of the same families all that `ours`, which this version would write, says. It may say more: what
// a later version knows, which would be lost with it.
// create_if_missing and error_if_exists do not count: they are about an opening, not about the database.
[[nodiscard]] bool SaysTheSame(const OptionsFileText& text, const OptionsFileText& ours);

// Writes `bytes` to the OPTIONS file of this number. Its name is not durable before the directory is synced. After an
// error nothing is left, if it can be removed.
Status WriteOptionsFile(FileSystem& fs, const std::string& directory, std::uint64_t number, Slice bytes);

// Removes all but the newest files, and what interrupted writes left. Only while nobody writes one.
Status RemoveOldOptionsFiles(FileSystem& fs, const std::string& directory);

}  // namespace cambium
