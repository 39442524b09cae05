#include "gc/victim_outline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "util/mutant.h"

namespace cambium {
namespace {

// Takes at most `most` steps, however many sizes there are.
bool HasMoreBelow(const std::multiset<std::uint64_t>& sizes, std::uint64_t end, std::size_t most) {
  return sizes.size() > most && *std::next(sizes.begin(), static_cast<std::ptrdiff_t>(most)) < end;
}

}  // namespace

void VictimOutline::Add(const SegmentUse& use) {
  if (use.is_damaged) return;
  if (HasGarbage(use, space_garbage_least_)) ++worth_space_;
  if (HasGarbage(use, idle_garbage_least_)) worth_idle_.insert(use.number);
  sizes_[use.generation].insert(SizeWithHoles(use));
}

void VictimOutline::Subtract(const SegmentUse& use) noexcept {
  if (use.is_damaged) return;
  if (HasGarbage(use, space_garbage_least_)) --worth_space_;
  if (HasGarbage(use, idle_garbage_least_)) worth_idle_.erase(use.number);
  const auto generation = sizes_.find(use.generation);
  assert(generation != sizes_.end());
  const auto size = generation->second.find(SizeWithHoles(use));
  assert(size != generation->second.end() && "only a member is subtracted");
  generation->second.erase(size);
}

// Only nodes are moved.
void VictimOutline::Merge(VictimOutline&& other) noexcept {
  worth_space_ += other.worth_space_;
  worth_idle_.merge(other.worth_idle_);
  assert(other.worth_idle_.empty() && "a member is added once");
  sizes_.merge(other.sizes_);  // leaves the generations that both have
  for (auto& [generation, sizes] : other.sizes_) sizes_.find(generation)->second.merge(sizes);
}

bool VictimOutline::HasManySmall(const VictimPolicy& policy) const {
  const std::uint64_t small_below = SmallBelow(policy);
  return std::ranges::any_of(sizes_, [&](const auto& generation) {
    const std::multiset<std::uint64_t>& sizes = generation.second;
    return HasMoreBelow(sizes, small_below, policy.small_segments_max) ||
           HasMoreBelow(sizes, std::min(small_below, kTinySegmentBytes), policy.tiny_segments_max);
  });
}

bool VictimOutline::MayHaveVictims(const VictimPolicy& policy, GcUrgency urgency, const EligibleSums& eligible) const {
  assert(policy.idle_garbage_least == idle_garbage_least_ && policy.space_garbage_least == space_garbage_least_);
  if (MutantIs(Mutant::kLookVisitsAllSegments)) return true;
  if (urgency == GcUrgency::kSpace || urgency == GcUrgency::kFull) return worth_space_ > 0;
  const double forced_from = policy.force_threshold * static_cast<double>(eligible.bytes);
  const bool may_be_forced = policy.force_threshold < 1 && eligible.count > 0;
  if (may_be_forced && static_cast<double>(eligible.garbage) >= forced_from) return true;
  if (HasManySmall(policy)) return true;
  return urgency != GcUrgency::kForced && !worth_idle_.empty() && *worth_idle_.begin() <= eligible.last;
}

}  // namespace cambium
