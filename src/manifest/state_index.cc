#include "manifest/state_index.h"

#include <bit>
#include <cassert>

#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kBits = 64;

std::size_t FirstBit(std::uint64_t bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }

void SetBit(std::size_t index, bool is_set, std::vector<std::uint64_t>* words) {
  const std::uint64_t bit = std::uint64_t{1} << (index % kBits);
  std::uint64_t& word = (*words)[index / kBits];
  word = is_set ? word | bit : word & ~bit;
}

// Walks over the whole state.
FamilySums SumsOfFamily(const FamilyState& family, const std::set<Slot>& shadowed) {
  FamilySums sums;
  for (const auto& [slot, account] : family.accounts) {
    if (!shadowed.contains(slot)) sums.Add(account);
  }
  for (const RunInfo& run : family.runs) sums.run_bytes += run.disk_bytes();
  for (const auto& [number, run] : family.level_runs) sums.base_bytes += run.info.disk_bytes();
  for (const auto& [number, segment] : family.index_segments) sums.base_bytes += segment.length;
  return sums;
}

}  // namespace

StateIndex::StateIndex(const ManifestState& state) {
  for (const auto& [number, segment] : state.segments) {
    AddSegment(segment);
    if (segment.sealed) sealed_bytes_ += segment.file_size;
  }
  for (const Slot slot : state.shadowed_slots) SetTaken(slot, true);
  for (const auto& [id, family] : state.families) {
    names_.insert(family.name);
    for (const RunInfo& run : family.runs) files_.insert(run.number);
    for (const auto& [number, run] : family.level_runs) files_.insert(number);
    for (const auto& [number, segment] : family.index_segments) files_.insert(number);
    for (const auto& [slot, account] : family.accounts) AddToTotal(slot, account);
    AddToSums(id, SumsOfFamily(family, state.shadowed_slots));
  }
}

Account StateIndex::TotalOf(Slot slot) const {
  const auto found = slots_.find(slot);
  return found == slots_.end() ? Account{} : found->second.total;
}

std::uint64_t StateIndex::SegmentOf(Slot slot) const {
  const auto found = slots_.find(slot);
  return found == slots_.end() ? 0 : found->second.segment;
}

std::optional<std::uint64_t> StateIndex::FirstUnsealedLog() const {
  if (MutantIs(Mutant::kNewestUnsealedIsFirst) && !unsealed_.empty()) return unsealed_.rbegin()->first;
  for (const auto& [number, kind] : unsealed_) {
    if (kind == SegmentKind::kLog) return number;
  }
  return std::nullopt;
}

FamilySums StateIndex::SumsOf(std::uint32_t family) const {
  const auto found = family_sums_.find(family);
  return found == family_sums_.end() ? FamilySums() : found->second;
}

std::optional<Slot> StateIndex::FreeSlot(const std::function<bool(Slot)>& is_taken) const {
  static_assert(kSlotCountMax % (kBits * kBits) == 0);
  for (std::size_t group = 0; group < kSlotCountMax / kBits / kBits; ++group) {
    const std::uint64_t full = group < full_.size() ? full_[group] : 0;
    for (std::uint64_t words = ~full; words != 0; words &= words - 1) {
      const std::size_t word = group * kBits + FirstBit(words);
      for (std::uint64_t free = word < taken_.size() ? ~taken_[word] : ~std::uint64_t{0}; free != 0; free &= free - 1) {
        const auto slot = static_cast<Slot>(word * kBits + FirstBit(free));
        if (!is_taken(slot)) return slot;
      }
    }
  }
  return std::nullopt;
}

void StateIndex::Apply(const IndexChange& change) {
  for (const auto& [slot, account] : change.accounts.by_slot()) {
    AddToTotal(slot, account);
    assert(TotalOf(slot).references >= 0 && TotalOf(slot).bytes >= 0);
  }
  for (const SegmentInfo& segment : change.dropped_segments) {
    assert(SegmentOf(segment.slot) == segment.number && HasFile(segment.number));
    RemoveSegment(segment);
  }
  for (const Slot slot : change.shadowed) SetTaken(slot, true);
  for (const Slot slot : change.freed) SetTaken(slot, false);
  for (const SegmentInfo& segment : change.new_segments) {  // may take the slot of a dropped one
    assert(SegmentOf(segment.slot) == 0 && !HasFile(segment.number));
    AddSegment(segment);
  }
  for (const std::uint64_t number : change.sealed) unsealed_.erase(number);
  for (const std::uint64_t number : change.gone_files) files_.erase(number);
  files_.insert(change.new_files.begin(), change.new_files.end());
  for (const std::string& name : change.gone_names) names_.erase(name);
  names_.insert(change.new_names.begin(), change.new_names.end());
  for (const std::uint32_t family : change.gone_families) {
    const auto gone = family_sums_.find(family);
    assert(gone != family_sums_.end());
    sums_.Subtract(gone->second);
    family_sums_.erase(gone);
  }
  for (const auto& [family, sums] : change.family_sums) AddToSums(family, sums);
  sealed_bytes_ += change.sealed_bytes;
}

void StateIndex::AddSegment(const SegmentInfo& segment) {
  SlotUse& use = slots_[segment.slot];
  use.segment = segment.number;
  if (use.total.references == 0) unreferenced_.insert(segment.number);
  if (!segment.sealed) unsealed_.emplace(segment.number, segment.kind);
  files_.insert(segment.number);
  SetTaken(segment.slot, true);
}

void StateIndex::RemoveSegment(const SegmentInfo& segment) {
  files_.erase(segment.number);
  unreferenced_.erase(segment.number);
  unsealed_.erase(segment.number);
  SetTaken(segment.slot, false);
  const auto found = slots_.find(segment.slot);
  if (found == slots_.end()) return;
  found->second.segment = 0;
  if (found->second.total.references == 0) slots_.erase(found);
}

void StateIndex::AddToTotal(Slot slot, const Account& change) {
  SlotUse& use = slots_[slot];
  use.total.references += change.references;
  use.total.bytes += change.bytes;
  if (use.segment == 0) {
    if (use.total.references == 0) slots_.erase(slot);
  } else if (use.total.references == 0) {
    unreferenced_.insert(use.segment);
  } else {
    unreferenced_.erase(use.segment);
  }
}

void StateIndex::AddToSums(std::uint32_t family, const FamilySums& change) {
  family_sums_[family].Add(change);
  sums_.Add(change);
}

void StateIndex::SetTaken(Slot slot, bool is_taken) {
  const auto index = static_cast<std::size_t>(slot);
  const std::size_t word = index / kBits;
  if (word >= taken_.size()) {
    if (!is_taken) return;
    taken_.reserve(word + 1);
    full_.resize(word / kBits + 1);
    taken_.resize(word + 1);
  }
  SetBit(index, is_taken, &taken_);
  if (is_taken || !MutantIs(Mutant::kFullWordsStayFull)) SetBit(word, ~taken_[word] == 0, &full_);
  while (!taken_.empty() && taken_.back() == 0) taken_.pop_back();
  full_.resize((taken_.size() + kBits - 1) / kBits);
}

}  // namespace cambium
