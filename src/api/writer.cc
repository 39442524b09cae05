#include "api/writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "api/batch_preparer.h"
#include "api/traced_batch.h"
#include "upkeep/space/no_space_retry.h"
#include "util/epoch.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// If an exception passes, does the clean-up that WritePrepared would do: the files of the large values are counted as
// referred to if the batch is appended, otherwise dropped.
class LargeFilesScope {
 public:
  LargeFilesScope(LargeValues* values, PreparedWrite* write) : values_(*values), write_(*write) {}
  // If this clean-up itself throws, as code of the user may, the files remain until the next Open.
  ~LargeFilesScope() {
    if (write_.large.empty() || MutantIs(Mutant::kExceptionKeepsLargeValues)) return;
    try {
      if (write_.last != 0) {
        values_.Appended(write_.large, write_.last);
      } else {
        static_cast<void>(values_.DropAfterWrite(write_.large));  // a fatal error is kept
      }
    } catch (...) {
    }
  }
  LargeFilesScope(const LargeFilesScope&) = delete;
  LargeFilesScope& operator=(const LargeFilesScope&) = delete;

 private:
  LargeValues& values_;
  PreparedWrite& write_;
};

// Gives back the memory that was reserved for a write, unless the write is appended.
class ReservedScope {
 public:
  explicit ReservedScope(const PreparedWrite* write) CAMBIUM_REQUIRES(append_lock) : write_(*write) {}
  ~ReservedScope() CAMBIUM_REQUIRES(append_lock) {
    if (write_.last == 0) WriteHead::GiveBackReserved(write_.targets);
  }
  ReservedScope(const ReservedScope&) = delete;
  ReservedScope& operator=(const ReservedScope&) = delete;

 private:
  const PreparedWrite& write_;
};

}  // namespace

Writer::Writer(DbState* state, Upkeep* upkeep, TraceSwitch* traces)
    : state_(*state),
      db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      disk_(state->full_disk),
      pace_(upkeep->pace),
      run_throttle_(upkeep->run_throttle),
      failing_jobs_(upkeep->failing_jobs),
      memory_keeper_(upkeep->memory_keeper),
      space_keeper_(upkeep->space_keeper),
      disk_keeper_(upkeep->disk_keeper),
      traces_(*traces),
      large_values_(state, &upkeep->disk_keeper),
      preparer_(state, upkeep, &large_values_),
      table_room_(state, upkeep) {}

Status Writer::Check(const WriteOptions& options) const {
  CAMBIUM_RETURN_IF_ERROR(db_.CheckUsable());
  if (db_.read_only) return Status::NotSupported("the database is open for reading only");
  if (options.sync && options.disableWAL) {
    return Status::InvalidArgument("sync and disableWAL exclude each other");
  }
  return jobs_.Health();
}

Status Writer::Put(const WriteOptions& options, Family* family, Slice key, Slice value) {
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) {
    traced.DescribeWrite(options.sync, {.type = TraceOpType::kPut, .family = family->id, .key = key, .end_key = {},
                                        .value_size = value.size(), .value = value});
  }
  PreparedWrite write{PreparedBatch(preparer_.RulesOf(*family)), {}, {}, key.size() + value.size(),
                      /*only_deletes=*/false, 0};
  const LargeFilesScope scope(&large_values_, &write);
  CAMBIUM_RETURN_IF_ERROR(preparer_.AddPut(options, *family, key, value, &write));
  const WriteTarget target{family, 1, write.batch.memtable_bytes()};
  write.targets = {&target, 1};
  return WritePrepared(options, &write, &traced);
}

Status Writer::Delete(TraceOpType type, const WriteOptions& options, Family* family, Slice key) {
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family, key, {}));
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) {
    traced.DescribeWrite(options.sync, {.type = type, .family = family->id, .key = key, .end_key = {}, .value = {}});
  }
  PreparedWrite write{PreparedBatch(preparer_.RulesOf(*family)), {}, {}, key.size(), /*only_deletes=*/true, 0};
  write.batch.Delete(family->id, key);
  const WriteTarget target{family, 1, write.batch.memtable_bytes()};
  write.targets = {&target, 1};
  return WritePrepared(options, &write, &traced);
}

Status Writer::Write(const WriteOptions& options, WriteBatch* batch, const WriteCondition* condition) {
  if (!MutantIs(Mutant::kRefusedOperationIsLeftOut)) CAMBIUM_RETURN_IF_ERROR(batch->status());
  if (!batch->IsFor(db_.database_id)) {
    return Status::InvalidArgument("the write batch has column families of another database");
  }
  TracedCall traced(&traces_, kTraceFilterWrite);
  if (traced.is_on()) DescribeBatch(options.sync, *batch, &traced);
  PreparedWrite write{PreparedBatch(PreparedBatch::Rules{}), {}, {}, 0, false, 0};
  const LargeFilesScope scope(&large_values_, &write);
  BatchPreparer preparer(&commits_, &preparer_, options, &write);
  if (const Status iterated = batch->Iterate(&preparer); !iterated.ok()) {
    large_values_.Drop(std::exchange(write.large, {}));
    return iterated;
  }
  write.targets = preparer.Targets();
  write.condition = condition;
  if (write.batch.empty()) {
    db_.stats.user_bytes.fetch_add(write.user_bytes, std::memory_order_relaxed);
    return options.sync ? Sync() : Status::OK();
  }
  write.only_deletes = std::ranges::none_of(write.batch.ops(), [](const PreparedBatch::Op& op) {
    return op.header.op != RecordOp::kDelete && op.header.op != RecordOp::kDeleteRange;
  });
  return WritePrepared(options, &write, &traced);
}

Status Writer::WritePrepared(const WriteOptions& options, PreparedWrite* write, TracedCall* traced) {
  assert(!write->batch.empty() && !write->targets.empty());
  const SampledCall sampled(&pace_.foreground(), options.sync ? CallKind::kSyncedWrite : CallKind::kWrite);
  Status appended = AwaitPermission(options, *write);
  if (appended.ok()) appended = AppendOrFree(options, write, traced);
  memory_keeper_.FlushIfDue();
  db_.events.Deliver();
  assert(appended.ok() == (write->last != 0) && "a batch that was appended has a sequence number");
  if (!appended.ok()) return GiveUp(write, appended);
  db_.stats.user_bytes.fetch_add(write->user_bytes, std::memory_order_relaxed);
  if (traced->is_on()) traced->Record();
  if (db_.meter.is_on()) CountWritten(db_.meter, *write);
  if (!write->large.empty()) {
    large_values_.Appended(std::exchange(write->large, {}), write->last);
    EpochCollect();  // frees the view that each file has installed
  }
  if (!options.sync) return Status::OK();
  const Status synced = head_.log()->SyncUpTo(write->last);
  if (!synced.ok()) jobs_.SetFatal(synced);
  return synced;
}

Status Writer::AwaitPermission(const WriteOptions& options, const PreparedWrite& write) {
  if (disk_.IsFull() && write.only_deletes) {
    space_keeper_.StartTicking();  // at the latest in idle time, the space of the deleted keys is freed
    if (!options.no_slowdown) disk_keeper_.MakeRoomForDeletes();  // no other wait: deletes free the most space
    return Status::OK();
  }
  for (const WriteTarget& target : write.targets) {
    CAMBIUM_RETURN_IF_ERROR(failing_jobs_.Check(target.family, !options.no_slowdown));
    CAMBIUM_RETURN_IF_ERROR(run_throttle_.Await(options, target.family));
  }
  return space_keeper_.Await(options, write.batch.size());
}

Status Writer::AppendOrFree(const WriteOptions& options, PreparedWrite* write, TracedCall* traced) {
  Status appended = Append(options, write, WriteTry::kFirst, traced);
  if (!appended.IsNoSpace()) return appended;
  NoSpaceRetry retry(&state_, &disk_keeper_, options, write->batch.size(), write->only_deletes);
  while (true) {
    CAMBIUM_TRY(const bool again, retry.Await(appended));
    if (!again) return appended;
    appended = Append(options, write, retry.next(), traced);
  }
}

Status Writer::Append(const WriteOptions& options, PreparedWrite* write, WriteTry its_try, TracedCall* traced) {
  assert(write->last == 0 && "a batch is appended once");
  const AppendLock lock(head_);
  CAMBIUM_RETURN_IF_ERROR(disk_keeper_.CheckRoomForBatch(write->batch.size(), write->only_deletes, its_try));
  head_.FreezeOldestIfDue();  // before the batch's memory is taken in an active memtable, which this may freeze
  WriteBudget::Place place(db_.budget.get());
  CAMBIUM_RETURN_IF_ERROR(table_room_.Make(options, write->targets, &place));
  // A batch that exceeds the limit stays in line until it is in a memtable that can be flushed, so that others wait for
  // that flush. Other batches have their memory and no longer need the line.
  if (!place.may_exceed) place.Leave();
  const ReservedScope reserved(write);
  CAMBIUM_RETURN_IF_ERROR(CheckNotDropped(*write));
  if (write->condition != nullptr) CAMBIUM_RETURN_IF_ERROR(write->condition->Check());
  CAMBIUM_RETURN_IF_ERROR(head_.Append(&write->batch, write->targets, &write->last));
  if (traced->keeps_order()) traced->Record();
  return Status::OK();
}

Status Writer::CheckNotDropped(const PreparedWrite& write) {
  for (const WriteTarget& target : write.targets) {
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

Status Writer::GiveUp(PreparedWrite* write, const Status& why) {
  if (why.severity() == Status::Severity::kFatal) jobs_.SetFatal(why);
  const std::vector<std::uint64_t> large = std::exchange(write->large, {});
  if (MutantIs(Mutant::kFailedBatchStaysCharged)) return why;
  const Status dropped = large_values_.DropAfterWrite(large);
  return dropped.ok() ? why : dropped;
}

Status Writer::Sync() {
  CAMBIUM_RETURN_IF_ERROR(Check({}));
  const Status synced = head_.log()->Sync();
  if (!synced.ok()) jobs_.SetFatal(synced);
  return synced;
}

}  // namespace cambium
