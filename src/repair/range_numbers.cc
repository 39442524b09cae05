#include "repair/range_numbers.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace cambium {

void RangeNumbers::Add(Range range) {
  if (order_->Compare(range.begin, range.end) < 0) ranges_.push_back(std::move(range));
}

void RangeNumbers::Sort() {
  assert(steps_.empty() && "all ranges are added before");
  struct Bound {
    Slice key;
    SequenceNumber sequence;
    bool is_begin;
  };
  std::vector<Bound> bounds;
  for (const Range& range : ranges_) {
    bounds.push_back({range.begin, range.sequence, true});
    bounds.push_back({range.end, range.sequence, false});
  }
  std::ranges::sort(bounds, [this](const Bound& a, const Bound& b) { return order_->Compare(a.key, b.key) < 0; });
  std::multiset<SequenceNumber> open;
  for (std::size_t i = 0; i < bounds.size();) {
    const Slice key = bounds[i].key;
    for (; i < bounds.size() && order_->Compare(bounds[i].key, key) == 0; ++i) {
      if (bounds[i].is_begin) {
        open.insert(bounds[i].sequence);
      } else {
        // A comparator that is not a strict order may show an end before its begin.
        if (const auto ended = open.find(bounds[i].sequence); ended != open.end()) open.erase(ended);
      }
    }
    steps_.push_back({key, open.empty() ? 0 : *open.rbegin()});
  }
}

SequenceNumber RangeNumbers::NewestOver(Slice key) const {
  assert((ranges_.empty() || !steps_.empty()) && "the ranges are sorted before");
  const auto next = std::ranges::upper_bound(
      steps_, key, [this](Slice a, Slice b) { return order_->Compare(a, b) < 0; }, &Step::from);
  return next == steps_.begin() ? 0 : std::prev(next)->newest;
}

}  // namespace cambium
