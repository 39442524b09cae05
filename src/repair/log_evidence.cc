#include "repair/log_evidence.h"

#include "recovery/open_files.h"
#include "vlog/segment_scanner.h"

namespace cambium {
namespace {

std::string OfRecord(const ManifestState& state, const RecordHeader& header, const ScannedRecord* record) {
  if (IsControl(header.op)) return "";
  if (header.family >= state.next_family_id) return "column family " + std::to_string(header.family);
  LargeValueRef ref;
  if (record == nullptr || header.op != RecordOp::kPutLarge || !DecodeLargeValueRef(record->stored_value, &ref)) return "";
  // The file of a flushed operation, or of a dropped family, may be dropped.
  const auto family = state.families.find(header.family);
  if (family == state.families.end() || header.sequence <= family->second.flushed_sequence) return "";
  const auto named = state.segments.find(ref.number);
  const bool is_named = named != state.segments.end() && named->second.kind == SegmentKind::kLargeValue;
  return is_named ? "" : "the large value's file " + std::to_string(ref.number);
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
    if (EndsSalvage(next.status())) return next.status();
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
  const bool was_never_written = WasNeverWritten(state);
  for (const FoundFile& found : salvage.files) {
    if (was_never_written && IsMadeFromLog(found.name.kind) && found.flaw.ok() &&
        found.header.database_id == state.database_id && found.header.epoch >= state.epoch) {
      return found.path + ": a run, index segment or relocation segment";
    }
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
