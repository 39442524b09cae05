// Reader: point reads: takes a view and a sequence number, finds the entry in the memtables or layers, reads the value.
//
// A read takes no lock that writers hold. A Get of the newest state enters an epoch and writes no shared cache line. A
// read that may wait for the device holds its view by reference count.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cambium/options.h"
#include "cambium/pinnable_slice.h"
#include "index/key_for_message.h"
#include "index/lookup.h"
#include "state/db_state.h"
#include "vlog/value_reader.h"

namespace cambium {

// Returns the query that reads the value of an entry.
[[nodiscard]] inline ValueQuery QueryFor(const DbContext& db, const Family& family, const ReadOptions& options, Slice key,
                                         const Entry& entry) {
  return {entry.address, family.id,       key, options.verify_checksums,
          family.equal_by, db.meter.is_on() ? &db.meter : nullptr};
}

// The key, named in an error.
[[nodiscard]] inline std::string KeyForMessage(const Family& family, Slice key) {
  return "key " + KeyForMessage(key) + " of column family \"" + family.name + "\"";
}

// The ticker that counts where a read has found its entry.
[[nodiscard]] inline Tickers TickerOf(FoundIn where) {
  switch (where) {
    case FoundIn::kRun: return GET_HIT_L0;
    case FoundIn::kLevel1: return GET_HIT_L1;
    case FoundIn::kDeeperLevel: return GET_HIT_L2_AND_UP;
    default: return GET_HIT_TREE;
  }
}

// The values in the log that Reader::Begin may read. It never waits for the device.
struct ReadAtOnce {
  std::uint64_t bytes_max = 0;  // no value with more bytes
  bool only_mapped = true;      // false: also values in the page cache that are not mapped
};

// A value that a read has found in the log and has not read yet.
struct UnreadValue {
  std::shared_ptr<const View> view;  // keeps its file; null: there is no such value
  ValueQuery query;                  // its key is the caller's
};

// Any thread.
class Reader {
 public:
  explicit Reader(DbState* state)
      : db_(state->context), commits_(state->commits), head_(state->head), read_queues_(state->read_queues) {}

  // For the reads below that have a parameter `keep`: with pin_mapped_values, and if `keep` is not null, a read may set
  // *value to bytes of a mapping. Then it sets *keep to the segment that keeps the mapping.

  // OK if the database can be read, and the options are valid.
  [[nodiscard]] Status Check(const ReadOptions& options) const;
  // *value refers to *buffer, unless *keep is set.
  Status Get(const ReadOptions& options, const Family& family, Slice key, std::string* buffer, Slice* value,
             std::shared_ptr<Segment>* keep) const;
  // As Get, but copies a value of at most out.size() bytes to `out`. *size is set to the size of any value, 0 after an
  // error.
  Status GetInto(const ReadOptions& options, const Family& family, Slice key, std::span<char> out,
                 std::size_t* size) const;
  // As Get, but if the value is in the log, it is read only as `at_once` allows. If it is not read, *unread is set, and
  // the result is OK.
  Status Begin(const ReadOptions& options, const Family& family, Slice key, const ReadAtOnce& at_once,
               std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep, UnreadValue* unread) const;
  // The same in a view that is held, at one sequence number of it.
  Status BeginIn(const View& view, SequenceNumber sequence, const ReadOptions& options, const Family& family, Slice key,
                 const ReadAtOnce& at_once, std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep,
                 UnreadValue* unread) const;
  Result<std::shared_ptr<const View>> PinViewFor(const ReadOptions& options, SequenceNumber* sequence) const {
    return head_.PinViewFor(options, sequence);
  }
  [[nodiscard]] const SegmentTable& SegmentsOf(const View& view) const;
  // Looks up keys[i] in families[i]. Skips null families, whose statuses are set already. If `pins` is null, all values
  // are copied. Otherwise *pins counts those that are not copied.
  void MultiGet(const ReadOptions& options, std::span<const Family* const> families, const Slice* keys,
                PinnableSlice* values, Status* statuses, ValuePins* pins) const;

 private:
  struct Many;
  struct Waiting;

  Status GetFrom(const View& view, const Family& family, SequenceNumber sequence, const ReadOptions& options, Slice key,
                 std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep) const;
  // Finds the entry of the key in the view; a tombstone if there is none. *entry may refer to *keep and to the view.
  Status FindEntry(const View& view, const Family& family, SequenceNumber sequence, Slice key, PageRef* keep,
                   Entry* entry) const;
  // Does the same for many keys of one family.
  void FindEntries(const View& view, const Family& family, SequenceNumber sequence, std::span<Lookup> lookups) const;
  Status ReadEntry(const View& view, const Family& family, const ReadOptions& options, Slice key, const Entry& entry,
                   std::string* buffer, Slice* value, std::shared_ptr<Segment>* keep) const;
  // The steps of a MultiGet: find all entries, with inline values; read cached values; read the others from the device.
  void FindAll(Many* many) const;
  void ReadCached(Many* many, std::vector<Waiting>* waiting) const;
  void ReadFromDevice(Many* many, std::vector<Waiting>* waiting) const;

  const DbContext& db_;
  const CommitPoint& commits_;
  const WriteHead& head_;
  ReadQueues& read_queues_;
};

}  // namespace cambium
