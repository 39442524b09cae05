#include "gc/segment_use_table.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <span>
#include <utility>

namespace cambium {
namespace {

// Most segments join at the end, so that few members are merged.
std::vector<SegmentUse> Merged(std::span<const SegmentUse> uses,
                               SegmentUseTable::Changes::const_iterator change,
                               SegmentUseTable::Changes::const_iterator changes_end) {
  std::vector<SegmentUse> merged;
  merged.reserve(uses.size() + static_cast<std::size_t>(std::distance(change, changes_end)));
  auto use = uses.begin();
  for (; change != changes_end; ++change) {
    while (use != uses.end() && use->number < change->first) merged.push_back(*use++);
    if (use != uses.end() && use->number == change->first) ++use;
    if (change->second.has_value()) merged.push_back(*change->second);
  }
  merged.insert(merged.end(), use, uses.end());
  return merged;
}

}  // namespace

void SegmentUseTable::Reset(std::vector<SegmentUse> uses) {
  assert(std::ranges::is_sorted(uses, {}, &SegmentUse::number));
  figures_ = Count(uses, figures_.policy);
  uses_ = std::move(uses);
}

void SegmentUseTable::Apply(const Changes& changes) {
  const auto is_member = [this](std::uint64_t number) {
    const auto place = PlaceOf(number);
    return place != uses_.end() && place->number == number;
  };
  const auto first = std::ranges::find_if(
      changes, [&](const auto& change) { return change.second.has_value() != is_member(change.first); });
  std::vector<SegmentUse> rest;  // the members from the first one on that joins or leaves
  if (first != changes.end()) {
    rest = Merged({PlaceOf(first->first), uses_.end()}, first, changes.end());
    const std::size_t size = static_cast<std::size_t>(PlaceOf(first->first) - uses_.begin()) + rest.size();
    if (size > uses_.capacity()) uses_.reserve(size + size / 2);
  }
  VictimOutline added(figures_.policy);
  for (const auto& [number, changed] : changes) {
    if (changed.has_value()) added.Add(*changed);
  }
  // Nothing below allocates memory.
  for (const auto& [number, changed] : changes) {
    if (is_member(number)) figures_.Subtract(*PlaceOf(number));
    if (changed.has_value()) figures_.AddToSums(*changed);
  }
  figures_.outline.Merge(std::move(added));
  for (auto change = changes.begin(); change != first; ++change) {
    if (change->second.has_value()) *PlaceOf(change->first) = *change->second;
  }
  if (first != changes.end()) {
    uses_.erase(PlaceOf(first->first), uses_.end());
    uses_.insert(uses_.end(), rest.begin(), rest.end());
  }
  figures_.MoveEligible(uses_);
}

void SegmentUseTable::SetPolicy(const VictimPolicy& policy) {
  const VictimPolicy& now = figures_.policy;
  if (now.space_garbage_least == policy.space_garbage_least && now.idle_garbage_least == policy.idle_garbage_least &&
      now.age_cutoff == policy.age_cutoff) {
    return;
  }
  figures_ = Count(uses_, policy);
}

SegmentUseTable::Figures SegmentUseTable::Count(const std::vector<SegmentUse>& uses, const VictimPolicy& policy) {
  Figures figures(policy);
  for (const SegmentUse& use : uses) {
    figures.outline.Add(use);
    figures.AddToSums(use);
  }
  figures.MoveEligible(uses);
  return figures;
}

void SegmentUseTable::Figures::AddToSums(const SegmentUse& use) noexcept {
  (use.is_damaged ? sums.damaged_garbage : sums.garbage) += use.garbage();
  if (IsWorthSpace(use, policy)) sums.collectable += use.garbage();
  sums.holes += use.hole_bytes;
  sums.live_overhead += use.live_overhead();
  sums.worth_punching += use.is_worth_punching ? 1 : 0;
  if (use.number <= eligible.last) eligible.Add(use);
}

void SegmentUseTable::Figures::Subtract(const SegmentUse& use) noexcept {
  assert(sums.garbage + sums.damaged_garbage >= use.garbage() && sums.holes >= use.hole_bytes &&
         sums.live_overhead >= use.live_overhead());
  (use.is_damaged ? sums.damaged_garbage : sums.garbage) -= use.garbage();
  if (IsWorthSpace(use, policy)) sums.collectable -= use.garbage();
  sums.holes -= use.hole_bytes;
  sums.live_overhead -= use.live_overhead();
  sums.worth_punching -= use.is_worth_punching ? 1 : 0;
  outline.Subtract(use);
  if (use.number <= eligible.last) eligible.Subtract(use);
}

void SegmentUseTable::Figures::MoveEligible(const std::vector<SegmentUse>& uses) noexcept {
  const std::size_t count = EligibleByAge(uses.size(), policy.age_cutoff);
  while (eligible.count < count) eligible.Add(uses[eligible.count]);
  while (eligible.count > count) eligible.Subtract(uses[eligible.count - 1]);
  eligible.last = count == 0 ? 0 : uses[count - 1].number;
}

std::vector<SegmentUse>::iterator SegmentUseTable::PlaceOf(std::uint64_t number) {
  return std::ranges::lower_bound(uses_, number, {}, &SegmentUse::number);
}

}  // namespace cambium
