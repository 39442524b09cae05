// RangeDeletes: the ranges of keys [begin, end) that a layer deletes from all older layers.
//
//   bounds     b0 ------ e0      b1 -- e1           b2 ---------- e2       ascending, all different: ranges that overlap
//   covers   no    yes       no    yes       no           yes        no    or touch are joined
//
// There are no sequence numbers here: the ranges of a layer hide entries of older layers, never those of their own
// layer or a newer one. For ranges with sequence numbers, in a memtable, see table_ranges.h.
//
// On disk: varint number of ranges, then for each its begin and its end, length-prefixed. The file that stores the
// bytes must protect them with a checksum.
#pragma once

#include <cassert>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "util/result.h"

namespace cambium {

// The largest interval around a key in which either all keys are covered or none is.
struct KeyStretch {
  bool covered = false;
  std::optional<Slice> from;  // from <= key; nullopt: no bound on this side, only if not covered
  std::optional<Slice> to;    // key < to
};

// The keys that the range deletes of a layer cover. Reads look up a key here before they go on to older layers.
// Immutable.
class RangeCover {
 public:
  RangeCover() = default;
  RangeCover(const RangeCover&) = default;
  RangeCover(RangeCover&&) = default;
  RangeCover& operator=(const RangeCover&) = default;
  RangeCover& operator=(RangeCover&&) = default;
  virtual ~RangeCover() = default;
  [[nodiscard]] virtual bool empty() const = 0;
  // The keys of the result live as long as this object. O(log count).
  [[nodiscard]] virtual KeyStretch StretchOf(Slice key) const = 0;
};

// Immutable once made; any thread may use it. The comparator must outlive it.
class RangeDeletes final : public RangeCover {
 public:
  struct Range {
    Slice begin;
    Slice end;
  };
  using Stretch = KeyStretch;

  explicit RangeDeletes(const Comparator* comparator) : comparator_(comparator) {}  // no ranges
  // `ranges` may have any order and overlap; empty ones (begin >= end) are ignored. The bytes are copied.
  RangeDeletes(const Comparator* comparator, const std::vector<Range>& ranges);
  // `bounds` are ascending and all different: b0, e0, b1, ... The bytes are copied.
  static RangeDeletes OfBounds(const Comparator* comparator, std::span<const Slice> bounds);
  // Returns the ranges that cover what any of `parts` covers.
  static RangeDeletes Union(const Comparator* comparator, std::span<const RangeDeletes* const> parts);
  // Returns the part in [from, to); null: no bound on this side.
  [[nodiscard]] RangeDeletes Within(const Slice* from, const Slice* to) const;

  [[nodiscard]] bool empty() const override { return bounds_.empty(); }
  [[nodiscard]] std::size_t count() const { return bounds_.size() / 2; }
  [[nodiscard]] const std::string& begin(std::size_t i) const {
    assert(i < count());
    return bounds_[2 * i];
  }
  [[nodiscard]] const std::string& end(std::size_t i) const {
    assert(i < count());
    return bounds_[2 * i + 1];
  }

  [[nodiscard]] Stretch StretchOf(Slice key) const override;
  // These, too, take O(log count).
  [[nodiscard]] bool Covers(Slice key) const { return BoundsUpTo(key) % 2 == 1; }
  // CoversAllOf: true if every key of [from, to) is covered. Overlaps: true if any may be. Null: no bound on this side.
  [[nodiscard]] bool CoversAllOf(const Slice* from, const Slice* to) const;
  [[nodiscard]] bool Overlaps(const Slice* from, const Slice* to) const;

  void AppendTo(std::string* out) const;
  // Corruption if the bytes are malformed, or not in order under `comparator`. Allocates at most a small multiple of
  // their size.
  static Result<RangeDeletes> Decode(Slice bytes, const Comparator* comparator);

  [[nodiscard]] std::size_t memory_bytes() const;
  friend bool operator==(const RangeDeletes& a, const RangeDeletes& b) { return a.bounds_ == b.bounds_; }

 private:
  // Returns how many bounds are <= key: an odd number if the key is covered.
  [[nodiscard]] std::size_t BoundsUpTo(Slice key) const;

  const Comparator* comparator_;
  std::vector<std::string> bounds_;
};

}  // namespace cambium
