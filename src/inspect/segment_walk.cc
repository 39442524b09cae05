#include "inspect/segment_walk.h"

#include <algorithm>

#include "io/file_header.h"

namespace cambium {
namespace {

// Returns the first offset from `from` on with a valid header, or `end` if there is none.
Result<std::uint64_t> NextHeader(const File& file, std::uint64_t seed, std::uint64_t from, std::uint64_t end) {
  constexpr std::size_t kChunk = 64u << 10;
  std::string bytes(kChunk + kRecordHeaderSize, '\0');
  for (std::uint64_t chunk = from; chunk + kRecordHeaderSize <= end; chunk += kChunk) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - chunk));
    std::size_t have = 0;
    CAMBIUM_RETURN_IF_ERROR(file.Read(chunk, wanted, bytes.data(), &have));
    for (std::size_t i = 0; i < kChunk && i + kRecordHeaderSize <= have; i += kRecordAlignment) {
      // Most offsets are inside values. Two fields that are zero in every header exclude most of them without a
      // checksum.
      if (bytes[i + 55] != 0 || (bytes[i + 54] & ~kLastOfBatch) != 0) continue;
      RecordHeader header;
      if (DecodeRecordHeader(bytes.data() + i, seed, chunk + i, &header) == HeaderCheck::kValid) return chunk + i;
    }
  }
  return end;
}

}  // namespace

Status WalkSegment(const File& file, std::uint64_t seed, std::uint64_t first, std::uint64_t end,
                   std::span<const std::uint64_t> holes, const SegmentWalkCallbacks& callbacks,
                   std::uint64_t* log_end) {
  *log_end = first;
  for (std::uint64_t begin = first; begin < end;) {
    SegmentScanner scanner(file, seed, begin, end, nullptr);
    scanner.SetHoles(holes);
    ScannedRecord record;
    ScanResult found{};
    while (true) {
      CAMBIUM_TRY(found, scanner.Next(&record));
      if (found != ScanResult::kRecord) break;
      *log_end = record.end();
      CAMBIUM_RETURN_IF_ERROR(callbacks.on_record(record));
    }
    if (found == ScanResult::kEnd) return Status::OK();
    CAMBIUM_TRY(const bool is_unused, scanner.OnlyZerosAhead());
    if (is_unused) return Status::OK();
    DamagedStretch damage{scanner.offset(), 0, scanner.reason()};
    const std::uint64_t after =
        scanner.offset() + (scanner.header_valid() ? scanner.header().RecordSize() : kRecordAlignment);
    CAMBIUM_TRY(damage.end, NextHeader(file, seed, std::min(after, end), end));
    CAMBIUM_RETURN_IF_ERROR(callbacks.on_damage(damage));
    begin = damage.end;
  }
  return Status::OK();
}

}  // namespace cambium
