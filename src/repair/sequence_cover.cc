#include "repair/sequence_cover.h"

#include <cassert>
#include <iterator>

namespace cambium {

void SequenceCover::Add(SequenceNumber sequence) {
  auto next = intervals_.upper_bound(sequence);
  if (next != intervals_.begin()) {
    const auto before = std::prev(next);
    assert(before->first <= before->second);
    assert((next == intervals_.end() || before->second + 1 < next->first) && "intervals that touch are joined");
    if (before->second >= sequence) return;
    if (before->second + 1 == sequence) {
      before->second = sequence;
      if (next != intervals_.end() && next->first == sequence + 1) {
        before->second = next->second;
        intervals_.erase(next);
      }
      return;
    }
  }
  SequenceNumber last = sequence;
  if (next != intervals_.end() && next->first == sequence + 1) {
    last = next->second;
    intervals_.erase(next);
  }
  intervals_.emplace(sequence, last);
}

bool SequenceCover::Covers(SequenceNumber first, SequenceNumber last) const {
  if (first > last) return true;
  const auto next = intervals_.upper_bound(first);
  return next != intervals_.begin() && std::prev(next)->second >= last;
}

}  // namespace cambium
