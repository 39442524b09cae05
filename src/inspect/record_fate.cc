#include "inspect/record_fate.h"

namespace cambium {
namespace {

ValueAddress AddressOf(const SegmentInfo& info, std::uint64_t offset, const RecordHeader& header) {
  return info.kind == SegmentKind::kLargeValue ? ValueAddress::OwnFile(info.slot, info.file_size)
                                               : ValueAddress::InLog(info.slot, offset, header.RecordSize());
}

// Returns the fate of a record that recovery would replay.
RecordFate InTail(const InspectedDatabase::Family& family, const RecordHeader& header, Slice key) {
  Entry entry;
  SequenceNumber newest = 0;
  const bool is_range = header.op == RecordOp::kDeleteRange;
  const bool found = family.tail->Find(key, kMaxSequenceNumber, &entry, &newest);
  const bool is_newest = !is_range && found && newest == header.sequence;
  const char* why = is_range    ? "a range delete that is not flushed"
                    : is_newest ? "not flushed"
                                : "not flushed, and another one is newer";
  return {RecordMark::kPending, is_newest, why, {}};
}

Result<RecordFate> InLayers(InspectedDatabase* database, const InspectedDatabase::Family& family, Slice key,
                            ValueAddress address) {
  if (Entry entry; family.tail->Find(key, kMaxSequenceNumber, &entry)) {
    if (entry.HasAddress() && entry.address == address)
      return RecordFate{RecordMark::kPending, true, "not flushed", {}};
    return RecordFate{RecordMark::kDead, false, "hidden by an operation that is not flushed", {}};
  }
  if (family.layers == nullptr) return RecordFate{RecordMark::kUnknown, false, "the index is damaged", {}};
  PageRef keep;
  Entry entry;
  const Result<bool> found = family.layers->Find(key, &keep, &entry);
  if (!found.ok()) {
    CAMBIUM_RETURN_IF_ERROR(database->problems().Note(found.status()));
    return RecordFate{RecordMark::kUnknown, false, "the index is damaged", {}};
  }
  if (!*found) return RecordFate{RecordMark::kDead, false, "deleted", {}};
  if (entry.HasAddress() && entry.address == address) return RecordFate{RecordMark::kLive, true, "", {}};
  if (entry.HasAddress()) return RecordFate{RecordMark::kDead, false, "the value is elsewhere", entry.address};
  const char* const why = entry.kind == EntryKind::kTombstone ? "deleted" : "the value is in the index";
  return RecordFate{RecordMark::kDead, false, why, {}};
}

}  // namespace

const char* NameOf(RecordMark mark) {
  switch (mark) {
    case RecordMark::kLive:
      return "live";
    case RecordMark::kDead:
      return "dead";
    case RecordMark::kPending:
      return "pending";
    case RecordMark::kControl:
      return "control";
    case RecordMark::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Result<RecordFate> FateOf(InspectedDatabase* database, const SegmentInfo& info, std::uint64_t offset,
                          const RecordHeader& header, Slice key) {
  if (IsControl(header.op)) return RecordFate{RecordMark::kControl, false, "", {}};
  const InspectedDatabase::Family* const family = database->FindFamily(header.family);
  if (family == nullptr) return RecordFate{RecordMark::kDead, false, "its column family is dropped", {}};
  const LogPosition position{info.number, offset};
  if (info.kind == SegmentKind::kLog && !(position < database->state().replay)) {
    if (!database->has_tail()) return RecordFate{RecordMark::kUnknown, false, "the log is damaged", {}};
    if (!(position < database->replayed().end)) {
      return RecordFate{RecordMark::kDead, false, "after the end of the log that recovery finds", {}};
    }
    if (header.sequence > family->state->flushed_sequence) return InTail(*family, header, key);
  }
  switch (header.op) {
    case RecordOp::kPut:
      return InLayers(database, *family, key, AddressOf(info, offset, header));
    case RecordOp::kPutLarge:
      return RecordFate{RecordMark::kDead, false, "the value is in its own file", {}};
    default:
      return RecordFate{RecordMark::kDead, false, "the delete is flushed", {}};
  }
}

}  // namespace cambium
