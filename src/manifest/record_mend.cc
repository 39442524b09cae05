#include "manifest/record_mend.h"

#include <algorithm>

#include "util/coding.h"
#include "util/one_byte.h"

namespace cambium {
namespace {

std::optional<ManifestRecordHeader> MendHeader(Slice bytes, std::uint64_t seed, std::uint64_t offset) {
  std::string header = bytes.ToString();
  const auto is_right = [&] { return ParseManifestRecordHeader(header, seed, offset).has_value(); };
  if (!is_right() && !MendOneByte(&header, kMendBytesMax, is_right)) return std::nullopt;
  return ParseManifestRecordHeader(header, seed, offset);
}

// The payload ends less than an alignment before the next record: behind it there are zeros.
std::optional<MendedManifestRecord> FromPayload(Slice padded, std::uint64_t seed, std::uint64_t offset,
                                                ManifestRecordType type, std::uint64_t previous,
                                                std::uint64_t checksum) {
  for (std::size_t size = padded.size(); size + kManifestRecordAlignment > padded.size(); --size) {
    std::string record;
    if (AppendManifestRecord(type, padded.substr(0, size), seed, offset, previous, &record) == checksum) {
      return MendedManifestRecord{*ParseManifestRecordHeader(record, seed, offset), padded.ToString()};
    }
    if (size == 0 || padded[size - 1] != '\0') break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<MendedManifestRecord> MendManifestRecord(Slice bytes, std::uint64_t file_seed, std::uint64_t offset,
                                                       ManifestRecordType type, std::uint64_t previous,
                                                       std::optional<std::uint64_t> next_previous) {
  if (bytes.size() < kManifestRecordHeaderSize) return std::nullopt;
  const Slice behind = bytes.substr(kManifestRecordHeaderSize, bytes.size() - kManifestRecordHeaderSize);
  const std::optional<ManifestRecordHeader> header =
      MendHeader(bytes.substr(0, kManifestRecordHeaderSize), file_seed, offset);
  if (!header.has_value()) {
    const bool is_sound = next_previous.has_value() && behind.size() % kManifestRecordAlignment == 0;
    return is_sound ? FromPayload(behind, file_seed, offset, type, previous, *next_previous) : std::nullopt;
  }
  if (header->size > behind.size() || AlignUp(header->size, kManifestRecordAlignment) > behind.size()) {
    return std::nullopt;
  }
  MendedManifestRecord mended{*header, behind.substr(0, AlignUp(header->size, kManifestRecordAlignment)).ToString()};
  const auto is_whole = [&] { return ManifestPayloadIsWhole(*header, mended.padded, file_seed, offset); };
  return is_whole() || MendOneByte(&mended.padded, kMendBytesMax, is_whole) ? std::optional(mended) : std::nullopt;
}

}  // namespace cambium
