// StateIndex: answers questions that every commit, or every look at the size of the database, asks about a
// ManifestState: the sum of all families' accounts for a slot, the segment that has a slot, the free slots, the file
// numbers and names in use, the sums of a family's accounts and files. Without the index each answer would need a walk
// over the whole state. Each edit updates only the entries that it concerns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "manifest/state.h"

namespace cambium {

// Sums over a family's state, or what an edit adds to them. All are modulo 2^64, so that a forged MANIFEST cannot make
// them overflow.
struct FamilySums {
  std::uint64_t references = 0;  // references that its accounts count, without those into shadowed slots
  std::uint64_t bytes = 0;       // bytes that the same accounts count
  std::uint64_t run_bytes = 0;   // the space of the files of its stack
  std::uint64_t base_bytes = 0;  // the space of the files of its levels, or the committed bytes of its index segments

  void Add(const FamilySums& other) {
    references += other.references;
    bytes += other.bytes;
    run_bytes += other.run_bytes;
    base_bytes += other.base_bytes;
  }
  void Add(const Account& account) {
    references += static_cast<std::uint64_t>(account.references);
    bytes += static_cast<std::uint64_t>(account.bytes);
  }
  void Subtract(const FamilySums& other) {
    references -= other.references;
    bytes -= other.bytes;
    run_bytes -= other.run_bytes;
    base_bytes -= other.base_bytes;
  }
  friend bool operator==(const FamilySums&, const FamilySums&) = default;
};

// The changes that an edit makes to the index.
struct IndexChange {
  AccountDelta accounts;  // of all families
  std::map<std::uint32_t, FamilySums> family_sums;
  std::vector<std::uint32_t> gone_families;
  std::uint64_t sealed_bytes = 0;  // sizes of the files of all sealed segments; modulo 2^64
  std::vector<SegmentInfo> new_segments;
  std::vector<SegmentInfo> dropped_segments;
  std::vector<std::uint64_t> sealed;       // segments that were not sealed before
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
  // The numbers and kinds of the segments that are not sealed.
  [[nodiscard]] const std::map<std::uint64_t, SegmentKind>& unsealed() const { return unsealed_; }
  // The oldest log segment that is not sealed; nothing: all are.
  [[nodiscard]] std::optional<std::uint64_t> FirstUnsealedLog() const;
  // The bytes of the files of all sealed segments; holes count.
  [[nodiscard]] std::uint64_t sealed_bytes() const { return sealed_bytes_; }
  // The sums of a family; zeros if there is no such family.
  [[nodiscard]] FamilySums SumsOf(std::uint32_t family) const;
  // The sums of all families.
  [[nodiscard]] const FamilySums& sums() const { return sums_; }
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
  void AddToSums(std::uint32_t family, const FamilySums& change);

  std::unordered_map<Slot, SlotUse> slots_;  // those with a segment or references
  std::vector<std::uint64_t> taken_;         // a bit for each slot; the last word is not 0
  std::vector<std::uint64_t> full_;          // a bit for each word of taken_: all its slots are taken
  std::unordered_set<std::uint64_t> files_;
  std::unordered_set<std::string> names_;
  std::set<std::uint64_t> unreferenced_;
  std::map<std::uint64_t, SegmentKind> unsealed_;
  std::unordered_map<std::uint32_t, FamilySums> family_sums_;  // sums by family id
  FamilySums sums_;                                            // sums over all families
  std::uint64_t sealed_bytes_ = 0;
};

}  // namespace cambium
