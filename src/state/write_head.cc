#include "state/write_head.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "options/options_check.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

Entry EntryOf(const PreparedBatch::Op& op) {
  if (op.header.op == RecordOp::kDelete) return Entry::Tombstone();
  return op.separated ? Entry::At(op.address) : Entry::Inline(op.value);
}

bool IsLarge(const Family& family) CAMBIUM_REQUIRES(append_lock) {
  const LogTable& table = *family.active;
  return table.memory_bytes() >= family.options().write_buffer_size || table.range_delete_count() >= kTableRangesMax;
}

}  // namespace

// ---- Reading ----

std::shared_ptr<const View> WriteHead::PinView(SequenceNumber* sequence) const {
  std::shared_ptr<const View> view = commits_.view().Pin();
  while (true) {
    CAMBIUM_FAULT_POINT("PinView:between");
    *sequence = published_.load(std::memory_order_seq_cst);
    std::shared_ptr<const View> again = commits_.view().Pin();
    if (again == view || MutantIs(Mutant::kSkipViewRecheck)) return view;
    view = std::move(again);
  }
}

Result<std::shared_ptr<const View>> WriteHead::PinViewFor(const ReadOptions& options, SequenceNumber* sequence) const {
  if (options.snapshot != nullptr) {
    const std::shared_ptr<const SnapshotImpl> snapshot = snapshots_.Find(options.snapshot);
    if (snapshot == nullptr) return Status::InvalidArgument("the snapshot is released, or belongs to another database");
    *sequence = snapshot->GetSequenceNumber();
    return snapshot->view();
  }
  std::shared_ptr<const View> view = PinView(sequence);
  if (options.durable_only && log_ != nullptr && !MutantIs(Mutant::kDurableOnlyIgnored)) {
    *sequence = std::min(*sequence, log_->durable_sequence());
  }
  return view;
}

// ---- Appending ----

Result<bool> WriteHead::ReserveInBudget(std::span<const WriteTarget> targets, BudgetClaim claim) {
  for (const WriteTarget& target : targets) {
    const Status reserved = target.family->active->Reserve(target.operations, target.bytes, target.ranges, claim);
    if (reserved.ok()) continue;
    GiveBackReserved(targets);
    if (reserved.IsBusy()) return false;
    return reserved;
  }
  return true;
}

void WriteHead::GiveBackReserved(std::span<const WriteTarget> targets) {
  for (const WriteTarget& target : targets) {
    if (target.family->active->empty() && !MutantIs(Mutant::kRefusedBatchKeepsMemory)) target.family->active->DropSpare();
  }
}

Status WriteHead::Append(PreparedBatch* batch, std::span<const WriteTarget> targets, SequenceNumber* last) {
  // Nothing may fail between the write to the log and the publication, so memory is taken first.
  for (const WriteTarget& target : targets) {
    CAMBIUM_RETURN_IF_ERROR(target.family->active->Reserve(target.operations, target.bytes, target.ranges));
  }
  assert(!batch->empty());
  const SequenceNumber first = published_.load(std::memory_order_relaxed) + 1;
  CommitLog::Position position;
  CAMBIUM_RETURN_IF_ERROR(log_->Append(batch, first, &position));
  assert((LogPosition{position.segment, position.offset} >= log_end_) && "the log grows");
  const bool has_rotated = position.segment != log_end_.segment;
  for (const WriteTarget& target : targets) {
    LogTable& table = *target.family->active;
    if (!table.started()) table.StartAt({{position.segment, position.offset}, first - 1}, logged_bytes_);
  }
  AddToTables(*batch, targets);
  range_watches_.Note(*batch);
  *last = first + batch->ops().size() - 1;
  logged_bytes_ += batch->size();
  if (!MutantIs(Mutant::kLargeValuesUncounted)) logged_bytes_ += batch->large_bytes();
  log_end_ = {position.segment, position.offset + batch->size()};
  published_.store(*last, std::memory_order_seq_cst);
  db_.stats.log_bytes.fetch_add(batch->size(), std::memory_order_relaxed);
  space_.written.fetch_add(batch->size(), std::memory_order_relaxed);
  if (has_rotated) jobs_.ScheduleIfPossible(Job::kSeal);  // for the previous segment
  // The next segment is created while the current one fills, so that no writer has to wait for its syncs.
  const std::uint64_t half = log_->segment_bytes() / 2;
  if (log_end_.offset > half && log_end_.offset - batch->size() <= half) jobs_.ScheduleIfPossible(Job::kSpare);
  return Status::OK();
}

void WriteHead::AddToTables(const PreparedBatch& batch, std::span<const WriteTarget> targets) {
  for (const PreparedBatch::Op& op : batch.ops()) {
    const WriteTarget* target = targets.data();
    while (target->family->id != op.header.family) {
      ++target;
      assert(target < targets.data() + targets.size() && "a batch has a target for each of its families");
    }
    LogTable& table = *target->family->active;
    if (op.header.op == RecordOp::kDeleteRange) {
      table.AddRange(op.header.sequence, op.key, op.value);
    } else {
      table.Add(op.header.sequence, op.key, EntryOf(op));
      if (op.header.op != RecordOp::kDelete) target->family->gaps.NotePut(op.header.sequence, op.key);
    }
  }
}

WriteHead::Watching WriteHead::TryWatch(const Family& family, SequenceNumber sequence, Gaps::Watch* watch) {
  if (HasFilter(family.options()) && !MutantIs(Mutant::kGapsDespiteFilter)) return Watching::kNever;
  if (!mutex_.TryLock()) return Watching::kBusy;
  const bool has_begun = family.gaps.Begin(watch, sequence);
  mutex_.Unlock();
  return has_begun ? Watching::kBegun : Watching::kNever;
}

bool WriteHead::IsFull(const Family& family) const {
  const LogTable& table = *family.active;
  return IsLarge(family) || (table.started() && logged_bytes_ - table.log_bytes_before() >=
                                                    db_.max_total_wal_size.load(std::memory_order_relaxed));
}

FlushReason WriteHead::ReasonOfFull(const Family& family) const {
  return IsLarge(family) ? FlushReason::kWriteBufferFull : FlushReason::kWalFull;
}

// The new view is installed before any operation in the new memtable is published.
void WriteHead::Freeze(Family* family, FlushReason reason) {
  assert(family->active->started() && "only a memtable that holds something is frozen");
  family->active->DropSpare();  // at once, and not with the memtable
  auto next = std::make_shared<LogTable>(family->options().comparator, family->share);
  FrozenTable frozen{family->active, end(), reason};
  if (db_.events.is_on()) {
    MemTableInfo info{db_.events.db_name(),         family->name,
                      family->id,                   frozen.table->version_count(),
                      frozen.table->range_delete_count(), frozen.table->memory_bytes(),
                      reason};
    db_.events.Add([info = std::move(info)](EventListener* listener) { listener->OnMemTableSealed(info); });
  }
  std::shared_ptr<Family> kept;
  commits_.view().Update([&](View* view) {
    FamilyView* const change = view->Mutable(family->id);
    assert(change != nullptr && change->active == frozen.table && "only a family that is there is frozen");
    kept = change->family;
    change->frozen.insert(change->frozen.begin(), frozen);
    change->active = next;
    family->flush_bytes.store(change->frozen.back().table->memory_bytes(), std::memory_order_relaxed);
    frozen.table->charge().Freeze();  // before a flush can find it
  });
  family->active = std::move(next);
  family->frozen_count.fetch_add(1, std::memory_order_acq_rel);
  jobs_.Schedule(Job::kFlush, kept);
}

void WriteHead::FreezeOldestIfDue() {
  if (logged_bytes_ >= next_wal_check_) FreezeOldest();
}

// A family with few writes may hold back the replay position. There may be many families, so the check runs only now
// and then.
void WriteHead::FreezeOldest() {
  const std::uint64_t limit = db_.max_total_wal_size.load(std::memory_order_relaxed);
  next_wal_check_ = logged_bytes_ + limit / 16;
  const ViewLook view(commits_.view());
  for (const FamilyView& each : view->families) {
    Family& family = *each.family;
    if (family.dropped.load(std::memory_order_relaxed)) continue;
    const LogTable& oldest = each.frozen.empty() ? *family.active : *each.frozen.back().table;
    if (oldest.empty() || MutantIs(Mutant::kForgetIdleFamily)) continue;
    assert(oldest.started() && oldest.log_bytes_before() <= logged_bytes_);
    if (logged_bytes_ - oldest.log_bytes_before() < limit) continue;
    if (each.frozen.empty()) {
      Freeze(&family, FlushReason::kWalFull);
    } else {
      jobs_.Schedule(Job::kFlush, each.family);  // the flush of a frozen memtable may have failed
    }
  }
}

Status WriteHead::FreezeAll(std::uint64_t rotate_from, FlushReason reason) {
  const AppendLock lock(*this);
  {
    const ViewLook view(commits_.view());
    for (const FamilyView& each : view->families) {
      Family& family = *each.family;
      if (family.dropped.load(std::memory_order_relaxed)) continue;
      if (!each.frozen.empty()) jobs_.Schedule(Job::kFlush, each.family);
      // In idle time, a memtable that is left active now would not be frozen later.
      const bool may_wait = reason == FlushReason::kIdle && MayFreeze(family);
      if ((each.frozen.empty() || may_wait) && !family.active->empty()) Freeze(&family, reason);
    }
  }
  return log_->tail().offset >= rotate_from ? log_->Rotate() : Status::OK();
}

// ---- The replay position ----

LogPlace WriteHead::OldestUnflushed(const View& view, std::span<const LogTable* const> flushed, const LogPlace& end) {
  LogPlace oldest = end;
  const auto look_at = [&](const LogTable& table) {
    if (!table.started() || std::ranges::find(flushed, &table) != flushed.end()) return;
    const LogPlace begin = table.begin();
    if (begin.position < oldest.position) oldest = begin;
  };
  for (const FamilyView& family : view.families) {
    if (MutantIs(Mutant::kReplayPassesUnflushed)) break;
    for (const FrozenTable& frozen : family.frozen) look_at(*frozen.table);
    look_at(*family.active);
  }
  return oldest;
}

Status WriteHead::AdvanceReplay() {
  LogPlace last;
  std::shared_ptr<const View> view;
  {
    const AppendLock lock(*this);
    last = end();
    view = commits_.view().Pin();
  }
  const LogPlace replay = OldestUnflushed(*view, {}, last);
  // The MANIFEST must not point beyond the part of the log that survives a power cut.
  CAMBIUM_RETURN_IF_ERROR(log_->SyncUpTo(replay.sequence));
  const CommitLock lock(commits_);
  if (replay.position <= commits_.state().replay) return Status::OK();
  Edit edit;
  edit.replay = replay.position;
  edit.replay_sequence = replay.sequence;
  return commits_.Commit(&edit);
}

// ---- Opening and closing ----

void WriteHead::SetRecovered(SequenceNumber last, const LogPosition& end, std::uint64_t logged_bytes) {
  const AppendLock lock(*this);
  published_.store(last);
  log_end_ = end;
  logged_bytes_.store(logged_bytes, std::memory_order_relaxed);
}

void WriteHead::Start(const SegmentEnd& predecessor) {
  assert(log_ == nullptr);
  SegmentSource* const source = this;  // the base is private
  log_ = std::make_unique<CommitLog>(source, db_.blob_file_size, predecessor, published_.load(), &published_, db_.meter);
  commits_.Follow(log_.get());
}

void WriteHead::Stop() {
  TakeSpare().reset();
  commits_.Follow(nullptr);
  log_.reset();
}

}  // namespace cambium
