// ChangeFinder: finds out whether a key, or a key of an interval, was written after a given operation.
//
//   active memtable, frozen memtables, kept memtables (state/write_history.h)     have sequence numbers
//   layers: an address leads to a record, whose header has the number             a read
//   layers: inline values, in a family that keeps versions (state/version_switch.h)   have them, or are older than all
//   layers: tombstones, keys that do not exist                                    have none; a snapshot tells
//   layers: large values, inline values in other families                         have none
//
// The caller has held a WriteHistory::Mark since that operation. So all later operations are in memtables, unless the
// history has exceeded its limit. Then the layers are asked.
#pragma once

#include "cambium/slice.h"
#include "cambium/status.h"
#include "cambium/types.h"
#include "state/db_state.h"
#include "state/key_intervals.h"
#include "state/version_switch.h"

namespace cambium {

// Any thread.
class ChangeFinder {
 public:
  explicit ChangeFinder(DbState* state)
      : db_(state->context), commits_(state->commits), head_(state->head), versions_(&state->context, &state->commits) {}

  enum class Asks : unsigned char {
    kMemory,   // only memtables: one lookup for each that has operations after `since`
    kRecords,  // if the history is incomplete, also the layers and the header of a record; may wait for the device
  };
  // OK: the key was not written after `since`. Busy: it was, by a put, a delete or a range delete. TryAgain: that is
  // not known, because the history is incomplete and nothing else tells. Otherwise the error of a read. Operations that
  // are not published yet may count. If the caller holds the append lock, there are none.
  //
  // `then`: a snapshot with the sequence number `since`; null: there is none. It tells about keys that do not exist if
  // the history is incomplete: one that did not exist either then counts as not written.
  //
  // If an inline value has no version, kRecords lets the family keep versions from now on: one commit for each family.
  [[nodiscard]] Status CheckKey(const Family& family, Slice key, SequenceNumber since, Asks asks,
                                const Snapshot* then = nullptr) const;
  // OK: no key of the interval was written after `since`. Busy: one was, or a range delete overlaps the interval, even
  // if it has deleted no key; the message names the key, or where they overlap. TryAgain: that is not known, because
  // the history is incomplete. Passes the keys that the memtables with operations after `since` have in the interval,
  // so it takes long if they are many; never reads. Operations that are not published yet may count.
  [[nodiscard]] Status CheckInterval(const Family& family, const KeyInterval& interval, SequenceNumber since) const;

 private:
  // These answer for a key that no memtable has a number for.
  [[nodiscard]] Status CheckLayers(const Family& family, Slice key, SequenceNumber since, const Snapshot* then) const;
  [[nodiscard]] Status CheckRecord(const View& view, const Family& family, Slice key, SequenceNumber since,
                                   const Entry& entry) const;
  [[nodiscard]] Status CheckVersion(const Family& family, Slice key, SequenceNumber since, const Entry& entry) const;
  [[nodiscard]] Status CheckAbsent(const Family& family, Slice key, SequenceNumber since, const Snapshot* then) const;

  const DbContext& db_;
  const CommitPoint& commits_;
  const WriteHead& head_;
  const VersionSwitch versions_;
};

}  // namespace cambium
