// The records of a MANIFEST file. They follow the FileHeader (128 bytes) without gaps:
//
//   offset  size  field              (little-endian, no padding)
//        0     8  header checksum    XXH3 of the 32 bytes after it
//        8     8  payload checksum   XXH3 of the payload and the zeros after it
//       16     8  previous           header checksum of the record before; in the first record, that of the FileHeader
//       24     8  size               of the payload, in bytes
//       32     4  type               1 snapshot: an edit that makes the whole state; 2 edit
//       36     4  reserved           0
//       40     -  payload            EncodeEdit, then zeros up to a multiple of 8
//
// Both checksums are seeded with SeedAt(file seed, offset of the record).
//
// There are two checksums because a reader asks two questions. Is this the next record? Then `previous` must match, and
// through it all earlier records. Was there ever a record after a damaged one? That must be answered without the
// damaged one, so the header's checksum depends only on its file and place. A record is written only when the one
// before it is durable. So a damaged record was committed if a valid header lies somewhere after it; otherwise a crash
// left it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cambium/slice.h"

namespace cambium {

inline constexpr std::size_t kManifestRecordHeaderSize = 40;
inline constexpr std::uint64_t kManifestRecordAlignment = 8;
// The largest payload; a state that needs more cannot be committed (InvalidArgument). It bounds a reader's memory.
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

// Appends a record for `offset` of the file to *out. Returns its header checksum, which is `previous` of the next
// record.
std::uint64_t AppendManifestRecord(ManifestRecordType type, Slice payload, std::uint64_t file_seed,
                                   std::uint64_t offset, std::uint64_t previous, std::string* out);

// Returns the header at the start of `bytes`, if its checksum is right for `offset` of this file. Type, size and
// `previous` are not checked: they may be forged, or of a later version.
[[nodiscard]] std::optional<ManifestRecordHeader> ParseManifestRecordHeader(Slice bytes, std::uint64_t file_seed,
                                                                            std::uint64_t offset);

// True if the checksum of the payload is right. `padded` is the payload with its zeros.
[[nodiscard]] bool ManifestPayloadIsWhole(const ManifestRecordHeader& header, Slice padded, std::uint64_t file_seed,
                                          std::uint64_t offset);

}  // namespace cambium
