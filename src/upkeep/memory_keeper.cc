#include "upkeep/memory_keeper.h"

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

void MemoryKeeper::FlushWithoutWait(bool must) noexcept {
  try {
    db_.budget->FlushSome(must);
    if (must && !db_.budget->IsFlushing()) static_cast<void>(FailedFlush(/*retries=*/true));
  } catch (...) {
  }
}

Result<bool> MemoryKeeper::AwaitRoom(bool retries) {
  WriteBudget& budget = *db_.budget;
  EpochDrain();  // memtables that only readers of an older view still had
  const std::uint64_t seen = budget.changes();
  budget.FlushSome(/*must=*/true);
  if (!budget.IsFlushing()) {
    CAMBIUM_RETURN_IF_ERROR(FailedFlush(retries));
    if (!budget.IsFlushing()) return budget.changes() != seen;  // what has changed may have made room
  }
  budget.AwaitChange(seen);
  return true;
}

Status MemoryKeeper::FailedFlush(bool retries) {
  const std::shared_ptr<const View> view = commits_.view().Pin();  // released after the lock
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
  const std::shared_ptr<const View> view = commits_.view().Pin();
  for (const FamilyView& each : view->families) {
    const LogTable& table = *each.active;
    const bool is_dropped = each.family->dropped.load(std::memory_order_relaxed);
    if (is_dropped || !table.started() || table.empty() || !WriteHead::MayFreeze(*each.family)) continue;
    tables->push_back({each.family->id, &table, table.charge().bytes(), table.charge().begin()});
  }
}

void MemoryKeeper::Freeze(const WriteBudget::Candidate& chosen) {
  const AppendLock lock(head_);
  const std::shared_ptr<const View> view = commits_.view().Pin();
  const FamilyView* const found = view->Find(chosen.family);
  if (found == nullptr) return;
  Family& family = *found->family;
  const bool is_same = family.active.get() == chosen.table && !family.active->empty();
  if (is_same && WriteHead::MayFreeze(family)) head_.Freeze(&family, FlushReason::kWriteBufferManager);
}

bool MemoryKeeper::IsFlushing() {
  const JobsLock lock(jobs_);
  return jobs_.IsFlushScheduled();
}

}  // namespace cambium
