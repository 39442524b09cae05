// Writing: from a batch to the log and the memory table, and to disk if asked for.
#include <algorithm>

#include "api/db_impl.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/checksum.h"
#include "util/fault_point.h"
#include "util/fork_guard.h"
#include "util/mutant.h"
#include "vlog/large_value_file.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

constexpr std::uint64_t kSlowdownMicrosMax = 1000;
// A table with more range deletes is frozen, however small it is: each makes a look-up in it dearer, and its flush.
constexpr std::uint64_t kTableRangesMax = 1024;

Status CheckSizes(const Family& family, Slice key, Slice value) {
  const std::size_t key_size_max = MaxKeySizeFor(static_cast<std::uint32_t>(family.options().page_size));
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

Entry EntryOf(const PreparedBatch::Op& op) {
  if (op.header.op == RecordOp::kDelete) return Entry::Tombstone();
  return op.separated ? Entry::At(op.address) : Entry::Inline(op.value);
}

WriteStallCondition ConditionOf(const ColumnFamilyOptions& options, std::size_t runs) {
  if (runs < static_cast<std::size_t>(options.level0_slowdown_writes_trigger)) return WriteStallCondition::kNormal;
  return runs < static_cast<std::size_t>(options.level0_stop_writes_trigger) ? WriteStallCondition::kDelayed
                                                                              : WriteStallCondition::kStopped;
}

Status Dropped(const Family& family) {
  return Status::ColumnFamilyDropped("column family \"" + family.name + "\" was dropped");
}

}  // namespace

PreparedBatch::Rules DbImpl::RulesOf(const Family& family) const {
  const OptionsInForce& its = family.in_force();
  return {its.separate_from, its.codec, static_cast<std::uint32_t>(options_.clock->WallSeconds()),
          meter_.is_on() ? &meter_ : nullptr};
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

Status DbImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, Slice key, Slice value) {
  const Delivery delivery(&events_);
  const Stopwatch watch(&meter_, DB_WRITE);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite(options));
  CAMBIUM_TRY(Family* const family, FamilyOf(handle));
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family, key, value));
  CAMBIUM_RETURN_IF_ERROR(CheckGrowth());
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) {
    traced.DescribeWrite(options.sync, {.type = TraceOpType::kPut, .family = family->id, .key = key, .end_key = {},
                                        .value_size = value.size(), .value = value});
  }
  PreparedBatch batch(RulesOf(*family));
  std::vector<std::uint64_t> large;
  if (value.size() > family->options().large_value_size) {
    LargeValueRef ref;
    ValueAddress address;
    // Before there is a file that nobody else can make room of.
    CAMBIUM_RETURN_IF_ERROR(AwaitSpace(options, value.size()));
    CAMBIUM_RETURN_IF_ERROR(WriteLargeValue(*family, key, value, &ref, &address));
    batch.PutLarge(family->id, key, ref, address);
    large.push_back(ref.number);
  } else {
    batch.Put(family->id, key, value);
  }
  stats_.user_bytes.fetch_add(key.size() + value.size(), std::memory_order_relaxed);
  const WriteTarget target{family, 1, batch.memtable_bytes()};
  return CommitBatch(options, &batch, {&target, 1}, large, key.size() + value.size(), &traced);
}

Status DbImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, Slice key) {
  return DeleteAs(TraceOpType::kDelete, options, handle, key);
}

Status DbImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle, Slice key) {
  return DeleteAs(TraceOpType::kSingleDelete, options, handle, key);
}

Status DbImpl::DeleteAs(TraceOpType type, const WriteOptions& options, ColumnFamilyHandle* handle, Slice key) {
  const Delivery delivery(&events_);
  const Stopwatch watch(&meter_, DB_WRITE);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite(options));
  CAMBIUM_TRY(Family* const family, FamilyOf(handle));
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family, key, {}));
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) {
    traced.DescribeWrite(options.sync, {.type = type, .family = family->id, .key = key, .end_key = {}, .value = {}});
  }
  PreparedBatch batch(RulesOf(*family));
  batch.Delete(family->id, key);
  stats_.user_bytes.fetch_add(key.size(), std::memory_order_relaxed);
  const WriteTarget target{family, 1, batch.memtable_bytes()};
  return CommitBatch(options, &batch, {&target, 1}, {}, key.size(), &traced);
}

Status DbImpl::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* handle, Slice begin, Slice end) {
  WriteBatch batch;
  CAMBIUM_RETURN_IF_ERROR(CheckWrite(options));
  CAMBIUM_TRY(Family* const family, FamilyOf(handle));
  if (family->dropped.load(std::memory_order_acquire)) return Dropped(*family);
  CAMBIUM_RETURN_IF_ERROR(batch.DeleteRange(handle, begin, end));
  return Write(options, &batch);
}

Status DbImpl::Write(const WriteOptions& options, WriteBatch* write_batch) {
  const Delivery delivery(&events_);
  const Stopwatch watch(&meter_, DB_WRITE);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite(options));
  // Turns the operations into records; large values go to their files on the way.
  class Preparer final : public WriteBatch::Handler {
   public:
    Preparer(DbImpl* db, const WriteOptions& options, PreparedBatch* out) : db_(db), options_(options), out_(out) {}
    Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
    Status Delete(Slice key) override { return DeleteCF(0, key); }
    Status PutCF(std::uint32_t id, Slice key, Slice value) override {
      CAMBIUM_RETURN_IF_ERROR(Enter(id));
      CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, key, value));
      CAMBIUM_RETURN_IF_ERROR(db_->CheckGrowth());
      if (value.size() <= family_->options().large_value_size) {
        out_->Put(id, key, value);
      } else {
        LargeValueRef ref;
        ValueAddress address;
        CAMBIUM_RETURN_IF_ERROR(db_->AwaitSpace(options_, value.size()));
        CAMBIUM_RETURN_IF_ERROR(db_->WriteLargeValue(*family_, key, value, &ref, &address));
        large.push_back(ref.number);
        out_->PutLarge(id, key, ref, address);
      }
      return Leave(key.size() + value.size());
    }
    Status DeleteCF(std::uint32_t id, Slice key) override {
      CAMBIUM_RETURN_IF_ERROR(Enter(id));
      CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, key, {}));
      out_->Delete(id, key);
      return Leave(key.size());
    }
    Status SingleDeleteCF(std::uint32_t id, Slice key) override { return DeleteCF(id, key); }
    Status DeleteRange(Slice begin, Slice end) override { return DeleteRangeCF(0, begin, end); }
    Status DeleteRangeCF(std::uint32_t id, Slice begin, Slice end) override {
      CAMBIUM_RETURN_IF_ERROR(Enter(id));
      CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, begin, {}));
      CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, end, {}));
      const int order = family_->options().comparator->Compare(begin, end);
      if (order > 0) return Status::InvalidArgument("a range delete ends before it begins");
      if (order == 0) return Status::OK();
      out_->DeleteRange(id, begin, end);
      return Leave(begin.size() + end.size(), &WriteTarget::ranges);
    }

    std::vector<std::uint64_t> large;
    std::vector<WriteTarget> targets;
    std::uint64_t bytes = 0;

   private:
    // Finds the family of the next operation.
    Status Enter(std::uint32_t id) {
      before_ = out_->memtable_bytes();
      if (family_ != nullptr && family_->id == id) return Status::OK();
      family_ = nullptr;
      for (at_ = 0; at_ < families_.size() && families_[at_]->id != id; ++at_) {
      }
      if (at_ == families_.size()) {
        std::shared_ptr<Family> found = db_->FindFamily(id);
        if (found == nullptr) {
          return Status::InvalidArgument("a write batch names column family " + std::to_string(id) +
                                         ", which does not exist or was dropped");
        }
        families_.push_back(std::move(found));
        targets.push_back({families_.back().get()});
      }
      family_ = families_[at_].get();
      out_->UseRules(db_->RulesOf(*family_));
      return Status::OK();
    }
    Status Leave(std::size_t user_bytes, std::size_t WriteTarget::*kind = &WriteTarget::operations) {
      bytes += user_bytes;
      ++(targets[at_].*kind);
      targets[at_].bytes += out_->memtable_bytes() - before_;
      return Status::OK();
    }

    DbImpl* db_;
    const WriteOptions& options_;
    PreparedBatch* out_;
    std::vector<std::shared_ptr<Family>> families_;
    Family* family_ = nullptr;
    std::size_t at_ = 0;
    std::size_t before_ = 0;
  };
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) traced.DescribeWrite(options.sync, *write_batch);
  PreparedBatch batch(PreparedBatch::Rules{});
  Preparer preparer(this, options, &batch);
  const Status prepared = write_batch->Iterate(&preparer);
  if (!prepared.ok()) {
    DropLargeValues(preparer.large);
    return prepared;
  }
  stats_.user_bytes.fetch_add(preparer.bytes, std::memory_order_relaxed);
  // Range deletes without a key in them are no operations.
  std::erase_if(preparer.targets, [](const WriteTarget& target) { return target.operations + target.ranges == 0; });
  if (batch.empty()) return options.sync ? SyncWAL() : Status::OK();
  return CommitBatch(options, &batch, preparer.targets, preparer.large, preparer.bytes, &traced);
}

void DbImpl::CountCommit(const PreparedBatch& batch, std::uint64_t user_bytes) const {
  std::uint64_t separated = 0;
  for (const PreparedBatch::Op& op : batch.ops()) {
    if (op.separated && op.header.op == RecordOp::kPut) separated += op.header.RecordSize();
  }
  meter_.Tick(WRITE_WITH_WAL);
  meter_.Tick(NUMBER_KEYS_WRITTEN, batch.ops().size());
  meter_.Tick(BYTES_WRITTEN, user_bytes);
  meter_.Measure(BYTES_PER_WRITE, user_bytes);
  meter_.Tick(WAL_FILE_BYTES, batch.size());
  meter_.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, separated);
}

void DbImpl::CountStall(std::uint64_t micros, bool is_for_space) {
  stats_.stalls.fetch_add(1, std::memory_order_relaxed);
  stats_.stall_micros.fetch_add(micros, std::memory_order_relaxed);
  if (is_for_space) stats_.space_stall_micros.fetch_add(micros, std::memory_order_relaxed);
  meter_.Tick(STALL_MICROS, micros);
  if (is_for_space) meter_.Tick(SPACE_STALL_MICROS, micros);
  meter_.MeasureMicros(WRITE_STALL, micros);
}

Status DbImpl::CommitBatch(const WriteOptions& options, PreparedBatch* batch, std::span<const WriteTarget> targets,
                           const std::vector<std::uint64_t>& large, std::uint64_t user_bytes, TracedCall* traced) {
  const SampledCall sampled(&foreground_, options.sync ? CallKind::kSyncedWrite : CallKind::kWrite);
  Status committed;
  const bool only_deletes = std::ranges::none_of(batch->ops(), [](const PreparedBatch::Op& op) {
    return op.header.op != RecordOp::kDelete && op.header.op != RecordOp::kDeleteRange;
  });
  if (IsDiskFull() && only_deletes) {
    StartTicking();  // what they hide comes back when nobody writes, if not before
    if (!options.no_slowdown) MakeRoomForDeletes();  // nothing else that could be waited for gives so much back
  } else {
    for (const WriteTarget& target : targets) {
      if (committed.ok()) committed = AwaitCompaction(options, target.family);
    }
    if (committed.ok()) committed = AwaitSpace(options, batch->size());
  }
  SequenceNumber last = 0;
  if (committed.ok()) committed = CommitInRoom(options, batch, targets, only_deletes, &last, traced);
  events_.Deliver();
  if (!committed.ok()) {
    if (committed.severity() == Status::Severity::kFatal) SetFatal(committed);
    if (!MutantIs(Mutant::kFailedBatchCounts)) DropLargeValues(large);
    return committed;
  }
  if (traced->is_on()) traced->Record();
  if (meter_.is_on()) CountCommit(*batch, user_bytes);
  if (!large.empty()) {
    const std::lock_guard lock(commit_mutex_);
    for (const std::uint64_t number : large) {
      // Gone already if the family was dropped meanwhile.
      if (const auto found = large_committed_.find(number); found != large_committed_.end()) {
        found->second.sequence = last;
      }
    }
  }
  if (!large.empty()) EpochCollect();  // each file came with a view of its own
  if (!options.sync) return Status::OK();
  const Status synced = log_->SyncUpTo(last);
  if (!synced.ok()) SetFatal(synced);
  return synced;
}

// A batch of deletes that finds no space is tried again as long as jobs give some back.
Status DbImpl::CommitInRoom(const WriteOptions& options, PreparedBatch* batch, std::span<const WriteTarget> targets,
                            bool only_deletes, SequenceNumber* last, TracedCall* traced) {
  const auto commit = [&](bool is_last_try) {
    std::unique_lock append_lock(append_mutex_);
    CAMBIUM_RETURN_IF_ERROR(LookAtFreeSpace(batch->size(), only_deletes, is_last_try));
    CAMBIUM_RETURN_IF_ERROR(CommitLocked(options, batch, targets, last, &append_lock));
    if (traced->keeps_order()) traced->Record();
    return Status::OK();
  };
  Status committed = commit(false);
  for (bool is_last_try = false; !is_last_try && committed.IsNoSpace();) {
    if (committed.severity() == Status::Severity::kFatal) break;
    OnNoSpace();
    if (!only_deletes || !IsDiskFull()) break;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    static_cast<void>(fs_->FreeSpace(path_, &before));
    if (!options.no_slowdown) AwaitRescue();
    is_last_try = !fs_->FreeSpace(path_, &after).ok() || after <= before;  // jobs have given nothing back
    committed = commit(is_last_try);
  }
  return committed;
}

Status DbImpl::CommitLocked(const WriteOptions& options, PreparedBatch* batch, std::span<const WriteTarget> targets,
                            SequenceNumber* last, std::unique_lock<std::mutex>* append_lock) {
  for (bool waited = true; waited;) {
    waited = false;
    for (const WriteTarget& target : targets) {
      const Family* before = target.family;
      const bool was_full = IsFull(*before);
      CAMBIUM_RETURN_IF_ERROR(MakeRoom(options, target.family, append_lock));
      // The lock may have been let go of, so the others have to be looked at again.
      waited = waited || (was_full && targets.size() > 1);
    }
  }
  for (const WriteTarget& target : targets) {
    if (target.family->dropped.load(std::memory_order_relaxed)) return Dropped(*target.family);
    if (!target.family->drop_in_doubt.load(std::memory_order_relaxed)) continue;
    const std::lock_guard lock(commit_mutex_);
    CAMBIUM_RETURN_IF_ERROR(SettleDrop(target.family));
  }
  if (logged_bytes_ >= next_wal_check_) FreezeOldest();
  // Nothing may fail between the write to the log and the publication, so memory is taken first.
  for (const WriteTarget& target : targets) {
    CAMBIUM_RETURN_IF_ERROR(target.family->active->Reserve(target.operations, target.bytes, target.ranges));
  }
  const SequenceNumber first = published_.load(std::memory_order_relaxed) + 1;
  CommitLog::Position position;
  CAMBIUM_RETURN_IF_ERROR(log_->Append(batch, first, &position));
  const bool has_rotated = position.segment != log_end_.segment;
  for (const WriteTarget& target : targets) {
    LogTable& table = *target.family->active;
    if (!table.started()) table.StartAt({{position.segment, position.offset}, first - 1}, logged_bytes_);
  }
  for (const PreparedBatch::Op& op : batch->ops()) {
    const WriteTarget* target = targets.data();
    while (target->family->id != op.header.family) ++target;
    LogTable& table = *target->family->active;
    if (op.header.op == RecordOp::kDeleteRange) {
      table.AddRange(op.header.sequence, op.key, op.value);
    } else {
      table.Add(op.header.sequence, op.key, EntryOf(op));
    }
  }
  *last = first + batch->ops().size() - 1;
  logged_bytes_ += batch->size();
  log_end_ = {position.segment, position.offset + batch->size()};
  published_.store(*last, std::memory_order_seq_cst);
  stats_.log_bytes.fetch_add(batch->size(), std::memory_order_relaxed);
  space_.written.fetch_add(batch->size(), std::memory_order_relaxed);
  if (has_rotated) ScheduleIfPossible(Job::kSeal);  // of the one before it
  // A segment is made ahead while the current one fills, so that no writer has to wait for its syncs.
  const std::uint64_t half = log_->segment_bytes() / 2;
  if (log_end_.offset > half && log_end_.offset - batch->size() <= half) {
    ScheduleIfPossible(Job::kSpare);
  }
  return Status::OK();
}

// Time for a flush: the table takes much memory, has many range deletes, or recovery would have to read much because of
// it.
bool DbImpl::IsFull(const Family& family) const {
  const LogTable& table = *family.active;
  return table.memory_bytes() >= family.options().write_buffer_size || table.range_delete_count() >= kTableRangesMax ||
         (table.started() && logged_bytes_ - table.log_bytes_before() >= max_total_wal_size_.load(std::memory_order_relaxed));
}

Status DbImpl::MakeRoom(const WriteOptions& options, Family* family, std::unique_lock<std::mutex>* append_lock) {
  constexpr auto kCause = WriteStallCause::kMemtableLimit;
  for (bool has_waited = false;; has_waited = true) {
    CAMBIUM_RETURN_IF_ERROR(Health());
    if (!IsFull(*family)) return Status::OK();
    if (family->dropped.load(std::memory_order_relaxed)) return Dropped(*family);
    if (family->frozen_count.load(std::memory_order_acquire) < family->options().max_write_buffer_number - 1) {
      const LogTable& table = *family->active;
      const bool is_large = table.memory_bytes() >= family->options().write_buffer_size ||
                            table.range_delete_count() >= kTableRangesMax;
      Freeze(family, is_large ? FlushReason::kWriteBufferFull : FlushReason::kWalFull);
      if (has_waited) events_.Stalls(family->name, family->id, kCause, WriteStallCondition::kNormal);
      return Status::OK();
    }
    events_.Stalls(family->name, family->id, kCause, WriteStallCondition::kStopped);
    if (options.no_slowdown) return Status::Incomplete("all memory tables are full and wait for their flush");
    append_lock->unlock();
    events_.Deliver();
    const std::uint64_t start = options_.clock->NowMicros();
    const Status waited = [&] {
      const CountScope stalls(&stalled_writers_);
      return WaitForFlushOf(family, 0);
    }();
    CountStall(options_.clock->NowMicros() - start, false);
    append_lock->lock();
    CAMBIUM_RETURN_IF_ERROR(waited);
  }
}

// Runs of an LSM that wait in level 0 cost every read. Near level0_stop_writes_trigger a write waits a little, at most a
// millisecond, the longer the nearer; beyond it for steps of a compaction. A compaction that fails, or brings nothing, is
// no reason to wait for ever: then the write goes on.
Status DbImpl::AwaitCompaction(const WriteOptions& options, Family* family) {
  const ColumnFamilyOptions& its = family->options();
  if (its.index_type != IndexKind::kLsm) return Status::OK();
  const auto slowdown = static_cast<std::size_t>(its.level0_slowdown_writes_trigger);
  const auto stop = static_cast<std::size_t>(its.level0_stop_writes_trigger);
  std::size_t runs = family->run_count.load(std::memory_order_relaxed);
  if (events_.is_on()) {
    events_.Stalls(family->name, family->id, WriteStallCause::kL0FileCountLimit, ConditionOf(its, runs));
    events_.Deliver();
  }
  if (runs < slowdown) return Status::OK();
  if (options.no_slowdown) {
    return Status::Incomplete("level 0 has " + std::to_string(runs) + " runs, which wait for a compaction");
  }
  const std::uint64_t start = options_.clock->NowMicros();
  Status waited;
  if (runs < stop) {
    options_.clock->SleepMicros(kSlowdownMicrosMax * (runs - slowdown + 1) / (stop - slowdown + 1));
  }
  while (waited.ok() && runs >= stop) {
    const CountScope stalls(&stalled_writers_);
    waited = WaitForCompactionOf(family);
    const std::size_t before = std::exchange(runs, family->run_count.load(std::memory_order_relaxed));
    if (runs >= before) break;
  }
  CountStall(options_.clock->NowMicros() - start, false);
  return waited;
}

// A family that is seldom written to may hold back the replay position. Looks now and then, because there may be many
// families.
void DbImpl::FreezeOldest() {
  next_wal_check_ = logged_bytes_ + max_total_wal_size_.load(std::memory_order_relaxed) / 16;
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    Family& family = *each.family;
    if (family.dropped.load(std::memory_order_relaxed)) continue;
    // Of a frozen table the flush may have failed, and nobody else asks for another one.
    const LogTable& oldest = each.frozen.empty() ? *family.active : *each.frozen.back().table;
    if (oldest.empty() || MutantIs(Mutant::kForgetIdleFamily)) continue;
    if (logged_bytes_ - oldest.log_bytes_before() < max_total_wal_size_.load(std::memory_order_relaxed)) continue;
    if (each.frozen.empty()) {
      Freeze(&family, FlushReason::kWalFull);
    } else {
      Schedule(Job::kFlush, each.family);
    }
  }
}

// The active table holds something. The new view is installed before anything that goes to the new table is published.
void DbImpl::Freeze(Family* family, FlushReason reason) {
  auto next = std::make_shared<LogTable>(family->options().comparator);
  FrozenTable frozen{family->active, {log_end_, published_.load(std::memory_order_relaxed)}, reason};
  if (events_.is_on()) {
    MemTableInfo info{events_.db_name(), family->name, family->id, frozen.table->version_count(),
                      frozen.table->range_delete_count(), frozen.table->memory_bytes(), reason};
    events_.Add([info = std::move(info)](EventListener* listener) { listener->OnMemTableSealed(info); });
  }
  std::shared_ptr<Family> kept;
  view_.Update([&](View* view) {
    FamilyView* const change = view->Find(family->id);
    kept = change->family;
    change->frozen.insert(change->frozen.begin(), frozen);
    change->active = next;
  });
  family->active = std::move(next);
  family->frozen_count.fetch_add(1, std::memory_order_acq_rel);
  Schedule(Job::kFlush, kept);
}

Status DbImpl::SyncWAL() {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  const Status synced = log_->Sync();
  if (!synced.ok()) SetFatal(synced);
  return synced;
}

Status DbImpl::FlushWAL(bool sync) { return sync ? SyncWAL() : CheckWrite({}); }

Result<std::shared_ptr<Segment>> DbImpl::NextSegment(const SegmentEnd* failed) {
  if (const std::uint64_t bytes = space_.segment_bytes.load(std::memory_order_relaxed); bytes != 0) {
    log_->set_segment_bytes(bytes);
  }
  if (failed != nullptr) {
    // What was appended before the failure will be sealed, and a seal promises durability.
    CAMBIUM_RETURN_IF_ERROR(log_->SyncRotated(failed->segment));
  } else if (std::shared_ptr<Segment> spare = TakeSpare(); spare != nullptr) {
    return spare;
  }
  const std::lock_guard lock(commit_mutex_);
  // One that was made ahead comes first, always: the order of the log is the order of file numbers.
  CAMBIUM_RETURN_IF_ERROR(MakeSpareLocked());
  if (failed != nullptr) {
    Edit edit;
    edit.set_segments.push_back(SealedAt(*failed));
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
  }
  return TakeSpare();
}

Status DbImpl::MakeSpareLocked() {
  {
    const std::lock_guard lock(spare_mutex_);
    if (spare_ != nullptr) return Status::OK();
  }
  CAMBIUM_TRY(std::shared_ptr<Segment> made, MakeSegmentLocked());
  const std::lock_guard lock(spare_mutex_);
  spare_ = std::move(made);
  return Status::OK();
}

std::shared_ptr<Segment> DbImpl::TakeSpare() {
  const std::lock_guard lock(spare_mutex_);
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
  const FileHeader header = HeaderFor(FileKind::kLog, next_file_number_++);
  CAMBIUM_TRY(const Slot slot, FreeSlot());
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(
      fs_->Open(FilePath(path_, FileKind::kLog, header.number), OpenMode::kCreateNew, {}, &file));
  BlobFileCreation creation = BeginBlobFile(header, BlobFileCreationReason::kLog);
  Result<std::shared_ptr<Segment>> segment = NameSegmentLocked(header, slot, std::move(file));
  creation.Done(segment.status(), kFileHeaderSize);
  return segment;
}

Result<std::shared_ptr<Segment>> DbImpl::NameSegmentLocked(const FileHeader& header, Slot slot,
                                                           std::unique_ptr<File> file) {
  const std::string path = file->path();
  meter_.Tick(FILE_BYTES_LOG, kFileHeaderSize);
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
    static_cast<void>(Unlink(FileKind::kLog, header.number));
    return made;
  }
  SegmentInfo info;
  info.number = header.number;
  info.slot = slot;
  info.kind = SegmentKind::kLog;
  info.file_id = header.file_id;
  info.epoch = header.epoch;
  Edit edit;
  edit.set_segments.push_back(info);
  if (!MutantIs(Mutant::kSegmentUnnamed)) CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
  auto segment = std::make_shared<Segment>(header.number, slot, path, std::move(file), header,
                                           [this](const std::string& gone) { obsolete_.Add(gone); });
  if (options_.allow_mmap_reads) segment->AllowMap(blob_file_size_);
  view_.Update([&](View* view) { view->segments = view->segments.With(slot, segment); });
  return segment;
}

BlobFileCreation DbImpl::BeginBlobFile(const FileHeader& header, BlobFileCreationReason reason) {
  BlobFileCreationInfo info;
  if (events_.is_on()) {
    info.db_name = events_.db_name();
    info.file_path = FilePath(path_, header.kind, header.number);
    info.file_number = header.number;
    info.reason = reason;
  }
  return {&events_, std::move(info)};
}

// Written without any lock: nobody knows the file until it is named.
Status DbImpl::WriteLargeValue(const Family& family, Slice key, Slice value, LargeValueRef* ref,
                               ValueAddress* address) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(commit_mutex_);
    number = next_file_number_++;
  }
  if (const Status room = CheckRoomForFile(value.size()); !room.ok()) {
    OnNoSpace();
    return room;
  }
  const FileHeader header = HeaderFor(FileKind::kLargeValue, number);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(FilePath(path_, FileKind::kLargeValue, number), OpenMode::kCreateNew, {}, &file));
  BlobFileCreation creation = BeginBlobFile(header, BlobFileCreationReason::kLargeValue);
  events_.Deliver();
  const Status filled = FillLargeValue(std::move(file), header, family, key, value, ref, address);
  creation.Done(filled, filled.ok() ? ref->file_size : 0);
  if (filled.IsNoSpace() && filled.severity() != Status::Severity::kFatal) OnNoSpace();
  events_.Deliver();
  return filled;
}

Status DbImpl::FillLargeValue(std::unique_ptr<File> file, const FileHeader& header, const Family& family, Slice key,
                              Slice value, LargeValueRef* ref, ValueAddress* address) {
  RecordHeader record;
  record.op = RecordOp::kPut;
  record.family = family.id;
  record.key_size = static_cast<std::uint32_t>(key.size());
  record.write_time = static_cast<std::uint32_t>(options_.clock->WallSeconds());
  record.marks = kLastOfBatch;
  std::string compressed;
  Slice stored = value;
  const Codec codec = family.in_force().codec;
  if (codec != Codec::kNone) {
    const Stopwatch watch(&meter_, BLOB_DB_COMPRESSION_MICROS, kAll);
    const auto raw_size = static_cast<std::uint64_t>(value.size());
    compressed.assign(reinterpret_cast<const char*>(&raw_size), sizeof(raw_size));
    if (Compress(codec, value, &compressed)) {
      stored = compressed;
      record.codec = codec;
    }
  }
  record.value_size = stored.size();
  record.body_checksum = BodyChecksum(key, stored);

  const std::uint64_t number = header.number;
  const std::string path = file->path();
  const auto give_up = [&](Status s) {
    file.reset();
    static_cast<void>(Unlink(FileKind::kLargeValue, number));  // an orphan if that fails: the next opening removes it
    return s;
  };
  Status s;
  {
    const Stopwatch watch(&meter_, BLOB_DB_BLOB_FILE_WRITE_MICROS);
    meter_.Tick(FILE_BYTES_LOG, kLargeRecordOffset + record.RecordSize());
    s = WriteLargeValueFile(file.get(), header, record, key, stored);
  }
  if (!s.ok()) return give_up(s);
  meter_.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, record.RecordSize());
  if (!MutantIs(Mutant::kSkipLargeValueSync)) s = SyncValues(file.get());
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
  large_committed_[number] = {family.id, kMaxSequenceNumber};  // not yet
  auto segment = std::make_shared<Segment>(number, info.slot, path, std::move(file), header,
                                           [this](const std::string& gone) { obsolete_.Add(gone); });
  view_.Update([&](View* view) { view->segments = view->segments.With(info.slot, segment); });
  space_.written.fetch_add(info.file_size, std::memory_order_relaxed);
  *ref = {number, info.file_size, record.body_checksum};
  *address = ValueAddress::OwnFile(info.slot, info.file_size - kLargeRecordOffset);
  return Status::OK();
}

// Their batch was not committed, so nothing will ever refer to them.
void DbImpl::DropLargeValues(const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return;
  {
    const std::lock_guard lock(commit_mutex_);
    for (const std::uint64_t number : numbers) {
      if (const auto found = large_committed_.find(number); found != large_committed_.end()) found->second.sequence = 0;
    }
  }
  const Status dropped = DropUnreferenced();
  if (!dropped.ok()) logger_->Log(InfoLogLevel::kWarn, "dropping files of a failed batch: " + dropped.ToString());
}

}  // namespace cambium
