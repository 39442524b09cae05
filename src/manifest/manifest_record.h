// The records of a MANIFEST file. They stand behind the FileHeader (128 bytes), one behind the other:
//
//   offset  size  field              (little-endian, no padding)
//        0     8  header checksum    XXH3 of the 32 bytes behind it
//        8     8  payload checksum   XXH3 of the payload and the zeros behind it
//       16     8  previous           header checksum of the record before; in the first one that of the FileHeader
//       24     8  size               of the payload, in bytes
//       32     4  type               1 snapshot: the edit that makes the whole state; 2 edit
//       36     4  reserved           0
//       40     -  payload            EncodeEdit, then zeros up to a multiple of 8
//
// Both checksums are seeded with SeedAt(file seed, offset of the record).
//
// Two checksums, because two questions are asked. Is this the next record? Then `previous` must fit, and by way of it
// everything before. Has a record ever been behind a damaged one? That must be answered without knowing the damaged
// one, so a header proves itself by file and place alone. A record is written only when the one before it is durable:
// a damaged record with a valid header somewhere behind it was committed, and one without is what a crash left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cambium/slice.h"

namespace cambium {

inline constexpr std::size_t kManifestRecordHeaderSize = 40;
inline constexpr std::uint64_t kManifestRecordAlignment = 8;
// A reader never takes more than this in one piece; a state that needs more cannot be committed (InvalidArgument).
inline constexpr std::uint64_t kManifestPayloadMax = std::uint64_t{1} << 30;

// On disk.
enum class ManifestRecordType : std::uint32_t { kSnapshot = 1, kEdit = 2 };

struct ManifestRecordHeader {
  std::uint64_t checksum = 0;
  std::uint64_t payload_checksum = 0;
  std::uint64_t previous = 0;
  std::uint64_t size = 0;
  std::uint32_t type = 0;
  std::uint32_t reserved = 0;
};

// Appends the record that shall stand at `offset` to *out; returns its header checksum, `previous` of the next one.
std::uint64_t AppendManifestRecord(ManifestRecordType type, Slice payload, std::uint64_t file_seed,
                                   std::uint64_t offset, std::uint64_t previous, std::string* out);

// The header in the first 40 of `bytes`, if it is one of a record at `offset` of this file. Type, size and `previous`
// are as written: of a later version, or hostile, perhaps.
[[nodiscard]] std::optional<ManifestRecordHeader> ParseManifestRecordHeader(Slice bytes, std::uint64_t file_seed,
                                                                            std::uint64_t offset);

// `padded` is the payload with its zeros.
[[nodiscard]] bool ManifestPayloadIsWhole(const ManifestRecordHeader& header, Slice padded, std::uint64_t file_seed,
                                          std::uint64_t offset);

}  // namespace cambium
