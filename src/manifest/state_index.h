// StateIndex: answers questions that every commit asks about a ManifestState: the sum of all families' accounts for a
// slot, the segment that has a slot, the free slots, the file numbers and names in use. Without the index each answer
// would need a walk over the whole state. Each edit updates only the entries that it concerns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "manifest/state.h"

namespace cambium {

// What an edit changes in the index.
struct IndexChange {
  AccountDelta accounts;  // of all families
  std::vector<SegmentInfo> new_segments;
  std::vector<SegmentInfo> dropped_segments;
  std::vector<std::uint64_t> sealed_logs;  // log segments that were not sealed before
  std::vector<std::uint64_t> new_files;    // runs and index segments
  std::vector<std::uint64_t> gone_files;
  std::vector<std::string> new_names;
  std::vector<std::string> gone_names;
  std::vector<Slot> shadowed;
  std::vector<Slot> freed;  // were shadowed
};

// The lock that guards the state guards its index too.
class StateIndex {
 public:
  StateIndex() = default;
  // O(state).
  explicit StateIndex(const ManifestState& state);

  // Returns the sum of all families' accounts for a slot.
  [[nodiscard]] Account TotalOf(Slot slot) const;
  // Returns the number of the segment that has the slot; 0: none has it.
  [[nodiscard]] std::uint64_t SegmentOf(Slot slot) const;
  // True if a segment, run or index segment has the number.
  [[nodiscard]] bool HasFile(std::uint64_t number) const { return files_.contains(number); }
  [[nodiscard]] bool HasFamilyNamed(const std::string& name) const { return names_.contains(name); }
  // Numbers of the segments to which no layer refers.
  [[nodiscard]] const std::set<std::uint64_t>& unreferenced() const { return unreferenced_; }
  // The oldest log segment that is not sealed; nothing: all are.
  [[nodiscard]] std::optional<std::uint64_t> FirstUnsealedLog() const;
  // Returns the smallest slot that no segment has, that is not shadowed, and that `is_taken` does not reject; nothing
  // if there is none.
  [[nodiscard]] std::optional<Slot> FreeSlot(const std::function<bool(Slot)>& is_taken) const;

  void Apply(const IndexChange& change);

  friend bool operator==(const StateIndex&, const StateIndex&) = default;

 private:
  struct SlotUse {
    Account total;
    std::uint64_t segment = 0;
    friend bool operator==(const SlotUse&, const SlotUse&) = default;
  };
  void AddSegment(const SegmentInfo& segment);
  void RemoveSegment(const SegmentInfo& segment);
  void AddToTotal(Slot slot, const Account& change);
  void SetTaken(Slot slot, bool is_taken);

  std::unordered_map<Slot, SlotUse> slots_;  // those with a segment or references
  std::vector<std::uint64_t> taken_;         // a bit for each slot; the last word is not 0
  std::vector<std::uint64_t> full_;          // a bit for each word of taken_: all its slots are taken
  std::unordered_set<std::uint64_t> files_;
  std::unordered_set<std::string> names_;
  std::set<std::uint64_t> unreferenced_;
  std::set<std::uint64_t> unsealed_logs_;
};

}  // namespace cambium
