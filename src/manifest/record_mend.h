// Mends a MANIFEST record with little damage, for salvage. The result is proven: it has the checksums that were
// written.
//
//   header damaged in one byte     its own checksum tells which
//   header lost, payload whole     the header is computed, and the next record has its checksum
//   payload damaged in one byte    the header has its checksum
//
// For a wrong result, one of some 2^20 tries would have to match 64 bits by chance.
//
// `budget`: how many more bytes may be hashed; each function subtracts what it hashes. kMendBytesMax is enough to try
// every value of every byte in a payload of up to 4 KiB, or every bit in one of up to 22 KiB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "manifest/manifest_record.h"

namespace cambium {

inline constexpr std::uint64_t kMendBytesMax = std::uint64_t{4} << 30;  // for a file

// Returns the header at `offset`, mended if needed; nullopt if that fails.
[[nodiscard]] std::optional<ManifestRecordHeader> MendManifestHeader(Slice bytes, std::uint64_t file_seed,
                                                                     std::uint64_t offset, std::uint64_t* budget);

// Mends *padded, the payload of a valid header, with its zeros. False, with nothing changed, if that fails.
[[nodiscard]] bool MendManifestPayload(const ManifestRecordHeader& header, std::uint64_t file_seed,
                                       std::uint64_t offset, std::string* padded, std::uint64_t* budget);

// Computes the lost header of a whole payload that ends at the next record. `checksum` is the header's checksum, from
// the next record; `previous` that of the header before. Returns nullopt if no size of the payload gives that checksum.
[[nodiscard]] std::optional<ManifestRecordHeader> HeaderOfManifestPayload(Slice padded, std::uint64_t file_seed,
                                                                          std::uint64_t offset, ManifestRecordType type,
                                                                          std::uint64_t previous,
                                                                          std::uint64_t checksum,
                                                                          std::uint64_t* budget);

}  // namespace cambium
