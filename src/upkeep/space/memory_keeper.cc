#include "upkeep/space/memory_keeper.h"

#include <utility>

#include "util/epoch.h"
#include "util/mutant.h"

namespace cambium {

void MemoryKeeper::Begin() {
  if (db_.budget == nullptr || is_member_ || db_.read_only) return;
  db_.budget->Register(this);
  is_member_ = true;
  FlushIfDue();  // recovery may have filled the memtables
}

void MemoryKeeper::Close() {
  if (std::exchange(is_member_, false)) db_.budget->Unregister(this);
}

void MemoryKeeper::FlushForRefused() noexcept {
  try {
    if (!IsFlushing()) static_cast<void>(FailedFlush(/*retries=*/true));
    // A write that found a line is refused because of it, and the first in line makes room.
    if (!db_.budget->HasLine()) db_.budget->MakeRoom(this);
  } catch (...) {
  }
}

Status MemoryKeeper::AwaitRoom(WriteBudget::Place* place) {
  WriteBudget& budget = *db_.budget;
  place->changes = budget.changes();
  place->may_exceed = false;
  const bool was_first = place->claim() == BudgetClaim::kFirst;
  if (!place->IsFirst()) {  // the first one in line makes others flush
    budget.AwaitChange(place->changes);
    return Status::OK();
  }
  // The write may have been refused only because others were in line before it. So it asks again, as the first one,
  // before it makes others flush.
  if (!was_first) return Status::OK();
  // Frees memtables that only readers of an older view still had. If there were some, the write asks again.
  EpochDrain();
  if (budget.changes() != place->changes && !MutantIs(Mutant::kFlushesBeforeLook)) return Status::OK();
  if (!IsFlushing()) {
    CAMBIUM_RETURN_IF_ERROR(FailedFlush(/*retries=*/!place->has_retried));
    place->has_retried = true;
  }
  budget.MakeRoom(this);
  if (budget.IsFlushing()) {
    budget.AwaitChange(place->changes);
  } else {
    place->may_exceed = true;  // unless something has changed meanwhile
  }
  return Status::OK();
}

Status MemoryKeeper::FailedFlush(bool retries) {
  const ViewLook view(commits_.view());
  const JobsLock lock(jobs_);
  for (const FamilyView& each : view->families) {
    const JobState& flush = each.family->flush;
    if (each.family->frozen_count.load(std::memory_order_acquire) == 0 || flush.scheduled) continue;
    if (retries) {
      jobs_.ScheduleLocked(Job::kFlush, each.family);
    } else if (!flush.last.ok()) {
      return flush.last;
    }
  }
  return Status::OK();
}

void MemoryKeeper::ListTables(std::vector<WriteBudget::Candidate>* tables) {
  if (jobs_.has_fatal() || jobs_.is_closing()) return;
  const ViewLook view(commits_.view());
  for (const FamilyView& each : view->families) {
    const LogTable& table = *each.active;
    const bool is_dropped = each.family->dropped.load(std::memory_order_relaxed);
    if (is_dropped || !table.started() || table.empty() || !WriteHead::MayFreeze(*each.family)) continue;
    tables->push_back({each.family->id, &table, table.charge().bytes(), table.charge().begin()});
  }
}

void MemoryKeeper::Freeze(const WriteBudget::Candidate& chosen) {
  const AppendLock lock(head_);
  const std::shared_ptr<Family> family = commits_.FindFamily(chosen.family);
  if (family == nullptr) return;
  const bool is_same = family->active.get() == chosen.table && !family->active->empty();
  if (is_same && WriteHead::MayFreeze(*family)) head_.Freeze(family.get(), FlushReason::kWriteBufferManager);
}

void MemoryKeeper::RetryFailed() {
  if (!jobs_.has_fatal()) static_cast<void>(FailedFlush(/*retries=*/true));
}

bool MemoryKeeper::IsFlushing() {
  const JobsLock lock(jobs_);
  return jobs_.IsFlushScheduled();
}

}  // namespace cambium
