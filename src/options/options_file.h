// The OPTIONS file has the options that were in force when it was written, as text. Open takes no options from it: it
// uses those that its caller passes, and only compares the newest file with them. The file is for LoadLatestOptions,
// tools and human readers.
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
// Section Version may have a line `values_moved_as_they_were=codec,size`; one of the two words may be missing. The line
// means that an offline compaction has moved values without changing their form. `codec`: values in segments with
// larger numbers than the file's may be compressed otherwise than these options say. `size`: they may be smaller than
// min_blob_size. Without the line, all values of these segments follow the options.
//
// A file may be an addition to an older one. Then section Version has `adds_to=NUMBER`, the number of that file, which
// may be an addition too. An addition has no section DBOptions; it has sections of the families that were created since,
// and one, [DroppedCFOptions "NAME"], for each that was dropped. So a database with many families need not write the
// options of all when one is created.
//
// Lines end in '\n'. Space at the ends of a line is ignored, and so are empty lines and lines that begin with '#'.
// Names of families, and values, are escaped (EscapeText). Objects are not in the file. A file is written under another
// name, synced and renamed, so a file with the final name is complete.
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

// The latest version that this code reads. Additions have it.
inline constexpr std::uint64_t kOptionsFileVersion = 2;
// Whole files have this version, so that older code reads them.
inline constexpr std::uint64_t kWholeOptionsFileVersion = 1;
inline constexpr std::uint64_t kOptionsFileSizeMax = 256u << 20;  // read limit: the largest number of families fits

// Says what a move of a value keeps, even if the options now ask for another form.
struct KeptForm {
  bool codec = false;
  bool size = false;  // its place, in the log or in the index
  [[nodiscard]] bool any() const { return codec || size; }
  friend bool operator==(const KeptForm&, const KeptForm&) = default;
};

[[nodiscard]] std::string EncodeOptionsFile(const DBOptions& options,
                                            const std::vector<ColumnFamilyDescriptor>& families, KeptForm kept = {});

// The contents of a file. Its names may be unknown to this version.
struct OptionsFileText {
  std::uint64_t version = 0;
  std::uint64_t adds_to = 0;  // the number of another file; 0: the file is whole
  KeptForm kept;
  OptionTexts db;
  std::vector<std::pair<std::string, OptionTexts>> families;  // name and options, in the order of the file
  std::vector<std::string> dropped;  // names; a family with such a name may have been created again
  std::vector<std::string> unknown_sections;
};
// Parses a file. `path` is for messages. Corruption, with the offset, if the checksum or the syntax of a line is wrong.
Result<OptionsFileText> DecodeOptionsFile(Slice bytes, const std::string& path);
Result<OptionsFileText> ReadOptionsFile(FileSystem& fs, const std::string& path);

// An addition to file `adds_to`.
[[nodiscard]] std::string EncodeOptionsAddition(std::uint64_t adds_to, const std::vector<ColumnFamilyDescriptor>& families,
                                                const std::vector<std::string>& dropped);

// The newest OPTIONS file of a directory, together with the files that it adds to.
struct NewestOptions {
  std::uint64_t number = 0;  // number of the newest file
  std::uint64_t base = 0;    // number of the whole file that it adds to; equal to `number` if the newest file is whole
  std::string path;          // path of the newest file
  OptionsFileText text;      // the text with all additions applied
};
// NotFound if there is no file. Corruption if one of the files is damaged or missing.
Result<NewestOptions> ReadNewestOptions(FileSystem& fs, const std::string& directory);
// The contents of a whole file with this text.
[[nodiscard]] std::string EncodeOptionsText(const OptionsFileText& text);

// Converts the text to options, and checks them. Errors are those of LoadLatestOptions.
Status OptionsFromFileText(const OptionsFileText& text, const ConfigOptions& config, const std::string& path,
                           DBOptions* options, std::vector<ColumnFamilyDescriptor>* families);

// Whether a file has the same families as `ours`, which this version would write, and all of its options with the same
// values. The file may have more options: a later version wrote them, and rewriting the file would lose them.
// create_if_missing and error_if_exists are not compared: they concern one Open, not the database.
[[nodiscard]] bool HasAllOptionsOf(const OptionsFileText& text, const OptionsFileText& ours);

// Writes `bytes` to the OPTIONS file of this number. The name is durable once the caller syncs the directory. After an
// error, tries to remove the temporary file.
Status WriteOptionsFile(FileSystem& fs, const std::string& directory, std::uint64_t number, Slice bytes);

// Removes all OPTIONS files but the newest, which is whole, and `previous`, and the temporary files of interrupted
// writes. Must not run while an OPTIONS file is being written.
Status RemoveOldOptionsFiles(FileSystem& fs, const std::string& directory, std::uint64_t previous);

}  // namespace cambium
