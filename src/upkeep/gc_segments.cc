#include "upkeep/gc_segments.h"

#include <algorithm>
#include <optional>

#include "gc/segment_uses.h"
#include "upkeep/gc_urgency.h"
#include "util/mutant.h"

namespace cambium {

GcSegments::GcSegments(DbState* state)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      space_(state->space),
      disk_(state->full_disk),
      default_family_(state->default_family) {}

std::vector<SegmentUse> GcSegments::Uses() const {
  const bool can_punch = !cannot_punch_.load(std::memory_order_relaxed);
  const std::uint64_t least = can_punch ? db_.min_punch_size.load(std::memory_order_relaxed) : 0;
  const auto punched = [this](std::uint64_t number) -> std::optional<PunchedUse> {
    if (!commits_.punched().Knows(number)) return std::nullopt;  // its holes are being counted
    const PunchedBytes bytes = commits_.punched().Of(number);
    return PunchedUse{bytes.holes, bytes.kept, bytes.garbage_at_look};
  };
  std::vector<SegmentUse> uses;
  VisitSegmentUses(commits_.seen_state(), commits_.seen_index(), least, punched, [&](const SegmentInfo&, GcStanding standing, SegmentUse use) CAMBIUM_REQUIRES(commit_lock) {
    if (standing != GcStanding::kMember) return;
    use.is_damaged = damaged_.contains(use.number);
    uses.push_back(use);
  });
  return uses;
}

VictimPolicy GcSegments::Policy() const {
  const ColumnFamilyOptions& options = default_family_->options();
  VictimPolicy policy;
  policy.age_cutoff = options.blob_garbage_collection_age_cutoff;
  policy.force_threshold = options.blob_garbage_collection_force_threshold;
  policy.target_bytes = db_.blob_file_size;
  policy.step_bytes = Limits().step_bytes_max;
  if (const std::uint64_t bytes = space_.segment_bytes.load(std::memory_order_relaxed); bytes != 0) {
    policy.target_bytes = bytes;
    policy.step_bytes = space_.step_bytes.load(std::memory_order_relaxed);
  }
  // A log must fit below the ceiling even if all its segments have slightly less garbage than space_garbage_least.
  const double ceiling = db_.max_space_amplification.load(std::memory_order_relaxed);
  if (ceiling != 0) policy.space_garbage_least = std::min(policy.space_garbage_least, (ceiling - 1) / 4);
  if (disk_.IsFull()) static_cast<void>(db_.fs->FreeSpace(db_.path, &policy.free_bytes));
  return policy;
}

SpacePolicy GcSegments::Limits() const {
  SpacePolicy policy;
  policy.max_space_amplification = db_.max_space_amplification.load(std::memory_order_relaxed);
  // At rest the ceiling alone counts.
  if (!space_.is_idle.load(std::memory_order_relaxed)) {
    policy.min_space_limit = db_.min_space_limit.load(std::memory_order_relaxed);
  }
  policy.segment_bytes_max = db_.blob_file_size;
  return policy;
}

GcUrgency GcSegments::Urgency() const { return UrgencyOfGc(db_, space_, disk_); }

bool GcSegments::MayCollect(GcUrgency urgency) const {
  if (db_.is_offline) return false;
  if (!default_family_->options().enable_blob_garbage_collection) return false;
  return holds_.load(std::memory_order_relaxed) == 0 || urgency == GcUrgency::kSpace || urgency == GcUrgency::kFull;
}

bool GcSegments::IsPunchingDue() const {
  return MayCollect(Urgency()) && std::ranges::any_of(Uses(), &SegmentUse::is_worth_punching);
}

VictimChoice GcSegments::Choose(const VictimPolicy& policy) const {
  const std::vector<SegmentUse> uses = Uses();
  if (!requested_.empty()) {
    VictimChoice requested = PickRequested(uses, requested_, policy);
    if (!requested.numbers.empty()) return requested;
  }
  const GcUrgency urgency = Urgency();
  if (!MayCollect(urgency)) return {};
  return PickGcVictims(uses, policy, head_.published(), urgency);
}

void GcSegments::MarkDamaged(const GcSource& source, const Status& why) {
  const CommitLock lock(commits_);
  if (!MutantIs(Mutant::kForgetDamage) && !damaged_.emplace(source.info.number, std::string(why.message())).second) return;
  db_.logger->Log(InfoLogLevel::kError, "log GC leaves a damaged segment alone: " + why.ToString());
  jobs_.ReportError(BackgroundErrorReason::kLogGc, why);
}

}  // namespace cambium
