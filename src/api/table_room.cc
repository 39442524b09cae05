#include "api/table_room.h"

#include "util/count_scope.h"

namespace cambium {

Status TableRoom::Make(const WriteOptions& options, std::span<const WriteTarget> targets, WriteBudget::Place* place) {
  for (bool again = true; again;) {
    again = false;
    for (const WriteTarget& target : targets) {
      const bool was_full = head_.IsFull(*target.family);
      CAMBIUM_RETURN_IF_ERROR(MakeInTable(options, target.family));
      // The append lock may have been released meanwhile, so all families are checked again.
      again = again || (was_full && targets.size() > 1);
    }
    if (again || db_.budget == nullptr) continue;
    CAMBIUM_TRY(again, TakeFromBudget(options, targets, place));
  }
  return Status::OK();
}

Status TableRoom::MakeInTable(const WriteOptions& options, Family* family) {
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

Result<bool> TableRoom::TakeFromBudget(const WriteOptions& options, std::span<const WriteTarget> targets,
                                       WriteBudget::Place* place) {
  WriteBudget& budget = *db_.budget;
  if (place->may_exceed || !budget.StallsAll()) {
    // If no flush can make room, the batch exceeds the budget, because otherwise it would wait for ever. Other writes
    // wait meanwhile. But if anything has changed since AwaitRoom looked, there may be room, or something to flush.
    const bool exceeds = place->may_exceed && budget.changes() == place->changes;
    CAMBIUM_TRY(const bool has_room, head_.ReserveInBudget(targets, place->claim()));
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

void TableRoom::NoteBudgetStall(bool waits) {
  if (has_budget_stall_ == waits) return;
  has_budget_stall_ = waits;
  db_.events.Stalls({}, 0, WriteStallCause::kWriteBufferManagerLimit,
                    waits ? WriteStallCondition::kStopped : WriteStallCondition::kNormal);
}

}  // namespace cambium
