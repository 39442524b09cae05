// TableRanges: the range deletes of a memtable, with sequence numbers. Readers can read at any of them.
//
//   version 7 (newest) ─▶ arrays of   4 ranges | 2 ranges | 1 range      binary digits of 7
//   version 6          ─▶             4 (same) | 2 (same)
//   version 5          ─▶             4 (same) | 1
//
//   an array:  [a,c) #9   [c,f) #12   [k,m) #9        fragments: disjoint, in key order, each with the newest of the
//                                                     sequence numbers that cover it
//
// Each Add makes a new version from the one before: the new range becomes an array of its own, and arrays of equal
// weight are joined, as a binary counter carries. The newest array that covers a key has the key's newest covering
// range, so a lookup searches at most log2(n) arrays. A reader at an older sequence number uses the version of that
// time, which it finds through jumps of doubling length. n ranges have at most 2n - 1 fragments, and a fragment is
// copied log2(n) times, so n = 1,024 take some 0.4 MiB plus their keys. Nothing is freed before the memtable, so
// readers need neither a lock nor an epoch.
//
// Rejected: one sorted list, rebuilt with each range (32 MiB after 1,024 ranges, all of it kept); and a list of all
// sequence numbers with each fragment, because a range over many fragments would have to change each of them.
//
// Threads: one writer (Add, BytesMax), and any number of concurrent readers.
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

namespace cambium {

class TableRanges {
 public:
  struct Version;  // immutable; lives as long as the arena

  explicit TableRanges(const Comparator* comparator);
  TableRanges(const TableRanges&) = delete;
  TableRanges& operator=(const TableRanges&) = delete;

  // Returns the most bytes that `additions` Adds take from the arena, without their keys.
  [[nodiscard]] std::size_t BytesMax(std::size_t additions) const;
  // begin < end; `seq` must be larger than in every earlier Add. `arena` must have reserved BytesMax, and for each of
  // the two keys its bytes and kKeyOverhead.
  static constexpr std::size_t kKeyOverhead = 4;
  void Add(SequenceNumber seq, Slice begin, Slice end, Arena* arena);

  // For readers. The newest version; null while there are no ranges.
  [[nodiscard]] const Version* newest() const { return newest_.load(std::memory_order_acquire); }
  // Returns the version with the ranges up to read_seq, `version` or an older one; null if there are none.
  [[nodiscard]] static const Version* VisibleAt(const Version* version, SequenceNumber read_seq);
  // The number of ranges in a version.
  [[nodiscard]] static std::uint64_t CountOf(const Version* version);

  // An interval around a key: for all keys in [from, to) the newest covering sequence number is `seq`; 0: none.
  struct Stretch {
    SequenceNumber seq = 0;
    bool has_from = false;
    bool has_to = false;
    Slice from;
    Slice to;
  };
  [[nodiscard]] Stretch StretchOf(const Version& version, Slice key) const;
  [[nodiscard]] SequenceNumber NewestCovering(const Version& version, Slice key) const;
  [[nodiscard]] RangeDeletes UnionOf(const Version& version) const;

  // For tests. The writer must be idle.
  Status CheckInvariants() const;

 private:
  struct Fragment;
  struct Array;
  class Joiner;

  [[nodiscard]] int Compare(Slice a, Slice b) const { return bytewise_ ? a.compare(b) : comparator_->Compare(a, b); }
  [[nodiscard]] static const Version* JumpAfter(const Version* newest);
  // Returns the number of fragments that begin at or before the key.
  [[nodiscard]] std::uint32_t BegunBy(const Array& array, Slice key) const;

  const Comparator* const comparator_;
  const bool bytewise_;
  std::atomic<const Version*> newest_{nullptr};
};

}  // namespace cambium
