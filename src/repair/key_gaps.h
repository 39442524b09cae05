// KeyGaps: the ranges of keys of which damaged layers may have said something that nobody knows any more.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"

namespace cambium {

// One thread. Memory: two keys for each gap, of which there are no more than damaged pages.
class KeyGaps {
 public:
  // Keys are ordered by `comparator`, which must outlive this.
  explicit KeyGaps(const Comparator* comparator) : gaps_(Before{comparator}) {}

  // [from, to]; without a bound on that side if it is absent. A gap that has no key counts for nothing.
  void Add(const std::optional<std::string>& from, const std::optional<std::string>& to);
  [[nodiscard]] bool Contains(Slice key) const;
  [[nodiscard]] bool empty() const {
    return !is_everything_ && !below_.has_value() && !above_.has_value() && gaps_.empty();
  }

 private:
  struct Before {
    using is_transparent = void;
    const Comparator* comparator;
    bool operator()(Slice a, Slice b) const { return comparator->Compare(a, b) < 0; }
  };
  [[nodiscard]] int Compare(Slice a, Slice b) const { return gaps_.key_comp().comparator->Compare(a, b); }

  bool is_everything_ = false;
  std::optional<std::string> below_;                 // everything up to this
  std::optional<std::string> above_;                 // everything from this on
  std::map<std::string, std::string, Before> gaps_;  // from -> to; no two have a key in common
};

}  // namespace cambium
