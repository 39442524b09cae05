#include "manifest/manifest_record.h"

#include <algorithm>
#include <cassert>

#include "util/checksum.h"
#include "util/coding.h"
#include "util/mutant.h"

namespace cambium {

std::uint64_t AppendManifestRecord(ManifestRecordType type, Slice payload, std::uint64_t file_seed,
                                   std::uint64_t offset, std::uint64_t previous, std::string* out) {
  assert(offset % kManifestRecordAlignment == 0 && payload.size() <= kManifestPayloadMax);
  const std::uint64_t seed = SeedAt(file_seed, offset);
  const std::size_t start = out->size();
  out->resize(start + kManifestRecordHeaderSize);
  out->append(payload.data(), payload.size());
  out->resize(start + kManifestRecordHeaderSize + AlignUp(payload.size(), kManifestRecordAlignment));
  const Slice padded = Slice(*out).substr(start + kManifestRecordHeaderSize, out->size() - start -
                                                                                 kManifestRecordHeaderSize);
  char* header = out->data() + start;
  EncodeFixed<std::uint64_t>(header + 8, Checksum64(padded, seed));
  EncodeFixed<std::uint64_t>(header + 16, previous);
  EncodeFixed<std::uint64_t>(header + 24, payload.size());
  EncodeFixed<std::uint32_t>(header + 32, static_cast<std::uint32_t>(type));
  EncodeFixed<std::uint32_t>(header + 36, 0u);
  const std::uint64_t checksum = Checksum64({header + 8, kManifestRecordHeaderSize - 8}, seed);
  EncodeFixed<std::uint64_t>(header, checksum);
  return checksum;
}

std::optional<ManifestRecordHeader> ParseManifestRecordHeader(Slice bytes, std::uint64_t file_seed,
                                                              std::uint64_t offset) {
  if (bytes.size() < kManifestRecordHeaderSize) return std::nullopt;
  const char* in = bytes.data();
  ManifestRecordHeader header;
  header.checksum = DecodeFixed<std::uint64_t>(in);
  const std::uint64_t right = Checksum64({in + 8, kManifestRecordHeaderSize - 8}, SeedAt(file_seed, offset));
  if (!ChecksumMatches(header.checksum, right) && !MutantIs(Mutant::kManifestNoChecksum)) return std::nullopt;
  header.payload_checksum = DecodeFixed<std::uint64_t>(in + 8);
  header.previous = DecodeFixed<std::uint64_t>(in + 16);
  header.size = DecodeFixed<std::uint64_t>(in + 24);
  header.type = DecodeFixed<std::uint32_t>(in + 32);
  header.reserved = DecodeFixed<std::uint32_t>(in + 36);
  return header;
}

bool ManifestPayloadIsWhole(const ManifestRecordHeader& header, Slice padded, std::uint64_t file_seed,
                            std::uint64_t offset) {
  return ChecksumMatches(header.payload_checksum, Checksum64(padded, SeedAt(file_seed, offset))) ||
         MutantIs(Mutant::kManifestNoChecksum);
}

}  // namespace cambium
