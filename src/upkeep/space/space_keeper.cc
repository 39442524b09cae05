#include "upkeep/space/space_keeper.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "gc/compaction_room.h"
#include "gc/reserve.h"
#include "upkeep/arithmetic.h"
#include "upkeep/hidden_garbage.h"
#include "util/count_scope.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kSpacePauseMicros = 1000;
constexpr std::uint64_t kLongStallMicros = 1'000'000;
constexpr std::uint64_t kTickMicros = 1'000'000;
constexpr int kTicksUntilIdle = 5;

// A look visits each family, and the choice of victims after it may visit each segment. It is not worthwhile until this
// many bytes have been written for each of them: before that, the figures have hardly changed. (Writing these bytes
// takes longer than the look.) If there are at most kFewVisits of them, a look is always cheap.
constexpr std::uint64_t kBytesPerVisit = 1024;
constexpr std::uint64_t kFewVisits = 64;

std::uint64_t Plus(std::uint64_t a, std::uint64_t b) {
  return b > SpaceControl::kNever - a ? SpaceControl::kNever : a + b;
}

// Indexes that take less than this part of the slack get no bound: each may be rewritten as a whole at any time. Once
// indexes are bounded, the bound is removed only when they take less than half of that part, so that it does not come
// and go all the time.
constexpr std::uint64_t kIndexPartsOfSlack = 4;
// A change of a room by less than this part of it is not passed on, for the same reason.
constexpr std::uint64_t kRoomChangeParts = 8;
// At Open, at most this many bytes of index files are walked, of families with values in the log. That takes some
// milliseconds if the files are in memory, and otherwise a read for each page.
constexpr std::uint64_t kWalkedBytesMost = 8u << 20;
// A look for a flush comes at least this many bytes of log after the last look, however soon the flush is due.
constexpr std::uint64_t kLookBytesLeast = 64u << 10;

// Whether `now` differs from `before` by more than this part.
bool IsOtherRoom(std::uint64_t before, std::uint64_t now) {
  return now < before - before / kRoomChangeParts || now > Plus(before, before / kRoomChangeParts);
}

// In idle time, a compaction is worthwhile if it frees a quarter of the bytes that it writes. What range deletes cover
// is measured, because the family's estimate may be missing: a page could not be read, or there was no memory. If it
// cannot be measured now, it may be everything, so the compaction counts as worthwhile.
bool IsWorthCompacting(const Family& family, const Layers* layers) {
  if (layers == nullptr || layers->shape().run_count == 0) return false;
  const LayersShape& shape = layers->shape();
  const std::uint64_t page_size = family.options().page_size;
  const std::uint64_t cost = std::min(shape.base_live_bytes, shape.run_keys * page_size) + shape.run_file_bytes;
  const auto hidden = static_cast<std::uint64_t>(std::max<std::int64_t>(family.hidden_bytes.load(), 0));
  std::uint64_t freed = hidden + shape.run_file_bytes;
  if (freed < cost / 4) {
    const Result<TreePart> covered = layers->CoveredByRanges();
    if (!covered.ok()) return true;
    freed += covered->Bytes();
  }
  return freed >= cost / 4;
}

}  // namespace

SpaceKeeper::SpaceKeeper(DbState* state, Pace* pace, Compactor* compactor, GcSegments* segments, Collector* collector)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      space_(state->space),
      disk_(state->full_disk),
      snapshots_(state->snapshots),
      iterator_count_(state->iterator_count),
      value_pins_(state->value_pins),
      pace_(*pace),
      compactor_(*compactor),
      segments_(*segments),
      collector_(*collector) {}

void SpaceKeeper::Begin() {
  if (db_.is_offline) return;
  {
    const AppendLock append(head_);
    const CommitLock lock(commits_);
    EstimateHidden();
    Look();
    head_.log()->set_segment_bytes(space_.plan.segment_bytes);
  }
  tick_target_->Set(this);
  StartTicking();
}

void SpaceKeeper::Close() { tick_target_->Set(nullptr); }

// After Open we do not know what layers hide, so they are taken to hide as much as they can. If they are small, and
// there is a ceiling, a walk of them tells what is live.
void SpaceKeeper::EstimateHidden() {
  const std::shared_ptr<const View> view = commits_.view().Pin();
  const std::uint64_t grain = LiveSample::GrainFor(commits_.index().sums().bytes);
  std::uint64_t walked_bytes = 0;
  const bool walks = !db_.read_only && db_.max_space_amplification.load(std::memory_order_relaxed) != 0;
  for (const FamilyView& each : view->families) {
    const LayersShape& shape = each.layers->shape();
    NoteCovered(each.family.get(), *each.layers);
    if (commits_.index().SumsOf(each.family->id).references > 0) {
      if (!walks || FileBytes(shape) > kWalkedBytesMost - walked_bytes) {
        each.family->live_sample.MarkPartial();
      } else {
        walked_bytes += FileBytes(shape);
        SampleLayers(each.family.get(), *each.layers, grain);
      }
    }
    if (shape.run_keys + shape.base_keys == 0) continue;
    Account all;
    for (const auto& [slot, account] : commits_.state().families.at(each.family->id).accounts) {
      all.references += account.references;
      all.bytes += account.bytes;
    }
    each.family->replaced_share.store(1);
    const std::uint64_t last_bytes = shape.levels.empty() ? 0 : shape.levels.back().file_bytes;
    each.family->hidden_index_bytes.store(static_cast<std::int64_t>(Minus(FileBytes(shape), last_bytes)));
    each.family->hidden_bytes.store(static_cast<std::int64_t>(Times(KeysAboveLast(shape), BytesPerReference(all))));
  }
}

void SpaceKeeper::Look() {
  const std::uint64_t written = space_.written.load(std::memory_order_relaxed);
  space_.written_at_look = written;
  space_.job_bytes_at_look = space_.job_bytes.load(std::memory_order_relaxed);
  space_.figures = Measure();
  const bool has_ceiling = db_.max_space_amplification.load(std::memory_order_relaxed) != 0;
  if (space_.figures.tail_range_deletes > 0 && has_ceiling) {
    range_deletes_until_ = Plus(written, space_.figures.on_disk());
  }
  space_.figures.had_range_deletes = written < range_deletes_until_;
  const SpacePlan plan = PlanSpace(space_.figures, segments_.Limits());
  ReserveInput database;
  database.on_disk = Minus(space_.figures.on_disk(), disk_.reserve_bytes.load(std::memory_order_relaxed));
  database.log_bytes = space_.figures.log_bytes;
  database.footer_bytes = space_.figures.live_footer_bytes;
  database.segment_bytes = plan.segment_bytes;
  database.slack_bytes = plan.slack_bytes;
  disk_.wanted_bytes.store(ReserveBytes(database), std::memory_order_relaxed);
  disk_.bytes_for_keys.store(ReserveForKeys(database), std::memory_order_relaxed);
  disk_.bytes_for_open.store(commits_.manifest_bytes() + kFreeBytesLeft, std::memory_order_relaxed);
  space_.plan = plan;
  const std::uint64_t on_disk = space_.figures.on_disk();
  space_.segment_bytes.store(plan.segment_bytes, std::memory_order_relaxed);
  space_.step_bytes.store(plan.step_bytes, std::memory_order_relaxed);
  space_.index_file_percent_max.store(plan.index_file_percent_max, std::memory_order_relaxed);
  space_.is_bound_by_disk.store(plan.is_bound_by_disk, std::memory_order_relaxed);
  space_.is_short.store(plan.collect, std::memory_order_relaxed);
  SetSampleGrain();
  ShareRoom();
  SumCompactionRoom();
  // Segments that log GC has dropped may take the room of its steps: SpaceControl::Position counts them.
  space_.step_room.store(plan.step_room, std::memory_order_relaxed);
  space_.gc_leaving.store(space_.figures.leaving_log_bytes, std::memory_order_relaxed);
  const std::uint64_t counted = Minus(on_disk, space_.figures.leaving_log_bytes);
  // Returns the count of written bytes at which the database reaches the size `at`.
  const auto when = [&](std::uint64_t at) {
    return at == SpaceControl::kNever ? at : at >= counted ? written + (at - counted) : Minus(written, counted - at);
  };
  space_.slow_at.store(when(plan.slow_at), std::memory_order_relaxed);
  space_.stop_at.store(when(plan.stop_at), std::memory_order_relaxed);
  space_.check_at.store(plan.work_at == SpaceControl::kNever ? plan.work_at
                        : on_disk < plan.work_at && !plan.any()
                            ? std::min(when(plan.work_at), Plus(written, std::max(plan.flush_in, kLookBytesLeast)))
                            : written + plan.segment_bytes / 8,
                        std::memory_order_relaxed);
}

// A finer grain holds for the values that come from now on. A coarser one removes values from the samples, and passes
// over all of them, so it is set in steps.
void SpaceKeeper::SetSampleGrain() {
  const std::uint64_t grain = LiveSample::GrainFor(space_.figures.log_live_bytes);
  space_.sample_grain.store(grain, std::memory_order_relaxed);
  if (grain > coarsened_to_ + coarsened_to_ / 4) {
    const ViewLook view(commits_.view());
    for (const FamilyView& each : view->families) each.family->live_sample.Coarsen(grain);
    coarsened_to_ = grain;
  }
  coarsened_to_ = std::min(coarsened_to_, grain);
}

// An index with the fraction x of all bytes in indexes gets the fraction x of the slack. If most bytes of the database
// are in the log, no bound is needed: the slack is then far larger than the indexes, even while compactions rewrite
// them.
void SpaceKeeper::ShareRoom() {
  const std::uint64_t slack = space_.plan.slack_bytes;
  const std::uint64_t all = space_.figures.index_bytes;
  const std::uint64_t parts = bounds_indexes_ ? 2 * kIndexPartsOfSlack : kIndexPartsOfSlack;
  bounds_indexes_ = slack != SpaceControl::kNever && all > slack / parts;
  const std::uint64_t step = slack / static_cast<std::uint64_t>(std::max(db_.options.max_background_jobs, 1));
  const ViewLook view(commits_.view());
  for (const FamilyView& each : view->families) {
    IndexRoom room;
    if (bounds_indexes_) {
      const auto its = static_cast<double>(each.family->index_bytes.load(std::memory_order_relaxed));
      room.standing = Times(slack, its / static_cast<double>(all));
      room.step = std::max(room.standing, step);
    }
    SetRoom(each.family.get(), room);
  }
}

void SpaceKeeper::SumCompactionRoom() {
  SumOfRooms sum;
  {
    const ViewLook view(commits_.view());
    for (const FamilyView& each : view->families) {
      sum.Add({.of_step = each.family->step_room.load(std::memory_order_relaxed),
               .waiting = each.family->waiting_room.load(std::memory_order_relaxed)});
    }
  }
  const auto jobs = static_cast<std::uint64_t>(std::max(db_.options.max_background_jobs, 1));
  const SharedCompactionRoom all = sum.For(jobs);
  disk_.compactions_at_once.store(all.at_once, std::memory_order_relaxed);
  disk_.compaction_room.store(MutantIs(Mutant::kPutsLeaveNoRoomForSteps) ? 0 : all.bytes, std::memory_order_relaxed);
}

void SpaceKeeper::SetRoom(Family* family, const IndexRoom& room) {
  const IndexRoom before = family->room;
  if (!IsOtherRoom(before.standing, room.standing) && !IsOtherRoom(before.step, room.step)) return;
  family->room = room;
  family->index->SetRoom(room);
  if (room.standing < before.standing || room.step < before.step) {
    family->has_less_room.store(true, std::memory_order_relaxed);
  }
}

void SpaceKeeper::Judge(std::uint64_t on_disk, std::int64_t others, bool no_job_left) {
  if (on_disk < space_.plan.stop_at) {
    space_.others_when_idle = SpaceControl::kNothingYet;
    space_.hopeless_until.store(0, std::memory_order_relaxed);
  } else if (no_job_left) {
    // Whether the jobs since the last such look have freed space, regardless of the bytes that writers added meanwhile.
    const bool have_helped = others < std::exchange(space_.others_when_idle, others);
    const bool is_work_left = space_.plan.any() || disk_.IsFull();
    const bool is_hopeless = !is_work_left || !have_helped;
    // Writers may write one more segment; then there may be garbage that jobs can free. The limit is needed because
    // Judge decides only when no job is left, and writers that go on may keep jobs scheduled for ever.
    const std::uint64_t until =
        MutantIs(Mutant::kHopelessForGood) ? SpaceControl::kNever : space_.Position() + space_.plan.segment_bytes;
    space_.hopeless_until.store(is_hopeless ? until : 0, std::memory_order_relaxed);
  }
}

bool SpaceKeeper::IsLookDue() {
  const CommitLock lock(commits_);
  const std::uint64_t visits = commits_.state().segments.size() + commits_.state().families.size();
  if (visits <= kFewVisits || MutantIs(Mutant::kLooksAfterEachFlush)) return true;
  if (space_.plan.any() || disk_.IsShort() || space_.is_idle.load(std::memory_order_relaxed)) return true;
  if (space_.Position() >= space_.check_at.load(std::memory_order_relaxed)) return true;
  assert(space_.written.load(std::memory_order_relaxed) >= space_.written_at_look);
  assert(space_.job_bytes.load(std::memory_order_relaxed) >= space_.job_bytes_at_look);
  const std::uint64_t written = space_.written.load(std::memory_order_relaxed) - space_.written_at_look;
  const std::uint64_t by_jobs = space_.job_bytes.load(std::memory_order_relaxed) - space_.job_bytes_at_look;
  return written + by_jobs >= visits * kBytesPerVisit;
}

void SpaceKeeper::ScheduleLateLook() noexcept {
  if (has_late_look_.exchange(true, std::memory_order_relaxed)) return;
  try {
    db_.executor->ScheduleAfter(kTickMicros, TaskPriority::kNormal, [target = tick_target_] {
      const MutexLock lock(target->mutex);
      if (target->owner == nullptr) return;
      target->owner->has_late_look_.store(false, std::memory_order_relaxed);
      target->owner->jobs_.Schedule(Job::kLookAtSpace);
    });
  } catch (...) {  // no memory for the task; the next job tries again
    has_late_look_.store(false, std::memory_order_relaxed);
  }
}

void SpaceKeeper::Check() { LookAndStartJobs(/*after_job=*/false); }

void SpaceKeeper::CheckAfter(Job job) {
  if (db_.read_only || db_.is_offline) return;
  const bool has_freed_nothing = job == Job::kFlush || job == Job::kSeal || job == Job::kRemove;
  if (has_freed_nothing && !IsLookDue()) return ScheduleLateLook();
  LookAndStartJobs(/*after_job=*/true);
}

void SpaceKeeper::LookAndStartJobs(bool after_job) {
  if (db_.read_only || db_.is_offline) return;
  const bool no_job_left = [this] {
    const JobsLock lock(jobs_);
    return jobs_.is_closing() || !jobs_.HasJobThatFreesSpace();
  }();
  SpacePlan plan;
  bool is_news = true;
  {
    const CommitLock lock(commits_);
    Look();
    plan = space_.plan;
    if (disk_.IsFull()) plan.collect = true;
    if (disk_.IsShort()) plan.compact = true;
    const std::uint64_t on_disk = space_.figures.on_disk();
    const std::int64_t others = static_cast<std::int64_t>(on_disk) - static_cast<std::int64_t>(space_.written_at_look);
    is_news = std::exchange(space_.others, others) != others;
    Judge(Minus(on_disk, std::min(space_.figures.leaving_log_bytes, plan.step_room)), others, no_job_left);
  }
  if (space_.Position() < space_.slow_at.load(std::memory_order_relaxed)) {
    db_.events.Stalls({}, 0, WriteStallCause::kSpace, WriteStallCondition::kNormal);
  }
  if (disk_.IsReserveDue()) jobs_.Schedule(Job::kReserve);
  // Without this condition, a job that changes nothing would be started again and again.
  if (!after_job || is_news || db_.max_space_amplification.load(std::memory_order_relaxed) == 0) StartJobs(plan);
}

void SpaceKeeper::StartJobs(const SpacePlan& plan) {
  // A tiny segment is not ended: it fits into the room that the ceiling leaves for the current segment anyway. If tiny
  // segments were ended, a load into an empty database would leave many of them for log GC to join. If the tail is not
  // worth a flush, a segment is ended only if it has a quarter of its full size.
  const std::uint64_t tiny = std::min(kSegmentBytesLeast, plan.segment_bytes) / 2;
  const std::uint64_t rotate_from = !plan.seal   ? ~std::uint64_t{0}
                                    : plan.flush ? tiny
                                                 : std::max(tiny, plan.segment_bytes / 4);
  const bool may_rotate = plan.seal && [&] {
    const AppendLock lock(head_);
    return head_.log()->tail().offset >= rotate_from;
  }();
  if (plan.flush || may_rotate) {
    const Status begun = head_.FreezeAll(rotate_from, FlushReason::kSpace);
    if (begun.severity() == Status::Severity::kFatal) return jobs_.SetFatal(begun);
    if (!begun.ok()) db_.logger->Log(InfoLogLevel::kWarn, "no new segment could be started: " + begun.ToString());
  }
  if (may_rotate) jobs_.Schedule(Job::kSeal);
  for (const std::shared_ptr<Family>& family : commits_.Families()) StartCompaction(family, plan.compact);
  collector_.ScheduleIfDue();
}

void SpaceKeeper::StartCompaction(const std::shared_ptr<Family>& family, bool must) {
  const auto is_worth_it = [&] { return IsWorthCompacting(*family, commits_.LayersOf(*family).get()); };
  const bool is_urgent = must || (space_.is_idle.load(std::memory_order_relaxed) && is_worth_it());
  family->compacts_urgently.store(is_urgent, std::memory_order_relaxed);
  const bool has_less_room = family->has_less_room.exchange(false, std::memory_order_relaxed);
  if ((is_urgent || has_less_room) && compactor_.IsDue(*family)) jobs_.Schedule(Job::kCompact, family);
}

Status SpaceKeeper::Await(const WriteOptions& options, std::uint64_t bytes) {
  StartTicking();
  ScheduleLookIfDue();
  const std::uint64_t position = space_.Position();
  if (position < space_.slow_at.load(std::memory_order_relaxed)) return Status::OK();
  const bool is_stopped = position >= space_.stop_at.load(std::memory_order_relaxed);
  const auto condition = is_stopped ? WriteStallCondition::kStopped : WriteStallCondition::kDelayed;
  db_.events.Stalls({}, 0, WriteStallCause::kSpace, condition);
  db_.events.Deliver();
  if (options.no_slowdown) return PassWithoutWait(position, bytes);
  const std::uint64_t start = db_.NowMicros();
  CAMBIUM_RETURN_IF_ERROR(SleepUntilSpace(bytes));
  const std::uint64_t waited = db_.NowMicros() - start;
  pace_.CountStall(waited, true);
  if (waited >= kLongStallMicros) {
    db_.logger->Log(InfoLogLevel::kWarn, "a write waited " + std::to_string(waited / 1000) +
                                             " ms for space, as max_space_amplification demands");
  }
  return Status::OK();
}

// The first writer that passes check_at schedules a look, which sets the next check_at.
void SpaceKeeper::ScheduleLookIfDue() {
  const std::uint64_t written = space_.written.load(std::memory_order_relaxed);
  std::uint64_t due = space_.check_at.load(std::memory_order_relaxed);
  if (written < due || !space_.check_at.compare_exchange_strong(due, SpaceControl::kNever)) return;
  if (!jobs_.ScheduleIfPossible(Job::kLookAtSpace)) {
    space_.check_at.store(due, std::memory_order_relaxed);  // the next writer tries again
  }
}

// For a write that may not wait. It passes under the same conditions that end the wait of another write. Otherwise it
// is refused, and each refusal makes sure that work is under way, because there may be no other writer to start it.
Status SpaceKeeper::PassWithoutWait(std::uint64_t position, std::uint64_t bytes) {
  const std::uint64_t slow_at = space_.slow_at.load(std::memory_order_relaxed);
  const std::uint64_t stop_at = space_.stop_at.load(std::memory_order_relaxed);
  if (position < slow_at) return Status::OK();  // a look has raised it meanwhile
  if (position >= stop_at ? space_.IsHopeless()
                          : space_.pacer.TryReserve(bytes, Rate(position, slow_at, stop_at), Now())) {
    return Status::OK();
  }
  if (!MutantIs(Mutant::kRefusalStartsNothing)) LookUnlessFreeing();
  return Status::Incomplete("the database has nearly reached the size that max_space_amplification allows");
}

Status SpaceKeeper::SleepUntilSpace(std::uint64_t bytes) {
  std::uint64_t turn = 0;  // when this writer may proceed; 0: not known yet
  bool has_looked = false;
  while (true) {
    CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
    const std::uint64_t position = space_.Position();
    const std::uint64_t slow_at = space_.slow_at.load(std::memory_order_relaxed);
    const std::uint64_t stop_at = space_.stop_at.load(std::memory_order_relaxed);
    if (position < slow_at || jobs_.is_closing()) return Status::OK();
    if (position >= stop_at) {
      if (space_.IsHopeless() && !MutantIs(Mutant::kWaitWhenHopeless)) return Status::OK();
      const CountScope stalls(jobs_.stalled_writers());
      RunOrAwaitJob();
      continue;
    }
    const std::uint64_t now = Now();
    if (turn == 0) turn = space_.pacer.Reserve(bytes, Rate(position, slow_at, stop_at), now);
    if (turn <= now || !IsSpaceComing(&has_looked)) return Status::OK();
    db_.options.clock->SleepMicros(std::min(turn - now, kSpacePauseMicros));
  }
}

// Returns true while jobs free space, or may do so. If no job is running, and a look has found none due, slowing a
// writer down would gain nothing.
bool SpaceKeeper::IsSpaceComing(bool* has_looked) {
  const JobsLock lock(jobs_);
  if (jobs_.HasJobThatFreesSpace() || jobs_.IsScheduled(Job::kLookAtSpace)) return true;
  if (*has_looked && !MutantIs(Mutant::kWaitWhenHopeless)) return false;
  jobs_.ScheduleLocked(Job::kLookAtSpace, nullptr);
  *has_looked = true;
  return true;
}

double SpaceKeeper::Rate(std::uint64_t position, std::uint64_t slow_at, std::uint64_t stop_at) const {
  const double part = static_cast<double>(position - slow_at) / static_cast<double>(stop_at - slow_at);
  return PacedRate(part, space_.freed_per_second.load(std::memory_order_relaxed));
}

std::uint64_t SpaceKeeper::Now() const {
  return MutantIs(Mutant::kPacesByWallClock) ? db_.options.clock->WallSeconds() * 1'000'000 : db_.NowMicros();
}

void SpaceKeeper::LookUnlessFreeing() {
  const JobsLock lock(jobs_);
  if (!jobs_.HasJobThatFreesSpace()) jobs_.ScheduleLocked(Job::kLookAtSpace, nullptr);
}

// Pauses once for a writer that cannot proceed.
void SpaceKeeper::RunOrAwaitJob() {
  LookUnlessFreeing();
  if (!db_.executor->RunOneInstead()) db_.options.clock->SleepMicros(kSpacePauseMicros);
}

// ---- Idle time ----

void SpaceKeeper::StartTicking() {
  if (db_.is_offline) return;
  if (space_.is_ticking.load(std::memory_order_relaxed)) return;
  if (db_.max_space_amplification.load(std::memory_order_relaxed) == 0) return;
  if (space_.is_ticking.exchange(true)) return;
  space_.is_idle.store(false, std::memory_order_relaxed);
  Tick(space_.written.load(std::memory_order_relaxed), 0);
}

// Schedules the next tick. `written` has not changed for `quiet` ticks.
void SpaceKeeper::Tick(std::uint64_t written, int quiet) noexcept {
  try {
    db_.executor->ScheduleAfter(kTickMicros, TaskPriority::kNormal, [target = tick_target_, written, quiet] {
      const MutexLock lock(target->mutex);
      if (target->owner != nullptr) target->owner->OnTick(written, quiet + 1);
    });
  } catch (...) {  // no memory for the task; the next write tries again
    space_.is_ticking.store(false);
  }
}

void SpaceKeeper::OnTick(std::uint64_t written, int quiet) {
  if (commits_.obsolete().HasReady()) jobs_.Schedule(Job::kRemove);  // files that could not be removed before
  const std::uint64_t now = space_.written.load(std::memory_order_relaxed);
  if (now != written) return Tick(now, 0);
  if (quiet < kTicksUntilIdle) return Tick(written, quiet);
  space_.is_idle.store(true, std::memory_order_relaxed);
  space_.is_ticking.store(false);
  jobs_.Schedule(Job::kIdle);
}

// At the end of these jobs, compactions and log GC that are due in idle time are scheduled.
Status SpaceKeeper::WorkWhileIdle() {
  collector_.FreeMemory();
  CAMBIUM_RETURN_IF_ERROR(head_.FreezeAll(0, FlushReason::kIdle));
  jobs_.Schedule(Job::kSeal);
  jobs_.Schedule(Job::kLookAtSpace);
  return Status::OK();
}

}  // namespace cambium
