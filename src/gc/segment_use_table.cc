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
  uses_ = std::move(uses);
  sums_ = Recount();
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
  // Nothing below allocates memory.
  for (const auto& [number, changed] : changes) {
    if (is_member(number)) Subtract(*PlaceOf(number));
    if (changed.has_value()) Add(*changed);
  }
  for (auto change = changes.begin(); change != first; ++change) {
    if (change->second.has_value()) *PlaceOf(change->first) = *change->second;
  }
  if (first == changes.end()) return;
  uses_.erase(PlaceOf(first->first), uses_.end());
  uses_.insert(uses_.end(), rest.begin(), rest.end());
}

void SegmentUseTable::SetSpaceGarbageLeast(double share) {
  if (policy_.space_garbage_least == share) return;
  policy_.space_garbage_least = share;
  sums_ = Recount();
}

SegmentUseSums SegmentUseTable::Recount() const {
  SegmentUseTable other;
  other.policy_ = policy_;
  for (const SegmentUse& use : uses_) other.Add(use);
  return other.sums_;
}

SegmentUseSums SegmentUseTable::SumsOf(const SegmentUse& use) const {
  SegmentUseSums sums;
  (use.is_damaged ? sums.damaged_garbage : sums.garbage) = use.garbage();
  if (IsWorthSpace(use, policy_)) sums.collectable = use.garbage();
  sums.holes = use.hole_bytes;
  sums.worth_punching = use.is_worth_punching ? 1 : 0;
  return sums;
}

void SegmentUseTable::Add(const SegmentUse& use) {
  const SegmentUseSums its = SumsOf(use);
  sums_.garbage += its.garbage;
  sums_.damaged_garbage += its.damaged_garbage;
  sums_.collectable += its.collectable;
  sums_.holes += its.holes;
  sums_.worth_punching += its.worth_punching;
}

void SegmentUseTable::Subtract(const SegmentUse& use) {
  const SegmentUseSums its = SumsOf(use);
  assert(sums_.garbage >= its.garbage && sums_.collectable >= its.collectable && sums_.holes >= its.holes);
  sums_.garbage -= its.garbage;
  sums_.damaged_garbage -= its.damaged_garbage;
  sums_.collectable -= its.collectable;
  sums_.holes -= its.holes;
  sums_.worth_punching -= its.worth_punching;
}

std::vector<SegmentUse>::iterator SegmentUseTable::PlaceOf(std::uint64_t number) {
  return std::ranges::lower_bound(uses_, number, {}, &SegmentUse::number);
}

}  // namespace cambium
