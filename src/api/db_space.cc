// The ceiling: how large the database is, which jobs that asks for, and writers that wait for them. gc/space.h has the
// rules.
//
//   writers ──bytes──▶ SpaceControl::written ──crosses check_at──▶ Job::kSpace ──▶ MeasureSpace ──▶ PlanSpace
//      ▲                                                                                              │
//      └────────── slow_at, stop_at, rate ◀──────────── jobs that end look again ◀──── flush, merge, collect, seal
//
// A writer that waits holds no lock, waits only as long as some job can help, and looks again at least each millisecond.
#include <algorithm>

#include "api/db_impl.h"
#include "gc/reserve.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Beyond key and value, a separated entry takes this much of the index.
constexpr std::uint64_t kIndexBytesOfAddress = 28;
constexpr std::uint64_t kPauseMicros = 1000;
constexpr std::uint64_t kLongStallMicros = 1'000'000;
constexpr std::uint64_t kTickMicros = 1'000'000;
constexpr int kTicksUntilIdle = 5;

std::uint64_t Minus(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

std::uint64_t Times(std::uint64_t n, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(n) * factor);
}

std::uint64_t FileBytes(const LayersShape& shape) { return shape.run_file_bytes + shape.base_file_bytes; }

std::uint64_t Tombstones(const LayersShape& shape) {
  std::uint64_t count = shape.run_tombstones;
  for (const LevelShape& level : shape.levels) count += level.tombstones;
  return count;
}

// Of an entry that is no tombstone, roughly.
double FileBytesPerEntry(const LayersShape& shape) {
  const std::uint64_t entries = Minus(shape.run_keys + shape.base_keys, Tombstones(shape));
  return entries == 0 ? 0 : static_cast<double>(FileBytes(shape)) / static_cast<double>(entries);
}

// What a record of the log takes, on average.
double BytesPerReference(const Account& all) {
  return all.references == 0 ? 0 : static_cast<double>(all.bytes) / static_cast<double>(all.references);
}

}  // namespace

// Of a family's memory tables and layers. `bytes_per_reference`: in the whole database, since what a table refers to is in
// no account yet.
void DbImpl::MeasureFamily(const FamilyView& view, const FamilyState& state, double bytes_per_reference,
                           SpaceFigures* figures) const {
  const Family& family = *view.family;
  const double replaced = family.replaced_share.load(std::memory_order_relaxed);
  const std::uint64_t now = logged_bytes_.load(std::memory_order_relaxed);
  std::uint64_t newer_keys = 0;  // each may replace a value of an older table
  std::uint64_t newer_ranges = 0;
  const auto add_table = [&](const LogTable& table) {
    if (!table.started()) return;
    figures->tail_bytes = std::max(figures->tail_bytes, Minus(now, table.log_bytes_before()));
    figures->tail_hides_bytes += Times(table.key_count(), bytes_per_reference);
    newer_ranges += table.range_delete_count();
    if (const std::uint64_t count = table.newest_separated_count(); count > newer_keys && newer_ranges == 0) {
      const double bytes_each = static_cast<double>(table.newest_separated_bytes()) / static_cast<double>(count);
      figures->tail_live_bytes += Times(count - newer_keys, bytes_each);
    }
    newer_keys += table.key_count();
  };
  add_table(*view.active);
  for (const FrozenTable& frozen : view.frozen) add_table(*frozen.table);
  figures->tail_range_deletes += newer_ranges;

  Account all;  // in segments that are there
  for (const auto& [slot, account] : state.accounts) {
    if (manifest_->state().shadowed_slots.contains(slot)) continue;
    all.references += account.references;
    all.bytes += account.bytes;
  }
  const auto bytes = static_cast<std::uint64_t>(all.bytes);
  std::uint64_t run_bytes = 0;
  for (const RunInfo& run : state.runs) run_bytes += run.file_size;
  std::uint64_t merged_bytes = 0;
  for (const auto& [number, segment] : state.index_segments) merged_bytes += segment.length;
  for (const auto& [number, run] : state.level_runs) merged_bytes += run.info.file_size;
  const LayersShape shape = view.layers->shape();
  const std::uint64_t index_bytes = run_bytes + merged_bytes;
  const std::uint64_t address_bytes = static_cast<std::uint64_t>(all.references) * kIndexBytesOfAddress;
  std::uint64_t hidden = static_cast<std::uint64_t>(std::max<std::int64_t>(family.hidden_bytes.load(), 0));
  std::uint64_t live = shape.base_live_bytes + Times(run_bytes, 1 - replaced);
  if (family.options().index_type == IndexKind::kLsm) {
    // Merges of an LSM seldom end with one sorted sequence, where the estimates would be exact again. But what lies above
    // the last level brings new keys, or hides old ones, and what was flushed last tells in what proportion: keys that are
    // only overwritten leave no more alive than the last level has, new ones leave everything.
    const LevelShape last = shape.levels.empty() ? LevelShape{} : shape.levels.back();
    hidden = std::max(hidden, Times(Minus(bytes, Times(last.entries, BytesPerReference(all))), replaced));
    // A tombstone is there because it hides something, which may be much more than it takes.
    const auto counted = static_cast<std::uint64_t>(std::max<std::int64_t>(family.hidden_index_bytes.load(), 0));
    const std::uint64_t in_index = std::max({counted, Times(Minus(index_bytes, last.file_bytes), replaced),
                                             Times(Minus(Tombstones(shape), last.tombstones), FileBytesPerEntry(shape))});
    live = Minus(index_bytes, in_index);
    figures->index_hidden_bytes += std::min(in_index, Minus(index_bytes, address_bytes));
  }
  figures->hidden_bytes += std::min(hidden, bytes);
  figures->index_bytes += index_bytes;
  figures->index_live_bytes += Minus(live, address_bytes);
}

SpaceFigures DbImpl::MeasureSpace() const {
  SpaceFigures figures;
  const ManifestState& state = manifest_->state();
  const std::shared_ptr<const View> view = view_.Pin();
  Account all;
  for (const auto& [number, info] : state.segments) {
    const Account account = state.TotalAccount(info.slot);
    all.references += account.references;
    all.bytes += account.bytes;
    FileInfo file;
    const std::shared_ptr<Segment>& segment = view->segments.Find(info.slot);
    if (info.sealed) {
      figures.log_bytes += BytesOf(info);
    } else if (segment != nullptr && segment->file().GetInfo(&file).ok()) {
      figures.log_bytes += std::max(file.size, file.allocated_bytes);
    }
  }
  const VictimPolicy policy = GcPolicy();
  for (const SegmentUse& use : SegmentUses()) {
    if (use.is_damaged) {
      figures.log_bytes = Minus(figures.log_bytes, use.garbage());  // whatever anybody does
    } else {
      figures.garbage_bytes += use.garbage();
      if (IsWorthSpace(use, policy)) figures.collectable_bytes += use.garbage();
    }
  }
  // With snapshots and iterators nobody knows whose it is what stays.
  if (snapshots_.size() == 0 && iterator_count_.load(std::memory_order_relaxed) == 0) {
    figures.leaving_bytes = obsolete_.leaving_bytes();
    figures.log_bytes += figures.leaving_bytes;
  }
  figures.log_live_bytes = static_cast<std::uint64_t>(all.bytes);
  figures.other_bytes = manifest_->file_size() + full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  for (const FamilyView& family : view->families) {
    const auto its = state.families.find(family.family->id);
    if (its != state.families.end()) MeasureFamily(family, its->second, BytesPerReference(all), &figures);
  }
  figures.tail_hides_bytes = Minus(figures.tail_hides_bytes, figures.tail_bytes);
  return figures;
}

SpacePolicy DbImpl::PolicyOfSpace() const {
  SpacePolicy policy;
  policy.max_space_amplification = max_space_amplification_.load(std::memory_order_relaxed);
  policy.segment_bytes_max = blob_file_size_;
  std::uint64_t write_buffer_size = 0;
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    write_buffer_size = std::max(write_buffer_size, each.family->options().write_buffer_size);
  }
  policy.step_bytes_max = StepBytesMax(write_buffer_size);
  return policy;
}

// What layers hide is not known after an opening: as much as they could.
void DbImpl::BeginSpace() {
  if (is_offline_) return;
  const std::shared_ptr<const View> view = view_.Pin();
  {
    const std::lock_guard append_lock(append_mutex_);
    const std::lock_guard lock(commit_mutex_);
    for (const FamilyView& each : view->families) {
      const LayersShape shape = each.layers->shape();
      if (shape.run_keys + shape.base_keys == 0) continue;
      Account all;
      for (const auto& [slot, account] : manifest_->state().families.at(each.family->id).accounts) {
        all.references += account.references;
        all.bytes += account.bytes;
      }
      std::uint64_t above = shape.run_keys;
      for (std::size_t i = 0; i + 1 < shape.levels.size(); ++i) above += shape.levels[i].entries;
      each.family->replaced_share.store(1);
      const std::uint64_t last_bytes = shape.levels.empty() ? 0 : shape.levels.back().file_bytes;
      each.family->hidden_index_bytes.store(
          static_cast<std::int64_t>(Minus(FileBytes(shape), last_bytes)));
      each.family->hidden_bytes.store(static_cast<std::int64_t>(Times(above, BytesPerReference(all))));
    }
    LookAtSpace();
    log_->set_segment_bytes(space_.plan.segment_bytes);
  }
  {
    const std::lock_guard lock(tick_target_->mutex);
    tick_target_->db = this;
  }
  StartTicking();
}

// Measures, plans, and tells writers.
void DbImpl::LookAtSpace() {
  const std::uint64_t written = space_.written.load(std::memory_order_relaxed);
  space_.written_at_look = written;
  space_.figures = MeasureSpace();
  full_disk_.wanted_bytes.store(
      ReserveBytes(Minus(space_.figures.on_disk(), full_disk_.reserve_bytes.load(std::memory_order_relaxed))),
      std::memory_order_relaxed);
  const SpacePlan plan = PlanSpace(space_.figures, PolicyOfSpace());
  space_.plan = plan;
  const std::uint64_t on_disk = space_.figures.on_disk();
  space_.segment_bytes.store(plan.segment_bytes, std::memory_order_relaxed);
  space_.step_bytes.store(plan.step_bytes, std::memory_order_relaxed);
  space_.index_file_percent_max.store(plan.index_file_percent_max, std::memory_order_relaxed);
  space_.is_short.store(plan.collect, std::memory_order_relaxed);
  // A place of the database's size, as one of what writers have written.
  const auto when = [&](std::uint64_t at) {
    return at == SpaceControl::kNever ? at : at >= on_disk ? written + (at - on_disk) : Minus(written, on_disk - at);
  };
  space_.slow_at.store(when(plan.slow_at), std::memory_order_relaxed);
  space_.stop_at.store(when(plan.stop_at), std::memory_order_relaxed);
  space_.check_at.store(plan.work_at == SpaceControl::kNever ? plan.work_at
                        : on_disk < plan.work_at             ? when(plan.work_at)
                                                             : written + plan.segment_bytes / 8,
                        std::memory_order_relaxed);
}

void DbImpl::CheckSpace(bool after_job) {
  if (read_only_ || is_offline_ || closed_.load(std::memory_order_acquire)) return;
  const bool no_job_left = [this] {
    const std::lock_guard lock(background_mutex_);
    return closing_.load() || !HasSpaceJob();
  }();
  SpacePlan plan;
  bool is_news = true;
  {
    const std::lock_guard lock(commit_mutex_);
    LookAtSpace();
    plan = space_.plan;
    if (IsDiskFull()) plan.merge = plan.collect = true;
    const std::uint64_t on_disk = space_.figures.on_disk();
    const std::int64_t others =
        static_cast<std::int64_t>(on_disk) - static_cast<std::int64_t>(space_.written_at_look);
    is_news = std::exchange(space_.others, others) != others;
    if (on_disk < plan.stop_at) {
      space_.others_when_idle = SpaceControl::kNothingYet;
      space_.is_hopeless.store(false, std::memory_order_relaxed);
    } else if (no_job_left) {
      // All jobs that the last such look began have ended. Have they helped, whatever was written meanwhile?
      const bool have_helped = others < std::exchange(space_.others_when_idle, others);
      space_.is_hopeless.store(!plan.any() || !have_helped, std::memory_order_relaxed);
    }
  }
  if (space_.Position() < space_.slow_at.load(std::memory_order_relaxed)) {
    events_.Stalls({}, 0, WriteStallCause::kSpace, WriteStallCondition::kNormal);
  }
  if (ReserveIsDue()) Schedule(Job::kReserve);
  // A job that has changed nothing would begin itself again for ever.
  if (!after_job || is_news || max_space_amplification_.load(std::memory_order_relaxed) == 0) StartSpaceJobs(plan);
}

bool DbImpl::HasSpaceJob() const {
  for (const Job job : {Job::kSeal, Job::kCollect, Job::kRemove}) {
    if (jobs_[static_cast<std::size_t>(job)].scheduled) return true;
  }
  return std::ranges::any_of(families_, [](const std::shared_ptr<Family>& family) {
    return family->flush.scheduled || family->merge.scheduled;
  });
}

// What is not empty is frozen, unless a table of the family waits already; but when nobody writes nobody would come back for
// it, so that it waits behind that one. The log goes on in a new segment if the one of now has so many bytes.
Status DbImpl::FreezeAll(std::uint64_t rotate_from, FlushReason reason) {
  const std::lock_guard lock(append_mutex_);
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    Family& family = *each.family;
    if (family.dropped.load(std::memory_order_relaxed)) continue;
    if (!each.frozen.empty()) Schedule(Job::kFlush, each.family);
    const bool may_wait = reason == FlushReason::kIdle && family.frozen_count.load(std::memory_order_acquire) <
                                                              family.options().max_write_buffer_number - 1;
    if ((each.frozen.empty() || may_wait) && !family.active->empty()) Freeze(&family, reason);
  }
  return log_->tail().offset >= rotate_from ? log_->Rotate() : Status::OK();
}

void DbImpl::StartSpaceJobs(const SpacePlan& plan) {
  // A segment that is tiny takes no more than the ceiling leaves for the one that is written to. A load that begins with an
  // empty database would leave a row of them, which somebody would have to join. Nor is one begun for a tail that is not
  // worth a flush.
  const std::uint64_t tiny = std::min(kSegmentBytesLeast, plan.segment_bytes) / 2;
  const std::uint64_t rotate_from = !plan.seal   ? ~std::uint64_t{0}
                                    : plan.flush ? tiny
                                                 : std::max(tiny, plan.segment_bytes / 4);
  const bool may_rotate = plan.seal && [&] {
    const std::lock_guard lock(append_mutex_);
    return log_->tail().offset >= rotate_from;
  }();
  if (plan.flush || may_rotate) {
    const Status begun = FreezeAll(rotate_from, FlushReason::kSpace);
    if (begun.severity() == Status::Severity::kFatal) return SetFatal(begun);
    if (!begun.ok()) logger_->Log(InfoLogLevel::kWarn, "no segment could be begun: " + begun.ToString());
  }
  if (may_rotate) Schedule(Job::kSeal);
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    const bool is_urgent = plan.merge || (space_.is_idle.load(std::memory_order_relaxed) && IsWorthMerging(each));
    each.family->merges_urgently.store(is_urgent, std::memory_order_relaxed);
    if (is_urgent && CompactionIsDue(*each.family)) Schedule(Job::kCompact, each.family);
  }
  if (GcIsDue()) Schedule(Job::kCollect);
}

Status DbImpl::AwaitSpace(const WriteOptions& options, std::uint64_t bytes) {
  StartTicking();
  const std::uint64_t written = space_.written.load(std::memory_order_relaxed);
  if (written >= space_.check_at.load(std::memory_order_relaxed)) {
    // Whoever comes first; the job says when the next look is due.
    std::uint64_t due = space_.check_at.load(std::memory_order_relaxed);
    if (written >= due && space_.check_at.compare_exchange_strong(due, SpaceControl::kNever) &&
        !ScheduleIfPossible(Job::kSpace)) {
      space_.check_at.store(due, std::memory_order_relaxed);  // the next writer tries again
    }
  }
  const std::uint64_t position = space_.Position();
  if (position < space_.slow_at.load(std::memory_order_relaxed)) return Status::OK();
  const bool is_stopped = position >= space_.stop_at.load(std::memory_order_relaxed);
  const auto condition = is_stopped ? WriteStallCondition::kStopped : WriteStallCondition::kDelayed;
  events_.Stalls({}, 0, WriteStallCause::kSpace, condition);
  events_.Deliver();
  if (options.no_slowdown) {
    return Status::Incomplete("the database is about as large as max_space_amplification lets it be");
  }
  const std::uint64_t start = options_.clock->NowMicros();
  CAMBIUM_RETURN_IF_ERROR(WaitForSpace(bytes));
  const std::uint64_t waited = options_.clock->NowMicros() - start;
  CountStall(waited, true);
  if (waited >= kLongStallMicros) {
    logger_->Log(InfoLogLevel::kWarn, "a write has waited " + std::to_string(waited / 1000) +
                                          " ms for space, as max_space_amplification demands");
  }
  return Status::OK();
}

Status DbImpl::WaitForSpace(std::uint64_t bytes) {
  std::uint64_t turn = 0;  // when it is ours; 0: none was taken
  bool has_looked = false;
  while (true) {
    CAMBIUM_RETURN_IF_ERROR(Health());
    const std::uint64_t position = space_.Position();
    const std::uint64_t slow_at = space_.slow_at.load(std::memory_order_relaxed);
    const std::uint64_t stop_at = space_.stop_at.load(std::memory_order_relaxed);
    if (position < slow_at || closing_.load(std::memory_order_relaxed)) return Status::OK();
    if (position >= stop_at) {
      if (space_.is_hopeless.load(std::memory_order_relaxed) && !MutantIs(Mutant::kWaitsInVain)) return Status::OK();
      const CountScope stalls(&stalled_writers_);
      RunOrAwaitSpaceJob();
      continue;
    }
    const std::uint64_t now = MutantIs(Mutant::kPacesByWallClock) ? options_.clock->WallSeconds() * 1'000'000
                                                                  : options_.clock->NowMicros();
    if (turn == 0) {
      const double part = static_cast<double>(position - slow_at) / static_cast<double>(stop_at - slow_at);
      turn = space_.pacer.Reserve(bytes, PacedRate(part, space_.freed_per_second.load(std::memory_order_relaxed)), now);
    }
    if (turn <= now) return Status::OK();
    // Slower than space comes back: if none does, because nothing is due, that would be for nothing.
    {
      const std::lock_guard lock(background_mutex_);
      const bool is_at_work = HasSpaceJob() || jobs_[static_cast<std::size_t>(Job::kSpace)].scheduled;
      if (!is_at_work && has_looked && !MutantIs(Mutant::kWaitsInVain)) return Status::OK();
      if (!is_at_work) ScheduleLocked(Job::kSpace, nullptr);
      has_looked = has_looked || !is_at_work;
    }
    options_.clock->SleepMicros(std::min(turn - now, kPauseMicros));
  }
}

// One pause of a writer who cannot go on. There is always a task that will look, or one that lowers what is too high.
void DbImpl::RunOrAwaitSpaceJob() {
  {
    const std::lock_guard lock(background_mutex_);
    if (!HasSpaceJob()) ScheduleLocked(Job::kSpace, nullptr);
  }
  if (!executor_->RunOneInstead()) options_.clock->SleepMicros(kPauseMicros);
}

// ---- Hidden garbage ----

void DbImpl::NoteHidden(Family* family, const KeySample& sample, const Layers& below) {
  const KeySample::Replaced replaced = sample.ReplacedIn(below);
  family->replaced_share.store(replaced.share, std::memory_order_relaxed);
  family->hidden_bytes.fetch_add(static_cast<std::int64_t>(replaced.bytes), std::memory_order_relaxed);
  family->hidden_index_bytes.fetch_add(static_cast<std::int64_t>(Times(replaced.keys, FileBytesPerEntry(below.shape()))),
                                       std::memory_order_relaxed);
}

// What a merge uncharges was hidden. Before its commit: a slot that nothing refers to any more is shadowed no longer.
std::int64_t DbImpl::UnchargedBy(const AccountDelta& accounts) const {
  std::int64_t bytes = 0;
  for (const auto& [slot, account] : accounts.by_slot()) {
    if (account.bytes < 0 && !manifest_->state().shadowed_slots.contains(slot)) bytes -= account.bytes;
  }
  return bytes;
}

// Where nothing lies above the lowest sorted sequence, nothing is hidden.
void DbImpl::NoteCompacted(Family* family, const Layers& before, const Layers& now, std::int64_t uncharged) {
  const LayersShape shape = now.shape();
  const bool is_one_sequence =
      shape.run_count == 0 && (shape.levels.empty() || (shape.levels.size() == 1 && shape.levels[0].tier_count == 1));
  if (is_one_sequence) {
    family->hidden_bytes.store(0, std::memory_order_relaxed);
    family->hidden_index_bytes.store(0, std::memory_order_relaxed);
  } else {
    family->hidden_bytes.fetch_sub(uncharged, std::memory_order_relaxed);
    // Files also become smaller because pages become fuller.
    const auto smaller = static_cast<std::int64_t>(Minus(FileBytes(before.shape()), FileBytes(shape)));
    std::int64_t hidden = family->hidden_index_bytes.load(std::memory_order_relaxed);
    while (!family->hidden_index_bytes.compare_exchange_weak(hidden, std::max<std::int64_t>(hidden - smaller, 0))) {
    }
  }
}

// ---- Nobody writes ----

void DbImpl::StartTicking() {
  if (is_offline_) return;
  if (space_.is_ticking.load(std::memory_order_relaxed)) return;
  if (max_space_amplification_.load(std::memory_order_relaxed) == 0) return;
  if (space_.is_ticking.exchange(true)) return;
  space_.is_idle.store(false, std::memory_order_relaxed);
  Tick(space_.written.load(std::memory_order_relaxed), 0);
}

// Looks again in a second. `written` has not changed for so many of them.
void DbImpl::Tick(std::uint64_t written, int quiet) noexcept {
  try {
    executor_->ScheduleAfter(kTickMicros, TaskPriority::kNormal, [target = tick_target_, written, quiet] {
      const std::lock_guard lock(target->mutex);
      if (target->db != nullptr) target->db->OnTick(written, quiet + 1);
    });
  } catch (...) {  // no memory for it; the next write tries again
    space_.is_ticking.store(false);
  }
}

void DbImpl::OnTick(std::uint64_t written, int quiet) {
  if (obsolete_.HasReady()) Schedule(Job::kRemove);  // what could not be removed before
  const std::uint64_t now = space_.written.load(std::memory_order_relaxed);
  if (now != written) return Tick(now, 0);
  if (quiet < kTicksUntilIdle) return Tick(written, quiet);
  space_.is_idle.store(true, std::memory_order_relaxed);
  space_.is_ticking.store(false);
  Schedule(Job::kSettle);
}

// What writers have left behind is flushed and sealed. Merges and log GC see from the jobs' end on that nobody writes.
Status DbImpl::Settle() {
  CAMBIUM_RETURN_IF_ERROR(FreezeAll(0, FlushReason::kIdle));
  Schedule(Job::kSeal);
  Schedule(Job::kSpace);
  return Status::OK();
}

// A merge that gives back a quarter of what it writes.
bool DbImpl::IsWorthMerging(const FamilyView& family) {
  const LayersShape shape = family.layers->shape();
  if (shape.run_range_deletes > 0) return true;
  const std::uint64_t page_size = family.family->options().page_size;
  const std::uint64_t cost = std::min(shape.base_live_bytes, shape.run_keys * page_size) + shape.run_file_bytes;
  const auto hidden = static_cast<std::uint64_t>(std::max<std::int64_t>(family.family->hidden_bytes.load(), 0));
  return shape.run_count > 0 && hidden + shape.run_file_bytes >= cost / 4;
}

}  // namespace cambium
