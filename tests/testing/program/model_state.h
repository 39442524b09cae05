// ModelState: what a database should hold, and its hash, which every change updates.
//
// With a compaction filter, a value may be as it was written or filtered, until a read shows which of the two it is. A
// ModelState then stands for several states. They all have the same hash: that of the state in which everything is
// filtered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cambium/comparator.h"
#include "testing/program/program.h"

namespace cambium::testing {

// Returns the hash of one key with its value. Keys that compare equal have equal hashes, even if their bytes differ.
// The hash of a state is the XOR of these hashes, so updating it costs no more than the change. With a filter, it is
// the hash of the filtered value, or 0 if the filter removes the key.
[[nodiscard]] std::uint64_t HashOf(const Comparator* comparator, Slice key, Slice value,
                                   const RuleFilter* filter = nullptr);

// Copyable: a copy is a snapshot.
class ModelState {
 public:
  struct KeyLess {
    const Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
  };
  struct Cell {
    std::string key;  // as it was last written; its bytes may differ from the map's equal key
    ValueSpec value;
    std::uint64_t hash = 0;
    bool is_filtered = false;  // known to be filtered and kept; a cell that the filter removes is erased
  };
  using Map = std::map<std::string, Cell, KeyLess>;

  explicit ModelState(const Comparator* comparator, const RuleFilter* filter = nullptr)
      : map_(KeyLess{comparator}), filter_(filter) {}

  void Apply(const Operation& write);
  // Marks the keys in [lower, upper] as filtered. Both bounds are inclusive; an absent one is infinite.
  void Filter(const std::optional<std::string>& lower, const std::optional<std::string>& upper);
  // Compares with `found`, the contents by canonical key. If this state allows these contents, returns "" and
  // represents only them from then on. Otherwise returns a description of the first entry that it does not allow.
  [[nodiscard]] std::string NarrowTo(const std::map<std::string, std::string>& found);

  [[nodiscard]] const Map& map() const { return map_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] const Comparator* comparator() const { return map_.key_comp().comparator; }
  [[nodiscard]] const RuleFilter* filter() const { return filter_; }

  // Returns the value that the cell may read as. If MayBeFiltered(), it may also read as the filtered value.
  [[nodiscard]] std::string ValueOf(const Cell& cell) const;
  [[nodiscard]] bool MayBeFiltered() const { return filter_ != nullptr && !is_exact_; }
  // Returns whether a read of the key may give `found`: a value, or none.
  [[nodiscard]] bool Allows(const Cell& cell, const std::optional<std::string>& found) const;

 private:
  [[nodiscard]] std::optional<std::string> FilteredValueOf(const Cell& cell) const;
  Map::iterator FilterOne(Map::iterator at);

  Map map_;
  const RuleFilter* filter_;
  bool is_exact_ = false;  // is_filtered of every cell is exact
  std::uint64_t hash_ = 0;
};

}  // namespace cambium::testing
