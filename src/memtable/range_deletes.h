// RangeDeletes: the ranges of keys [begin, end) that a layer deletes from all older layers.
//
//   bounds     b0 ------ e0      b1 -- e1           b2 ---------- e2       ascending, all different: ranges that overlap
//   covers   no    yes       no    yes       no           yes        no    or touch are one
//
// Position decides, nothing else: the ranges of a layer hide what older layers say of a key, never what their own layer
// or a newer one says. Where points and ranges still have sequence numbers, in a memory table, see table_ranges.h.
//
// On disk: varint number of ranges, then for each its begin and its end, length-prefixed. A checksum is kept by whoever
// stores the bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "util/result.h"

namespace cambium {

// Immutable once made; any thread. The comparator must outlive it.
class RangeDeletes {
 public:
  struct Range {
    Slice begin;
    Slice end;
  };
  // The neighbourhood of a key: as far as all keys are covered as it is, or as far as none is.
  struct Stretch {
    bool covered = false;
    const std::string* from = nullptr;  // from <= key; null: no bound on this side, which never happens if covered
    const std::string* to = nullptr;    // key < to
  };

  explicit RangeDeletes(const Comparator* comparator) : comparator_(comparator) {}  // none
  // In any order, overlapping or not; those that hold no key (begin >= end) count for nothing. The bytes are copied.
  RangeDeletes(const Comparator* comparator, const std::vector<Range>& ranges);
  // What any of these covers.
  static RangeDeletes Union(const Comparator* comparator, std::span<const RangeDeletes* const> parts);
  // The part in [from, to); null: no bound on this side.
  [[nodiscard]] RangeDeletes Within(const Slice* from, const Slice* to) const;

  [[nodiscard]] bool empty() const { return bounds_.empty(); }
  [[nodiscard]] std::size_t count() const { return bounds_.size() / 2; }
  [[nodiscard]] const std::string& begin(std::size_t i) const { return bounds_[2 * i]; }
  [[nodiscard]] const std::string& end(std::size_t i) const { return bounds_[2 * i + 1]; }

  // The strings of the result live as long as this object. O(log count), as are the following.
  [[nodiscard]] Stretch StretchOf(Slice key) const;
  [[nodiscard]] bool Covers(Slice key) const { return BoundsUpTo(key) % 2 == 1; }
  // Whether every key, whether any key of [from, to) might be covered; null: no bound on this side.
  [[nodiscard]] bool CoversAllOf(const Slice* from, const Slice* to) const;
  [[nodiscard]] bool Overlaps(const Slice* from, const Slice* to) const;

  void AppendTo(std::string* out) const;
  // Corruption if the bytes are not of this format, or not in order under `comparator`. Needs no more memory than a small
  // multiple of them.
  static Result<RangeDeletes> Decode(Slice bytes, const Comparator* comparator);

  [[nodiscard]] std::size_t memory_bytes() const;
  friend bool operator==(const RangeDeletes& a, const RangeDeletes& b) { return a.bounds_ == b.bounds_; }

 private:
  // How many bounds are <= key: an odd number inside a range.
  [[nodiscard]] std::size_t BoundsUpTo(Slice key) const;

  const Comparator* comparator_;
  std::vector<std::string> bounds_;
};

}  // namespace cambium
