#include "api/large_values.h"

#include <cassert>
#include <functional>
#include <string>
#include <utility>

#include "io/file_header.h"
#include "util/checksum.h"
#include "util/compression.h"
#include "util/mutant.h"
#include "vlog/large_value_file.h"
#include "vlog/value_reader.h"

namespace cambium {

// Writes the file without a lock: no other thread knows it until it is named.
Status LargeValues::Write(const Family& family, Slice key, Slice value, bool may_wait, std::uint64_t* number,
                          LargeValueRef* ref, ValueAddress* address) {
  *number = commits_.NewFileNumber();
  if (const Status room = disk_keeper_.MakeRoomForFile(value.size(), may_wait); !room.ok()) {
    if (room.IsNoSpace()) disk_keeper_.OnNoSpace();
    return room;
  }
  NewFile made(db_, *number);
  CAMBIUM_RETURN_IF_ERROR(made.guard.Create(&made.file));
  BlobFileCreation creation = db_.BeginBlobFile(made.header, BlobFileCreationReason::kLargeValue);
  db_.events.Deliver();
  std::string buffer;
  Slice stored;
  Encode(family, key, value, &made.record, &buffer, &stored);
  Status done = Fill(&made, key, stored);
  if (done.ok()) done = Name(&made, family, ref, address);
  creation.Done(done, done.ok() ? ref->file_size : 0);
  if (done.IsNoSpace() && done.severity() != Status::Severity::kFatal) disk_keeper_.OnNoSpace();
  db_.events.Deliver();
  return done;
}

void LargeValues::Encode(const Family& family, Slice key, Slice value, RecordHeader* record, std::string* buffer,
                         Slice* stored) const {
  record->op = RecordOp::kPut;
  record->family = family.id;
  record->key_size = static_cast<std::uint32_t>(key.size());
  record->write_time = static_cast<std::uint32_t>(db_.options.clock->WallSeconds());
  record->marks = kLastOfBatch;
  *stored = value;
  const Codec codec = family.in_force().codec;
  if (codec != Codec::kNone) {
    const Stopwatch watch(&db_.meter, BLOB_DB_COMPRESSION_MICROS, kAll);
    const auto raw_size = static_cast<std::uint64_t>(value.size());
    buffer->assign(reinterpret_cast<const char*>(&raw_size), sizeof(raw_size));
    if (Compress(codec, value, buffer)) {
      *stored = *buffer;
      record->codec = codec;
    }
  }
  record->value_size = stored->size();
  record->body_checksum = BodyChecksum(key, *stored);
}

Status LargeValues::GiveUp(NewFile* made, const Status& why) {
  made->file.reset();
  made->guard.Keep();
  static_cast<void>(db_.Unlink(FileKind::kLargeValue, made->header.number));
  return why;
}

Status LargeValues::Fill(NewFile* made, Slice key, Slice stored) {
  Status s;
  {
    const Stopwatch watch(&db_.meter, BLOB_DB_BLOB_FILE_WRITE_MICROS);
    db_.meter.Tick(FILE_BYTES_LOG, kLargeRecordOffset + made->record.RecordSize());
    s = WriteLargeValueFile(made->file.get(), made->header, made->record, key, stored);
  }
  if (!s.ok()) return GiveUp(made, s);
  db_.meter.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, made->record.RecordSize());
  if (!MutantIs(Mutant::kSkipLargeValueSync)) s = DbContext::JudgeSync(db_.SyncValues(made->file.get()));
  if (s.ok()) s = db_.SyncDirectory();
  if (s.ok()) return s;
  if (s.severity() != Status::Severity::kFatal) return GiveUp(made, s);
  made->guard.Keep();
  jobs_.SetFatal(s);
  return s;
}

Status LargeValues::Name(NewFile* made, const Family& family, LargeValueRef* ref, ValueAddress* address) {
  assert(made->file != nullptr);
  const CommitLock lock(commits_);
  SegmentInfo info;
  info.number = made->header.number;
  CAMBIUM_TRY(info.slot, commits_.FreeSlot());
  info.kind = SegmentKind::kLargeValue;
  info.file_id = made->header.file_id;
  info.epoch = made->header.epoch;
  info.sealed = true;
  info.sealed_length = info.file_size = kLargeRecordOffset + made->record.RecordSize();
  Edit edit;
  edit.set_segments.push_back(info);
  const std::function<void(View*)> change = [&](View* view) {
    view->segments = view->segments.With(
        info.slot, commits_.MakeSegment(made->header, info.slot, std::move(made->file), info.sealed_length));
  };
  made->guard.Keep();  // Commit removes the file if it fails
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, change));
  commits_.LargeValueNamed(info.number, family.id);
  space_.written.fetch_add(info.file_size, std::memory_order_relaxed);
  *ref = {info.number, info.file_size, made->record.body_checksum};
  *address = ValueAddress::OwnFile(info.slot, info.file_size - kLargeRecordOffset);
  return Status::OK();
}

void LargeValues::Appended(const std::vector<std::uint64_t>& numbers, SequenceNumber last) {
  commits_.LargeValuesAppended(numbers, last);
}

void LargeValues::DropFiles(const std::vector<std::uint64_t>& numbers, std::uint64_t failed_in) {
  if (numbers.empty()) return;
  commits_.LargeValuesFailed(numbers, failed_in);
  const Status dropped = commits_.DropUnreferenced();
  if (!dropped.ok()) {
    db_.logger->Log(InfoLogLevel::kWarn, "dropping files of a failed batch: " + dropped.ToString());
  }
}

// The failed write may have written the whole batch. Until the MANIFEST says that its segment ends before it, a crash
// may bring the batch back, so the segment is ended first. If that fails too, the next batch ends it.
Status LargeValues::DropAfterWrite(const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty() || jobs_.has_fatal()) return Status::OK();
  Status ended;
  std::uint64_t failed_in = 0;
  {
    const AppendLock lock(head_);
    const SegmentEnd failed = head_.log()->failed_end();
    if (failed.segment != nullptr) {
      failed_in = failed.segment->number();
      ended = head_.log()->Rotate();
    }
  }
  const bool is_fatal = ended.severity() == Status::Severity::kFatal;
  if (is_fatal) jobs_.SetFatal(ended);
  DropFiles(numbers, failed_in);
  return is_fatal ? ended : Status::OK();
}

}  // namespace cambium
