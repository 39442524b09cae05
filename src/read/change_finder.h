// ChangeFinder: finds out whether a key was written after a given operation.
//
//   active memtable, frozen memtables, kept memtables (state/write_history.h)     have sequence numbers
//   layers                                                                       have none
//
// The caller has held a WriteHistory::Mark since that operation. So all later operations are in memtables, unless the
// history has exceeded its limit.
#pragma once

#include "cambium/slice.h"
#include "cambium/status.h"
#include "cambium/types.h"
#include "state/db_state.h"

namespace cambium {

// Any thread.
class ChangeFinder {
 public:
  explicit ChangeFinder(const DbState* state) : db_(state->context), commits_(state->commits) {}

  // OK: the key was not written after `since`. Busy: it was, by a put, a delete or a range delete. TryAgain: the
  // history is incomplete. Reads only memory, one lookup for each memtable with operations after `since`. Operations
  // that are not published yet may count. If the caller holds the append lock, there are none.
  [[nodiscard]] Status CheckKey(const Family& family, Slice key, SequenceNumber since) const;

 private:
  const DbContext& db_;
  const CommitPoint& commits_;
};

}  // namespace cambium
