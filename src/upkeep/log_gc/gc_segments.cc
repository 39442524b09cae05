#include "upkeep/log_gc/gc_segments.h"

#include <algorithm>
#include <cassert>
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

GcSegments::UseInputs GcSegments::Inputs() const {
  UseInputs inputs;
  inputs.replay = commits_.seen_state().replay;
  inputs.first_unsealed = commits_.seen_index().FirstUnsealedLog().value_or(~std::uint64_t{0});
  inputs.can_punch = !cannot_punch_.load(std::memory_order_relaxed);
  inputs.min_punch_size = inputs.can_punch ? db_.min_punch_size.load(std::memory_order_relaxed) : 0;
  return inputs;
}

std::optional<SegmentUse> GcSegments::UseOf(const SegmentInfo& info, const UseInputs& inputs) const {
  const auto punched = [this](std::uint64_t number) -> std::optional<PunchedUse> {
    if (!commits_.punched().Knows(number)) return std::nullopt;  // its holes are being counted
    const PunchedBytes bytes = commits_.punched().Of(number);
    return PunchedUse{bytes.holes, bytes.kept, bytes.garbage_at_look, bytes.live_most};
  };
  SegmentUse use;
  const GcStanding standing =
      FindSegmentUse(commits_.seen_state(), commits_.seen_index(), info, inputs.min_punch_size, punched, &use);
  if (standing != GcStanding::kMember) return std::nullopt;
  use.is_damaged = damaged_.contains(use.number);
  use.can_cut = use.can_cut && inputs.can_punch;
  return use;
}

std::vector<SegmentUse> GcSegments::AllUses(const UseInputs& inputs) const {
  std::vector<SegmentUse> uses;
  for (const auto& [number, info] : commits_.seen_state().segments) {
    if (const std::optional<SegmentUse> use = UseOf(info, inputs); use.has_value()) uses.push_back(*use);
  }
  return uses;
}

void GcSegments::AddSegmentsBetween(std::uint64_t a, std::uint64_t b, std::set<std::uint64_t>* numbers) const {
  const std::map<std::uint64_t, SegmentInfo>& segments = commits_.seen_state().segments;
  const auto end = segments.upper_bound(std::max(a, b));
  for (auto each = segments.lower_bound(std::min(a, b)); each != end; ++each) numbers->insert(each->first);
}

void GcSegments::RefreshUses() {
  const UseInputs inputs = Inputs();
  SegmentChanges changes = commits_.TakeSegmentChanges();
  const bool visits_all = !has_all_uses_ || changes.all || inputs.min_punch_size != inputs_.min_punch_size ||
                          inputs.can_punch != inputs_.can_punch || MutantIs(Mutant::kLookVisitsAllSegments);
  has_all_uses_ = false;  // until all changes are applied: they are taken, and memory may run out
  if (visits_all) {
    static_cast<void>(commits_.punched().TakeChanged());
    uses_.Reset(AllUses(inputs));
    visits_ += commits_.seen_state().segments.size();
  } else {
    changes.numbers.merge(commits_.punched().TakeChanged());
    if (inputs.replay != inputs_.replay) {
      AddSegmentsBetween(inputs_.replay.segment, inputs.replay.segment, &changes.numbers);
    }
    if (inputs.first_unsealed != inputs_.first_unsealed) {
      AddSegmentsBetween(inputs_.first_unsealed, inputs.first_unsealed, &changes.numbers);
    }
    SegmentUseTable::Changes uses;
    for (const std::uint64_t number : changes.numbers) {
      const auto info = commits_.seen_state().segments.find(number);
      uses[number] = info == commits_.seen_state().segments.end() ? std::nullopt : UseOf(info->second, inputs);
    }
    uses_.Apply(uses);
    visits_ += uses.size();
  }
  inputs_ = inputs;
  has_all_uses_ = true;
}

const std::vector<SegmentUse>& GcSegments::Uses() {
  RefreshUses();
  return uses_.all();
}

SegmentUseSums GcSegments::Sums(const VictimPolicy& policy) {
  RefreshUses();
  uses_.SetPolicy(policy);
  return uses_.sums();
}

Status GcSegments::CheckUses() {
  RefreshUses();
  if (uses_.all() != AllUses(inputs_)) return Status::Corruption("invariant violated: the uses of segments");
  if (uses_.sums() != uses_.Recount()) return Status::Corruption("invariant violated: the sums of segments' uses");
  return Status::OK();
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
  static_cast<void>(db_.fs->FreeSpace(db_.path, &policy.free_bytes));
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
  if (MutantIs(Mutant::kGcStepsOfWriteBuffer)) policy.step_bytes_max = default_family_->options().write_buffer_size;
  return policy;
}

GcUrgency GcSegments::Urgency() const { return UrgencyOfGc(db_, space_, disk_); }

bool GcSegments::MayCollect(GcUrgency urgency) const {
  if (db_.is_offline) return false;
  if (!default_family_->options().enable_blob_garbage_collection) return false;
  return holds_.load(std::memory_order_relaxed) == 0 || urgency == GcUrgency::kSpace || urgency == GcUrgency::kFull;
}

bool GcSegments::IsPunchingDue() {
  if (!MayCollect(Urgency())) return false;
  RefreshUses();
  return uses_.sums().worth_punching > 0;
}

VictimChoice GcSegments::Choose(const VictimPolicy& policy) {
  const GcUrgency urgency = Urgency();
  const bool may_collect = MayCollect(urgency);
  if (requested_.empty() && !may_collect) return {};
  RefreshUses();
  uses_.SetPolicy(policy);
  const bool may_find = may_collect && (urgency == GcUrgency::kFull || uses_.MayHaveVictims(policy, urgency));
  if (requested_.empty() && !may_find) return {};
  const std::vector<SegmentUse>& uses = uses_.all();
  visits_ += uses.size();
  if (!requested_.empty()) {
    VictimChoice requested = PickRequested(uses, requested_, policy);
    if (!requested.numbers.empty()) return requested;
  }
  if (!may_find) return {};
  if (urgency == GcUrgency::kFull) return ChooseOnFullDisk(uses, policy);
  VictimChoice choice = PickGcVictims(uses, policy, head_.published(), urgency);
  std::uint64_t live = 0;
  for (const std::uint64_t number : choice.numbers) {
    live += std::ranges::lower_bound(uses, number, {}, &SegmentUse::number)->live_bytes;
  }
  // Without this choice, a step that finds no space would be repeated, although no write has found the disk full yet.
  return live > policy.Room() ? ChooseOnFullDisk(uses, policy) : choice;
}

// While readers keep what earlier steps have freed, another step would only take the room that is left.
VictimChoice GcSegments::ChooseOnFullDisk(const std::vector<SegmentUse>& uses, const VictimPolicy& policy) const {
  std::uint64_t leaving = 0;
  for (const auto& [path, file] : commits_.obsolete().leaving()) leaving += file.is_log ? file.bytes : 0;
  if (leaving > policy.Room()) return {};
  VictimChoice whole = PickGcVictims(uses, policy, head_.published(), GcUrgency::kFull);
  return whole.numbers.empty() ? PickToCut(uses, policy, looks_, commits_.state().replay) : whole;
}

void GcSegments::NoteLook(const SegmentInfo& info, std::uint64_t live, std::uint64_t room, bool found_nothing) {
  assert(info.sealed && info.file_size >= info.sealed_length && "log GC looks only at sealed segments");
  const CommitLock lock(commits_);
  if (!commits_.state().segments.contains(info.number)) return;
  std::erase_if(looks_, [this](const auto& look) CAMBIUM_REQUIRES(commit_lock) {
    return !commits_.state().segments.contains(look.first);
  });
  if (!commits_.punched().Knows(info.number) && info.MayHaveHoles()) return;
  PunchedBytes bytes = commits_.punched().Of(info.number);
  bytes.live_most = std::min(bytes.live_most, live);
  commits_.punched().Set(info.number, bytes);
  looks_.erase(info.number);
  if (!found_nothing) return;
  const std::uint64_t kept = live + kFileHeaderSize + (info.file_size - info.sealed_length);
  const std::uint64_t on_disk = commits_.BytesOf(info);
  looks_[info.number] = {commits_.state().replay, room, on_disk - std::min(on_disk, kept)};
}

void GcSegments::MarkDamaged(const GcSource& source, const Status& why) {
  const CommitLock lock(commits_);
  commits_.NoteSegmentChange(source.info.number);
  if (!MutantIs(Mutant::kForgetDamage) && !damaged_.emplace(source.info.number, std::string(why.message())).second) return;
  db_.logger->Log(InfoLogLevel::kError, "log GC leaves a damaged segment alone: " + why.ToString());
  jobs_.ReportError(BackgroundErrorReason::kLogGc, why);
}

}  // namespace cambium
