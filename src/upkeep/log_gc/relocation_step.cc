#include "upkeep/log_gc/relocation_step.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "state/compaction_claim.h"
#include "state/unlink_while_pinned.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

// A claim of a family's compaction, for a commit. Compactions that became due meanwhile are scheduled at its end.
class CompactionPause {
 public:
  CompactionPause(Compactor* compactor, Jobs* jobs, std::shared_ptr<Family> family)
      : compactor_(*compactor), jobs_(*jobs), family_(std::move(family)), claim_(std::in_place, jobs, family_.get()) {}
  ~CompactionPause() {
    claim_.reset();
    try {
      if (compactor_.IsDue(*family_)) jobs_.ScheduleIfPossible(Job::kCompact, family_);
    } catch (...) {  // there is no memory; the next flush schedules it
    }
  }
  CompactionPause(const CompactionPause&) = delete;
  CompactionPause& operator=(const CompactionPause&) = delete;

 private:
  Compactor& compactor_;
  Jobs& jobs_;
  const std::shared_ptr<Family> family_;
  std::optional<CompactionClaim> claim_;
};

RelocationStep::RelocationStep(const RelocationTools& tools, const GcPick& pick, RelocationWriter* writer,
                               GcReport* report)
    : tools_(tools),
      db_(tools.state.context),
      commits_(tools.state.commits),
      pick_(pick),
      writer_(*writer),
      report_(*report) {}

Status RelocationStep::Execute(std::span<const GcRecord> records) {
  assert(families_.empty() && report_.is_emptied.size() == pick_.sources.size());
  CAMBIUM_RETURN_IF_ERROR(Copy(records));
  CAMBIUM_FAULT_POINT("Gc:copied");
  for (MovedFamily& family : families_) CAMBIUM_RETURN_IF_ERROR(family.LookAtFilterCall(commits_));
  while (true) {
    UnsyncedFiles unsynced;
    for (MovedFamily& family : families_) {
      CAMBIUM_RETURN_IF_ERROR(family.WriteRuns(&tools_.runs, report_.job_id, &unsynced));
    }
    CAMBIUM_RETURN_IF_ERROR(Sync(&unsynced));
    CAMBIUM_RETURN_IF_ERROR(db_.SyncDirectory());
    CAMBIUM_TRY(const auto pauses, PauseFilterCalls());
    CAMBIUM_TRY(const bool is_committed, TryCommit());
    if (is_committed) break;
  }
  report_.bytes_read = copied_.bytes_read;
  report_.bytes_written = copied_.bytes_written;
  db_.stats.gc_bytes_read.fetch_add(copied_.bytes_read);
  db_.stats.gc_bytes_written.fetch_add(copied_.bytes_written);
  DropSources();
  for (const MovedFamily& family : families_) report_.keys_relocated += family.values().size();
  Count();
  for (const MovedFamily& family : families_) {
    if (tools_.compactor.IsDue(*family.family())) tools_.state.jobs.Schedule(Job::kCompact, family.family());
  }
  return commits_.DropUnreferenced();
}

Result<std::vector<std::unique_ptr<CompactionPause>>> RelocationStep::PauseFilterCalls() {
  std::vector<std::unique_ptr<CompactionPause>> pauses;
  if (CompactionClaim::IsHeldByThread() || MutantIs(Mutant::kGcCommitsDuringFilterSteps)) return pauses;
  std::vector<std::shared_ptr<Family>> families;
  for (const MovedFamily& each : families_) {
    if (each.IsInFilterCall(commits_)) families.push_back(each.family());
  }
  // In one order, so that two steps do not wait for each other.
  std::ranges::sort(families, {}, [](const std::shared_ptr<Family>& family) { return family->id; });
  for (const std::shared_ptr<Family>& family : families) {
    CAMBIUM_RETURN_IF_ERROR(tools_.state.jobs.AwaitNextClaimOfCompaction(family.get()));
    pauses.push_back(std::make_unique<CompactionPause>(&tools_.compactor, &tools_.state.jobs, family));
  }
  return pauses;
}

Status RelocationStep::Copy(std::span<const GcRecord> records) {
  CAMBIUM_TRY(copied_, Relocate(pick_.families, pick_.sources, records, &tools_.state.read_queues,
                                &tools_.buffers, &writer_));
  for (const DamagedSource& damaged : copied_.damaged) {
    tools_.segments.MarkDamaged(pick_.sources[damaged.source], damaged.why);
    report_.is_emptied[damaged.source] = false;
    report_.cut = {};
    if (pick_.cuts) return Status::OK();  // copies without a cut would only take space
  }
  if (!writer_.empty()) {
    CAMBIUM_RETURN_IF_ERROR(writer_.Finish());
    is_unsynced_ = !MutantIs(Mutant::kGcCommitsUnsynced);
  }
  for (FamilyMoves& each : copied_.families) {
    const FamilyView* const found = pick_.view->Find(each.family);
    assert(found != nullptr && "the families of a pick are those of its view");
    families_.emplace_back(found->family, std::move(each.values), found->layers);
  }
  return Status::OK();
}

// The copies are synced together with the runs that refer to them: nothing durable names either before the commit.
Status RelocationStep::Sync(UnsyncedFiles* runs) {
  if (!std::exchange(is_unsynced_, false)) return runs->Sync(db_.fs.get());
  runs->files()->Add({std::shared_ptr<void>(), writer_.file()}, /*is_new=*/true);  // the writer owns it
  const Stopwatch watch(&db_.meter, BLOB_DB_BLOB_FILE_SYNC_MICROS);
  db_.meter.Tick(BLOB_DB_BLOB_FILE_SYNCED);
  return runs->Sync(db_.fs.get());
}

bool RelocationStep::UsesWriter() const {
  return std::ranges::any_of(families_, &MovedFamily::RefersToCopies);
}

void RelocationStep::FillEdit(Edit* edit) {
  const ManifestState& state = commits_.state();
  if (UsesWriter()) {
    assert(!writer_.empty() && writer_.info().sealed);
    edit->set_segments.push_back(writer_.info());
  }
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    const SegmentInfo& info = pick_.sources[i].info;
    // Dropped already: a compaction has removed its last reference.
    if (!state.segments.contains(info.number)) report_.is_emptied[i] = false;
    if (!report_.is_emptied[i]) continue;
    edit->drop_segments.push_back(info.number);
    if (commits_.index().TotalOf(info.slot).references != 0) edit->shadow_slots.push_back(info.slot);
  }
  for (MovedFamily& family : families_) family.Stage(edit);
}

Result<bool> RelocationStep::AddCut(Edit* edit) {
  if (report_.cut.cut == 0) return true;
  assert(pick_.cuts && pick_.sources.size() == 1 && !report_.is_emptied.front());
  CAMBIUM_TRY(cut_, PrepareCut(&db_, &commits_, pick_.sources.front(), report_.cut));
  if (!cut_.has_value()) return false;
  edit->set_segments.push_back(cut_->info);
  return true;
}

Result<bool> RelocationStep::TryCommit() {
  const CommitLock lock(commits_);
  bool are_newest = true;
  for (MovedFamily& family : families_) {
    CAMBIUM_TRY(const bool is_unchanged, family.KeepNewest(commits_));
    are_newest = are_newest && is_unchanged;
  }
  if (!are_newest) return false;
  Edit edit;
  CAMBIUM_TRY(const bool can_cut, AddCut(&edit));
  if (!can_cut) {  // copies alone would only take space
    report_.cut = {};
    families_.clear();
    return true;
  }
  FillEdit(&edit);
  if (edit.drop_segments.empty() && edit.families.empty() && !cut_.has_value()) return true;
  const std::shared_ptr<const View> before = commits_.view().Pin();
  // Computed before the commit, which removes the accounts of dropped segments.
  std::vector<std::int64_t> hidden;
  for (const MovedFamily& family : families_) hidden.push_back(HiddenAfter(family));
  is_named_ = UsesWriter();  // also if the commit fails, because the edit may be on disk
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, [&](View* view) {
    if (is_named_) {
      const SegmentInfo& info = writer_.info();
      view->segments = view->segments.With(
          info.slot, commits_.MakeSegment(writer_.header(), info.slot, writer_.TakeFile(), info.sealed_length));
    }
    for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
      if (report_.is_emptied[i]) view->segments = view->segments.Without(pick_.sources[i].info.slot);
    }
    if (cut_.has_value()) view->segments = view->segments.With(cut_->segment->slot(), cut_->segment);
    for (const MovedFamily& family : families_) family.Install(view);
  }));
  NoteCommitted(hidden);
  if (cut_.has_value()) {
    NoteCut(&commits_, *before, *cut_);
    report_.bytes_freed += cut_->plan.hole_bytes;
    report_.punched.insert(0);
  }
  return true;
}

std::int64_t RelocationStep::HiddenAfter(const MovedFamily& moved) const {
  std::int64_t bytes = 0;
  for (const MovedValue& value : moved.values()) bytes += static_cast<std::int64_t>(value.from.size());
  const auto family = commits_.state().families.find(moved.family()->id);
  if (family == commits_.state().families.end()) return 0;
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    if (!report_.is_emptied[i]) continue;
    const auto account = family->second.accounts.find(pick_.sources[i].info.slot);
    if (account != family->second.accounts.end()) bytes -= account->second.bytes;
  }
  return bytes;
}

void RelocationStep::NoteCommitted(const std::vector<std::int64_t>& hidden) {
  assert(hidden.size() == families_.size());
  // Under the same lock as the commit, so that each look at space finds these bytes in exactly one place: in files that
  // the MANIFEST names, or among those that leave.
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    const GcSource& source = pick_.sources[i];
    if (report_.is_emptied[i]) commits_.obsolete().Leaves(source.segment->path(), {commits_.BytesOf(source.info), true});
  }
  const std::uint64_t grain = tools_.state.space.sample_grain.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < families_.size(); ++i) families_[i].Committed(hidden[i], grain);
  NoteFreed(is_named_ ? writer_.info().file_size : 0);
}

void RelocationStep::NoteFreed(std::uint64_t moved_bytes) {
  constexpr std::uint64_t kGapMicros = 100'000;  // steps with a longer gap between them are not consecutive
  constexpr double kWeight = 0.2;                // of the last step
  std::uint64_t gone = 0;
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    if (report_.is_emptied[i]) gone += commits_.BytesOf(pick_.sources[i].info);
  }
  if (gone == 0) return;  // the step that empties these sources counts the time of both steps
  SpaceControl& space = tools_.state.space;
  const std::uint64_t now = db_.NowMicros();
  const std::uint64_t last = std::exchange(space.last_freed_micros, now);
  const bool follows = report_.begun_micros < last + kGapMicros;
  const std::uint64_t micros = std::max<std::uint64_t>(now - (follows ? last : report_.begun_micros), 1);
  const double rate = static_cast<double>(gone - std::min(gone, moved_bytes)) * 1e6 / static_cast<double>(micros);
  const double before = space.freed_per_second.load(std::memory_order_relaxed);
  space.freed_per_second.store(std::max(before + kWeight * (rate - before), 1e6), std::memory_order_relaxed);
}

void RelocationStep::DropSources() {
  for (std::size_t i = 0; i < pick_.sources.size(); ++i) {
    if (!report_.is_emptied[i]) continue;
    const GcSource& source = pick_.sources[i];
    report_.bytes_freed += commits_.BytesOf(source.info);
    commits_.punched().Forget(source.info.number);
    source.segment->MakeObsolete();
    UnlinkWhilePinned(*source.segment, &commits_.obsolete());
  }
}

void RelocationStep::Count() const {
  db_.meter.Tick(BLOB_DB_GC_NUM_KEYS_RELOCATED, report_.keys_relocated);
  db_.meter.Tick(LOG_GC_BYTES_FREED, report_.bytes_freed);
  db_.meter.Tick(BLOB_DB_GC_BYTES_RELOCATED, report_.bytes_written);
  db_.meter.Tick(BLOB_DB_BLOB_FILE_BYTES_WRITTEN, report_.bytes_written);
  db_.meter.Tick(BLOB_DB_BLOB_FILE_BYTES_READ, report_.bytes_read);
}

}  // namespace cambium
