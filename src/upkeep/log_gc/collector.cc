#include "upkeep/log_gc/collector.h"

#include <algorithm>
#include <utility>

#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Only in a mutant: pins a view that is older than the state by which victims are chosen. Null if it does nothing.
std::shared_ptr<const View> PinEarlierView(const CommitPoint& commits) {
  if (!MutantIs(Mutant::kGcPicksFromLaterState)) return nullptr;
  std::shared_ptr<const View> view = commits.view().Pin();
  CAMBIUM_FAULT_POINT("Gc:choose late");
  return view;
}

}  // namespace

Collector::Collector(DbState* state, GcSegments* segments, Relocator* relocator, Puncher* puncher, Clusterer* clusterer)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      space_(state->space),
      segments_(*segments),
      relocator_(*relocator),
      puncher_(*puncher),
      clusterer_(*clusterer) {}

bool Collector::IsDue() {
  const CommitLock lock(commits_);
  if (segments_.IsPunchingDue()) return true;
  return clusterer_.FamilyDue() != nullptr || !segments_.Choose(segments_.Policy()).numbers.empty();
}

void Collector::ScheduleIfDue() {
  if (IsDue()) jobs_.Schedule(Job::kCollect);
}

void Collector::KeepBuffer(std::uint64_t step_bytes) {
  if (db_.is_offline) return;
  const bool keeps = segments_.Urgency() == GcUrgency::kSpace && !space_.is_idle.load(std::memory_order_relaxed);
  relocator_.KeepCopyBuffers(keeps ? 1 : 0, static_cast<std::size_t>(step_bytes));
}

void Collector::FreeMemory() {
  if (!db_.is_offline) relocator_.KeepCopyBuffers(0, 0);
}

bool Collector::Pick(GcPick* pick) {
  std::shared_ptr<const View> earlier = PinEarlierView(commits_);
  const CommitLock lock(commits_);
  const VictimPolicy policy = segments_.Policy();
  const VictimChoice choice = segments_.Choose(policy);
  if (choice.numbers.empty()) return false;
  pick->view = commits_.view().Pin();
  pick->reason = choice.reason;
  pick->step_bytes = choice.cuts ? std::min(policy.step_bytes, policy.Room()) : policy.step_bytes;
  pick->cuts = choice.cuts;
  std::vector<Slot> slots;
  for (const std::uint64_t number : choice.numbers) {
    const SegmentInfo& info = commits_.state().segments.at(number);
    pick->sources.push_back({pick->view->segments.Find(info.slot), info});
    slots.push_back(info.slot);
  }
  pick->slots = commits_.HoldSlots(std::move(slots));
  if (earlier != nullptr) pick->view = std::move(earlier);
  pick->AddFamilies();
  return true;
}

Status Collector::Collect() {
  CAMBIUM_TRY(const bool has_punched, puncher_.RunIfDue());
  if (has_punched) return Status::OK();
  CAMBIUM_TRY(const bool has_clustered, clusterer_.RunRequested());
  if (has_clustered) return Status::OK();
  if (std::exchange(is_turn_to_cluster_, !is_turn_to_cluster_)) {
    CAMBIUM_TRY(const bool was_due, clusterer_.RunOnItsOwn());
    if (was_due) return Status::OK();
  }
  while (true) {
    const std::uint64_t begun_micros = db_.NowMicros();
    GcPick pick;
    if (!Pick(&pick)) return clusterer_.RunOnItsOwn().status();
    GcReport report = relocator_.Begin(pick, /*empties=*/true);
    report.begun_micros = begun_micros;
    KeepBuffer(pick.step_bytes);
    const Stopwatch watch(&db_.meter, LOG_GC_TIME);
    const Status done = relocator_.EmptySources(pick, &report);
    // A step on a full disk that has found nothing to cut changes nothing, so no event would start the next step. So
    // the loop goes on with the next segment, and does not report this step.
    const bool was_in_vain = done.ok() && pick.cuts && !report.cut.any();
    if (!was_in_vain) relocator_.Report(pick, report, done);
    if (!was_in_vain || jobs_.is_closing()) return done;
  }
}

}  // namespace cambium
