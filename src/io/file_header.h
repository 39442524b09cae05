// The first 128 bytes of every binary file of a database. They say what the file is and give the seed of its checksums,
// so that bytes of another file, epoch or database never validate. (The checksum of a record's body has seed 0; the
// header of the record, which has the seed, holds it.)
//
//   offset  size  field                (little-endian, no padding)
//        0     8  magic                "CAMBIUM1"
//        8     4  format version       1
//       12     4  kind                 FileKind
//       16     4  required features    if the reader does not know a bit, it must refuse the file
//       20     4  optional features    if the reader does not know a bit, it may read the file but not write it
//       24    16  database id          drawn once, when the database was created
//       40    16  file id              drawn for this file; new files of two copies share numbers, not ids
//       56     8  number               the number in the file's name
//       64     8  epoch                +1 for every Open for writing
//       72     8  created              seconds since 1970, for human readers
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
  // Text files have a number in their name but no header, so these kinds are never on disk.
  kOptions = 0xffff0001,
  kTemporary = 0xffff0002,  // an OPTIONS file that does not have its final name yet
};

using Id128 = std::array<unsigned char, 16>;

// A required feature of a MANIFEST: entries of its layers may have versions (see manifest/features.h).
inline constexpr std::uint32_t kFeatureVersions = 1;
// The required features that this version knows in the header of a file of this kind.
[[nodiscard]] constexpr std::uint32_t KnownRequiredFeatures(FileKind kind) {
  return kind == FileKind::kManifest ? kFeatureVersions : 0;
}

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

  // Returns the seed of all checksums in this file: the XXH3 of file id, number, epoch and kind.
  [[nodiscard]] std::uint64_t Seed() const;
};

[[nodiscard]] std::string EncodeFileHeader(const FileHeader& header);

// Decodes the first kFileHeaderSize bytes of a file, or fewer if the file is shorter. Returns Corruption if they are
// not a header, NotSupported if the header has a later version or requires an unknown feature. `name` is for the
// message.
Result<FileHeader> DecodeFileHeader(Slice bytes, const std::string& name);

// Decodes the fields of a header whose checksum is wrong. Any field may be damaged, but most are usually intact. Only
// for a caller that then proves them: checksums of the file's contents validate only with the right seed. Returns false
// if there are too few bytes or they were never a header.
[[nodiscard]] bool GuessFileHeader(Slice bytes, FileHeader* header);

// Repairs a header with one damaged byte. Returns false if no change of one byte makes the checksum match. It restores
// the header as it was written, also one of a later version.
bool MendFileHeader(std::string* bytes);

// Reads and decodes the header of `file`. Returns Corruption if its kind or number is not the expected one.
Result<FileHeader> ReadFileHeader(const File& file, FileKind kind, std::uint64_t number);

}  // namespace cambium
