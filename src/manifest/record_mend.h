// Mending a MANIFEST record of which little is damaged, for whoever repairs. Nothing is guessed: what comes out has the
// checksums that were written.
//
//   header damaged in one byte     its own checksum tells which
//   header lost, payload whole     all of it can be computed; the next record holds the checksum that it had
//   payload damaged in one byte    the header holds its checksum
//
// A wrong record would have to have the right 64 bits by chance, in one of some 2^20 tries.
//
// `budget`: bytes that may still be hashed; what is hashed is taken off it. A payload of more than 4 KiB takes more than
// kMendBytesMax for any byte, and one of more than 23 KiB for a bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "manifest/manifest_record.h"

namespace cambium {

inline constexpr std::uint64_t kMendBytesMax = std::uint64_t{4} << 30;  // for a file

// Of the header that stands at `offset`. Null if no header comes out of it.
[[nodiscard]] std::optional<ManifestRecordHeader> MendManifestHeader(Slice bytes, std::uint64_t file_seed,
                                                                     std::uint64_t offset, std::uint64_t* budget);

// The payload of a header that is right, with its zeros. False, and nothing changed, if it does not come out right.
[[nodiscard]] bool MendManifestPayload(const ManifestRecordHeader& header, std::uint64_t file_seed,
                                       std::uint64_t offset, std::string* padded, std::uint64_t* budget);

// The header of a payload that is whole and ends with the next record, which says that this header's checksum was
// `checksum`. `previous`: the checksum of the header before. Null if none has it.
[[nodiscard]] std::optional<ManifestRecordHeader> HeaderOfManifestPayload(Slice padded, std::uint64_t file_seed,
                                                                          std::uint64_t offset, ManifestRecordType type,
                                                                          std::uint64_t previous,
                                                                          std::uint64_t checksum,
                                                                          std::uint64_t* budget);

}  // namespace cambium
