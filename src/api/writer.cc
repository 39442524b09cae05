#include "api/writer.h"

#include <algorithm>
#include <cassert>

#include "api/batch_preparer.h"
#include "util/count_scope.h"
#include "util/epoch.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr double kSlowdownMicrosMax = 1000;

WriteStallCondition ConditionOf(const ColumnFamilyOptions& options, double runs) {
  if (runs < options.level0_slowdown_writes_trigger) return WriteStallCondition::kNormal;
  return runs < options.level0_stop_writes_trigger ? WriteStallCondition::kDelayed : WriteStallCondition::kStopped;
}

}  // namespace

Writer::Writer(DbState* state, Upkeep* upkeep, TraceSwitch* traces)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      disk_(state->full_disk),
      pace_(upkeep->pace),
      compactor_(upkeep->compactor),
      flusher_(upkeep->flusher),
      failing_jobs_(upkeep->failing_jobs),
      memory_keeper_(upkeep->memory_keeper),
      space_keeper_(upkeep->space_keeper),
      disk_keeper_(upkeep->disk_keeper),
      traces_(*traces),
      large_values_(state, &upkeep->disk_keeper) {}

Status Writer::Check(const WriteOptions& options) const {
  CAMBIUM_RETURN_IF_ERROR(db_.CheckUsable());
  if (db_.read_only) return Status::NotSupported("the database is open for reading only");
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("sync and disableWAL exclude each other");
  }
  return jobs_.Health();
}

PreparedBatch::Rules Writer::RulesOf(const Family& family) const {
  const OptionsInForce& its = family.in_force();
  return {its.separate_from, its.codec, static_cast<std::uint32_t>(db_.options.clock->WallSeconds()),
          db_.meter.is_on() ? &db_.meter : nullptr};
}

Status Writer::AddPut(const WriteOptions& options, const Family& family, Slice key, Slice value, Prepared* prepared) {
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(family, key, value));
  CAMBIUM_RETURN_IF_ERROR(disk_keeper_.CheckGrowth());
  if (value.size() <= family.options().large_value_size) {
    prepared->batch.Put(family.id, key, value);
    return Status::OK();
  }
  LargeValueRef ref;
  ValueAddress address;
  CAMBIUM_RETURN_IF_ERROR(space_keeper_.Await(options, value.size()));  // before the file takes space
  CAMBIUM_RETURN_IF_ERROR(large_values_.Write(family, key, value, !options.no_slowdown, &ref, &address));
  prepared->large.push_back(ref.number);
  prepared->batch.PutLarge(family.id, key, ref, address);
  return Status::OK();
}

Status Writer::Put(const WriteOptions& options, Family* family, Slice key, Slice value) {
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) {
    traced.DescribeWrite(options.sync, {.type = TraceOpType::kPut, .family = family->id, .key = key, .end_key = {},
                                        .value_size = value.size(), .value = value});
  }
  Prepared prepared{PreparedBatch(RulesOf(*family)), {}, {}, key.size() + value.size(), /*only_deletes=*/false};
  CAMBIUM_RETURN_IF_ERROR(AddPut(options, *family, key, value, &prepared));
  const WriteTarget target{family, 1, prepared.batch.memtable_bytes()};
  prepared.targets = {&target, 1};
  return WritePrepared(options, &prepared, &traced);
}

Status Writer::Delete(TraceOpType type, const WriteOptions& options, Family* family, Slice key) {
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family, key, {}));
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) {
    traced.DescribeWrite(options.sync, {.type = type, .family = family->id, .key = key, .end_key = {}, .value = {}});
  }
  Prepared prepared{PreparedBatch(RulesOf(*family)), {}, {}, key.size(), /*only_deletes=*/true};
  prepared.batch.Delete(family->id, key);
  const WriteTarget target{family, 1, prepared.batch.memtable_bytes()};
  prepared.targets = {&target, 1};
  return WritePrepared(options, &prepared, &traced);
}

Status Writer::Write(const WriteOptions& options, WriteBatch* batch) {
  if (!MutantIs(Mutant::kRefusedOperationIsLeftOut)) CAMBIUM_RETURN_IF_ERROR(batch->status());
  if (!batch->IsFor(db_.database_id)) {
    return Status::InvalidArgument("the write batch has column families of another database");
  }
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) traced.DescribeWrite(options.sync, *batch);
  Prepared prepared{PreparedBatch(PreparedBatch::Rules{}), {}, {}, 0, false};
  BatchPreparer preparer(this, options, &prepared);
  if (const Status iterated = batch->Iterate(&preparer); !iterated.ok()) {
    large_values_.Drop(prepared.large, 0);
    return iterated;
  }
  prepared.targets = preparer.Targets();
  if (prepared.batch.empty()) {
    db_.stats.user_bytes.fetch_add(prepared.user_bytes, std::memory_order_relaxed);
    return options.sync ? Sync() : Status::OK();
  }
  prepared.only_deletes = std::ranges::none_of(prepared.batch.ops(), [](const PreparedBatch::Op& op) {
    return op.header.op != RecordOp::kDelete && op.header.op != RecordOp::kDeleteRange;
  });
  return WritePrepared(options, &prepared, &traced);
}

Status Writer::Sync() {
  CAMBIUM_RETURN_IF_ERROR(Check({}));
  const Status synced = head_.log()->Sync();
  if (!synced.ok()) jobs_.SetFatal(synced);
  return synced;
}

Status Writer::WritePrepared(const WriteOptions& options, Prepared* prepared, TracedCall* traced) {
  assert(!prepared->batch.empty() && !prepared->targets.empty());
  db_.stats.user_bytes.fetch_add(prepared->user_bytes, std::memory_order_relaxed);
  const SampledCall sampled(&pace_.foreground(), options.sync ? CallKind::kSyncedWrite : CallKind::kWrite);
  SequenceNumber last = 0;
  Status appended = AwaitPermission(options, *prepared);
  if (appended.ok()) appended = AppendOrFree(options, prepared, &last, traced);
  memory_keeper_.FlushIfDue();
  db_.events.Deliver();
  if (!appended.ok()) {
    if (appended.severity() == Status::Severity::kFatal) jobs_.SetFatal(appended);
    const Status dropped = MutantIs(Mutant::kFailedBatchStaysCharged) ? Status::OK() : DropLargeValues(prepared->large);
    return dropped.ok() ? appended : dropped;
  }
  if (traced->is_on()) traced->Record();
  if (db_.meter.is_on()) Count(*prepared);
  if (!prepared->large.empty()) {
    large_values_.Appended(prepared->large, last);
    EpochCollect();  // frees the view that each file has installed
  }
  if (!options.sync) return Status::OK();
  const Status synced = head_.log()->SyncUpTo(last);
  if (!synced.ok()) jobs_.SetFatal(synced);
  return synced;
}

// The failed write may have written the whole batch. Until the MANIFEST says that its segment ends before it, a crash
// may bring the batch back, so the segment is ended first. If that fails too, the next batch ends it.
Status Writer::DropLargeValues(const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return Status::OK();
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
  large_values_.Drop(numbers, failed_in);
  return is_fatal ? ended : Status::OK();
}

Status Writer::AwaitPermission(const WriteOptions& options, const Prepared& prepared) {
  if (disk_.IsFull() && prepared.only_deletes) {
    space_keeper_.StartTicking();  // at the latest in idle time, the space of the deleted keys is freed
    if (!options.no_slowdown) disk_keeper_.MakeRoomForDeletes();  // no other wait: deletes free the most space
    return Status::OK();
  }
  for (const WriteTarget& target : prepared.targets) {
    CAMBIUM_RETURN_IF_ERROR(failing_jobs_.Check(target.family, !options.no_slowdown));
    CAMBIUM_RETURN_IF_ERROR(AwaitCompaction(options, target.family));
  }
  return space_keeper_.Await(options, prepared.batch.size());
}

Status Writer::AppendOrFree(const WriteOptions& options, Prepared* prepared, SequenceNumber* last,
                            TracedCall* traced) {
  Status appended = Append(options, prepared, false, last, traced);
  RoomWait wait;
  while (appended.IsNoSpace() && appended.severity() != Status::Severity::kFatal && !disk_.IsFull()) {
    if (options.no_slowdown) {
      if (!disk_keeper_.StartToMakeRoom(prepared->batch.size())) break;
      return Status::Incomplete("the room on the disk is kept for a flush or a compaction");
    }
    if (!disk_keeper_.AwaitRoom(prepared->batch.size(), &wait)) {
      CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
      break;
    }
    appended = Append(options, prepared, false, last, traced);
  }
  // A rescue may seem to free nothing, because a reader keeps dropped files for a moment, or because the files of a
  // failed job are only being removed. So a delete fails only after several such rescues in a row.
  constexpr int kRescuesInVainMax = 5;
  constexpr std::uint64_t kPauseMicros = 2'000;
  for (int in_vain = 0; in_vain < kRescuesInVainMax && appended.IsNoSpace();) {
    if (appended.severity() == Status::Severity::kFatal) break;
    disk_keeper_.OnNoSpace();
    if (!prepared->only_deletes || !disk_.IsFull()) break;
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    static_cast<void>(db_.fs->FreeSpace(db_.path, &before));
    if (!options.no_slowdown) disk_keeper_.AwaitRescue();
    const bool has_freed = db_.fs->FreeSpace(db_.path, &after).ok() && after > before;
    in_vain = has_freed ? 0 : in_vain + 1;
    if (in_vain > 0 && !options.no_slowdown) db_.options.clock->SleepMicros(kPauseMicros);
    appended = Append(options, prepared, in_vain == kRescuesInVainMax, last, traced);
  }
  return appended;
}

Status Writer::Append(const WriteOptions& options, Prepared* prepared, bool is_last_try, SequenceNumber* last,
                      TracedCall* traced) {
  const AppendLock lock(head_);
  CAMBIUM_RETURN_IF_ERROR(
      disk_keeper_.CheckRoomForBatch(prepared->batch.size(), prepared->only_deletes, is_last_try));
  head_.FreezeOldestIfDue();  // before the batch's memory is taken, since it may freeze the memtable that has it
  WriteBudget::Place place(db_.budget.get());
  CAMBIUM_RETURN_IF_ERROR(MakeRoomInTables(options, *prepared, &place));
  // A batch that exceeds the limit stays in line until it is in a memtable that can be flushed, so that others wait for
  // that flush. Other batches have their memory and no longer need the line.
  if (!place.may_exceed) place.Leave();
  Status appended = CheckNotDropped(*prepared);
  if (appended.ok()) appended = head_.Append(&prepared->batch, prepared->targets, last);
  if (!appended.ok()) {
    WriteHead::GiveBackReserved(prepared->targets);
    return appended;
  }
  if (traced->keeps_order()) traced->Record();
  return Status::OK();
}

Status Writer::MakeRoomInTables(const WriteOptions& options, const Prepared& prepared, WriteBudget::Place* place) {
  for (bool again = true; again;) {
    again = false;
    for (const WriteTarget& target : prepared.targets) {
      const bool was_full = head_.IsFull(*target.family);
      CAMBIUM_RETURN_IF_ERROR(MakeRoom(options, target.family));
      // The append lock may have been released meanwhile, so all families are checked again.
      again = again || (was_full && prepared.targets.size() > 1);
    }
    if (again || db_.budget == nullptr) continue;
    CAMBIUM_TRY(again, MakeRoomInBudget(options, prepared, place));
  }
  return Status::OK();
}

Status Writer::MakeRoom(const WriteOptions& options, Family* family) {
  constexpr auto kCause = WriteStallCause::kMemtableLimit;
  for (bool has_waited = false;; has_waited = true) {
    CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
    if (!head_.IsFull(*family)) return Status::OK();
    if (family->dropped.load(std::memory_order_relaxed)) return DroppedStatus(*family);
    if (WriteHead::MayFreeze(*family)) {
      head_.Freeze(family, head_.ReasonOfFull(*family));
      if (has_waited) db_.events.Stalls(family->name, family->id, kCause, WriteStallCondition::kNormal);
      return Status::OK();
    }
    db_.events.Stalls(family->name, family->id, kCause, WriteStallCondition::kStopped);
    if (options.no_slowdown) return Status::Incomplete("all memtables are full and wait for their flush");
    const AppendUnlock unlocked(head_);
    db_.events.Deliver();
    const std::uint64_t start = db_.NowMicros();
    const CountScope stalls(jobs_.stalled_writers());
    const Status waited = flusher_.WaitFor(family, 0);
    pace_.CountStall(db_.NowMicros() - start, false);
    CAMBIUM_RETURN_IF_ERROR(waited);
  }
}

Result<bool> Writer::MakeRoomInBudget(const WriteOptions& options, const Prepared& prepared,
                                      WriteBudget::Place* place) {
  WriteBudget& budget = *db_.budget;
  if (place->may_exceed || !budget.StallsAll()) {
    // If no flush can make room, the batch takes its memory all the same: to wait for ever is no answer. Other writes
    // wait meanwhile. But if anything has changed since AwaitRoom looked, there may be room, or something to flush.
    const bool exceeds = place->may_exceed && budget.changes() == place->changes;
    CAMBIUM_TRY(const bool has_room, head_.ReserveInBudget(prepared.targets, place->claim()));
    if (has_room || exceeds) {
      if (budget_waiters_.load(std::memory_order_relaxed) == 0) NoteBudgetStall(false);
      return false;
    }
  }
  NoteBudgetStall(true);
  const CountScope waits(&budget_waiters_);  // until the append lock is taken again
  const AppendUnlock unlocked(head_);
  if (options.no_slowdown) {
    memory_keeper_.FlushForRefused();
    return Status::Incomplete("memtables have used up the write buffer budget");
  }
  db_.events.Deliver();
  const std::uint64_t start = db_.NowMicros();
  const CountScope stalls(jobs_.stalled_writers());
  const Status waited = memory_keeper_.AwaitRoom(place);
  pace_.CountStall(db_.NowMicros() - start, false);
  CAMBIUM_RETURN_IF_ERROR(waited);
  return true;
}

void Writer::NoteBudgetStall(bool waits) {
  if (has_budget_stall_.load(std::memory_order_relaxed) == waits) return;
  has_budget_stall_.store(waits, std::memory_order_relaxed);
  db_.events.Stalls({}, 0, WriteStallCause::kWriteBufferManagerLimit,
                    waits ? WriteStallCondition::kStopped : WriteStallCondition::kNormal);
}

Status Writer::CheckNotDropped(const Prepared& prepared) {
  for (const WriteTarget& target : prepared.targets) {
    if (target.family->dropped.load(std::memory_order_relaxed)) return DroppedStatus(*target.family);
    if (!target.family->drop_in_doubt.load(std::memory_order_relaxed)) continue;
    // The record of a failed drop may still be in the MANIFEST, and a crash would then lose this batch. The next commit
    // starts a MANIFEST without that record.
    const CommitLock lock(commits_);
    Edit nothing;
    CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&nothing));
    target.family->drop_in_doubt.store(false, std::memory_order_relaxed);
  }
  return Status::OK();
}

Status Writer::AwaitCompaction(const WriteOptions& options, Family* family) {
  const ColumnFamilyOptions& its = family->options();
  const double slowdown = its.level0_slowdown_writes_trigger;
  const double stop = its.level0_stop_writes_trigger;
  const double runs = family->WaitingRuns();
  if (db_.events.is_on()) {
    db_.events.Stalls(family->name, family->id, WriteStallCause::kL0FileCountLimit, ConditionOf(its, runs));
    db_.events.Deliver();
  }
  if (runs < slowdown) return Status::OK();
  if (options.no_slowdown) {
    return Status::Incomplete(std::to_string(static_cast<std::size_t>(runs)) + " runs wait for a compaction");
  }
  const std::uint64_t start = db_.NowMicros();
  Status waited;
  if (runs < stop) {
    const double part = (runs - slowdown + 1) / (stop - slowdown + 1);
    db_.options.clock->SleepMicros(static_cast<std::uint64_t>(kSlowdownMicrosMax * part));
  } else {
    waited = AwaitSteps(family);
  }
  pace_.CountStall(db_.NowMicros() - start, false);
  return waited;
}

Status Writer::AwaitSteps(Family* family) {
  const CountScope stalls(jobs_.stalled_writers());
  while (family->WaitingRuns() >= family->options().level0_stop_writes_trigger) {
    CAMBIUM_TRY(const bool has_stepped, compactor_.WaitForStep(family));
    if (!has_stepped) break;
  }
  return Status::OK();
}

void Writer::Count(const Prepared& prepared) const {
  std::uint64_t separated = 0;
  for (const PreparedBatch::Op& op : prepared.batch.ops()) {
    if (op.separated && op.header.op == RecordOp::kPut) separated += op.header.RecordSize();
  }
  db_.meter.Tick(WRITE_WITH_WAL);
  db_.meter.Tick(NUMBER_KEYS_WRITTEN, prepared.batch.ops().size());
  db_.meter.Tick(BYTES_WRITTEN, prepared.user_bytes);
  db_.meter.Measure(BYTES_PER_WRITE, prepared.user_bytes);
  db_.meter.Tick(WAL_FILE_BYTES, prepared.batch.size());
  db_.meter.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, separated);
}

}  // namespace cambium
