// MemTable: the sorted buffer of recent writes.
//
// It is a B+-tree in memory, with a fan-out of 64 and 8 bytes of each key next to its pointer, because a skip list of a
// million keys costs a cache miss per level (tree.h, node.h). Older versions of a key are chained to the newest one,
// newest first, for snapshots taken while the memtable filled (record.h); any version is O(log n) steps from the newest.
// A key of 16 bytes takes 50 to 57 bytes, a newer version of it 44 on average.
//
// Range deletes are kept apart from the tree (table_ranges.h): at a sequence number, a key is deleted if the newest
// range that covers it is newer than its newest version. Without range deletes this costs a lookup one load.
//
// Threads: one writer at a time, which holds the append lock, calls Reserve, Add and AddRange. Any number of readers
// run at the same time and take no locks. A reader that learns a sequence number after all Adds up to that number sees
// all of these Adds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/status.h"
#include "cambium/types.h"
#include "memtable/budget_charges.h"
#include "memtable/entry_cursor.h"
#include "memtable/range_deletes.h"
#include "vlog/entry.h"

namespace cambium {

class Record;

// Whether a cursor gives inline values with their versions.
enum class HasVersions : bool { kNo, kYes };

class MemTable {
 public:
  // Its memory is charged to `share`; null: to nothing.
  explicit MemTable(const Comparator* comparator, std::shared_ptr<BudgetShare> share = nullptr);
  ~MemTable();
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // Reserves all memory that `entries` Adds and `ranges` AddRanges may need, node splits included, so that they cannot
  // fail: nothing may fail between a write to the log and its publication. `bytes` is the sum of their keys, inline
  // values and ends of ranges. Returns Aborted and changes nothing if memory is short, and Busy if the budget refuses the
  // claim. Usually costs a comparison. Reserves do not add up: each covers only the Adds before the next Reserve.
  Status Reserve(std::size_t entries, std::size_t bytes, std::size_t ranges = 0,
                 BudgetClaim claim = BudgetClaim::kExceeds);
  // Gives back a whole chunk that is reserved and from which nothing was taken.
  void DropSpare();
  // Copies key and inline value. `seq` must be larger than in every earlier Add or AddRange. Must be covered by a
  // Reserve.
  void Add(SequenceNumber seq, Slice key, const Entry& entry);
  // Deletes all keys in [begin, end), here and in older layers, as of `seq`; begin < end. Requirements as for Add.
  void AddRange(SequenceNumber seq, Slice begin, Slice end);

  // Finds the newest version with a sequence number <= read_seq, or a tombstone if a newer range (<= read_seq) covers
  // the key. False if there is neither. *seq is set to the sequence number of the version or range. *entry borrows the
  // memtable's memory; an inline value has its version.
  [[nodiscard]] bool Find(Slice key, SequenceNumber read_seq, Entry* entry, SequenceNumber* seq = nullptr) const;

  // Yields for each key the newest version with a sequence number <= read_seq, unless a newer range (<= read_seq)
  // covers the key. The caller must hide such keys in older layers, too: see CoverAt. A writer may add concurrently:
  // the cursor sees the keys added before it was positioned, perhaps later ones, and the ranges added before it was
  // made. The memtable must outlive it. Leaves out the versions up to `after_seq`: cursor and ranges are then the layer
  // that makes the state at read_seq out of the state at after_seq.
  // Only the cursors of flushes give versions of inline values (`has`): what they give may be written to the disk.
  [[nodiscard]] std::unique_ptr<EntryCursor> NewCursor(SequenceNumber read_seq, SequenceNumber after_seq = 0,
                                                       HasVersions has = HasVersions::kNo) const;

  // Returns what the ranges with sequence numbers <= read_seq cover; null if there are none. CoverAt copies nothing, and
  // the memtable must outlive its result; RangesAt copies all of them, or only those after `after_seq`.
  [[nodiscard]] std::shared_ptr<const RangeCover> CoverAt(SequenceNumber read_seq) const;
  [[nodiscard]] std::shared_ptr<const RangeDeletes> RangesAt(SequenceNumber read_seq,
                                                             SequenceNumber after_seq = 0) const;

  // All versions of all keys, by sequence number. The table takes no more writes, and outlives the result.
  [[nodiscard]] std::vector<Record> VersionsBySequence() const;
  [[nodiscard]] int Compare(Slice a, Slice b) const;

  // The number of keys, of versions, of range deletes, and the bytes of memory in use; memory that is only reserved is
  // untouched and does not count. Any thread. Ranges make lookups and flushes slower, so freeze a memtable early if it
  // has many.
  [[nodiscard]] std::uint64_t key_count() const;
  [[nodiscard]] std::uint64_t version_count() const;
  [[nodiscard]] std::uint64_t range_delete_count() const;
  [[nodiscard]] std::size_t memory_bytes() const;
  // The memory that it has taken from its budget: more than memory_bytes(), since chunks are not full.
  [[nodiscard]] TableCharge& charge() const;
  // The bytes of the separated values of all versions, by size code.
  [[nodiscard]] std::uint64_t separated_bytes() const;
  // The number and the bytes of the separated values of the newest versions only, including keys that ranges cover.
  [[nodiscard]] std::uint64_t newest_separated_count() const;
  [[nodiscard]] std::uint64_t newest_separated_bytes() const;
  // Estimates the size of the keys in [begin, end): their share of memory_bytes() and separated_bytes(), as if all keys
  // were of equal size.
  [[nodiscard]] std::uint64_t ApproximateSize(Slice begin, Slice end) const;
  [[nodiscard]] bool empty() const { return key_count() == 0 && range_delete_count() == 0; }

  // For tests: checks order, counts and version chains. The writer must be idle.
  Status CheckInvariants() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
