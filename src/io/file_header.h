// The first 128 bytes of every binary file of a database. They say what the file is, and give its seed: a number that enters
// every checksum behind it, so that bytes of another file, another life or another database never validate.
//
//   offset  size  field                (little-endian, no padding)
//        0     8  magic                "CAMBIUM1"
//        8     4  format version       1
//       12     4  kind                 FileKind
//       16     4  required features    a bit that the reader does not know: refused
//       20     4  optional features    a bit that the reader does not know: may be read, not written
//       24    16  database id          drawn once, when the database was made (or cloned)
//       40    16  file id              drawn for this file; numbers repeat after a copy, ids do not
//       56     8  number               the number in its name
//       64     8  epoch                +1 with every opening for writing
//       72     8  created              seconds since 1970, for people
//       80     8  page size            index files and runs: bytes per page unit; else 0
//       88    32  reserved             0
//      120     8  checksum             XXH3 of the 120 bytes before it, seed 0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "cambium/file_system.h"
#include "cambium/slice.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::size_t kFileHeaderSize = 128;
inline constexpr std::uint32_t kFormatVersion = 1;

enum class FileKind : std::uint32_t {
  kManifest = 1,
  kLog = 2,
  kLargeValue = 3,
  kRun = 4,
  kIndex = 5,
  kRelocation = 6,
  kReserve = 7,
  // Text files: they have a number in their name and no header, so these are never on disk.
  kOptions = 0xffff0001,
  kTemporary = 0xffff0002,  // on its way to be an options file
};

using Id128 = std::array<unsigned char, 16>;

struct FileHeader {
  FileKind kind = FileKind::kManifest;
  std::uint32_t required_features = 0;
  std::uint32_t optional_features = 0;
  Id128 database_id{};
  Id128 file_id{};
  std::uint64_t number = 0;
  std::uint64_t epoch = 0;
  std::uint64_t created_seconds = 0;
  std::uint64_t page_size = 0;

  // What enters the checksums of this file's contents: XXH3 of file id, number, epoch and kind.
  [[nodiscard]] std::uint64_t Seed() const;
};

[[nodiscard]] std::string EncodeFileHeader(const FileHeader& header);

// `bytes` are the first kFileHeaderSize of the file, or fewer if it is shorter. Corruption if they are no header,
// NotSupported if they are one of a later version or need an unknown feature. `name` is for the message.
Result<FileHeader> DecodeFileHeader(Slice bytes, const std::string& name);

// The fields of a header whose checksum is wrong, as they stand there: one of them may be anything, but most are what they
// were. Only for whoever then proves them by what they are the seed of. False if the bytes are too few, or no header's.
[[nodiscard]] bool GuessFileHeader(Slice bytes, FileHeader* header);

// Changes the one byte of a header's bytes that is damaged; false if its checksum finds none. Whatever was written, a later
// version too, comes out.
bool MendFileHeader(std::string* bytes);

// Reads and decodes it, and compares kind and number with what the caller expects.
Result<FileHeader> ReadFileHeader(const File& file, FileKind kind, std::uint64_t number);

}  // namespace cambium
