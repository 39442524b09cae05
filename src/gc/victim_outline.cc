#include "gc/victim_outline.h"

#include "util/mutant.h"

namespace cambium {

void VictimOutline::ReserveFor(std::uint32_t generation, std::size_t count) {
  worth_idle_.ReserveFor(count);
  sizes_[generation].ReserveFor(count);
}

void VictimOutline::Add(const SegmentUse& use) noexcept {
  if (use.is_damaged) return;
  if (HasGarbage(use, space_garbage_least_)) ++worth_space_;
  if (HasGarbage(use, idle_garbage_least_)) worth_idle_.Add(use.number);
  const auto sizes = sizes_.find(use.generation);
  assert(sizes != sizes_.end() && "memory was taken for the generation");
  sizes->second.Add(SizeWithHoles(use));
}

void VictimOutline::Subtract(const SegmentUse& use) noexcept {
  if (use.is_damaged) return;
  if (HasGarbage(use, space_garbage_least_)) --worth_space_;
  if (HasGarbage(use, idle_garbage_least_)) worth_idle_.Remove(use.number);
  sizes_.find(use.generation)->second.Remove(SizeWithHoles(use));
}

bool VictimOutline::HasManySmall(const VictimPolicy& policy) const {
  const std::uint64_t small_below = SmallBelow(policy);
  return std::ranges::any_of(sizes_, [&](const auto& generation) {
    const SortedNumbers& sizes = generation.second;
    return sizes.CountBelow(small_below) > policy.small_segments_max ||
           sizes.CountBelow(std::min(small_below, kTinySegmentBytes)) > policy.tiny_segments_max;
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
  return urgency != GcUrgency::kForced && worth_idle_.HasUpTo(eligible.last);
}

}  // namespace cambium
