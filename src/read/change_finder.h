// ChangeFinder: finds out whether a key, or a key of an interval, was written after a given operation.
//
//   active memtable, frozen memtables, kept memtables (state/write_history.h)     have sequence numbers
//   layers: an address leads to a record, whose header has the number             a read
//   layers: inline values, tombstones, keys that do not exist                     have none
//
// The caller has held a WriteHistory::Mark since that operation. So all later operations are in memtables, unless the
// history has exceeded its limit. Then the layers are asked.
#pragma once

#include "cambium/slice.h"
#include "cambium/status.h"
#include "cambium/types.h"
#include "state/db_state.h"
#include "state/key_intervals.h"

namespace cambium {

// Any thread.
class ChangeFinder {
 public:
  explicit ChangeFinder(const DbState* state) : db_(state->context), commits_(state->commits) {}

  enum class Asks : unsigned char {
    kMemory,   // only memtables: one lookup for each that has operations after `since`
    kRecords,  // if the history is incomplete, also the layers and the header of a record; may wait for the device
  };
  // OK: the key was not written after `since`. Busy: it was, by a put, a delete or a range delete. TryAgain: that is
  // not known, because the history is incomplete and no record tells. Otherwise the error of a read. Operations that
  // are not published yet may count. If the caller holds the append lock, there are none.
  [[nodiscard]] Status CheckKey(const Family& family, Slice key, SequenceNumber since, Asks asks) const;
  // OK: no key of the interval was written after `since`. Busy: one was, or a range delete overlaps the interval, even
  // if it has deleted no key; the message names the key, or where they overlap. TryAgain: that is not known, because
  // the history is incomplete. Passes the keys that the memtables with operations after `since` have in the interval,
  // so it takes long if they are many; never reads. Operations that are not published yet may count.
  [[nodiscard]] Status CheckInterval(const Family& family, const KeyInterval& interval, SequenceNumber since) const;

 private:
  // As CheckKey, of a key that no memtable has a number for.
  [[nodiscard]] Status CheckRecord(const Family& family, Slice key, SequenceNumber since) const;

  const DbContext& db_;
  const CommitPoint& commits_;
};

}  // namespace cambium
