// A SequenceCover knows which operations of the log were read whole.
//
// Every operation has its own number, and numbers have no gaps. Suppose that all operations after some operation X were
// read, and that none of them concerns X's key. Then X is the newest operation of its key: the log proves that, even if
// the index is lost.
#pragma once

#include <cstdint>
#include <map>

#include "cambium/types.h"

namespace cambium {

// One thread. Memory: two numbers for each interval without a gap.
class SequenceCover {
 public:
  void Add(SequenceNumber sequence);
  // Whether all of [first, last], both included, were added; true for an empty range.
  [[nodiscard]] bool Covers(SequenceNumber first, SequenceNumber last) const;

 private:
  std::map<SequenceNumber, SequenceNumber> intervals_;  // first -> last; disjoint and not adjacent
};

}  // namespace cambium
