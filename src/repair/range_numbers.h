// RangeNumbers finds the newest range delete of the log that covers a key.
//
//   7     [--------)                   begin   end   newest
//   9          [--------)       ─▶       a      c      7
//         a    c   e    g                c      g      9
#pragma once

#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/types.h"

namespace cambium {

// One thread. The comparator must outlive it. Memory: that of the ranges.
class RangeNumbers {
 public:
  struct Range {
    SequenceNumber sequence = 0;
    std::string begin;
    std::string end;
  };

  explicit RangeNumbers(const Comparator* order) : order_(order) {}

  // Adds a range; an empty one is ignored.
  void Add(Range range);
  // Must be called once, after the last Add.
  void Sort();
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  // Returns the largest sequence number of a range that covers the key, or 0. O(log n).
  [[nodiscard]] SequenceNumber NewestOver(Slice key) const;

 private:
  struct Step {
    Slice from;  // points into ranges_
    SequenceNumber newest = 0;
  };

  const Comparator* order_;
  std::vector<Range> ranges_;
  std::vector<Step> steps_;  // ascending
};

}  // namespace cambium
