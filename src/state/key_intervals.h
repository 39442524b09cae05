// KeyInterval, KeyIntervals: ranges of keys whose ends may be open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/slice.h"

namespace cambium {

// The keys from `begin` on and before `end`; nullopt: no bound on this side. Borrows the keys.
struct KeyInterval {
  std::optional<Slice> begin;
  std::optional<Slice> end;
};

// The keys of any number of intervals. Intervals that overlap are joined, so a lookup takes O(log n) comparisons. Only
// keys of the intervals, and keys that are looked up, are shown to the comparator, which must outlive this object.
// Immutable once made.
class KeyIntervals {
 public:
  // Copies the keys. Empty intervals are left out.
  KeyIntervals(const Comparator* order, const std::vector<KeyInterval>& intervals);

  [[nodiscard]] bool Has(Slice key) const;
  // Whether a key may be both in [begin, end) and in an interval.
  [[nodiscard]] bool Overlaps(Slice begin, Slice end) const;
  [[nodiscard]] std::size_t size() const { return joined_.size(); }

 private:
  struct Joined {
    std::optional<std::string> begin;
    std::optional<std::string> end;
  };
  // The index of the first interval that does not end before the key, or at it.
  [[nodiscard]] std::size_t FirstEndingAfter(Slice key) const;

  const Comparator& order_;
  std::vector<Joined> joined_;  // in the order of the keys; none touches the next
};

}  // namespace cambium
