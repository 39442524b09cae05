#include "state/key_intervals.h"

#include <algorithm>
#include <utility>

namespace cambium {

KeyIntervals::KeyIntervals(const Comparator* order, const std::vector<KeyInterval>& intervals) : order_(*order) {
  std::vector<KeyInterval> sorted;
  for (const KeyInterval& each : intervals) {
    const bool is_empty = each.begin && each.end && order_.Compare(*each.begin, *each.end) >= 0;
    if (!is_empty) sorted.push_back(each);
  }
  std::ranges::sort(sorted, [&](const KeyInterval& a, const KeyInterval& b) {
    if (!a.begin || !b.begin) return !a.begin && b.begin;
    return order_.Compare(*a.begin, *b.begin) < 0;
  });
  for (const KeyInterval& each : sorted) {
    if (!joined_.empty()) {
      std::optional<std::string>& end = joined_.back().end;
      const bool touches = !end || !each.begin || order_.Compare(*each.begin, *end) <= 0;
      if (touches) {
        if (!each.end) {
          end = std::nullopt;
        } else if (end && order_.Compare(*each.end, *end) > 0) {
          end = each.end->ToString();
        }
        continue;
      }
    }
    Joined& added = joined_.emplace_back();
    if (each.begin) added.begin = each.begin->ToString();
    if (each.end) added.end = each.end->ToString();
  }
}

std::size_t KeyIntervals::FirstEndingAfter(Slice key) const {
  const auto found = std::ranges::partition_point(
      joined_, [&](const Joined& each) { return each.end && order_.Compare(*each.end, key) <= 0; });
  return static_cast<std::size_t>(found - joined_.begin());
}

bool KeyIntervals::Has(Slice key) const {
  const std::size_t at = FirstEndingAfter(key);
  return at < joined_.size() && (!joined_[at].begin || order_.Compare(*joined_[at].begin, key) <= 0);
}

bool KeyIntervals::Overlaps(Slice begin, Slice end) const {
  const std::size_t at = FirstEndingAfter(begin);
  return at < joined_.size() && (!joined_[at].begin || order_.Compare(*joined_[at].begin, end) < 0);
}

}  // namespace cambium
