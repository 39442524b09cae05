// RangeNumbers: of each key the largest number of a range delete of the log that covers it.
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

// One thread. The comparator must outlive it. Memory: the ranges.
class RangeNumbers {
 public:
  struct Range {
    SequenceNumber sequence = 0;
    std::string begin;
    std::string end;
  };

  explicit RangeNumbers(const Comparator* order) : order_(order) {}

  // Those that hold no key count for nothing.
  void Add(Range range);
  // Once, behind the last Add.
  void Sort();
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  // 0: none covers it. O(log n).
  [[nodiscard]] SequenceNumber NewestOver(Slice key) const;

 private:
  struct Step {
    Slice from;  // of ranges_
    SequenceNumber newest = 0;
  };

  const Comparator* order_;
  std::vector<Range> ranges_;
  std::vector<Step> steps_;  // ascending
};

}  // namespace cambium
