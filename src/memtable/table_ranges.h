// TableRanges: the range deletes of a memtable, with sequence numbers. Readers can read at any of them.
//
//   version 3 (newest)   [a,c) #9   [c,f) #12   [f,m) #9      disjoint stretches in key order, each with the newest of
//   version 2            [a,m) #9                             the sequence numbers that cover it
//   version 1            [b,d) #4
//
// A new range is newer than all others, so in the next version it replaces what it covers. Each version is a map of
// stretches (stretch_map.h), which shares most of its nodes with the version before. So writing a range, and a lookup
// or a seek in any version, take O(log n), and an iterator copies nothing. A reader at an older sequence number uses
// the version of that time, which it finds through jumps of doubling length (jump_chain.h). n = 1,000 ranges take some
// 0.9 MiB plus their keys. Nothing is freed before the memtable, so readers need neither a lock nor an epoch.
//
// Rejected: arrays of 1, 2, 4, ... ranges, joined as a binary counter carries. They take half the memory, but a range
// then costs up to O(n) at once, a lookup searches log2(n) arrays, and iterators need a copy in which ranges that touch
// are joined.
//
// Threads: one writer (Add, BytesMax), and any number of concurrent readers. A version and its nodes are written before
// `newest_` is stored with release; readers load it with acquire, and everything that it leads to never changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/status.h"
#include "cambium/types.h"
#include "memtable/arena.h"
#include "memtable/range_deletes.h"
#include "memtable/stretch_map.h"

namespace cambium {

class TableRanges {
 public:
  struct Version;  // immutable; lives as long as the arena

  explicit TableRanges(const Comparator* comparator) : order_(comparator) {}
  TableRanges(const TableRanges&) = delete;
  TableRanges& operator=(const TableRanges&) = delete;

  // Returns the most bytes that `additions` Adds take from the arena, without their keys.
  [[nodiscard]] std::size_t BytesMax(std::size_t additions) const;
  // begin < end; `seq` must not be smaller than in an earlier Add. `arena` must have reserved BytesMax, and for each of
  // the two keys its bytes and kKeyOverhead.
  static constexpr std::size_t kKeyOverhead = StretchMap::kKeyOverhead;
  void Add(SequenceNumber seq, Slice begin, Slice end, Arena* arena);

  // For readers. The newest version; null while there are no ranges.
  [[nodiscard]] const Version* newest() const { return newest_.load(std::memory_order_acquire); }
  // Returns the version with the ranges up to read_seq, `version` or an older one; null if there are none.
  [[nodiscard]] static const Version* VisibleAt(const Version* version, SequenceNumber read_seq);
  // The number of ranges in a version.
  [[nodiscard]] static std::uint64_t CountOf(const Version* version);

  // An interval around a key: for all keys in [from, to) the newest covering sequence number is `number`; 0: none.
  using Stretch = StretchMap::Stretch;
  [[nodiscard]] Stretch StretchOf(const Version& version, Slice key) const;
  [[nodiscard]] SequenceNumber NewestCovering(const Version& version, Slice key) const;
  // The keys that the version covers. Copies nothing; valid as long as the arena.
  [[nodiscard]] std::shared_ptr<const RangeCover> CoverOf(const Version& version) const;
  // The keys that the version's ranges newer than `after_seq` cover.
  [[nodiscard]] RangeDeletes UnionOf(const Version& version, SequenceNumber after_seq = 0) const;

  // For tests. The writer must be idle.
  Status CheckInvariants() const;

 private:
  class Cover;

  [[nodiscard]] static const Version* JumpAfter(const Version* newest);

  const StretchMap::Order order_;
  std::atomic<const Version*> newest_{nullptr};
};

}  // namespace cambium
