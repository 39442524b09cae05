// KeyGaps holds the key ranges in which damaged layers may have had entries that are lost.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"

namespace cambium {

// One thread. Memory: two keys for each gap. There are at most as many gaps as damaged pages.
class KeyGaps {
 public:
  // `comparator` must outlive the gaps.
  explicit KeyGaps(const Comparator* comparator) : gaps_(Before{comparator}) {}

  // Adds the gap [from, to]; an absent bound means no bound on that side. An empty gap is ignored.
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
  std::optional<std::string> below_;                 // all keys up to this one
  std::optional<std::string> above_;                 // all keys from this one on
  std::map<std::string, std::string, Before> gaps_;  // from -> to; disjoint
};

}  // namespace cambium
