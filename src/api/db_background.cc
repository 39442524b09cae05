// Background work: flushing memory tables, merging layers, sealing segments, removing files.
#include <algorithm>
#include <cassert>

#include "api/db_impl.h"
#include "api/filter_job.h"
#include "index/run.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/destroy.h"
#include "util/fault_point.h"
#include "util/fork_guard.h"
#include "util/generic_rate_limiter.h"
#include "util/mutant.h"

namespace cambium {
namespace {

const char* const kJobNames[] = {"flush",           "merge",        "seal",          "make a segment ahead",
                                 "collect garbage", "remove files", "look at space", "settle",
                                 "keep a reserve"};

}  // namespace

Status DbImpl::Health() const {
  if (!has_fatal_.load(std::memory_order_acquire)) return Status::OK();
  const std::lock_guard lock(background_mutex_);
  return fatal_;
}

void DbImpl::TellOfError(BackgroundErrorReason reason, const Status& status) {
  events_.Add([info = BackgroundErrorInfo{events_.db_name(), reason, status}](EventListener* listener) {
    listener->OnBackgroundError(info);
  });
}

void DbImpl::SetFatal(const Status& status, BackgroundErrorReason reason) {
  if (MutantIs(Mutant::kGoOnAfterFailedSync)) return;
  if (MutantIs(Mutant::kNoSpaceSyncIsSoft) && status.IsNoSpace()) return;
  bool is_first = false;
  {
    const std::lock_guard lock(background_mutex_);
    if (fatal_.ok()) {
      is_first = true;
      fatal_ = status.Fatal();
      logger_->Log(InfoLogLevel::kError, "the database takes no more writes: " + fatal_.ToString());
    }
    has_fatal_.store(true, std::memory_order_release);
    background_changed_.notify_all();
  }
  if (log_ != nullptr) log_->Fail(status);
  if (is_first) TellOfError(reason, status.Fatal());
}

BackgroundErrorReason DbImpl::ReasonOf(Job job) {
  switch (job) {
    case Job::kFlush: return BackgroundErrorReason::kFlush;
    case Job::kMerge: return BackgroundErrorReason::kCompaction;
    case Job::kCollect: return BackgroundErrorReason::kLogGc;
    default: return BackgroundErrorReason::kFiles;
  }
}

JobState* DbImpl::StateOf(Job job, Family* family) {
  switch (job) {
    case Job::kFlush: return &family->flush;
    case Job::kMerge: return &family->merge;
    default: return &jobs_[static_cast<std::size_t>(job)];
  }
}

void DbImpl::Schedule(Job job, const std::shared_ptr<Family>& family) {
  const std::lock_guard lock(background_mutex_);
  ScheduleLocked(job, family);
}

bool DbImpl::ScheduleIfPossible(Job job) noexcept {
  try {
    Schedule(job);
    return true;
  } catch (...) {  // whatever an executor may throw
    return false;
  }
}

void DbImpl::ScheduleLocked(Job job, const std::shared_ptr<Family>& family) {
  JobState& state = *StateOf(job, family.get());
  if (closing_ || read_only_ || has_fatal_.load(std::memory_order_acquire)) return;
  if (state.scheduled) {
    state.again = true;
    return;
  }
  const bool is_brief = job == Job::kSpare || job == Job::kSpace;
  const bool is_short = job == Job::kSeal || job == Job::kRemove || job == Job::kReserve;
  const TaskPriority priority = job == Job::kFlush || is_brief ? TaskPriority::kHigh
                                : is_short                     ? TaskPriority::kNormal
                                                               : TaskPriority::kLow;
  executor_->Schedule(priority, [this, job, family] { RunJob(job, family); });
  state.scheduled = true;  // not if that failed for want of memory; the task cannot end before, since it takes the lock
}

void DbImpl::RunJob(Job job, const std::shared_ptr<Family>& family) {
  JobState& state = *StateOf(job, family.get());
  {
    const std::lock_guard lock(background_mutex_);
    state.again = false;
  }
  Status s = Health();
  if (s.ok()) s = DoJob(job, family);
  if (s.severity() == Status::Severity::kFatal) {
    SetFatal(s, ReasonOf(job));
  } else if (!s.ok()) {
    logger_->Log(InfoLogLevel::kWarn,
                 std::string("could not ") + kJobNames[static_cast<std::size_t>(job)] + ": " + s.ToString());
    TellOfError(ReasonOf(job), s);
  }
  if (s.IsNoSpace() || full_disk_.commit_failed.exchange(false, std::memory_order_relaxed)) OnNoSpace();
  full_disk_.look_at.store(0, std::memory_order_relaxed);
  EpochCollect();
  LetGoOfDropped();
  // The tables of a dropped family are never flushed.
  const bool more_flush = job == Job::kFlush && s.ok() && !family->dropped.load(std::memory_order_acquire) &&
                          family->frozen_count.load(std::memory_order_acquire) > 0;
  const bool merge = (job == Job::kFlush || (job == Job::kMerge && s.ok())) && MergeIsDue(*family);
  // Accounts change with what was merged and sealed.
  if (s.ok() && job != Job::kSpare && job != Job::kSettle && job != Job::kReserve) CheckSpace(job != Job::kSpace);
  events_.Deliver();  // as long as the database knows that the job is under way
  const std::lock_guard lock(background_mutex_);
  state.scheduled = false;
  state.last = s;
  ++state.ended;
  // What has failed is tried again when there is a reason to; but what came meanwhile is another matter.
  const bool is_of_each = job == Job::kRemove || job == Job::kSeal;
  const bool again = std::exchange(state.again, false) && (s.ok() || is_of_each);
  if (more_flush || again) ScheduleLocked(job, family);
  if (merge && !family->merging) ScheduleLocked(Job::kMerge, family);  // else whoever merges looks when it ends
  background_changed_.notify_all();
}

Status DbImpl::DoJob(Job job, const std::shared_ptr<Family>& family) {
  switch (job) {
    case Job::kFlush: return FlushOldest(family);
    case Job::kMerge: return MergeLayers(family.get());
    case Job::kSeal: return SealRotated();
    case Job::kSpare: return MakeSpare();
    case Job::kCollect: return CollectGarbage();
    case Job::kRemove: {
      const Status removed = RemoveObsolete();
      const Status punched = MakeReadyHoles();
      return removed.ok() ? punched : removed;
    }
    case Job::kSpace: return Status::OK();  // RunJob looks
    case Job::kSettle: return Settle();
    case Job::kReserve: return MakeReserve();
  }
  return Status::OK();
}

void DbImpl::ForEachJob(const std::function<void(Job, const std::shared_ptr<Family>&, JobState*)>& visit) {
  for (const Job job : {Job::kSeal, Job::kSpare, Job::kCollect, Job::kRemove, Job::kSpace, Job::kSettle, Job::kReserve}) {
    visit(job, nullptr, StateOf(job, nullptr));
  }
  for (const std::shared_ptr<Family>& family : families_) {
    for (const Job job : {Job::kFlush, Job::kMerge}) visit(job, family, StateOf(job, family.get()));
  }
}

bool DbImpl::IsIdle() {
  bool idle = std::ranges::none_of(dropped_families_, [](const std::shared_ptr<Family>& family) {
    return family->flush.scheduled || family->merge.scheduled;
  });
  ForEachJob([&idle](Job, const std::shared_ptr<Family>&, const JobState* state) { idle = idle && !state->scheduled; });
  return idle;
}

// The caller holds no lock. Lets tasks run where there are no threads for them.
Status DbImpl::WaitUntil(const std::function<bool()>& done) {
  const CountScope waits(&waiting_calls_);
  std::unique_lock lock(background_mutex_);
  while (!done()) {
    if (has_fatal_.load(std::memory_order_acquire)) return fatal_;
    lock.unlock();
    const bool ran = executor_->RunOneInstead();
    lock.lock();
    if (!ran && !done() && !has_fatal_.load(std::memory_order_acquire)) background_changed_.wait(lock);
  }
  return Status::OK();
}

// Until operations up to `sequence` are in the durable layers, or, for 0, until one flush has ended. Fails as the flush
// fails, so that nobody waits for a flush that finds no space; the next one who comes lets it try again.
Status DbImpl::WaitForFlushOf(Family* family, SequenceNumber sequence) {
  const std::shared_ptr<Family> kept = FindFamily(family->id);
  if (kept == nullptr) return Status::OK();  // dropped: nothing to wait for
  while (true) {
    const std::uint64_t seen = [&] {
      const std::lock_guard lock(background_mutex_);
      if (family->frozen_count.load(std::memory_order_acquire) > 0) ScheduleLocked(Job::kFlush, kept);
      return family->flush.ended;
    }();
    if (family->frozen_count.load(std::memory_order_acquire) == 0) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return family->flush.ended != seen; }));
    {
      const std::lock_guard lock(background_mutex_);
      if (!family->flush.last.ok()) return family->flush.last;
    }
    if (sequence == 0) return Status::OK();
    const std::lock_guard lock(commit_mutex_);
    const auto state = manifest_->state().families.find(family->id);
    if (state == manifest_->state().families.end() || state->second.flushed_sequence >= sequence) return Status::OK();
  }
}

// Until a step of a merge has ended, if one can be had at all: somebody else's that is under way and brings something,
// or one in the background.
Status DbImpl::WaitForMergeOf(Family* family) {
  const std::shared_ptr<Family> kept = FindFamily(family->id);
  if (kept == nullptr) return Status::OK();
  const std::size_t runs = family->run_count.load(std::memory_order_relaxed);
  std::uint64_t seen = 0;
  bool is_under_way = false;
  {
    const std::lock_guard lock(background_mutex_);
    is_under_way = family->merging;
    seen = family->merges_ended;
  }
  if (is_under_way) {
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return family->merges_ended != seen; }));
    if (family->run_count.load(std::memory_order_relaxed) < runs) return Status::OK();
  }
  {
    const std::lock_guard lock(background_mutex_);
    ScheduleLocked(Job::kMerge, kept);
    if (!family->merge.scheduled) return fatal_;  // closing, or broken
    seen = family->merge.ended;
  }
  return WaitUntil([&] { return family->merge.ended != seen; });
}

Status DbImpl::CommitEdit(Edit* edit) {
  CAMBIUM_RETURN_IF_ERROR(Health());
  std::uint64_t roll_number = 0;
  if (manifest_->WillRoll()) roll_number = next_file_number_++;
  edit->next_file_number = next_file_number_;
  if (log_ != nullptr && log_->durable_sequence() > manifest_->state().durable_sequence) {
    edit->durable_sequence = log_->durable_sequence();
  }
  // What it names for the first time.
  std::vector<std::string> named;
  const auto name = [&](FileKind kind, std::uint64_t number) {
    obsolete_.Keep(number);
    named.push_back(FilePath(path_, kind, number));
  };
  for (const SegmentInfo& segment : edit->set_segments) {
    if (manifest_->state().segments.contains(segment.number)) continue;
    name(FileKindOf(segment.kind), segment.number);
  }
  for (const FamilyEdit& family : edit->families) {
    for (const RunInfo& run : family.add_runs) name(FileKind::kRun, run.number);
    for (const IndexSegmentInfo& segment : family.set_index_segments) {
      const auto known = manifest_->state().families.find(family.id);
      if (known != manifest_->state().families.end() && known->second.index_segments.contains(segment.number)) continue;
      name(FileKind::kIndex, segment.number);
    }
  }
  const Status committed = [&] {
    const Stopwatch watch(&meter_, MANIFEST_COMMIT_MICROS);
    return manifest_->Commit(*edit, roll_number);
  }();
  if (committed.ok()) {
    for (const std::string& gone : std::exchange(in_doubt_, {})) obsolete_.Add(gone);
  } else if (committed.severity() == Status::Severity::kFatal) {
    SetFatal(committed, BackgroundErrorReason::kManifestWrite);
  } else {
    if (committed.IsNoSpace()) full_disk_.commit_failed.store(true, std::memory_order_relaxed);
    in_doubt_.insert(in_doubt_.end(), named.begin(), named.end());
  }
  return committed;
}

Result<Slot> DbImpl::FreeSlot() const {
  if (MutantIs(Mutant::kNeverReuseSlots)) return static_cast<Slot>(next_file_number_);
  std::vector<bool> taken;
  const auto take = [&taken](Slot slot) {
    const auto index = static_cast<std::size_t>(slot);
    if (index >= taken.size()) taken.resize(index + 1);
    taken[index] = true;
  };
  for (const auto& [number, segment] : manifest_->state().segments) take(segment.slot);
  for (const Slot slot : manifest_->state().shadowed_slots) take(slot);
  for (const Slot slot : reserved_slots_) take(slot);
  if (!MutantIs(Mutant::kGcLetsSlotsGo)) {
    for (const Slot slot : held_slots_) take(slot);
  }
  const auto free = std::find(taken.begin(), taken.end(), false) - taken.begin();
  if (free >= static_cast<std::ptrdiff_t>(kSlotCountMax)) {
    return Status::NoSpace(path_ + ": all " + std::to_string(kSlotCountMax) + " segment slots are in use");
  }
  return static_cast<Slot>(free);
}

Status DbImpl::Unlink(FileKind kind, std::uint64_t number) {
  const Status removed = fs_->Unlink(FilePath(path_, kind, number));
  if (removed.ok()) events_.Deleted(path_, {kind, number});
  return removed;
}

Result<NewIndexFile> DbImpl::MakeIndexFile(FileKind kind, std::uint64_t page_size, TableFiles* files) {
  NewIndexFile made;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(commit_mutex_);
    number = next_file_number_++;
  }
  made.header = HeaderFor(kind, number, page_size);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(FilePath(path_, kind, number), OpenMode::kCreateNew, {}, &file));
  if (files != nullptr) files->Begin(file->path(), number);
  made.file = obsolete_.Track(number, std::move(file), false);
  events_.Deliver();
  return made;
}

Status DbImpl::SyncDirectory() {
  if (MutantIs(Mutant::kSkipDirectorySync)) return Status::OK();
  const Status named = fs_->SyncDirectory(path_);
  return named.ok() || named.IsBusy() ? named : named.Fatal();
}

Status DbImpl::SyncValues(File* file) const {
  const Stopwatch watch(&meter_, BLOB_DB_BLOB_FILE_SYNC_MICROS);
  meter_.Tick(BLOB_DB_BLOB_FILE_SYNCED);
  return file->SyncData();
}

void DbImpl::SetLayers(FamilyView* view, std::shared_ptr<const Layers> layers) {
  view->family->run_count.store(layers->runs().size(), std::memory_order_relaxed);
  view->layers = std::move(layers);
}

std::shared_ptr<const Layers> DbImpl::LayersOf(const Family& family) const {
  const std::shared_ptr<const View> view = view_.Pin();
  const FamilyView* const found = view == nullptr ? nullptr : view->Find(family.id);
  return found == nullptr ? nullptr : found->layers;
}

Status DbImpl::FlushOldest(const std::shared_ptr<Family>& family) {
  FrozenTable table;
  {  // the view goes at once: while it is held, no segment that log GC has emptied does
    const std::shared_ptr<const View> view = view_.Pin();
    const FamilyView* const found = view->Find(family->id);
    if (found == nullptr || found->frozen.empty()) return Status::OK();
    table = MutantIs(Mutant::kFlushOutOfOrder) ? found->frozen.front() : found->frozen.back();
  }
  FlushJobInfo info;
  info.db_name = events_.db_name();
  info.cf_name = family->name;
  info.cf_id = family->id;
  info.job_id = events_.NewJobId();
  info.flush_reason = table.reason;
  info.num_entries = table.table->version_count();
  info.largest_seqno = table.end.sequence;
  events_.Add([this, info](EventListener* listener) { listener->OnFlushBegin(this, info); });
  events_.Deliver();
  const Stopwatch watch(&meter_, FLUSH_TIME);
  const std::uint64_t start = options_.clock->NowMicros();
  info.status = FlushTable(family, table, &info);
  info.elapsed_micros = options_.clock->NowMicros() - start;
  events_.Add([this, info](EventListener* listener) { listener->OnFlushCompleted(this, info); });
  return info.status;
}

Status DbImpl::FlushTable(const std::shared_ptr<Family>& family, const FrozenTable& table, FlushJobInfo* info) {
  // The index must never hold what the log may lose.
  if (!MutantIs(Mutant::kFlushBeforeLogSync)) CAMBIUM_RETURN_IF_ERROR(log_->SyncUpTo(table.end.sequence));

  std::unique_ptr<EntryCursor> cursor = table.table->NewCursor(kMaxSequenceNumber);
  const std::shared_ptr<const RangeDeletes> ranges = table.table->RangesAt(kMaxSequenceNumber);
  MergeTop top;
  cursor->SeekToLast();
  const std::string largest = cursor->Valid() ? cursor->key().ToString() : std::string();
  cursor->SeekToFirst();
  const std::string smallest = cursor->Valid() ? cursor->key().ToString() : std::string();
  top.key_count = cursor->Valid() ? table.table->key_count() : 0;  // its ranges may have left nothing
  top.ranges = ranges.get();
  top.smallest_key = smallest;
  top.largest_key = largest;

  const std::shared_ptr<const Layers> before = LayersOf(*family);
  // The layers of now: a sweep may have begun since, and while the claim is ours none begins. A flush asks no filter,
  // so where there is one it merges nothing: what it put into the tree would have passed by.
  Status done = Status::Aborted("not tried");
  // On a full disk it may take less than what a merge writes anew; and a sweep can stop on the way.
  if (!HasFilter(family->options()) && !IsDiskFull() && ClaimMerge(family.get())) {
    const std::shared_ptr<const Layers> layers = LayersOf(*family);
    if (layers != nullptr && family->index->PickFlush(*layers, top) == FlushChoice::kMerge) {
      done = MergeTable(family.get(), table, cursor.get(), ranges, info);
    }
    ReleaseMerge(family.get());
    if (!done.ok()) cursor->SeekToFirst();
  }
  // A run needs nothing of what is there: damage in the tree is no reason to take no more writes.
  const bool is_damage = done.IsCorruption() || (done.IsIOError() && !done.IsNoSpace());
  if (is_damage && done.severity() != Status::Severity::kFatal) {
    logger_->Log(InfoLogLevel::kWarn, "a memory table that could not be merged becomes a run: " + done.ToString());
    done = Status::Aborted("damaged");
  }
  if (done.IsAborted()) {
    KeySample sample(cursor.get(), top.key_count);
    done = WriteRun(family.get(), table, &sample, ranges, info);
    if (done.ok() && before != nullptr) NoteHidden(family.get(), sample, *before);
  }
  // Nobody wants it any more; but a directory that could not be synced is everybody's.
  if (family->dropped.load(std::memory_order_acquire) && done.severity() != Status::Severity::kFatal) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(done);
  if (const std::shared_ptr<const Layers> after = LayersOf(*family); before != nullptr && after != nullptr) {
    family->index_stats.AddFlush(*family->index, *before, *after, top, family->options().write_buffer_size);
  }
  CAMBIUM_RETURN_IF_ERROR(DropUnreferenced());
  // The table is flushed, whatever becomes of those before it.
  const Status bounded = BoundPinnedMemory();
  if (!bounded.ok()) {
    logger_->Log(InfoLogLevel::kWarn, "memory that snapshots pin could not be moved to runs: " + bounded.ToString());
  }
  return Status::OK();
}

// What a flush adds to the edit that commits it.
void DbImpl::AbsorbTable(const Family& family, const FrozenTable& table, Edit* edit, FamilyEdit* family_edit) const {
  const ManifestState& state = manifest_->state();
  family_edit->flushed_sequence = std::max(table.end.sequence, state.families.at(family.id).flushed_sequence);
  edit->last_sequence = std::max(table.end.sequence, state.last_sequence);
  const LogPlace replay = OldestUnflushed(*view_.Pin(), table.table.get(), table.end);
  if (replay.position > state.replay) {
    edit->replay = replay.position;
    edit->replay_sequence = replay.sequence;
  }
}

void DbImpl::InstallFlushed(Family* family, const FrozenTable& table, std::shared_ptr<const Layers> layers) {
  view_.Update([&](View* next) {
    FamilyView& change = *next->Find(family->id);
    std::erase_if(change.frozen, [&](const FrozenTable& f) { return f.table == table.table; });
    SetLayers(&change, std::move(layers));
  });
  family->frozen_count.fetch_sub(1, std::memory_order_acq_rel);
}

// From where the cursor stands, as far as one file goes: written, synced, and not named yet. Without `accounts` it is for
// a snapshot alone: nothing will ever name it, and it goes with its last reader.
Result<std::shared_ptr<const Run>> DbImpl::WriteOneRun(const Family& family, EntryCursor* cursor,
                                                       const RangeDeletes* ranges, AccountDelta* accounts,
                                                       int job_id, RunKind kind) {
  const bool is_private = accounts == nullptr;
  TableFiles files = FilesOf(family,
                             is_private                      ? TableFileCreationReason::kSnapshot
                             : kind == RunKind::kRelocation ? TableFileCreationReason::kLogGc
                                                             : TableFileCreationReason::kFlush,
                             job_id);
  CAMBIUM_TRY(const NewIndexFile made, MakeIndexFile(FileKind::kRun, family.options().page_size, &files));
  if (is_private) obsolete_.MakeObsolete(made.header.number);
  Result<std::shared_ptr<const Run>> run = FillRun(made, family, cursor, ranges, accounts, kind);
  files.Done(run.status());
  return run;
}

Result<std::shared_ptr<const Run>> DbImpl::FillRun(const NewIndexFile& made, const Family& family, EntryCursor* cursor,
                                                   const RangeDeletes* ranges, AccountDelta* accounts, RunKind kind) {
  const ColumnFamilyOptions& its = family.options();
  const bool is_private = accounts == nullptr;
  RunOptions options;
  options.kind = kind;
  options.page_size = static_cast<std::uint32_t>(its.page_size);
  options.filter_bits_per_key = static_cast<unsigned>(its.filter_bits_per_key);
  // A tree's runs are soon swept into pages that are read one by one, and never compressed.
  if (its.index_type == IndexKind::kLsm) static_cast<void>(CodecOf(its.compression, &options.compression));
  const bool is_for_gc = kind == RunKind::kRelocation;
  options.before_write = PermitFor(is_for_gc ? FILE_BYTES_GC : FILE_BYTES_FLUSH,
                                   [this, is_for_gc] { return is_for_gc ? PriorityOfGc() : IO_USER; });
  RunBuilder builder(made.file, made.header, its.comparator, options);
  for (; cursor->Valid() && !builder.IsFull(); cursor->Next()) {
    CAMBIUM_RETURN_IF_ERROR(builder.Add(cursor->key(), cursor->entry()));
    if (!is_private) accounts->Add(cursor->entry());
  }
  CAMBIUM_RETURN_IF_ERROR(cursor->status());
  if (ranges != nullptr) CAMBIUM_RETURN_IF_ERROR(builder.AddRanges(*ranges));
  CAMBIUM_TRY(const RunInfo info, builder.Finish());
  if (is_private) obsolete_.Leaves(made.file->path(), {info.file_size, false});
  if (!is_private && !MutantIs(Mutant::kCommitBeforeRunSync)) CAMBIUM_RETURN_IF_ERROR(Judge(made.file->SyncData()));
  return Run::Open(made.file, info, its.comparator, pool_.get());
}

// A table that is too large for one file makes several, which share no key. Its ranges are in the first, which is the
// lowest of them: there they hide what is older than the table, and nothing of the others.
Status DbImpl::WriteRun(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                        FlushJobInfo* info) {
  AccountDelta accounts;
  std::vector<std::shared_ptr<const Run>> made;
  do {
    CAMBIUM_TRY(std::shared_ptr<const Run> run,
                WriteOneRun(*family, cursor, made.empty() ? ranges.get() : nullptr, &accounts, info->job_id));
    family->index_stats.AddRun(run->info());
    meter_.Tick(FLUSH_WRITE_BYTES, run->info().file_size);
    info->bytes_written += run->info().file_size;
    info->output_files.push_back(FilePath(path_, FileKind::kRun, run->number()));
    made.push_back(std::move(run));
  } while (cursor->Valid());
  CAMBIUM_RETURN_IF_ERROR(SyncDirectory());
  {
    const std::lock_guard lock(commit_mutex_);
    std::shared_ptr<const Layers> next = LayersOf(*family);
    if (next == nullptr) return Status::OK();  // the family was dropped
    Edit edit;
    FamilyEdit change;
    change.id = family->id;
    for (const auto& run : made) {
      change.add_runs.push_back(run->info());
      next = next->WithNewestRun(run);
    }
    change.layers.emplace();
    for (const auto& run : next->runs()) change.layers->push_back(run->number());
    change.accounts = std::move(accounts);
    AbsorbTable(*family, table, &edit, &change);
    edit.families.push_back(std::move(change));
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    InstallFlushed(family, table, std::move(next));
  }
  if (MutantIs(Mutant::kCommitBeforeRunSync)) {
    for (const auto& run : made) {
      CAMBIUM_RETURN_IF_ERROR(Judge(run->files().Find(run->number())->shared_file()->SyncData()));
    }
  }
  return Status::OK();
}

TableFiles DbImpl::FilesOf(const Family& family, TableFileCreationReason reason, int job_id) {
  TableFileCreationInfo like;
  like.db_name = events_.db_name();
  like.cf_name = family.name;
  like.cf_id = family.id;
  like.job_id = job_id;
  like.reason = reason;
  return {&events_, fs_.get(), std::move(like)};
}

// The family's merge is claimed.
Status DbImpl::MergeTable(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                          FlushJobInfo* info) {
  MergeInput input;
  input.layers = LayersOf(*family);
  if (input.layers == nullptr) return Status::OK();
  input.memtable = cursor;
  input.memtable_ranges = ranges;
  input.before_write = PermitFor(FILE_BYTES_FLUSH, [] { return IO_USER; });
  TableFiles files = FilesOf(*family, TableFileCreationReason::kFlush, info->job_id);
  family->merge_files = &files;
  MergedFiles merged;
  const Status done = [&] {
    CAMBIUM_TRY(const std::unique_ptr<MergeOutcome> outcome, family->index->Merge(input));
    info->bytes_written = outcome->stats().bytes_written;
    return CommitMerge(family, outcome.get(), &table, nullptr, &merged);
  }();
  family->merge_files = nullptr;
  files.Done(done);
  info->merged_into_tree = done.ok();
  info->output_files = PathsOf(merged.new_files);
  return done;
}

// Commits a merge, and with it, if `table` is given, the flush of that table.
Status DbImpl::CommitMerge(Family* family, MergeOutcome* outcome, const FrozenTable* table, FilterJob* filter,
                           MergedFiles* files) {
  if (filter != nullptr) CAMBIUM_RETURN_IF_ERROR(SyncChanged(filter));
  CAMBIUM_RETURN_IF_ERROR(SyncDirectory());
  std::vector<NumberedFile> old_files;
  std::vector<NumberedFile> new_files;
  {
    const std::lock_guard lock(commit_mutex_);
    const std::shared_ptr<const Layers> current = LayersOf(*family);
    if (current == nullptr) return Status::OK();  // the family was dropped, and what was made goes
    Edit edit;
    FamilyEdit change;
    change.id = family->id;
    CAMBIUM_TRY(std::shared_ptr<const Layers> next, outcome->Stage(*current, &change));
    if (table != nullptr) AbsorbTable(*family, *table, &edit, &change);
    edit.families.push_back(std::move(change));
    if (filter != nullptr) {
      for (const ChangedValues::Made& made : filter->changed().files()) edit.set_segments.push_back(made.info);
      filter->is_named = true;  // also if the commit fails: it may be on disk all the same
    }
    const auto filtered = static_cast<std::int64_t>(outcome->stats().value_bytes_filtered);
    const std::int64_t uncharged = std::max<std::int64_t>(UnchargedBy(edit.families.back().accounts) - filtered, 0);
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    outcome->Committed();
    NoteMerged(family, *next, uncharged);
    family->index_stats.AddMerge(outcome->stats(), *next, table != nullptr);
    CountMerge(outcome->stats(), table != nullptr);
    current->AppendFiles(&old_files);
    next->AppendFiles(&new_files);
    if (table != nullptr) {
      InstallFlushed(family, *table, std::move(next));
    } else {
      view_.Update([&](View* view) {
        if (filter != nullptr) InstallChanged(filter, view);
        SetLayers(view->Find(family->id), std::move(next));
      });
    }
  }
  std::sort(old_files.begin(), old_files.end());
  std::sort(new_files.begin(), new_files.end());
  std::ranges::set_difference(new_files, old_files, std::back_inserter(files->new_files));
  std::ranges::set_difference(old_files, new_files, std::back_inserter(files->old_files));
  for (const NumberedFile& file : files->old_files) {
    obsolete_.MakeObsolete(file.number);
    if (MutantIs(Mutant::kUnlinkIndexWhilePinned)) obsolete_.Add(FilePath(path_, file.kind, file.number));
  }
  return Status::OK();
}

std::vector<std::string> DbImpl::PathsOf(const std::vector<NumberedFile>& files) const {
  std::vector<std::string> paths;
  for (const NumberedFile& file : files) paths.push_back(FilePath(path_, file.kind, file.number));
  return paths;
}

void DbImpl::CountMerge(const MergeStats& stats, bool is_flush) const {
  meter_.Tick(COMPACTION_KEYS_DROPPED, stats.entries_dropped);
  if (is_flush) {
    meter_.Tick(FLUSH_WRITE_BYTES, stats.bytes_written);
  } else {
    meter_.Tick(COMPACT_READ_BYTES, stats.bytes_read);
    meter_.Tick(COMPACT_WRITE_BYTES, stats.bytes_written);
  }
}

bool DbImpl::ClaimMerge(Family* family) {
  const std::lock_guard lock(background_mutex_);
  return !std::exchange(family->merging, true);
}
void DbImpl::ReleaseMerge(Family* family) {
  const std::lock_guard lock(background_mutex_);
  family->merging = false;
  ++family->merges_ended;
  background_changed_.notify_all();
}

bool DbImpl::MergeIsDue(const Family& family) const {
  const std::shared_ptr<const Layers> layers = LayersOf(family);
  if (layers == nullptr) return false;
  const bool is_urgent = family.merges_urgently.load(std::memory_order_relaxed);
  return family.index->IsMergeDue(*layers, is_urgent) || (is_urgent && HidesInLevels(family, *layers));
}

// What lies above the last level of an LSM hides what lies there, as long as no compaction carries it down.
bool DbImpl::HidesInLevels(const Family& family, const Layers& layers) {
  if (family.options().index_type != IndexKind::kLsm) return false;
  if (family.hidden_bytes.load(std::memory_order_relaxed) <= 0) return false;
  const LayersShape shape = layers.shape();
  return shape.levels.size() > 1 || (shape.levels.size() == 1 && shape.levels[0].tier_count > 1);
}

// One step of a merge that is due.
Status DbImpl::MergeLayers(Family* family) {
  if (!ClaimMerge(family)) return Status::OK();  // somebody merges; his end looks again
  Status s;
  if (const std::shared_ptr<const Layers> layers = LayersOf(*family); layers != nullptr) {
    const bool is_urgent = family->merges_urgently.load(std::memory_order_relaxed);
    if (family->index->IsMergeDue(*layers, is_urgent)) {
      const bool is_due_anyway = !is_urgent || family->index->IsMergeDue(*layers, false);
      s = MergeStep(family, layers, nullptr, is_due_anyway ? UsualReason(*family) : CompactionReason::kSpace);
    } else if (is_urgent && HidesInLevels(*family, *layers)) {
      s = SqueezeStep(family, layers);
    } else {
      family->squeeze.reset();
    }
  }
  ReleaseMerge(family);
  return s;
}

// The same as a CompactRange of everything, a step of it.
Status DbImpl::SqueezeStep(Family* family, const std::shared_ptr<const Layers>& layers) {
  const std::uint64_t flushes = [&] {
    const std::lock_guard lock(background_mutex_);
    return family->flush.ended;
  }();
  if (!family->squeeze.has_value()) {
    family->squeeze.emplace();
    family->flushes_before_squeeze = flushes;
  }
  if (family->index->IsMergeDue(*layers, &*family->squeeze)) {
    return MergeStep(family, layers, &*family->squeeze, CompactionReason::kSpace);
  }
  family->squeeze.reset();
  // What was flushed since may hide more, and may lie in a level above the last one by now.
  if (flushes == family->flushes_before_squeeze) family->hidden_bytes.store(0, std::memory_order_relaxed);
  return Status::OK();
}

BeforeWrite DbImpl::PermitFor(Tickers cause, std::function<IOPriority()> priority) {
  return [this, cause, priority = std::move(priority), resumed = foreground_.NowMicros(),
          in_flight = std::make_shared<InFlight>(&space_.in_flight)](std::uint64_t bytes) mutable {
    // A job that waits has a thread, perhaps the only one, and a writer may wait for what that thread does next.
    const auto is_given_up = [this] {
      return closing_.load(std::memory_order_relaxed) || has_fatal_.load(std::memory_order_relaxed) ||
             stalled_writers_.load(std::memory_order_relaxed) > 0;
    };
    if (priority() == IO_LOW) {
      foreground_.GiveWay(resumed, [&] {
        return is_given_up() || waiting_calls_.load(std::memory_order_relaxed) > 0 || priority() != IO_LOW;
      });
    }
    if (options_.rate_limiter != nullptr) {
      auto& limiter = static_cast<GenericRateLimiter&>(*options_.rate_limiter);  // only the library makes them
      meter_.Tick(RATE_LIMITER_MICROS, limiter.Admit(bytes, priority(), options_.clock.get(), is_given_up));
    }
    in_flight->Add(bytes);
    meter_.Tick(cause, bytes);
    resumed = foreground_.NowMicros();
  };
}

// What is merged only because nobody uses the device is for nobody.
IOPriority DbImpl::PriorityOfMerge(const Family& family) const {
  if (!family.merges_urgently.load(std::memory_order_relaxed)) return IO_MID;
  if (IsDiskFull()) return IO_HIGH;
  const bool is_for_nobody =
      space_.is_idle.load(std::memory_order_relaxed) && !space_.is_short.load(std::memory_order_relaxed);
  return is_for_nobody ? IO_LOW : IO_HIGH;
}

IOPriority DbImpl::PriorityOfGc() const {
  const GcUrgency urgency = UrgencyOfGc();
  return urgency == GcUrgency::kSpace || urgency == GcUrgency::kFull ? IO_HIGH : IO_LOW;
}

CompactionReason DbImpl::UsualReason(const Family& family) {
  return family.options().index_type == IndexKind::kLsm ? CompactionReason::kLevels : CompactionReason::kSweep;
}

// The family's merge is claimed.
Status DbImpl::MergeStep(Family* family, std::shared_ptr<const Layers> layers, MergeRequest* request,
                         CompactionReason reason) {
  CompactionJobInfo info;
  info.db_name = events_.db_name();
  info.cf_name = family->name;
  info.cf_id = family->id;
  info.job_id = events_.NewJobId();
  info.compaction_reason = reason;
  events_.Add([this, info](EventListener* listener) { listener->OnCompactionBegin(this, info); });
  events_.Deliver();
  const Stopwatch watch(&meter_, COMPACTION_TIME);
  const std::uint64_t start = options_.clock->NowMicros();
  TableFiles files = FilesOf(*family, TableFileCreationReason::kCompaction, info.job_id);
  family->merge_files = &files;
  info.status = MergeAndCommit(family, std::move(layers), request, &info);
  family->merge_files = nullptr;
  files.Done(info.status);
  info.elapsed_micros = options_.clock->NowMicros() - start;
  events_.Add([this, info](EventListener* listener) { listener->OnCompactionCompleted(this, info); });
  events_.Deliver();
  return info.status.IsShutdownInProgress() ? Status::OK() : info.status;
}

Status DbImpl::MergeAndCommit(Family* family, std::shared_ptr<const Layers> layers, MergeRequest* request,
                              CompactionJobInfo* info) {
  MergeInput input;
  input.layers = std::move(layers);
  input.request = request;
  // A step commits after as many bytes of new pages as a memory table may hold, where it can, so that a merge neither
  // holds much unpublished nor starts from the beginning after a crash. A step of an LSM's level 0 takes all of level 1
  // with it; neither Close nor the end of a family waits for that.
  input.max_output_bytes = family->options().write_buffer_size;
  // Nor does it take more of what is above the ceiling than it is left. Nobody has looked at that of one that tools work
  // with, which would take a step for each key.
  if (!is_offline_ && max_space_amplification_.load(std::memory_order_relaxed) != 0) {
    const std::uint64_t step_bytes = space_.step_bytes.load(std::memory_order_relaxed);
    input.max_output_bytes = std::min<std::uint64_t>(input.max_output_bytes, step_bytes);
  }
  if (IsDiskFull()) input.max_output_bytes = std::min<std::uint64_t>(input.max_output_bytes, StepOnFullDisk());
  input.is_abandoned = [this, family] {
    return closing_.load(std::memory_order_relaxed) || family->dropped.load(std::memory_order_relaxed);
  };
  input.before_write = PermitFor(FILE_BYTES_MERGE, [this, family] { return PriorityOfMerge(*family); });
  std::map<std::uint64_t, BlobFileCreation> creations;  // by number
  const std::unique_ptr<FilterJob> filter = NewFilterJob(*family, request, input, &creations);
  input.filter = filter.get();
  const Status done = MergeWith(family, std::move(input), filter.get(), info);
  if (filter != nullptr) EndFilterJob(filter.get(), done, &creations);
  return done;
}

Status DbImpl::MergeWith(Family* family, MergeInput input, FilterJob* filter, CompactionJobInfo* info) {
  const Result<std::unique_ptr<MergeOutcome>> outcome = family->index->Merge(input);
  CAMBIUM_RETURN_IF_ERROR(outcome.status());
  CAMBIUM_FAULT_POINT("Merge:written");
  input.layers.reset();
  const MergeStats& stats = (*outcome)->stats();
  info->base_input_level = static_cast<int>(stats.level);
  info->output_level = static_cast<int>(stats.output_level);
  info->bytes_read = stats.bytes_read;
  info->bytes_written = stats.bytes_written;
  info->entries_merged = stats.entries_merged;
  info->entries_dropped = stats.entries_dropped;
  MergedFiles files;
  CAMBIUM_RETURN_IF_ERROR(CommitMerge(family, outcome->get(), nullptr, filter, &files));
  info->input_files = PathsOf(files.old_files);
  info->output_files = PathsOf(files.new_files);
  CAMBIUM_RETURN_IF_ERROR(DropUnreferenced());
  EpochCollect();
  return Status::OK();
}

// Seals what was rotated: synced, with an index of its records behind them, and its end in the MANIFEST.
Status DbImpl::SealRotated() {
  for (RotatedSegment& rotated : log_->TakeRotated()) unsealed_.push_back(std::move(rotated));
  // Where one segment was filled, so will be the next. Its successor is made first: it takes three small syncs, and they
  // would have to wait until the device has written all of the segment that is synced below.
  if (!unsealed_.empty()) {
    const Status made = MakeSpare();
    if (made.severity() == Status::Severity::kFatal) return made;
    if (!made.ok()) logger_->Log(InfoLogLevel::kWarn, "no segment is made ahead: " + made.ToString());
  }
  while (!unsealed_.empty()) {
    const RotatedSegment& rotated = unsealed_.front();
    const SegmentEnd& end = rotated.end;
    CAMBIUM_RETURN_IF_ERROR(log_->SyncRotated(end.segment));
    // Without its index the segment is as good, only slower to collect: no reason not to seal it.
    meter_.Tick(FILE_BYTES_LOG, rotated.footer.size());
    const bool has_footer = end.segment->file().Write(end.length, rotated.footer).ok();
    const std::uint64_t file_size = end.length + (has_footer ? rotated.footer.size() : 0);
    CommitLog::Trim(end.segment.get(), file_size);
    if (has_footer) {
      const Status synced = end.segment->file().SyncData();
      if (!synced.ok()) return synced.Fatal();
    }
    CAMBIUM_FAULT_POINT("Seal:written");
    {
      const std::lock_guard lock(commit_mutex_);
      SegmentInfo info = manifest_->state().segments.at(end.segment->number());
      info.sealed = true;
      info.has_footer = has_footer;
      info.sealed_length = end.length;
      info.file_size = file_size;
      info.last_sequence = end.last_sequence;
      Edit edit;
      edit.set_segments.push_back(info);
      CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    }
    if (SegmentMap* const map = end.segment->map(); map != nullptr) map->Complete(end.length);
    unsealed_.erase(unsealed_.begin());
  }
  return DropUnreferenced();
}

Status DbImpl::MakeSpare() {
  const std::lock_guard lock(commit_mutex_);
  return MakeSpareLocked();
}

Status DbImpl::DropUnreferenced() {
  std::vector<std::shared_ptr<Segment>> gone;
  std::vector<std::uint64_t> gone_bytes;
  {
    const std::lock_guard lock(commit_mutex_);
    const ManifestState& state = manifest_->state();
    // The operation that refers to a large value may still be in a memory table only.
    const auto is_awaited = [&](std::uint64_t number) {
      const auto committed = large_committed_.find(number);
      if (committed == large_committed_.end()) return false;
      const auto family = state.families.find(committed->second.family);
      return family != state.families.end() && committed->second.sequence > family->second.flushed_sequence;
    };
    const std::shared_ptr<const View> view = view_.Pin();
    Edit edit;
    bool is_behind_open = false;  // the first record of a segment says where the one before it ends, as long as no seal does
    for (const auto& [number, info] : state.segments) {
      if (info.kind == SegmentKind::kLog && is_behind_open) continue;
      is_behind_open = is_behind_open || (info.kind == SegmentKind::kLog && !info.sealed);
      const Account account = state.TotalAccount(info.slot);
      const bool referred = MutantIs(Mutant::kChargeBytesNotReferences)
                                ? account.bytes > static_cast<std::int64_t>(info.sealed_length / 2)
                                : account.references != 0;
      if (referred || !info.sealed) continue;
      if (info.kind == SegmentKind::kLargeValue) {
        if (is_awaited(number)) continue;
      } else if (info.kind == SegmentKind::kLog &&
                 (number > state.replay.segment ||
                  (number == state.replay.segment && state.replay.offset < info.sealed_length))) {
        continue;  // recovery may still have to read it
      }
      edit.drop_segments.push_back(number);
      gone.push_back(view->segments.Find(info.slot));
      gone_bytes.push_back(BytesOf(info));
    }
    if (gone.empty()) return Status::OK();
    if (MutantIs(Mutant::kDeleteBeforeCommit)) {
      for (const auto& segment : gone) static_cast<void>(fs_->Unlink(segment->path()));
    }
    if (const Status dropped = CommitEdit(&edit); !dropped.ok()) {
      if (dropped.severity() == Status::Severity::kFatal || !dropped.IsIOError()) return dropped;
      // Space that cannot be given back now is given back later. What was committed before this has not failed.
      logger_->Log(InfoLogLevel::kWarn, "segments that nothing refers to stay for now: " + dropped.ToString());
      return Status::OK();
    }
    for (const std::uint64_t number : edit.drop_segments) large_committed_.erase(number);
    for (std::size_t i = 0; i < gone.size(); ++i) obsolete_.Leaves(gone[i]->path(), {gone_bytes[i], true});
    view_.Update([&](View* next) {
      for (const auto& segment : gone) next->segments = next->segments.Without(segment->slot());
    });
  }
  for (const auto& segment : gone) {
    punched_.Forget(segment->number());
    segment->MakeObsolete();
    if (MutantIs(Mutant::kUnlinkWhilePinned)) obsolete_.Add(segment->path());
  }
  return Status::OK();
}

Status DbImpl::RemoveObsolete() {
  Status first;
  for (const std::string& path : obsolete_.Take()) {
    // After a failure nothing is removed any more: it may be what the next opening needs.
    CAMBIUM_RETURN_IF_ERROR(Health());
    Status removed = fs_->Unlink(path);
    if (MutantIs(Mutant::kGoneIsAnError) && removed.IsPathNotFound()) removed = Status::IOError(removed.ToString());
    const auto file = ParseFileName(std::string_view(path).substr(path_.size() + 1));
    if (removed.ok() && file.has_value()) events_.Deleted(path_, *file);
    if (removed.ok() || removed.IsPathNotFound()) obsolete_.Gone(path);
    if (removed.ok() || removed.IsPathNotFound()) continue;
    obsolete_.PutBack(path);
    if (first.ok()) first = removed;
  }
  return first;
}

Status DbImpl::Flush(const FlushOptions& options, ColumnFamilyHandle* handle) {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  CAMBIUM_TRY(Family* const family, FamilyOf(handle));
  SequenceNumber upto = 0;
  while (true) {
    {
      const std::lock_guard lock(append_mutex_);
      if (family->dropped.load(std::memory_order_relaxed)) {
        return Status::ColumnFamilyDropped("column family \"" + family->name + "\" was dropped");
      }
      upto = published_.load(std::memory_order_relaxed);
      if (family->active->empty()) break;
      if (family->frozen_count.load(std::memory_order_acquire) < family->options().max_write_buffer_number - 1) {
        Freeze(family, FlushReason::kManualFlush);
        break;
      }
    }
    CAMBIUM_RETURN_IF_ERROR(WaitForFlushOf(family, 0));
  }
  events_.Deliver();
  if (options.wait) CAMBIUM_RETURN_IF_ERROR(WaitForFlushOf(family, upto));
  return Health();  // what ran meanwhile may have found the end of it
}

// The family's merge is claimed, and will be claimed again at once. What is due meanwhile, runs that keep coming above
// all, must not wait until a long request has ended.
Status DbImpl::TakeTurnOfBackground(Family* family) {
  std::shared_ptr<const Layers> layers = LayersOf(*family);
  if (layers == nullptr || !family->index->IsMergeDue(*layers, false)) return Status::OK();
  const Status s = MergeStep(family, std::move(layers), nullptr, UsualReason(*family));
  if (s.ok() || s.severity() == Status::Severity::kFatal) return s;
  logger_->Log(InfoLogLevel::kWarn, "could not merge what is due beside CompactRange: " + s.ToString());
  return Status::OK();  // what was asked for may lie elsewhere
}

// Merges in the caller's thread, step by step, and takes turns with the background.
Status DbImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle, const Slice* begin,
                            const Slice* end) {
  const Delivery delivery(&events_);
  using Policy = BlobGarbageCollectionPolicy;
  const Policy policy = options.blob_garbage_collection_policy;
  if (policy > Policy::kUseDefault) {
    return Status::InvalidArgument("blob_garbage_collection_policy is " + std::to_string(static_cast<int>(policy)) +
                                   "; BlobGarbageCollectionPolicy has kForce, kDisable and kUseDefault");
  }
  const bool holds_gc = policy == Policy::kDisable;
  if (holds_gc) gc_holds_.fetch_add(1);
  Status s = MergeRange(handle, begin, end);
  if (s.ok() && options.cluster_values) s = ClusterRange(handle, begin, end);
  if (s.ok() && options.cluster_values) s = MergeRange(handle, begin, end);  // so that the old copies are garbage
  if (s.ok()) s = CollectFor(options, begin == nullptr && end == nullptr);
  if (holds_gc && gc_holds_.fetch_sub(1) == 1 && s.ok() && GcIsDue()) Schedule(Job::kCollect);
  return s;
}

Status DbImpl::MergeRange(ColumnFamilyHandle* handle, const Slice* begin, const Slice* end, bool rewrites) {
  CAMBIUM_RETURN_IF_ERROR(Flush({}, handle));
  CAMBIUM_TRY(Family* const its, FamilyOf(handle));
  const std::shared_ptr<Family> family = FindFamily(its->id);
  std::shared_ptr<const Layers> layers = LayersOf(*its);
  if (family == nullptr || layers == nullptr) return Status::OK();  // dropped since
  MergeRequest request;
  if (begin != nullptr) request.begin = begin->ToString();
  if (end != nullptr) request.end = end->ToString();
  for (const auto& run : layers->runs()) request.runs.push_back(run->number());
  layers.reset();
  const bool has_filter = HasFilter(family->options());
  request.asks_filter = has_filter || rewrites;
  request.rewrites = rewrites;
  Status s = CarryOut(family, &request);
  std::set<std::uint64_t> asked;
  while (s.ok() && has_filter) {
    std::optional<MergeRequest> moved = RequestForMoved(*family, request, &asked);
    if (!moved.has_value()) break;
    request = std::move(*moved);
    s = CarryOut(family, &request);
  }
  if (s.severity() == Status::Severity::kFatal) SetFatal(s, BackgroundErrorReason::kCompaction);
  if (s.ok() && MergeIsDue(*family)) Schedule(Job::kMerge, family);
  return s;
}

Status DbImpl::CarryOut(const std::shared_ptr<Family>& family, MergeRequest* request) {
  Status s;
  for (bool more = true; more && s.ok();) {
    while (!ClaimMerge(family.get())) {
      CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return !family->merging; }));
    }
    if (request->asks_filter && request->first_new_file == 0) {
      // No merge is under way, so what is written from here on is written by one that asks.
      family->index->SealFiles();
      const std::lock_guard lock(commit_mutex_);
      request->first_new_file = next_file_number_;
    }
    std::shared_ptr<const Layers> layers = LayersOf(*family);
    more = layers != nullptr && family->index->IsMergeDue(*layers, request);
    if (more) s = MergeStep(family.get(), std::move(layers), request, CompactionReason::kManualCompaction);
    if (more && s.ok()) s = TakeTurnOfBackground(family.get());
    layers.reset();
    ReleaseMerge(family.get());
    if (s.ok()) s = Health();
    if (s.ok() && closing_.load(std::memory_order_relaxed)) return Status::ShutdownInProgress("the database is closing");
  }
  return s;
}

Status DbImpl::WaitForCompact() {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  {
    // A job that failed is work left: it gets another chance, since a full disk may have space again.
    const std::lock_guard lock(background_mutex_);
    ForEachJob([this](Job job, const std::shared_ptr<Family>& family, const JobState* state) {
      if (!state->last.ok()) ScheduleLocked(job, family);
    });
  }
  while (true) {
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return IsIdle(); }));
    EpochCollect();
    std::vector<std::shared_ptr<Family>> due;
    const std::shared_ptr<const View> view = view_.Pin();
    for (const FamilyView& each : view->families) {
      if (MergeIsDue(*each.family)) due.push_back(each.family);
    }
    const std::lock_guard lock(background_mutex_);
    Status last;
    ForEachJob([&last](Job, const std::shared_ptr<Family>&, const JobState* state) {
      if (last.ok()) last = state->last;
    });
    CAMBIUM_RETURN_IF_ERROR(last);
    for (const auto& family : due) ScheduleLocked(Job::kMerge, family);
    if (IsIdle()) return fatal_;
  }
}

Status DbImpl::Close() {
  if (closed_.load(std::memory_order_acquire)) return Status::OK();
  if (ForkGeneration() != fork_generation_) return Status::NotSupported("a database cannot be used in a forked child");
  if (snapshots_.size() != 0 || iterator_count_.load() != 0) {
    return Status::Aborted(std::to_string(snapshots_.size()) + " snapshots and " +
                           std::to_string(iterator_count_.load()) + " iterators are still in use");
  }
  return Shut();
}

Status DbImpl::Shut() {
  Status first;
  if (const Status traced = traces_.End(); !traced.ok() && !traced.IsNotFound() && logger_ != nullptr) {
    logger_->Log(InfoLogLevel::kError, "ending the trace: " + traced.ToString());
  }
  if (!read_only_ && log_ != nullptr) {
    {
      const std::lock_guard lock(tick_target_->mutex);
      tick_target_->db = nullptr;
    }
    {
      const std::lock_guard lock(background_mutex_);
      closing_ = true;
    }
    {
      std::unique_lock lock(background_mutex_);
      while (!IsIdle()) {
        lock.unlock();
        const bool ran = executor_->RunOneInstead();
        lock.lock();
        if (!ran && !IsIdle()) background_changed_.wait(lock);
      }
    }
    first = Health();
    if (first.ok()) log_->TrimTail();
    if (first.ok() && !MutantIs(Mutant::kCloseWithoutSync)) {
      first = log_->Sync();
      if (!first.ok()) SetFatal(first);
    }
    if (first.ok()) {
      const std::lock_guard lock(commit_mutex_);
      Edit edit;
      edit.clean_shutdown = true;
      // The batch whose write failed may have landed whole, and was not committed.
      if (const SegmentEnd cut = log_->failed_end(); cut.segment != nullptr) edit.set_segments.push_back(SealedAt(cut));
      first = CommitEdit(&edit);
    }
  }
  closed_.store(true, std::memory_order_release);
  LetGo();
  return MutantIs(Mutant::kCloseHidesError) ? Status::OK() : first;
}

void DbImpl::LetGo() {
  if (has_let_go_) return;
  if (const std::shared_ptr<const View> view = view_.Pin(); view != nullptr && closing_families_.empty()) {
    std::vector<std::shared_ptr<Family>> families;
    for (const FamilyView& each : view->families) families.push_back(each.family);
    families.insert(families.end(), dropped_families_.begin(), dropped_families_.end());
    closing_families_ = std::move(families);
  }
  families_.clear();
  dropped_families_.clear();
  TakeSpare().reset();
  full_disk_.file.reset();
  unsealed_.clear();
  log_.reset();
  view_.Install(nullptr);
  EpochDrain();
  for (const auto& family : closing_families_) {
    family->index.reset();  // with the file that it writes to, which goes if the family was dropped
    family->active.reset();
  }
  closing_families_.clear();
  if (manifest_ != nullptr && Health().ok()) static_cast<void>(RemoveObsolete());
  events_.DeliverAll();
  manifest_.reset();
  lock_.reset();
  has_let_go_ = true;
}

DbImpl::~DbImpl() {
  if (closed_.load(std::memory_order_acquire)) {
    LetGo();
    return;
  }
  const Status closed = Shut();
  if (!closed.ok() && logger_ != nullptr) logger_->Log(InfoLogLevel::kError, "closing: " + closed.ToString());
}

void DbImpl::operator delete(DbImpl* db, std::destroying_delete_t) {
  if (ForkGeneration() != db->fork_generation_) return;
  DestroyAndFree(db);
}

}  // namespace cambium
