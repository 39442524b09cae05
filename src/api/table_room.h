// TableRoom: makes room for a batch in the active memtables, before the batch is appended.
//
//   each target's memtable is full ─▶ freeze it; too many are frozen ─▶ wait for a flush, look again
//     ─▶ memtables have a limit (WriteBudget): take the memory from it; there is none ─▶ wait in line, look again
//
// A wait releases the append lock.
#pragma once

#include <atomic>
#include <span>

#include "cambium/options.h"
#include "memtable/write_budget.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

class TableRoom {
 public:
  TableRoom(DbState* state, Upkeep* upkeep)
      : db_(state->context),
        jobs_(state->jobs),
        head_(state->head),
        pace_(upkeep->pace),
        flusher_(upkeep->flusher),
        memory_keeper_(upkeep->memory_keeper) {}

  // Freezes full memtables of the targets. If too many wait for their flush, waits for a flush. Then takes the batch's
  // memory from the budget. Returns Incomplete instead of waiting if the options say no_slowdown. The write waits for
  // the budget at `place` in its line.
  Status Make(const WriteOptions& options, std::span<const WriteTarget> targets, WriteBudget::Place* place)
      CAMBIUM_REQUIRES(append_lock);

 private:
  Status MakeInTable(const WriteOptions& options, Family* family) CAMBIUM_REQUIRES(append_lock);
  // True: it has waited, so the memtables must be looked at again.
  Result<bool> TakeFromBudget(const WriteOptions& options, std::span<const WriteTarget> targets,
                              WriteBudget::Place* place) CAMBIUM_REQUIRES(append_lock);
  // Reports to listeners whether writes wait for the budget.
  void NoteBudgetStall(bool waits) CAMBIUM_REQUIRES(append_lock);

  DbContext& db_;
  Jobs& jobs_;
  WriteHead& head_;
  Pace& pace_;
  Flusher& flusher_;
  MemoryKeeper& memory_keeper_;
  bool has_budget_stall_ CAMBIUM_GUARDED_BY(append_lock) = false;  // as reported last
  std::atomic<int> budget_waiters_{0};  // writers that the budget has refused; changed under the append lock
};

}  // namespace cambium
