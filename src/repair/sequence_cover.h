// SequenceCover: which operations of the log were seen whole.
//
// Every operation has a number of its own, and numbers have no gaps. So if all operations behind a certain one were
// seen, and none of them was about its key, it is the newest of its key, whatever the index has lost: the log proves
// it.
#pragma once

#include <cstdint>
#include <map>

#include "cambium/types.h"

namespace cambium {

// One thread. Memory: for each interval without a gap.
class SequenceCover {
 public:
  void Add(SequenceNumber sequence);
  // Of first to last, both included; true of none.
  [[nodiscard]] bool Covers(SequenceNumber first, SequenceNumber last) const;

 private:
  std::map<SequenceNumber, SequenceNumber> intervals_;  // first -> last; they do not touch
};

}  // namespace cambium
