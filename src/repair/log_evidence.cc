#include "repair/log_evidence.h"

#include "vlog/segment_scanner.h"

namespace cambium {
namespace {

std::string OfRecord(const ManifestState& state, const RecordHeader& header, const ScannedRecord* record) {
  if (IsControl(header.op)) return "";
  if (header.family >= state.next_family_id) return "column family " + std::to_string(header.family);
  LargeValueRef ref;
  const bool is_large = record != nullptr && header.op == RecordOp::kPutLarge;
  if (is_large && DecodeLargeValueRef(record->stored_value, &ref) && ref.number >= state.next_file_number) {
    return "the large value's file " + std::to_string(ref.number);
  }
  return "";
}

Result<std::string> InSegment(const Salvage& salvage, const FoundFile& found) {
  const ManifestState& state = salvage.state;
  const auto named = state.segments.find(found.name.number);
  const bool is_named = named != state.segments.end() && named->second.kind == SegmentKind::kLog;
  const std::uint64_t size = is_named && named->second.sealed ? named->second.sealed_length : found.size;
  SegmentScanner scanner(*found.file, found.header.Seed(), kFileHeaderSize, size, nullptr);
  if (is_named) scanner.SetHoles(named->second.punched);
  ScannedRecord record;
  while (true) {
    const Result<ScanResult> next = scanner.Next(&record);
    if (!next.ok() && next.status().IsNotSupported()) return next.status();
    if (!next.ok() || *next == ScanResult::kEnd) return std::string();
    const bool is_record = *next == ScanResult::kRecord;
    if (is_record || scanner.header_valid()) {
      const std::string lacking = !is_named ? "a segment that it does not name"
                                            : OfRecord(state, scanner.header(), is_record ? &record : nullptr);
      const std::uint64_t offset = is_record ? record.offset : scanner.offset();
      if (!lacking.empty()) return found.path + ":" + std::to_string(offset) + ": a record of " + lacking;
    }
    if (is_record) continue;
    const Result<bool> continues = scanner.SkipDamage();
    if (!continues.ok() || !*continues) return std::string();
  }
}

}  // namespace

Result<std::string> FindUnknownToManifest(const Salvage& salvage) {
  const ManifestState& state = salvage.state;
  for (const FoundFile& found : salvage.files) {
    if (found.name.kind != FileKind::kLog || !found.flaw.ok()) continue;
    if (found.header.database_id != state.database_id || found.name.number < state.replay.segment) continue;
    const auto named = state.segments.find(found.name.number);
    // A segment that recovery rejected and dropped, or one from before the MANIFEST: no evidence.
    if (named == state.segments.end() &&
        (found.header.epoch < state.epoch || found.name.number == state.replay.segment)) {
      continue;
    }
    if (named != state.segments.end() && named->second.file_id != found.header.file_id) continue;
    CAMBIUM_TRY(std::string lacking, InSegment(salvage, found));
    if (!lacking.empty()) return lacking;
  }
  return std::string();
}

}  // namespace cambium
