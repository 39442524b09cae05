// Reader: point reads: a view and a sequence number, the memtables, the layers, the value.
//
// A read takes no lock of a writer. A Get of the newest state enters an epoch and writes no shared cache line; what may have
// to wait for the device holds its view by count.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cambium/options.h"
#include "cambium/pinnable_slice.h"
#include "index/lookup.h"
#include "state/db_state.h"
#include "vlog/value_reader.h"

namespace cambium {

// What is to be known to read the value of an entry.
[[nodiscard]] inline ValueQuery QueryFor(const DbContext& db, const Family& family, const ReadOptions& options, Slice key,
                                         const Entry& entry) {
  return {entry.address, family.id,       key, options.verify_checksums,
          family.equal_by, db.meter.is_on() ? &db.meter : nullptr};
}

// Any thread.
class Reader {
 public:
  explicit Reader(DbState* state)
      : db_(state->context), commits_(state->commits), head_(state->head), read_queues_(state->read_queues) {}

  // OK if the database can be read, and these options make sense.
  [[nodiscard]] Status Check(const ReadOptions& options) const;
  // *value is a part of *buffer.
  Status Get(const ReadOptions& options, const Family& family, Slice key, std::string* buffer, Slice* value) const;
  // One key each; a family that is null has its status already.
  void MultiGet(const ReadOptions& options, std::span<const Family* const> families, const Slice* keys,
                PinnableSlice* values, Status* statuses) const;

 private:
  struct Many;
  struct Waiting;

  Status GetFrom(const View& view, const Family& family, SequenceNumber sequence, const ReadOptions& options, Slice key,
                 std::string* buffer, Slice* value) const;
  // What the view says of the key. *entry may borrow from *keep, and from the view.
  Status FindEntry(const View& view, const Family& family, SequenceNumber sequence, Slice key, PageRef* keep,
                   Entry* entry) const;
  // The same for many keys of the family.
  void FindEntries(const View& view, const Family& family, SequenceNumber sequence, std::span<Lookup> lookups) const;
  Status ReadEntry(const View& view, const Family& family, const ReadOptions& options, Slice key, const Entry& entry,
                   std::string* buffer, Slice* value) const;
  [[nodiscard]] const SegmentTable& SegmentsOf(const View& view) const;
  // The steps of a MultiGet: entries of all keys, with the values that are inline; values in memory; values on the device.
  void FindAll(Many* many) const;
  void ReadCached(Many* many, std::vector<Waiting>* waiting) const;
  void ReadFromDevice(Many* many, std::vector<Waiting>* waiting) const;

  const DbContext& db_;
  const CommitPoint& commits_;
  const WriteHead& head_;
  ReadQueues& read_queues_;
};

}  // namespace cambium
