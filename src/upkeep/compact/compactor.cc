#include "upkeep/compact/compactor.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "gc/compaction_room.h"
#include "options/options_check.h"
#include "state/compaction_claim.h"
#include "upkeep/await_removal.h"
#include "upkeep/compact/compaction_step.h"
#include "util/epoch.h"
#include "util/mutant.h"

namespace cambium {

namespace {

// On a full disk, sweeps copy live pages out of sparse files until all files of a tree together have at most this
// percentage of their live bytes. LimitOnFullDisk says when they do not.
constexpr std::uint64_t kFilePercentOnFullDisk = 110;

CompactionReason UsualReason(const Family& family) {
  return family.options().index_type == IndexKind::kLsm ? CompactionReason::kLevels : CompactionReason::kSweep;
}

// True if entries above the last level of an LSM may hide entries of the last level.
bool HidesInLevels(const Family& family, const Layers& layers) {
  if (family.options().index_type != IndexKind::kLsm) return false;
  const LayersShape& shape = layers.shape();
  std::uint64_t tombstones = 0;
  for (std::size_t i = 0; i + 1 < shape.levels.size(); ++i) tombstones += shape.levels[i].tombstones;
  // The estimates that SpaceKeeper::MeasureLayers uses.
  const bool hides = tombstones > 0 || family.hidden_bytes.load(std::memory_order_relaxed) > 0 ||
                     family.hidden_index_bytes.load(std::memory_order_relaxed) > 0 ||
                     family.replaced_share.load(std::memory_order_relaxed) > 0 ||
                     family.covered_bytes.load(std::memory_order_relaxed) > 0 ||
                     family.covered_index_bytes.load(std::memory_order_relaxed) > 0;
  return hides && (shape.levels.size() > 1 || (shape.levels.size() == 1 && shape.levels[0].tier_count > 1));
}

}  // namespace

Compactor::Compactor(DbState* state, Pace* pace, RunMaker* runs)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      space_(state->space),
      disk_(state->full_disk),
      pace_(*pace),
      runs_(*runs) {}

std::shared_ptr<const FilteredPart> Compactor::FilteredOf(const Family& family) const {
  const CommitLock lock(commits_);
  return family.filtered;
}

std::vector<std::string> Compactor::PathsOf(const std::vector<NumberedFile>& files) const {
  std::vector<std::string> paths;
  for (const NumberedFile& file : files) paths.push_back(db_.PathOf(file.kind, file.number));
  return paths;
}

bool Compactor::IsDue(const Family& family) const {
  const std::shared_ptr<const Layers> layers = commits_.LayersOf(family);
  if (layers == nullptr || !MayRun(family, *layers)) return false;
  const bool is_urgent = family.compacts_urgently.load(std::memory_order_relaxed);
  return family.index->IsCompactionDue(*layers, is_urgent) ||
         (is_urgent && (HidesInLevels(family, *layers) || IsWorthEmptying(family, *layers)));
}

// Sweeps of runs empty files on their way. After the last one many pages may be dead: pages that it has replaced, and
// pages in files for whose live pages it had no room.
bool Compactor::IsWorthEmptying(const Family& family, const Layers& layers) const {
  if (!disk_.IsFull() || family.options().index_type == IndexKind::kLsm) return false;
  if (family.step_room.load(std::memory_order_relaxed) == 0) return false;
  if (family.emptied_in_vain.load(std::memory_order_relaxed) || MutantIs(Mutant::kKeepDeadPagesOnFullDisk)) return false;
  const LayersShape& shape = layers.shape();
  return shape.run_count == 0 && shape.base_file_bytes > shape.base_live_bytes / 100 * (kFilePercentOnFullDisk + 2);
}

// A compaction frees files late: when it has rewritten the last page that is alive in them. So it begins only if it can
// rewrite the whole index. Log GC frees space with each step, and finds hidden garbage itself; it goes on meanwhile.
bool Compactor::HasRoomToRewrite(const Family& family, const Layers& layers, std::uint64_t spare) const {
  // If even the part of the reserve that is kept for Open is gone, less is free than any rule assumes. Then every
  // compaction that may help runs.
  if (!disk_.IsFull() || disk_.reserve_bytes.load(std::memory_order_relaxed) == 0) return true;
  const LayersShape& shape = layers.shape();
  // Puts have left the room for steps of compactions. Steps of a tree fit into any room; steps of an LSM do not.
  if (family.step_room.load(std::memory_order_relaxed) != 0) {
    std::uint64_t has = 0;
    if (shape.levels.empty() || spare == 0 || !db_.fs->FreeSpace(db_.path, &has).ok()) return true;
    return has >= RoomForCompactions(shape).of_step + spare;
  }
  const std::uint64_t rewritten =
      shape.run_file_bytes + (shape.levels.empty() ? shape.base_live_bytes : shape.base_file_bytes);
  std::uint64_t in_log = 0;
  {
    const CommitLock lock(commits_);
    const auto state = commits_.state().families.find(family.id);
    if (state == commits_.state().families.end()) return true;
    for (const auto& [slot, account] : state->second.accounts) in_log += static_cast<std::uint64_t>(account.bytes);
  }
  std::uint64_t free = 0;
  if (in_log <= rewritten || !db_.fs->FreeSpace(db_.path, &free).ok()) return true;
  return free >= rewritten + kFreeBytesLeft + spare;
}

// A sweep that has begun may always go on, because it frees most of its files at its end.
bool Compactor::MayRun(const Family& family, const Layers& layers) const {
  if (!disk_.IsFull()) return true;
  return layers.shape().sweep_in_progress || HasRoomToRewrite(family, layers, 0);
}

// The spare room is for the step of log GC itself.
bool Compactor::CanMergeRuns() const {
  return std::ranges::all_of(commits_.Families(), [this](const std::shared_ptr<Family>& family) {
    const std::shared_ptr<const Layers> layers = commits_.LayersOf(*family);
    return layers == nullptr || HasRoomToRewrite(*family, *layers, 2 * kFreeBytesLeft);
  });
}

Status Compactor::CompactDue(const std::shared_ptr<Family>& family) {
  if (!jobs_.ClaimCompaction(family.get())) return Status::OK();  // the thread that has it looks again when it ends
  const CompactionClaim claim(&jobs_, family.get());
  Status s;
  if (DueStep due = FindDue(family.get()); due.layers != nullptr) {
    s = MayShareCommit(*family, due) ? CompactSmall(family, std::move(due)) : StepAlone(family.get(), std::move(due));
  }
  jobs_.NoteResult(Job::kCompact, family.get(), s);
  return s;
}

Compactor::DueStep Compactor::FindDue(Family* family) {
  std::shared_ptr<const Layers> layers = commits_.LayersOf(*family);
  if (layers == nullptr || !MayRun(*family, *layers)) return {};
  const bool is_urgent = family->compacts_urgently.load(std::memory_order_relaxed);
  if (family->index->IsCompactionDue(*layers, is_urgent)) {
    const bool is_due_anyway = !is_urgent || family->index->IsCompactionDue(*layers, false);
    return {std::move(layers), nullptr, is_due_anyway ? UsualReason(*family) : CompactionReason::kSpace};
  }
  if (is_urgent && HidesInLevels(*family, *layers)) {
    if (!IsSqueezeDue(family, *layers)) return {};
    return {std::move(layers), &*family->squeeze, CompactionReason::kSpace};
  }
  if (is_urgent && IsWorthEmptying(*family, *layers)) {
    return {std::move(layers), nullptr, CompactionReason::kSpace, /*only_empties=*/true};
  }
  family->squeeze.reset();
  return {};
}

// The request is the one that CompactRange would make for all keys. Used near the ceiling: in an LSM it moves the
// entries above the last level down, although no level is too large.
bool Compactor::IsSqueezeDue(Family* family, const Layers& layers) {
  const std::uint64_t flushes = [&] {
    const JobsLock lock(jobs_);
    return family->flush.ended;
  }();
  if (!family->squeeze.has_value()) {
    family->squeeze.emplace();
    family->flushes_before_squeeze = flushes;
  }
  if (family->index->IsCompactionDue(layers, &*family->squeeze)) return true;
  family->squeeze.reset();
  // Nothing is hidden any more, unless a flush since `squeeze` was made has added entries that hide others.
  if (flushes == family->flushes_before_squeeze) {
    family->hidden_bytes.store(0, std::memory_order_relaxed);
    family->hidden_index_bytes.store(0, std::memory_order_relaxed);
    family->replaced_share.store(0, std::memory_order_relaxed);  // otherwise the next step would be due at once
  }
  return false;
}

Status Compactor::StepAlone(Family* family, DueStep due) {
  const std::shared_ptr<const Layers> before = due.only_empties ? due.layers : nullptr;
  const Status s = Step(family, std::move(due.layers), due.request, due.reason);
  if (before != nullptr) {
    const std::shared_ptr<const Layers> after = commits_.LayersOf(*family);
    const bool has_helped =
        s.ok() && after != nullptr && after->shape().base_file_bytes < before->shape().base_file_bytes;
    family->emptied_in_vain.store(!has_helped, std::memory_order_relaxed);
  }
  return s;
}

// If possible, a step commits once its new pages have as many bytes as a memtable may hold. So little is uncommitted at
// any time, and a compaction does not start from the beginning after a crash. A step of an LSM's level 0 may write
// more: it takes all runs and, with one tier in each level, all of level 1. (With several tiers, the runs become a new
// one.) Close and the drop of a family do not wait for its end.
std::uint64_t Compactor::StepBytes(const Family& family) const {
  return WithinRoom(family.options().write_buffer_size);
}

std::uint64_t Compactor::WithinRoom(std::uint64_t bytes) const {
  // Under a ceiling a step takes only a part of the slack. An offline database does not measure the slack: step_bytes
  // is 0, and each step would have one key.
  if (!db_.is_offline && db_.max_space_amplification.load(std::memory_order_relaxed) != 0) {
    bytes = std::min(bytes, space_.step_bytes.load(std::memory_order_relaxed));
  }
  // A step writes before it frees anything: at most an eighth of the free bytes, or the part of the reserve that a step
  // may take.
  std::uint64_t free = 0;
  const bool has_reserve = disk_.wanted_bytes.load(std::memory_order_relaxed) != 0;
  if (!has_reserve || !db_.fs->FreeSpace(db_.path, &free).ok()) return bytes;
  return std::min(bytes, std::max<std::uint64_t>(disk_.StepBytes(), free / 8));
}

void Compactor::LimitOnFullDisk(const Family& family, CompactionInput* input) const {
  std::uint64_t free = 0;
  if (!db_.fs->FreeSpace(db_.path, &free).ok()) free = 0;
  const std::uint64_t at_once = disk_.compactions_at_once.load(std::memory_order_relaxed);
  assert(at_once > 0);
  StepBounds bounds;
  bounds.copy_bytes_max = std::max(input->max_output_bytes, free / 4 * 3 / at_once);
  bounds.is_hard = true;
  const std::uint64_t beyond = disk_.FreeBeyondReserve(free);
  bounds.growth_bytes_max = beyond / 4 / at_once;
  // If most bytes are in the log, log GC frees the space, and a small index with few dead pages leaves it the most room.
  const bool is_bounded =
      family.step_room.load(std::memory_order_relaxed) != 0 && !MutantIs(Mutant::kStepsTakeAllOnFullDisk);
  if (is_bounded) input->bounds = bounds;
  // Many copies would leave a sweep of runs no room to go on. Once no run is left, files are emptied (IsWorthEmptying).
  const bool has_room_for_dead_pages = is_bounded && beyond > 0 && input->layers->shape().run_count > 0;
  if (!has_room_for_dead_pages && !MutantIs(Mutant::kKeepDeadPagesOnFullDisk)) {
    input->file_percent_max = std::min(input->file_percent_max, kFilePercentOnFullDisk);
  }
}

// Pages that a step of a sweep replaces are dead, and take space until nothing else is alive in their file. If the limit
// of dead pages is near, a step copies more live pages out of sparse files, and merges less. It merges at most half of
// the dead bytes in these files, plus half of the bytes by which the files may still grow.
void Compactor::LimitDeadPages(const Family& family, CompactionInput* input) const {
  if (family.options().index_type == IndexKind::kLsm || input->file_percent_max >= kFilePercentUnbounded) return;
  // If the disk bounds the space, a step writes at most an eighth of the free bytes, and all of them may be used.
  if (space_.is_bound_by_disk.load(std::memory_order_relaxed) || MutantIs(Mutant::kSweepsIgnoreDeadPages)) return;
  const LayersShape& shape = input->layers->shape();
  // A step that may rewrite the whole tree empties all files if they would exceed the limit after it (PickVictims).
  if (shape.base_live_bytes + shape.run_file_bytes <= input->max_output_bytes) return;
  const std::uint64_t most = shape.base_live_bytes / 100 * input->file_percent_max;
  const std::uint64_t room = most - std::min(most, shape.base_file_bytes);
  if (room / 2 >= input->max_output_bytes) return;
  StepBounds bounds;
  bounds.copy_bytes_max = input->max_output_bytes;
  bounds.growth_bytes_max = room / 2;
  input->bounds = bounds;
}

// Near the ceiling there is room for one step. Files that earlier steps have dropped take this room until they are
// removed.
bool Compactor::IsRoomTakenByDroppedFiles() const {
  if (db_.is_offline || MutantIs(Mutant::kCompactionsOverlapRemoval)) return false;
  return space_.Position() >= space_.slow_at.load(std::memory_order_relaxed) &&
         commits_.obsolete().leaving_bytes() > space_.step_bytes.load(std::memory_order_relaxed);
}

Status Compactor::Step(Family* family, std::shared_ptr<const Layers> layers, CompactionRequest* request,
                       CompactionReason reason) {
  assert(layers != nullptr);
  if (IsRoomTakenByDroppedFiles()) CAMBIUM_RETURN_IF_ERROR(AwaitRemoval(db_, &commits_, &jobs_));
  OneStep step(this, family, reason);
  Status done = step.Write(std::move(layers), request, nullptr);
  if (done.ok()) {
    PendingChange* const changes[] = {step.change()};
    static_cast<void>(CommitTogether(db_, &commits_, changes));  // its result is the status of the change
    done = step.FinishCommit();
  }
  if (done.ok()) {
    done = commits_.DropUnreferenced();
    EpochCollect();
  }
  return step.End(done);
}

CompactionInput Compactor::InputFor(Family* family, std::shared_ptr<const Layers> layers, CompactionRequest* request) {
  CompactionInput input;
  input.layers = std::move(layers);
  input.request = request;
  input.filtered = FilteredOf(*family);
  input.max_output_bytes = StepBytes(*family);
  input.file_percent_max = space_.index_file_percent_max.load(std::memory_order_relaxed);
  if (disk_.IsFull()) {
    LimitOnFullDisk(*family, &input);
  } else {
    LimitDeadPages(*family, &input);
  }
  input.is_abandoned = [this, family] {
    return jobs_.is_closing() || family->dropped.load(std::memory_order_relaxed) ||
           family->gives_up_filtering.load(std::memory_order_relaxed);
  };
  input.before_write = pace_.PermitFor(FILE_BYTES_MERGE, [this, family] { return pace_.PriorityOfCompaction(*family); });
  return input;
}

// Outside the commit lock, because it may read pages. If they cannot be read, all runs count as waiting.
void Compactor::NoteStep(Family* family) {
  if (const std::shared_ptr<const Layers> layers = commits_.LayersOf(*family); layers != nullptr) {
    const Result<double> merged = layers->MergedRuns();
    family->merged_runs.store(merged.ok() ? *merged : 0, std::memory_order_relaxed);
  }
  family->compaction_steps.fetch_add(1, std::memory_order_release);
}

// A long request lets compactions that are due run in between, above all those of new runs.
Status Compactor::TakeTurnOfBackground(Family* family) {
  std::shared_ptr<const Layers> layers = commits_.LayersOf(*family);
  if (layers == nullptr || !family->index->IsCompactionDue(*layers, false)) return Status::OK();
  const Status s = Step(family, std::move(layers), nullptr, UsualReason(*family));
  jobs_.NoteResult(Job::kCompact, family, s);
  if (s.ok() || s.severity() == Status::Severity::kFatal) return s;
  db_.logger->Log(InfoLogLevel::kWarn, "could not compact what is due during CompactRange: " + s.ToString());
  jobs_.ReportError(BackgroundErrorReason::kCompaction, s);
  return Status::OK();  // the request may need other files
}

Status Compactor::CompactKeys(const std::shared_ptr<Family>& family, const Slice* begin, const Slice* end, bool rewrites) {
  std::shared_ptr<const Layers> layers = commits_.LayersOf(*family);
  if (layers == nullptr) return Status::OK();  // dropped since
  CompactionRequest request;
  if (begin != nullptr) request.begin = begin->ToString();
  if (end != nullptr) request.end = end->ToString();
  for (const auto& run : layers->runs()) request.runs.push_back(run->number());
  layers.reset();
  const bool has_filter = HasFilter(family->options());
  request.asks_filter = has_filter || rewrites;
  request.rewrites = rewrites;
  Status s = CarryOut(family, &request);
  std::set<std::uint64_t> taken;
  while (s.ok() && has_filter) {
    std::optional<CompactionRequest> moved = RequestForMoved(*family, request, &taken);
    if (!moved.has_value()) break;
    request = std::move(*moved);
    s = CarryOut(family, &request);
  }
  if (s.severity() == Status::Severity::kFatal) jobs_.SetFatal(s, BackgroundErrorReason::kCompaction);
  if (s.ok() && IsDue(*family)) jobs_.Schedule(Job::kCompact, family);
  return s;
}

Status Compactor::CarryOut(const std::shared_ptr<Family>& family, CompactionRequest* request) {
  Status s;
  for (bool more = true; more && s.ok();) {
    CAMBIUM_RETURN_IF_ERROR(jobs_.AwaitClaimOfCompaction(family.get()));
    {
      const CompactionClaim claim(&jobs_, family.get());
      request->filtered = FilteredOf(*family);
      std::shared_ptr<const Layers> layers = commits_.LayersOf(*family);
      more = layers != nullptr && family->index->IsCompactionDue(*layers, request);
      if (more) s = Step(family.get(), std::move(layers), request, CompactionReason::kManualCompaction);
      if (more && s.ok()) s = TakeTurnOfBackground(family.get());
    }
    if (s.ok()) s = jobs_.Health();
    if (s.ok() && jobs_.is_closing()) return Status::ShutdownInProgress("the database is closing");
  }
  return s;
}

Result<bool> Compactor::WaitForStep(Family* family) {
  const std::shared_ptr<Family> kept = commits_.FindFamily(family->id);
  if (kept == nullptr) return false;
  const std::uint64_t steps = family->compaction_steps.load(std::memory_order_acquire);
  const auto has_stepped = [&] { return family->compaction_steps.load(std::memory_order_acquire) != steps; };
  std::uint64_t seen = 0;
  bool is_under_way = false;
  {
    const JobsLock lock(jobs_);
    is_under_way = family->compacting;
    seen = family->compactions_ended;
  }
  if (is_under_way) {
    CAMBIUM_RETURN_IF_ERROR(jobs_.WaitUntil([&]() CAMBIUM_REQUIRES(jobs_lock) { return family->compactions_ended != seen; }));
    if (has_stepped()) return true;
  }
  const std::optional<std::uint64_t> ended = jobs_.ScheduleToAwait(Job::kCompact, kept);
  CAMBIUM_RETURN_IF_ERROR(ended.has_value() ? jobs_.AwaitEnd(Job::kCompact, *ended, kept) : jobs_.Health());
  return has_stepped();
}

}  // namespace cambium
