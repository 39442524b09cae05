#include "describe.h"

#include "key_text.h"
#include "manifest/file_names.h"

namespace cambium::tool {
namespace {

using Json = nlohmann::ordered_json;

Json Describe(const TreeRoot& root) {
  Json json{{"height", root.height}, {"entries", root.entry_count}, {"value_bytes", root.value_bytes}};
  if (root.page.id == PageId::kNone) return json;
  json["file"] = FileNumberOf(root.page.id);
  json["unit"] = UnitOffsetOf(root.page.id);
  json["units"] = UnitsOf(root.page.id);
  return json;
}

Json Describe(const SweepState& sweep, bool hex) {
  return {{"cursor", Format(sweep.cursor, hex)}, {"runs", sweep.runs}};
}

Json Describe(const IndexSegmentInfo& segment) {
  return {{"file", FileName(FileKind::kIndex, segment.number)},
          {"length", segment.length},
          {"live_units", segment.live_units},
          {"file_id", IdText(segment.file_id)}};
}

Json DescribeAccount(Slot slot, const Account& account) {
  return {{"slot", static_cast<std::uint32_t>(slot)}, {"references", account.references}, {"bytes", account.bytes}};
}

Json DescribeSlots(const auto& slots) {
  Json json = Json::array();
  for (const Slot slot : slots) json.push_back(static_cast<std::uint32_t>(slot));
  return json;
}

Json Describe(const FamilyEdit& edit, bool hex) {
  Json json{{"id", edit.id}};
  if (edit.create.has_value()) {
    json["create"] = {{"name", edit.create->name},
                      {"index_type", NameOf(edit.create->index_type)},
                      {"comparator", edit.create->comparator},
                      {"page_size", edit.create->page_size}};
  }
  if (edit.flushed_sequence.has_value()) json["flushed_sequence"] = *edit.flushed_sequence;
  for (const RunInfo& run : edit.add_runs) json["add_runs"].push_back(tool::Describe(run, hex));
  if (edit.layers.has_value()) json["layers"] = *edit.layers;
  for (const FamilyEdit::Placement& place : edit.place_runs) {
    json["place_runs"].push_back({{"run", place.number}, {"level", place.level}, {"tier", place.tier}});
  }
  if (!edit.drop_level_runs.empty()) json["drop_level_runs"] = edit.drop_level_runs;
  if (edit.root.has_value()) json["root"] = Describe(*edit.root);
  if (edit.end_sweep) json["end_sweep"] = true;
  if (edit.sweep.has_value()) json["sweep"] = Describe(*edit.sweep, hex);
  for (const IndexSegmentInfo& segment : edit.set_index_segments)
    json["set_index_segments"].push_back(Describe(segment));
  if (!edit.drop_index_segments.empty()) json["drop_index_segments"] = edit.drop_index_segments;
  for (const auto& [slot, change] : edit.accounts.by_slot()) json["accounts"].push_back(DescribeAccount(slot, change));
  if (edit.versions_since.has_value()) json["versions_since"] = *edit.versions_since;
  return json;
}

}  // namespace

const char* NameOf(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kLog:
      return "log";
    case SegmentKind::kRelocation:
      return "relocation";
    case SegmentKind::kLargeValue:
      return "large value";
  }
  return "unknown";
}
const char* NameOf(IndexType type) { return type == IndexType::kLsm ? "kLsm" : "kBTree"; }
const char* NameOf(RunKind kind) {
  switch (kind) {
    case RunKind::kFlush:
      return "flush";
    case RunKind::kCompaction:
      return "merge";
    case RunKind::kRelocation:
      return "relocation";
  }
  return "unknown";
}
const char* NameOf(RecordOp op) {
  switch (op) {
    case RecordOp::kPut:
      return "put";
    case RecordOp::kDelete:
      return "delete";
    case RecordOp::kSingleDelete:
      return "single delete";
    case RecordOp::kMerge:
      return "merge";
    case RecordOp::kDeleteRange:
      return "range delete";
    case RecordOp::kPutLarge:
      return "put large";
    case RecordOp::kLink:
      return "link";
    case RecordOp::kAbort:
      return "abort";
    case RecordOp::kMark:
      return "mark";
  }
  return "unknown";
}
const char* NameOf(Codec codec) {
  switch (codec) {
    case Codec::kNone:
      return "none";
    case Codec::kLz4:
      return "lz4";
    case Codec::kZstd:
      return "zstd";
  }
  return "unknown";
}
const char* NameOf(FileKind kind) {
  switch (kind) {
    case FileKind::kManifest:
      return "MANIFEST";
    case FileKind::kLog:
      return "log";
    case FileKind::kLargeValue:
      return "large value";
    case FileKind::kRun:
      return "run";
    case FileKind::kIndex:
      return "index segment";
    case FileKind::kRelocation:
      return "relocation";
    case FileKind::kReserve:
      return "reserve";
    case FileKind::kOptions:
      return "OPTIONS";
    case FileKind::kTemporary:
      return "temporary";
  }
  return "unknown";
}
const char* NameOf(EntryKind kind) {
  switch (kind) {
    case EntryKind::kValue:
      return "value";
    case EntryKind::kInline:
      return "inline";
    case EntryKind::kTombstone:
      return "tombstone";
    case EntryKind::kMergeOperands:
      return "merge operands";
    case EntryKind::kLargeValue:
      return "large value";
    case EntryKind::kRangeTombstone:
      return "range tombstone";
  }
  return "unknown";
}
const char* NameOf(WALRecoveryMode mode) {
  switch (mode) {
    case WALRecoveryMode::kTolerateCorruptedTailRecords:
      return "kTolerateCorruptedTailRecords";
    case WALRecoveryMode::kAbsoluteConsistency:
      return "kAbsoluteConsistency";
    case WALRecoveryMode::kPointInTimeRecovery:
      return "kPointInTimeRecovery";
    default:
      return "unknown";
  }
}
std::string IdText(const Id128& id) {
  return Slice(reinterpret_cast<const char*>(id.data()), id.size()).ToString(true);
}

Json Describe(const SegmentInfo& segment) {
  Json json{{"file", FileName(FileKindOf(segment.kind), segment.number)},
            {"number", segment.number},
            {"kind", NameOf(segment.kind)},
            {"slot", static_cast<std::uint32_t>(segment.slot)},
            {"sealed", segment.sealed},
            {"footer", segment.has_footer},
            {"sealed_length", segment.sealed_length},
            {"file_size", segment.file_size},
            {"generation", segment.generation},
            {"punched", segment.punched.size()},
            {"cut", segment.cut},
            {"last_sequence", segment.last_sequence},
            {"epoch", segment.epoch},
            {"file_id", IdText(segment.file_id)}};
  return json;
}

Json Describe(const RunInfo& run, bool hex) {
  Json json{{"file", FileName(FileKind::kRun, run.number)},
            {"number", run.number},
            {"kind", NameOf(run.kind)},
            {"entries", run.root.entry_count},
            {"tombstones", run.tombstone_count},
            {"range_deletes", run.range_delete_count},
            {"value_bytes", run.root.value_bytes},
            {"height", run.root.height},
            {"file_size", run.file_size},
            {"smallest", Format(run.smallest_key, hex)},
            {"largest", Format(run.largest_key, hex)},
            {"largest_is_open", run.largest_is_open},
            {"file_id", IdText(run.file_id)}};
  if (run.page_size != 0) json["page_size"] = run.page_size;
  return json;
}

Json Describe(const FamilyState& family, bool hex) {
  Json json{{"id", family.id},
            {"name", family.name},
            {"index_type", NameOf(family.index_type)},
            {"comparator", family.comparator},
            {"page_size", family.page_size},
            {"flushed_sequence", family.flushed_sequence}};
  if (family.versions_since.has_value()) json["versions_since"] = *family.versions_since;
  Json& runs = json["runs_newest_first"] = Json::array();
  for (const RunInfo& run : family.runs) runs.push_back(Describe(run, hex));
  if (family.index_type == IndexType::kLsm) {
    Json& levels = json["level_runs"] = Json::array();
    for (const auto& [number, run] : family.level_runs) {
      Json each{{"level", run.level}, {"tier", run.tier}};
      each.update(Describe(run.info, hex));
      levels.push_back(std::move(each));
    }
  } else {
    json["root"] = Describe(family.root);
    json["sweep"] = family.sweep.has_value() ? Describe(*family.sweep, hex) : Json();
    Json& segments = json["index_segments"] = Json::array();
    for (const auto& [number, segment] : family.index_segments) segments.push_back(Describe(segment));
  }
  Json& accounts = json["accounts"] = Json::array();
  for (const auto& [slot, account] : family.accounts) accounts.push_back(DescribeAccount(slot, account));
  return json;
}

Json Describe(const ManifestState& state, bool hex) {
  Json json{{"database_id", IdText(state.database_id)},
            {"epoch", state.epoch},
            {"next_file_number", state.next_file_number},
            {"last_sequence", state.last_sequence},
            {"durable_sequence", state.durable_sequence},
            {"replay",
             {{"segment", state.replay.segment}, {"offset", state.replay.offset}, {"sequence", state.replay_sequence}}},
            {"clean_shutdown", state.clean_shutdown},
            {"next_family_id", state.next_family_id}};
  Json& families = json["families"] = Json::array();
  for (const auto& [id, family] : state.families) families.push_back(Describe(family, hex));
  Json& segments = json["segments"] = Json::array();
  for (const auto& [number, segment] : state.segments) segments.push_back(Describe(segment));
  json["shadowed_slots"] = DescribeSlots(state.shadowed_slots);
  return json;
}

Json Describe(const Edit& edit, bool hex) {
  Json json = Json::object();
  if (edit.database_id.has_value()) json["database_id"] = IdText(*edit.database_id);
  if (edit.epoch.has_value()) json["epoch"] = *edit.epoch;
  if (edit.next_file_number.has_value()) json["next_file_number"] = *edit.next_file_number;
  if (edit.last_sequence.has_value()) json["last_sequence"] = *edit.last_sequence;
  if (edit.durable_sequence.has_value()) json["durable_sequence"] = *edit.durable_sequence;
  if (edit.replay.has_value()) {
    json["replay"] = {{"segment", edit.replay->segment},
                      {"offset", edit.replay->offset},
                      {"sequence", edit.replay_sequence.value_or(0)}};
  }
  if (edit.clean_shutdown.has_value()) json["clean_shutdown"] = *edit.clean_shutdown;
  for (const FamilyEdit& family : edit.families) json["families"].push_back(Describe(family, hex));
  for (const SegmentInfo& segment : edit.set_segments) json["set_segments"].push_back(Describe(segment));
  if (!edit.drop_segments.empty()) json["drop_segments"] = edit.drop_segments;
  if (!edit.shadow_slots.empty()) json["shadow_slots"] = DescribeSlots(edit.shadow_slots);
  if (edit.next_family_id.has_value()) json["next_family_id"] = *edit.next_family_id;
  if (!edit.drop_families.empty()) json["drop_families"] = edit.drop_families;
  return json;
}

Json Describe(const ManifestRecordSeen& record, bool hex) {
  return {{"offset", record.offset},
          {"size", record.size},
          {"type", record.is_snapshot ? "snapshot" : "edit"},
          {"edit", Describe(*record.edit, hex)}};
}

}  // namespace cambium::tool
