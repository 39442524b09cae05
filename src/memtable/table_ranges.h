// TableRanges: the range deletes of a memory table, with sequence numbers, for any moment of the table's life.
//
//   version 7 (newest) ─▶ arrays of   4 ranges | 2 ranges | 1 range      binary digits of 7
//   version 6          ─▶             4 (same) | 2 (same)
//   version 5          ─▶             4 (same) | 1
//
//   an array:  [a,c) #9   [c,f) #12   [k,m) #9        fragments: disjoint, in key order, each with the newest of the
//                                                     sequence numbers that cover it
//
// Every addition makes a new version out of the one before: the new range is an array of its own, and arrays of equal
// weight are merged, as a binary counter carries. What a key's newest covering range is, the newest array that covers
// it says, so a look-up searches at most log2(n) arrays; and a reader at an older sequence number takes the version of
// that time, which it finds through jumps of doubling length. n ranges have at most 2n - 1 fragments, and a fragment is
// copied log2(n) times, so n = 1,024 take some 0.4 MiB beside their keys. Nothing is freed before the table: readers
// need neither lock nor epoch.
//
// Rejected: one sorted list, made anew with each range (32 MiB after 1,024 ranges, all of it kept); and a list of all
// numbers with each fragment, which a range over many fragments would have to touch one by one.
//
// Threads: one writer (Add, BytesMax) beside any number of readers.
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

  // What `additions` Adds take of the arena at most, their keys not counted.
  [[nodiscard]] std::size_t BytesMax(std::size_t additions) const;
  // begin < end; seq is larger than that of every Add before it. The arena has what BytesMax said, and the keys' bytes
  // and kKeyOverhead for each of the two.
  static constexpr std::size_t kKeyOverhead = 4;
  void Add(SequenceNumber seq, Slice begin, Slice end, Arena* arena);

  // Readers. The newest version; null as long as there are no ranges.
  [[nodiscard]] const Version* newest() const { return newest_.load(std::memory_order_acquire); }
  // The ranges with sequence numbers <= read_seq; null if there are none. From any version on.
  [[nodiscard]] static const Version* VisibleAt(const Version* version, SequenceNumber read_seq);
  // How many ranges there are in a version.
  [[nodiscard]] static std::uint64_t CountOf(const Version* version);

  // The neighbourhood of a key: in [from, to) the newest covering sequence number is `seq`; 0: nothing covers it.
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

  // For tests, with the writer at rest.
  Status CheckInvariants() const;

 private:
  struct Fragment;
  struct Array;
  class Merge;

  [[nodiscard]] int Compare(Slice a, Slice b) const { return bytewise_ ? a.compare(b) : comparator_->Compare(a, b); }
  // The number of fragments that begin at or before the key.
  [[nodiscard]] std::uint32_t BegunBy(const Array& array, Slice key) const;

  const Comparator* const comparator_;
  const bool bytewise_;
  std::atomic<const Version*> newest_{nullptr};
};

}  // namespace cambium
