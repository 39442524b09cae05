// ModelState: what a database should hold, and a hash of it that is kept up with every change.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cambium/comparator.h"
#include "testing/program.h"

namespace cambium::testing {

// Of one key with its value; equal keys have equal hashes, however they are spelt. The hash of a state is the XOR of
// those of its keys, so that a change costs as much as the change.
[[nodiscard]] std::uint64_t HashOf(const Comparator* comparator, Slice key, Slice value);

// A value: copies are snapshots.
class ModelState {
 public:
  struct KeyLess {
    const Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
  };
  struct Cell {
    std::string key;  // as it was last written; it may be spelt otherwise than what the map has
    ValueSpec value;
    std::uint64_t hash = 0;
  };
  using Map = std::map<std::string, Cell, KeyLess>;

  explicit ModelState(const Comparator* comparator) : map_(KeyLess{comparator}) {}

  void Apply(const Operation& write);
  [[nodiscard]] const Map& map() const { return map_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] const Comparator* comparator() const { return map_.key_comp().comparator; }

 private:
  Map map_;
  std::uint64_t hash_ = 0;
};

}  // namespace cambium::testing
