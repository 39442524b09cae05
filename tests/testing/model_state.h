// ModelState: what a database should hold, and a hash of it that is kept up with every change.
//
// With a compaction filter a value may be as it was written, or filtered, for as long as nobody says which: a state
// then stands for several. Its hash is that of all of them: of what is left when everything is filtered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cambium/comparator.h"
#include "testing/program.h"

namespace cambium::testing {

// Of one key with its value; equal keys have equal hashes, however they are spelt. The hash of a state is the XOR of
// those of its keys, so that a change costs as much as the change. With a filter it is that of what it leaves; 0 if
// that is nothing.
[[nodiscard]] std::uint64_t HashOf(const Comparator* comparator, Slice key, Slice value,
                                   const RuleFilter* filter = nullptr);

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
    bool is_filtered = false;  // known to be; never one that is removed: such a cell is not there
  };
  using Map = std::map<std::string, Cell, KeyLess>;

  explicit ModelState(const Comparator* comparator, const RuleFilter* filter = nullptr)
      : map_(KeyLess{comparator}), filter_(filter) {}

  void Apply(const Operation& write);
  // Keys of [lower, upper], both included and either absent, are filtered now.
  void Filter(const std::optional<std::string>& lower, const std::optional<std::string>& upper);
  // `found`, by canonical key, is what is there: "" or what of it this state does not allow. If it is "" the state
  // stands for that alone from now on.
  [[nodiscard]] std::string Settle(const std::map<std::string, std::string>& found);

  [[nodiscard]] const Map& map() const { return map_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] const Comparator* comparator() const { return map_.key_comp().comparator; }
  [[nodiscard]] const RuleFilter* filter() const { return filter_; }

  // What the cell may read as: this, and, if the state does not know better, what the filter leaves of it.
  [[nodiscard]] std::string ValueOf(const Cell& cell) const;
  [[nodiscard]] bool MayBeFiltered() const { return filter_ != nullptr && !is_settled_; }
  // Whether this is all there can be of the key: none, or its value.
  [[nodiscard]] bool Allows(const Cell& cell, const std::optional<std::string>& found) const;

 private:
  [[nodiscard]] std::optional<std::string> FilteredValueOf(const Cell& cell) const;
  Map::iterator FilterOne(Map::iterator at);

  Map map_;
  const RuleFilter* filter_;
  bool is_settled_ = false;  // each cell is as it stands here
  std::uint64_t hash_ = 0;
};

}  // namespace cambium::testing
