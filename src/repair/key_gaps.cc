#include "repair/key_gaps.h"

namespace cambium {

void KeyGaps::Add(const std::optional<std::string>& from, const std::optional<std::string>& to) {
  if (!from.has_value() && !to.has_value()) {
    is_everything_ = true;
  } else if (!from.has_value()) {
    if (!below_.has_value() || Compare(*to, *below_) > 0) below_ = to;
  } else if (!to.has_value()) {
    if (!above_.has_value() || Compare(*from, *above_) < 0) above_ = from;
  } else if (Compare(*from, *to) <= 0) {
    std::string begin = *from;
    std::string end = *to;
    auto next = gaps_.upper_bound(Slice(end));
    while (next != gaps_.begin()) {
      const auto last = std::prev(next);  // begins at or before `end`
      if (Compare(last->second, begin) < 0) break;
      if (Compare(last->first, begin) < 0) begin = last->first;
      if (Compare(last->second, end) > 0) end = last->second;
      next = gaps_.erase(last);
    }
    gaps_.emplace(std::move(begin), std::move(end));
  }
}

bool KeyGaps::Contains(Slice key) const {
  if (is_everything_ || (below_.has_value() && Compare(key, *below_) <= 0) ||
      (above_.has_value() && Compare(key, *above_) >= 0)) {
    return true;
  }
  const auto next = gaps_.upper_bound(key);
  return next != gaps_.begin() && Compare(key, std::prev(next)->second) <= 0;
}

}  // namespace cambium
