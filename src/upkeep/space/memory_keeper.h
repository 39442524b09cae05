// MemoryKeeper: keeps the memtables of a database within its WriteBudget, and gives their memory back when another
// database of the same budget needs it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memtable/write_budget.h"
#include "state/db_state.h"

namespace cambium {

class MemoryKeeper final : private WriteBudget::Member {
 public:
  explicit MemoryKeeper(DbState* state)
      : db_(state->context), jobs_(state->jobs), commits_(state->commits), head_(state->head) {}
  ~MemoryKeeper() override { Close(); }
  MemoryKeeper(const MemoryKeeper&) = delete;
  MemoryKeeper& operator=(const MemoryKeeper&) = delete;

  // Open calls Begin when the database can flush. After Close, no other database makes it flush.
  void Begin();
  void Close();

  // Freezes memtables, of this database or of others, if a flush is due. Usually costs a load.
  void FlushIfDue() noexcept CAMBIUM_EXCLUDES_ROLES {
    if (db_.budget != nullptr && db_.budget->IsFlushDue()) db_.budget->FlushIfDue();
  }
  // Makes room after a write with no_slowdown was refused: schedules failed flushes again, and freezes memtables unless
  // a writer waits in line: that writer freezes them.
  void FlushForRefused() noexcept CAMBIUM_EXCLUDES_ROLES;
  // Waits in line. Returns when the write should ask for memory again. If no flush can make room, sets
  // place->may_exceed. If a flush of this database has failed, schedules it again, once for each write; if it fails
  // again, returns its error.
  Status AwaitRoom(WriteBudget::Place* place) CAMBIUM_EXCLUDES_ROLES;

 private:
  BudgetShare& share() override { return *db_.share; }
  void ListTables(std::vector<WriteBudget::Candidate>* tables) override;
  void Freeze(const WriteBudget::Candidate& table) override;
  bool IsFlushing() override;
  void RetryFailed() override;
  std::shared_ptr<Executor> executor() override { return db_.executor; }

  // The result of a flush that has failed and is not scheduled again; OK if there is none. With `retries`, schedules
  // such flushes.
  Status FailedFlush(bool retries);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  bool is_member_ = false;  // changed by Open and Close only
};

}  // namespace cambium
