// Mending a MANIFEST record of which little is damaged, for whoever repairs. Nothing is guessed: what comes out has the
// checksums that were written.
//
//   header damaged in one byte     its own checksum tells which
//   header lost, payload whole     all of it can be computed; the next record holds the checksum that it had
//   payload damaged in one byte    the header holds its checksum
//
// A wrong record would have to have the right 64 bits by chance, in one of some 2^20 tries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "manifest/manifest_record.h"

namespace cambium {

struct MendedManifestRecord {
  ManifestRecordHeader header;
  std::string padded;  // the payload, with its zeros
};

// `bytes` begin at `offset` and end where the next valid header stands, or the file. `previous`: the checksum of the header
// before. `next_previous`: what the next header says that this one's was, if there is a next one. Null if no record comes
// out of it. Hashes `kMendBytesMax` bytes at most: in a payload of more than 4 KiB only a bit is found, in one of more than
// 23 KiB nothing.
inline constexpr std::uint64_t kMendBytesMax = std::uint64_t{4} << 30;
[[nodiscard]] std::optional<MendedManifestRecord> MendManifestRecord(Slice bytes, std::uint64_t file_seed,
                                                                     std::uint64_t offset, ManifestRecordType type,
                                                                     std::uint64_t previous,
                                                                     std::optional<std::uint64_t> next_previous);

}  // namespace cambium
