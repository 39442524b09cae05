#include "gc/victims.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <utility>

#include "util/mutant.h"

namespace cambium {
namespace {

// Less garbage is never worth a step. A segment with one tombstone, or only a header, is joined with others instead,
// which is cheap.
constexpr std::uint64_t kGarbageLeast = 4096;

// Takes the first candidate, and others of its generation while the step has room.
VictimChoice TakeStep(GcReason reason, std::vector<const SegmentUse*> candidates, const VictimPolicy& policy) {
  VictimChoice choice;
  if (candidates.empty()) return choice;
  choice.reason = reason;
  std::uint64_t live = 0;
  for (const SegmentUse* const segment : candidates) {
    assert(!segment->is_damaged && "a damaged segment is never a victim");
    if (segment->generation != candidates.front()->generation) continue;
    live += segment->live_bytes;
    if (!choice.numbers.empty() && live > policy.step_bytes) break;
    choice.numbers.push_back(segment->number);
  }
  return choice;
}

std::vector<const SegmentUse*> ByBenefit(std::span<const SegmentUse> segments, double garbage_least,
                                         SequenceNumber now) {
  std::vector<const SegmentUse*> found;
  for (const SegmentUse& segment : segments) {
    if (!segment.is_damaged && HasGarbage(segment, garbage_least)) found.push_back(&segment);
  }
  std::ranges::stable_sort(
      found, [now](const SegmentUse* a, const SegmentUse* b) { return GcBenefit(*a, now) > GcBenefit(*b, now); });
  return found;
}

// Takes the segments with the fewest live bytes first: moving values needs space before any is freed.
VictimChoice PickOnFullDisk(std::span<const SegmentUse> segments, const VictimPolicy& policy) {
  std::vector<const SegmentUse*> found;
  for (const SegmentUse& segment : segments) {
    if (segment.is_damaged || !HasGarbage(segment, policy.space_garbage_least)) continue;
    if (segment.live_bytes <= policy.Room()) found.push_back(&segment);
  }
  std::ranges::stable_sort(found, {}, &SegmentUse::live_bytes);
  VictimPolicy step = policy;
  step.step_bytes = std::min(policy.step_bytes, policy.Room());
  return TakeStep(GcReason::kFullDisk, std::move(found), step);
}

VictimChoice PickSmall(std::span<const SegmentUse> segments, const VictimPolicy& policy) {
  const std::uint64_t small_below = SmallBelow(policy);
  struct OfGeneration {
    std::vector<const SegmentUse*> small;
    std::vector<const SegmentUse*> tiny;  // those of `small` below kTinySegmentBytes
  };
  std::map<std::uint32_t, OfGeneration> found;
  for (const SegmentUse& segment : segments) {
    const std::uint64_t bytes = SizeWithHoles(segment);
    if (segment.is_damaged || bytes >= small_below) continue;
    OfGeneration& its = found[segment.generation];
    its.small.push_back(&segment);
    if (bytes < kTinySegmentBytes) its.tiny.push_back(&segment);
  }
  for (auto& [generation, its] : found) {
    if (its.small.size() > policy.small_segments_max) {
      return TakeStep(GcReason::kSmallSegments, std::move(its.small), policy);
    }
    if (its.tiny.size() > policy.tiny_segments_max) {
      return TakeStep(GcReason::kSmallSegments, std::move(its.tiny), policy);
    }
  }
  return {};
}

}  // namespace

bool HasGarbage(const SegmentUse& segment, double share) {
  const auto least = static_cast<std::uint64_t>(share * static_cast<double>(segment.bytes));
  return segment.garbage() >= std::max(kGarbageLeast, least);
}

// At least two segments are joined: a segment below half a step leaves room for another one. A larger one would be
// moved alone, into a segment as small as itself, again and again.
std::uint64_t SmallBelow(const VictimPolicy& policy) {
  const bool ignores_steps = MutantIs(Mutant::kJoinSegmentWithItself);
  const std::uint64_t half_step = ignores_steps ? policy.target_bytes : policy.step_bytes / 2;
  return std::min(policy.target_bytes / 16, half_step);
}

VictimChoice PickToCut(std::span<const SegmentUse> segments, const VictimPolicy& policy,
                       const std::map<std::uint64_t, CutLook>& looks, const LogPosition& replay) {
  if (MutantIs(Mutant::kGcNeverCuts)) return {};
  const std::uint64_t room = std::min(policy.step_bytes, policy.Room());
  const SegmentUse* densest = nullptr;
  const SegmentUse* unseen = nullptr;
  LogPosition unseen_at;
  std::size_t seen = 0;
  const auto density = [](const SegmentUse& segment) {
    return static_cast<double>(segment.garbage()) / static_cast<double>(std::max<std::uint64_t>(segment.live_bytes, 1));
  };
  for (const SegmentUse& segment : segments) {
    if (segment.is_damaged || !segment.can_cut) continue;
    const auto look = looks.find(segment.number);
    const bool is_new = look == looks.end();
    const bool has_changed = is_new || room > look->second.room + look->second.room / 4 ||
                             segment.garbage() >= look->second.garbage + kGarbageLeast;
    if (has_changed && segment.garbage() >= 2 * kGarbageLeast &&
        (densest == nullptr || density(segment) > density(*densest))) {
      densest = &segment;
    }
    if (!is_new && look->second.replay == replay) {
      ++seen;
      continue;
    }
    const LogPosition at = is_new ? LogPosition{} : look->second.replay;
    if (unseen == nullptr || at < unseen_at) {
      unseen = &segment;
      unseen_at = at;
    }
  }
  if (densest == nullptr && seen < kLooksPerFlush) densest = unseen;
  if (densest == nullptr) return {};
  return {GcReason::kFullDisk, {densest->number}, true};
}

double GcBenefit(const SegmentUse& segment, SequenceNumber now) {
  if (segment.bytes == 0) return 0;
  const double all = static_cast<double>(segment.bytes);
  const double live = std::clamp(static_cast<double>(segment.live_bytes), 1.0, all);
  const double age = static_cast<double>(now > segment.made_at ? now - segment.made_at : 0) + 1;
  return (all - live) / live * std::sqrt(age);
}

std::size_t EligibleByAge(std::size_t segment_count, double age_cutoff) {
  const double eligible = std::trunc(age_cutoff * static_cast<double>(segment_count));
  return std::min(segment_count, static_cast<std::size_t>(eligible));
}

bool IsWorthSpace(const SegmentUse& segment, const VictimPolicy& policy) {
  return !segment.is_damaged && (segment.is_worth_punching || HasGarbage(segment, policy.space_garbage_least));
}

VictimChoice PickRequested(std::span<const SegmentUse> segments, const std::set<std::uint64_t>& wanted,
                           const VictimPolicy& policy) {
  std::vector<const SegmentUse*> found;
  for (const SegmentUse& segment : segments) {
    if (!segment.is_damaged && wanted.contains(segment.number)) found.push_back(&segment);
  }
  return TakeStep(GcReason::kRequested, std::move(found), policy);
}

std::set<std::uint64_t> WorthRequesting(std::span<const SegmentUse> segments, const VictimPolicy& policy, bool all) {
  const std::span<const SegmentUse> eligible = segments.first(EligibleByAge(segments.size(), policy.age_cutoff));
  std::set<std::uint64_t> numbers;
  for (const SegmentUse& segment : eligible) {
    if (segment.is_damaged) continue;
    if (all || HasGarbage(segment, policy.idle_garbage_least)) numbers.insert(segment.number);
  }
  return numbers;
}

VictimChoice PickGcVictims(std::span<const SegmentUse> segments, const VictimPolicy& policy, SequenceNumber now,
                           GcUrgency urgency) {
  if (urgency == GcUrgency::kFull && !MutantIs(Mutant::kGcIgnoresRoom)) return PickOnFullDisk(segments, policy);
  if (urgency == GcUrgency::kSpace || urgency == GcUrgency::kFull) {
    return TakeStep(GcReason::kCeiling, ByBenefit(segments, policy.space_garbage_least, now), policy);
  }
  const std::span<const SegmentUse> eligible = segments.first(EligibleByAge(segments.size(), policy.age_cutoff));
  if (policy.force_threshold < 1 && !eligible.empty()) {
    std::uint64_t bytes = 0;
    std::uint64_t garbage = 0;
    for (const SegmentUse& segment : eligible) {
      bytes += segment.bytes;
      garbage += segment.garbage();
    }
    if (static_cast<double>(garbage) >= policy.force_threshold * static_cast<double>(bytes)) {
      std::vector<const SegmentUse*> oldest;
      for (const SegmentUse& segment : eligible) {
        if (!segment.is_damaged && segment.garbage() >= kGarbageLeast) oldest.push_back(&segment);
      }
      if (!oldest.empty()) return TakeStep(GcReason::kForceThreshold, std::move(oldest), policy);
    }
  }
  if (VictimChoice small = PickSmall(segments, policy); !small.numbers.empty()) return small;
  if (urgency == GcUrgency::kForced) return {};
  return TakeStep(GcReason::kCostBenefit, ByBenefit(eligible, policy.idle_garbage_least, now), policy);
}

}  // namespace cambium
