#include "manifest/record_mend.h"

#include "util/one_byte.h"

namespace cambium {

std::optional<ManifestRecordHeader> MendManifestHeader(Slice bytes, std::uint64_t file_seed, std::uint64_t offset,
                                                       std::uint64_t* budget) {
  if (bytes.size() != kManifestRecordHeaderSize) return std::nullopt;
  std::string header = bytes.ToString();
  const auto is_right = [&] { return ParseManifestRecordHeader(header, file_seed, offset).has_value(); };
  if (!is_right() && !MendOneByte(&header, budget, is_right)) return std::nullopt;
  return ParseManifestRecordHeader(header, file_seed, offset);
}

bool MendManifestPayload(const ManifestRecordHeader& header, std::uint64_t file_seed, std::uint64_t offset,
                         std::string* padded, std::uint64_t* budget) {
  const auto is_whole = [&] { return ManifestPayloadIsWhole(header, *padded, file_seed, offset); };
  return is_whole() || MendOneByte(padded, budget, is_whole);
}

// The payload ends less than 8 bytes (the alignment) before the next record, and zeros fill the gap: tries each size.
std::optional<ManifestRecordHeader> HeaderOfManifestPayload(Slice padded, std::uint64_t file_seed, std::uint64_t offset,
                                                            ManifestRecordType type, std::uint64_t previous,
                                                            std::uint64_t checksum, std::uint64_t* budget) {
  if (padded.size() % kManifestRecordAlignment != 0) return std::nullopt;
  for (std::size_t size = padded.size(); size + kManifestRecordAlignment > padded.size(); --size) {
    if (*budget < padded.size()) break;
    *budget -= padded.size();
    std::string record;
    if (AppendManifestRecord(type, padded.substr(0, size), file_seed, offset, previous, &record) == checksum) {
      return ParseManifestRecordHeader(record, file_seed, offset);
    }
    if (size == 0 || padded[size - 1] != '\0') break;
  }
  return std::nullopt;
}

}  // namespace cambium
