// MemTable: the sorted buffer of what was written since the last flush.
//
// A B+-tree in memory, fan-out 64, with 8 bytes of each key beside its pointer, because a skip list of a million keys
// costs a cache miss per level (tree.h, node.h). Behind the newest version of a key hang older ones, newest first, for
// snapshots taken while the table filled (record.h). A key of 16 bytes takes 50 to 57 bytes, a newer version of it 41.
//
// Range deletes stand beside the tree (table_ranges.h): a key is deleted at a moment if the newest range that covers it
// is newer than its newest version. A table without them pays one load for it.
//
// Threads: one writer at a time (it holds the append lock) calls Reserve, Add and AddRange; any number of readers
// beside it, without locks. A reader sees every Add that happened before it learnt of the sequence number it reads at.
#pragma once

#include <cstdint>
#include <memory>

#include "cambium/comparator.h"
#include "cambium/status.h"
#include "cambium/types.h"
#include "memtable/entry_cursor.h"
#include "memtable/range_deletes.h"
#include "vlog/entry.h"

namespace cambium {

class MemTable {
 public:
  explicit MemTable(const Comparator* comparator);
  ~MemTable();
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // Takes the memory that `entries` Adds with `bytes` of keys and inline values in all may need, node splits included,
  // so that they cannot fail: nothing may fail between a write to the log and its publication. The same for `ranges`
  // AddRanges, whose keys count in `bytes` too. Aborted if memory is short; then nothing has changed. Mostly a
  // comparison. Reserves do not add up: each covers the Adds up to the next.
  Status Reserve(std::size_t entries, std::size_t bytes, std::size_t ranges = 0);
  // seq is larger than that of every Add before it. Copies key and inline value. Covered by a Reserve.
  void Add(SequenceNumber seq, Slice key, const Entry& entry);
  // Deletes all keys in [begin, end), here and in older layers, as of `seq`; begin < end. The same rules.
  void AddRange(SequenceNumber seq, Slice begin, Slice end);

  // The newest version with a sequence number <= read_seq, or a tombstone if a newer range (<= read_seq) covers the key;
  // false if there is neither. *seq is that of the version or the range. *entry borrows from the table.
  [[nodiscard]] bool Find(Slice key, SequenceNumber read_seq, Entry* entry, SequenceNumber* seq = nullptr) const;

  // Yields for each key the newest version with a sequence number <= read_seq. Keys without one are not yielded, nor are
  // those that a newer range covers: that the range hides them in older layers too is for whoever merges (RangesAt).
  // Valid beside a writer: it sees what was added before it was positioned, and may see later keys; of ranges those that
  // were added before it was made. The table must outlive it.
  [[nodiscard]] std::unique_ptr<EntryCursor> NewCursor(SequenceNumber read_seq) const;

  // What the ranges with sequence numbers <= read_seq cover; null if there are none. Needs the table no more.
  [[nodiscard]] std::shared_ptr<const RangeDeletes> RangesAt(SequenceNumber read_seq) const;

  // Keys, versions of them, range deletes, and bytes of memory in use (what is only reserved is neither touched nor
  // counted). Any thread. Ranges make look-ups and flushes dearer, so a table with many of them is better frozen early.
  [[nodiscard]] std::uint64_t key_count() const;
  [[nodiscard]] std::uint64_t version_count() const;
  [[nodiscard]] std::uint64_t range_delete_count() const;
  [[nodiscard]] std::size_t memory_bytes() const;
  // Of separated values, by size code, of all versions.
  [[nodiscard]] std::uint64_t separated_bytes() const;
  // Likewise of the newest versions alone, those that ranges cover included: how many they are, and their bytes.
  [[nodiscard]] std::uint64_t newest_separated_count() const;
  [[nodiscard]] std::uint64_t newest_separated_bytes() const;
  // Roughly what keys in [begin, end) take: their part of memory_bytes() and of separated_bytes(), as if all were alike.
  [[nodiscard]] std::uint64_t ApproximateSize(Slice begin, Slice end) const;
  [[nodiscard]] bool empty() const { return key_count() == 0 && range_delete_count() == 0; }

  // For tests: order, counts and version chains. Needs the writer to stand still.
  Status CheckInvariants() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
