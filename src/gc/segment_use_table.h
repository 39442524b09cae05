// SegmentUseTable: the uses of all segments in F (gc/victims.h), with sums over them. Apply takes time for the changed
// segments only, except that it moves the other rows in memory if segments join or leave F.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gc/victims.h"

namespace cambium {

// Sums over the members. In bytes, except for `worth_punching`.
struct SegmentUseSums {
  std::uint64_t garbage = 0;          // garbage in intact segments
  std::uint64_t damaged_garbage = 0;  // garbage in damaged segments; log GC does not collect it
  std::uint64_t collectable = 0;      // the part of `garbage` in segments that are worth space (IsWorthSpace)
  std::uint64_t holes = 0;
  std::size_t worth_punching = 0;     // how many segments are
  friend bool operator==(const SegmentUseSums&, const SegmentUseSums&) = default;
};

// One thread at a time.
class SegmentUseTable {
 public:
  // The new use of each changed segment, by number; none: it is no member.
  using Changes = std::map<std::uint64_t, std::optional<SegmentUse>>;

  // `uses`: by number.
  void Reset(std::vector<SegmentUse> uses);
  // Makes all changes or, if memory runs out, none.
  void Apply(const Changes& changes);
  // The share of garbage from which a segment is worth space; the initial one is the default of VictimPolicy.
  void SetSpaceGarbageLeast(double share);

  // By number.
  [[nodiscard]] const std::vector<SegmentUse>& all() const { return uses_; }
  [[nodiscard]] const SegmentUseSums& sums() const { return sums_; }
  // The sums as a walk over all members finds them; for tests.
  [[nodiscard]] SegmentUseSums Recount() const;

 private:
  [[nodiscard]] SegmentUseSums SumsOf(const SegmentUse& use) const;
  void Add(const SegmentUse& use);
  void Subtract(const SegmentUse& use);
  [[nodiscard]] std::vector<SegmentUse>::iterator PlaceOf(std::uint64_t number);

  std::vector<SegmentUse> uses_;
  SegmentUseSums sums_;
  VictimPolicy policy_;  // only its space_garbage_least counts
};

}  // namespace cambium
