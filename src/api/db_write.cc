// Writing: from a batch to the log and the memory table, and to disk if asked for.
#include <algorithm>

#include "api/db_impl.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/checksum.h"
#include "util/fault_point.h"
#include "util/fork_guard.h"
#include "util/mutant.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

constexpr std::uint32_t kDefaultFamily = 0;

Status CheckSizes(Slice key, Slice value, std::size_t key_size_max) {
  if (key.size() > key_size_max) {
    return Status::InvalidArgument("key of " + std::to_string(key.size()) + " bytes; the most is " +
                                   std::to_string(key_size_max) + " with this page_size");
  }
  if (value.size() > kMaxValueBytes) {
    return Status::InvalidArgument("value of " + std::to_string(value.size()) + " bytes; the most is " +
                                   std::to_string(kMaxValueBytes));
  }
  return Status::OK();
}

}  // namespace

PreparedBatch::Rules DbImpl::PrepareRules() const {
  return {separate_from_, codec_, static_cast<std::uint32_t>(options_.clock->WallSeconds())};
}

Status DbImpl::CheckWrite(const WriteOptions& options) const {
  if (ForkGeneration() != fork_generation_) return Status::NotSupported("a database cannot be used in a forked child");
  if (closed_.load(std::memory_order_acquire)) return Status::ShutdownInProgress("the database is closed");
  if (read_only_) return Status::NotSupported("the database is open for reading only");
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("sync asks for durability and disableWAL for none");
  }
  return Health();
}

Status DbImpl::Put(const WriteOptions& options, Slice key, Slice value) {
  CAMBIUM_RETURN_IF_ERROR(CheckWrite(options));
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(key, value, MaxKeySizeFor(static_cast<std::uint32_t>(page_size_))));
  PreparedBatch batch(PrepareRules());
  std::vector<std::uint64_t> large;
  if (value.size() > options_.large_value_size) {
    LargeValueRef ref;
    ValueAddress address;
    CAMBIUM_RETURN_IF_ERROR(WriteLargeValue(kDefaultFamily, key, value, &ref, &address));
    batch.PutLarge(kDefaultFamily, key, ref, address);
    large.push_back(ref.number);
  } else {
    batch.Put(kDefaultFamily, key, value);
  }
  stats_.user_bytes.fetch_add(key.size() + value.size(), std::memory_order_relaxed);
  return CommitBatch(options, &batch, large);
}

Status DbImpl::Delete(const WriteOptions& options, Slice key) {
  CAMBIUM_RETURN_IF_ERROR(CheckWrite(options));
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(key, {}, MaxKeySizeFor(static_cast<std::uint32_t>(page_size_))));
  PreparedBatch batch(PrepareRules());
  batch.Delete(kDefaultFamily, key);
  stats_.user_bytes.fetch_add(key.size(), std::memory_order_relaxed);
  return CommitBatch(options, &batch, {});
}

Status DbImpl::SingleDelete(const WriteOptions& options, Slice key) { return Delete(options, key); }

Status DbImpl::Write(const WriteOptions& options, WriteBatch* write_batch) {
  CAMBIUM_RETURN_IF_ERROR(CheckWrite(options));
  // Turns the operations into records; large values go to their files on the way.
  class Preparer final : public WriteBatch::Handler {
   public:
    Preparer(DbImpl* db, PreparedBatch* out) : db_(db), out_(out) {}
    Status Put(Slice key, Slice value) override {
      CAMBIUM_RETURN_IF_ERROR(CheckSizes(key, value, MaxKeySizeFor(static_cast<std::uint32_t>(db_->page_size_))));
      bytes += key.size() + value.size();
      if (value.size() <= db_->options_.large_value_size) {
        out_->Put(kDefaultFamily, key, value);
        return Status::OK();
      }
      LargeValueRef ref;
      ValueAddress address;
      CAMBIUM_RETURN_IF_ERROR(db_->WriteLargeValue(kDefaultFamily, key, value, &ref, &address));
      large.push_back(ref.number);
      out_->PutLarge(kDefaultFamily, key, ref, address);
      return Status::OK();
    }
    Status Delete(Slice key) override {
      CAMBIUM_RETURN_IF_ERROR(CheckSizes(key, {}, MaxKeySizeFor(static_cast<std::uint32_t>(db_->page_size_))));
      bytes += key.size();
      out_->Delete(kDefaultFamily, key);
      return Status::OK();
    }
    std::vector<std::uint64_t> large;
    std::uint64_t bytes = 0;

   private:
    DbImpl* db_;
    PreparedBatch* out_;
  };
  PreparedBatch batch(PrepareRules());
  Preparer preparer(this, &batch);
  const Status prepared = write_batch->Iterate(&preparer);
  if (!prepared.ok()) {
    DropLargeValues(preparer.large);
    return prepared;
  }
  stats_.user_bytes.fetch_add(preparer.bytes, std::memory_order_relaxed);
  if (batch.empty()) return options.sync ? SyncWAL() : Status::OK();
  return CommitBatch(options, &batch, preparer.large);
}

Status DbImpl::CommitBatch(const WriteOptions& options, PreparedBatch* batch,
                           const std::vector<std::uint64_t>& large) {
  SequenceNumber last = 0;
  std::unique_lock append_lock(append_mutex_);
  const Status committed = CommitLocked(options, batch, &last, &append_lock);
  append_lock.unlock();
  if (!committed.ok()) {
    if (committed.severity() == Status::Severity::kFatal) SetFatal(committed);
    if (!MutantIs(Mutant::kFailedBatchCounts)) DropLargeValues(large);
    return committed;
  }
  if (!large.empty()) {
    const std::lock_guard lock(commit_mutex_);
    for (const std::uint64_t number : large) large_committed_[number] = last;
  }
  if (!large.empty()) EpochCollect();  // each file came with a view of its own
  if (!options.sync) return Status::OK();
  const Status synced = log_->SyncUpTo(last);
  if (!synced.ok()) SetFatal(synced);
  return synced;
}

Status DbImpl::CommitLocked(const WriteOptions& options, PreparedBatch* batch, SequenceNumber* last,
                            std::unique_lock<std::mutex>* append_lock) {
  CAMBIUM_RETURN_IF_ERROR(MakeRoom(options, append_lock));
  // Nothing may fail between the write to the log and the publication, so memory is taken first.
  CAMBIUM_RETURN_IF_ERROR(active_->Reserve(batch->ops().size(), batch->memtable_bytes()));
  const SequenceNumber first = published_.load(std::memory_order_relaxed) + 1;
  CommitLog::Position position;
  CAMBIUM_RETURN_IF_ERROR(log_->Append(batch, first, &position));
  if (position.segment != log_end_.segment) Schedule(Job::kSeal);  // the one before it
  for (const PreparedBatch::Op& op : batch->ops()) {
    const Entry entry = op.header.op == RecordOp::kDelete ? Entry::Tombstone()
                        : op.separated                    ? Entry::At(op.address)
                                                          : Entry::Inline(op.value);
    active_->Add(op.header.sequence, op.key, entry);
  }
  *last = first + batch->ops().size() - 1;
  active_log_bytes_ += batch->size();
  log_end_ = {position.segment, position.offset + batch->size()};
  published_.store(*last, std::memory_order_seq_cst);
  stats_.log_bytes.fetch_add(batch->size(), std::memory_order_relaxed);
  // A segment is made ahead while the current one fills, so that no writer has to wait for its syncs.
  if (log_end_.offset > options_.blob_file_size / 2 && log_end_.offset - batch->size() <= options_.blob_file_size / 2) {
    Schedule(Job::kSpare);
  }
  return Status::OK();
}

Status DbImpl::MakeRoom(const WriteOptions& options, std::unique_lock<std::mutex>* append_lock) {
  while (true) {
    CAMBIUM_RETURN_IF_ERROR(Health());
    if (active_->memory_bytes() < options_.write_buffer_size && active_log_bytes_ < options_.max_total_wal_size) {
      return Status::OK();
    }
    if (frozen_count_.load(std::memory_order_acquire) < options_.max_write_buffer_number - 1) {
      Freeze();
      return Status::OK();
    }
    if (options.no_slowdown) return Status::Incomplete("all memory tables are full and wait for their flush");
    append_lock->unlock();
    const std::uint64_t start = options_.clock->NowMicros();
    const Status waited = WaitForFlushOf(0);
    stats_.stalls.fetch_add(1, std::memory_order_relaxed);
    stats_.stall_micros.fetch_add(options_.clock->NowMicros() - start, std::memory_order_relaxed);
    append_lock->lock();
    CAMBIUM_RETURN_IF_ERROR(waited);
  }
}

// The append lock is held, and the active table holds something. The new view is installed before anything that goes to
// the new table is published.
void DbImpl::Freeze() {
  auto next = std::make_shared<MemTable>(options_.comparator);
  FrozenTable frozen{active_, published_.load(std::memory_order_relaxed), log_end_};
  view_.Update([&](View* view) {
    FamilyView& family = view->families[0];
    family.frozen.insert(family.frozen.begin(), frozen);
    family.active = next;
  });
  active_ = std::move(next);
  active_log_bytes_ = 0;
  frozen_count_.fetch_add(1, std::memory_order_acq_rel);
  Schedule(Job::kFlush);
}

Status DbImpl::SyncWAL() {
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  const Status synced = log_->Sync();
  if (!synced.ok()) SetFatal(synced);
  return synced;
}

Status DbImpl::FlushWAL(bool sync) { return sync ? SyncWAL() : CheckWrite({}); }

Result<std::shared_ptr<Segment>> DbImpl::NextSegment(const SegmentEnd* failed) {
  if (failed != nullptr) {
    // What was appended before the failure will be sealed, and a seal promises durability.
    CAMBIUM_RETURN_IF_ERROR(log_->SyncRotated(failed->segment));
  }
  const std::lock_guard lock(commit_mutex_);
  // One that was made ahead comes first, always: the order of the log is the order of file numbers.
  if (spare_ == nullptr) {
    CAMBIUM_TRY(spare_, MakeSegmentLocked());
  }
  if (failed != nullptr) {
    Edit edit;
    edit.set_segments.push_back(SealedAt(*failed));
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
  }
  return std::exchange(spare_, nullptr);
}

SegmentInfo DbImpl::SealedAt(const SegmentEnd& end) const {
  SegmentInfo cut = manifest_->state().segments.at(end.segment->number());
  cut.sealed = true;
  cut.sealed_length = cut.file_size = end.length;
  cut.last_sequence = end.last_sequence;
  return cut;
}

// A segment that is durable with its name and named in the MANIFEST, so that no synced record can be in a file that
// recovery does not know of.
Result<std::shared_ptr<Segment>> DbImpl::MakeSegmentLocked() {
  const std::uint64_t number = next_file_number_++;
  const FileHeader header = HeaderFor(FileKind::kLog, number);
  const std::string path = FilePath(path_, FileKind::kLog, number);
  SegmentInfo info;
  CAMBIUM_TRY(info.slot, FreeSlot());
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(path, OpenMode::kCreateNew, {}, &file));
  Status made = file->Write(0, EncodeFileHeader(header));
  if (made.ok()) {
    if (!MutantIs(Mutant::kSkipSegmentHeaderSync)) made = file->SyncData();
    if (!made.ok() && !made.IsNoSpace()) return made.Fatal();
  }
  if (made.ok()) made = SyncDirectory();
  if (made.severity() == Status::Severity::kFatal) return made;
  if (!made.ok()) {
    // Every write that finds the disk full comes here: it must not leave a file each time.
    file.reset();
    static_cast<void>(fs_->Unlink(path));
    return made;
  }
  info.number = number;
  info.kind = SegmentKind::kLog;
  info.file_id = header.file_id;
  info.epoch = header.epoch;
  Edit edit;
  edit.set_segments.push_back(info);
  if (!MutantIs(Mutant::kSegmentUnnamed)) CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
  auto segment = std::make_shared<Segment>(number, info.slot, path, std::move(file), header,
                                           [this](const std::string& gone) { obsolete_.Add(gone); });
  view_.Update([&](View* view) { view->segments = view->segments.With(info.slot, segment); });
  return segment;
}

Status DbImpl::WriteLargeValue(std::uint32_t family, Slice key, Slice value, LargeValueRef* ref,
                               ValueAddress* address) {
  RecordHeader record;
  record.op = RecordOp::kPut;
  record.family = family;
  record.key_size = static_cast<std::uint32_t>(key.size());
  record.write_time = static_cast<std::uint32_t>(options_.clock->WallSeconds());
  record.marks = kLastOfBatch;
  std::string compressed;
  Slice stored = value;
  if (codec_ != Codec::kNone) {
    const auto raw_size = static_cast<std::uint64_t>(value.size());
    compressed.assign(reinterpret_cast<const char*>(&raw_size), sizeof(raw_size));
    if (Compress(codec_, value, &compressed)) {
      stored = compressed;
      record.codec = codec_;
    }
  }
  record.value_size = stored.size();
  record.body_checksum = BodyChecksum(key, stored);

  // Written without any lock: nobody knows the file until it is named.
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(commit_mutex_);
    number = next_file_number_++;
  }
  const FileHeader header = HeaderFor(FileKind::kLargeValue, number);
  const std::string path = FilePath(path_, FileKind::kLargeValue, number);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(path, OpenMode::kCreateNew, {}, &file));
  const auto give_up = [&](Status s) {
    file.reset();
    static_cast<void>(fs_->Unlink(path));  // an orphan if that fails too: the next opening removes it
    return s;
  };
  std::string front = EncodeFileHeader(header);
  front.resize(kLargeRecordOffset);
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(record, header.Seed(), kLargeRecordOffset, bytes);
  front.append(bytes, sizeof(bytes));
  front.append(key.data(), key.size());
  const std::string padding(record.RecordSize() - kRecordHeaderSize - key.size() - stored.size(), '\0');
  const std::array<Slice, 3> pieces{Slice(front), stored, Slice(padding)};
  Status s = file->WriteVectored(0, pieces);
  if (!s.ok()) return give_up(s);
  if (!MutantIs(Mutant::kSkipLargeValueSync)) s = file->SyncData();
  if (!s.ok() && !s.IsNoSpace()) {
    SetFatal(s);
    return s.Fatal();
  }
  if (!s.ok()) return give_up(s);
  s = SyncDirectory();
  if (s.IsBusy()) return give_up(s);
  if (!s.ok()) {
    SetFatal(s);
    return s;
  }
  const std::lock_guard lock(commit_mutex_);
  SegmentInfo info;
  info.number = number;
  CAMBIUM_TRY(info.slot, FreeSlot());
  info.kind = SegmentKind::kLargeValue;
  info.file_id = header.file_id;
  info.epoch = header.epoch;
  info.sealed = true;
  info.sealed_length = info.file_size = kLargeRecordOffset + record.RecordSize();
  Edit edit;
  edit.set_segments.push_back(info);
  CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
  large_committed_[number] = kMaxSequenceNumber;  // not yet
  auto segment = std::make_shared<Segment>(number, info.slot, path, std::move(file), header,
                                           [this](const std::string& gone) { obsolete_.Add(gone); });
  view_.Update([&](View* view) { view->segments = view->segments.With(info.slot, segment); });
  *ref = {number, info.file_size, record.body_checksum};
  *address = ValueAddress::OwnFile(info.slot, info.file_size - kLargeRecordOffset);
  return Status::OK();
}

// Their batch was not committed, so nothing will ever refer to them.
void DbImpl::DropLargeValues(const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return;
  {
    const std::lock_guard lock(commit_mutex_);
    for (const std::uint64_t number : numbers) large_committed_[number] = 0;
  }
  const Status dropped = DropUnreferenced();
  if (!dropped.ok()) logger_->Log(InfoLogLevel::kWarn, "dropping files of a failed batch: " + dropped.ToString());
}

}  // namespace cambium
