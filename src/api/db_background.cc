// Background work: flushing memory tables, merging layers, sealing segments, removing files.
#include <algorithm>
#include <cassert>

#include "api/db_impl.h"
#include "index/run.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/fault_point.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {
namespace {

const char* const kJobNames[] = {"flush", "merge", "seal", "make a segment ahead", "remove files"};

// An output that no MANIFEST record names and whose sync found no space can be thrown away. Every other failed sync may
// have lost what the page cache still shows, and the database stops.
Status Judge(Status sync) { return sync.ok() || sync.IsNoSpace() ? sync : sync.Fatal(); }

}  // namespace

Status DbImpl::Health() const {
  if (!has_fatal_.load(std::memory_order_acquire)) return Status::OK();
  const std::lock_guard lock(background_mutex_);
  return fatal_;
}

void DbImpl::SetFatal(const Status& status) {
  if (MutantIs(Mutant::kGoOnAfterFailedSync)) return;
  if (MutantIs(Mutant::kNoSpaceSyncIsSoft) && status.IsNoSpace()) return;
  {
    const std::lock_guard lock(background_mutex_);
    if (fatal_.ok()) {
      fatal_ = status.Fatal();
      logger_->Log(InfoLogLevel::kError, "the database takes no more writes: " + fatal_.ToString());
    }
    has_fatal_.store(true, std::memory_order_release);
    background_changed_.notify_all();
  }
  if (log_ != nullptr) log_->Fail(status);
}

void DbImpl::Schedule(Job job) {
  const std::lock_guard lock(background_mutex_);
  ScheduleLocked(job);
}

void DbImpl::ScheduleLocked(Job job) {
  bool& scheduled = scheduled_[static_cast<std::size_t>(job)];
  if (closing_ || read_only_ || has_fatal_.load(std::memory_order_acquire)) return;
  if (scheduled) {
    again_[static_cast<std::size_t>(job)] = true;
    return;
  }
  scheduled = true;
  const TaskPriority priority = job == Job::kMerge || job == Job::kRemove ? TaskPriority::kLow
                                : job == Job::kFlush                      ? TaskPriority::kHigh
                                                                          : TaskPriority::kNormal;
  executor_->Schedule(priority, [this, job] { RunJob(job); });
}

void DbImpl::RunJob(Job job) {
  const auto index = static_cast<std::size_t>(job);
  {
    const std::lock_guard lock(background_mutex_);
    again_[index] = false;
  }
  Status s = Health();
  if (s.ok()) s = DoJob(job);
  if (s.severity() == Status::Severity::kFatal) {
    SetFatal(s);
  } else if (!s.ok()) {
    logger_->Log(InfoLogLevel::kWarn,
                 std::string("could not ") + kJobNames[static_cast<std::size_t>(job)] + ": " + s.ToString());
  }
  EpochCollect();
  const bool more_flush = job == Job::kFlush && s.ok() && frozen_count_.load(std::memory_order_acquire) > 0;
  const bool merge = (job == Job::kFlush || (job == Job::kMerge && s.ok())) && MergeIsDue();
  const std::lock_guard lock(background_mutex_);
  scheduled_[index] = false;
  last_status_[index] = s;
  ++runs_[index];
  if (more_flush || (s.ok() && std::exchange(again_[index], false))) ScheduleLocked(more_flush ? Job::kFlush : job);
  if (merge && !merging_) ScheduleLocked(Job::kMerge);  // else whoever merges looks when it ends
  background_changed_.notify_all();
}

Status DbImpl::DoJob(Job job) {
  switch (job) {
    case Job::kFlush: return FlushOldest();
    case Job::kMerge: {
      bool force = false;
      {
        const std::lock_guard lock(background_mutex_);
        force = std::exchange(force_merge_, false);
      }
      return MergeLayers(force);
    }
    case Job::kSeal: return SealRotated();
    case Job::kSpare: return MakeSpare();
    case Job::kRemove: return RemoveObsolete();
    case Job::kCount: break;
  }
  return Status::OK();
}

// The caller holds no lock. Lets tasks run where there are no threads for them.
Status DbImpl::WaitUntil(const std::function<bool()>& done) {
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
Status DbImpl::WaitForFlushOf(SequenceNumber sequence) {
  const auto flush = static_cast<std::size_t>(Job::kFlush);
  while (true) {
    const std::uint64_t seen = [&] {
      const std::lock_guard lock(background_mutex_);
      if (frozen_count_.load(std::memory_order_acquire) > 0) ScheduleLocked(Job::kFlush);
      return runs_[flush];
    }();
    if (frozen_count_.load(std::memory_order_acquire) == 0) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return runs_[flush] != seen; }));
    {
      const std::lock_guard lock(background_mutex_);
      if (!last_status_[flush].ok()) return last_status_[flush];
    }
    if (sequence == 0) return Status::OK();
    const std::lock_guard lock(commit_mutex_);
    if (manifest_->state().families.at(0).flushed_sequence >= sequence) return Status::OK();
  }
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
    name(segment.kind == SegmentKind::kLargeValue ? FileKind::kLargeValue : FileKind::kLog, segment.number);
  }
  for (const FamilyEdit& family : edit->families) {
    for (const RunInfo& run : family.add_runs) name(FileKind::kRun, run.number);
    for (const IndexSegmentInfo& segment : family.set_index_segments) {
      const auto known = manifest_->state().families.find(family.id);
      if (known != manifest_->state().families.end() && known->second.index_segments.contains(segment.number)) continue;
      name(FileKind::kIndex, segment.number);
    }
  }
  const Status committed = manifest_->Commit(*edit, roll_number);
  if (committed.ok()) {
    for (const std::string& gone : std::exchange(in_doubt_, {})) obsolete_.Add(gone);
  } else if (committed.severity() == Status::Severity::kFatal) {
    SetFatal(committed);
  } else {
    in_doubt_.insert(in_doubt_.end(), named.begin(), named.end());
  }
  return committed;
}

Result<Slot> DbImpl::FreeSlot() const {
  if (MutantIs(Mutant::kNeverReuseSlots)) return static_cast<Slot>(next_file_number_);
  std::vector<bool> taken;
  for (const auto& [number, segment] : manifest_->state().segments) {
    const auto slot = static_cast<std::size_t>(segment.slot);
    if (slot >= taken.size()) taken.resize(slot + 1);
    taken[slot] = true;
  }
  const auto free = std::find(taken.begin(), taken.end(), false) - taken.begin();
  if (free >= static_cast<std::ptrdiff_t>(kSlotCountMax)) {
    return Status::NoSpace(path_ + ": all " + std::to_string(kSlotCountMax) + " segment slots are in use");
  }
  return static_cast<Slot>(free);
}

Result<NewIndexFile> DbImpl::MakeIndexFile(FileKind kind) {
  NewIndexFile made;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(commit_mutex_);
    number = next_file_number_++;
  }
  made.header = HeaderFor(kind, number);
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs_->Open(FilePath(path_, kind, number), OpenMode::kCreateNew, {}, &file));
  made.file = obsolete_.Track(number, std::move(file), false);
  return made;
}

Status DbImpl::SyncDirectory() {
  if (MutantIs(Mutant::kSkipDirectorySync)) return Status::OK();
  const Status named = fs_->SyncDirectory(path_);
  return named.ok() || named.IsBusy() ? named : named.Fatal();
}

Status DbImpl::FlushOldest() {
  const std::shared_ptr<const View> view = view_.Pin();
  const FamilyView& family = view->families[0];
  if (family.frozen.empty()) return Status::OK();
  const FrozenTable table = MutantIs(Mutant::kFlushOutOfOrder) ? family.frozen.front() : family.frozen.back();

  // The index must never hold what the log may lose.
  if (!MutantIs(Mutant::kFlushBeforeLogSync)) CAMBIUM_RETURN_IF_ERROR(log_->SyncUpTo(table.last_sequence));

  std::unique_ptr<EntryCursor> cursor = table.table->NewCursor(kMaxSequenceNumber);
  MergeTop top;
  top.key_count = table.table->key_count();
  cursor->SeekToLast();
  const std::string largest = cursor->Valid() ? cursor->key().ToString() : std::string();
  cursor->SeekToFirst();
  const std::string smallest = cursor->Valid() ? cursor->key().ToString() : std::string();
  top.smallest_key = smallest;
  top.largest_key = largest;

  // The layers of now: a sweep may have begun since, and while the claim is ours none begins.
  Status done = Status::Aborted("not tried");
  if (ClaimMerge()) {
    if (index_->PickFlush(*view_.Pin()->families[0].layers, top) == FlushChoice::kMerge) {
      done = MergeTable(table, cursor.get());
    }
    ReleaseMerge();
    if (done.IsAborted()) cursor->SeekToFirst();
  }
  if (done.IsAborted()) done = WriteRun(table, cursor.get());
  CAMBIUM_RETURN_IF_ERROR(done);
  // The table is flushed, whatever becomes of those before it.
  const Status bounded = BoundPinnedMemory();
  if (!bounded.ok()) {
    logger_->Log(InfoLogLevel::kWarn, "memory that snapshots pin could not be moved to runs: " + bounded.ToString());
  }
  return Status::OK();
}

// What a flush adds to the edit that commits it.
void DbImpl::AbsorbTable(const FrozenTable& table, Edit* edit, FamilyEdit* family) const {
  family->flushed_sequence = std::max(table.last_sequence, manifest_->state().families.at(0).flushed_sequence);
  edit->last_sequence = std::max(table.last_sequence, manifest_->state().last_sequence);
  if (table.end > manifest_->state().replay) edit->replay = table.end;
}

void DbImpl::InstallFlushed(const FrozenTable& table, std::shared_ptr<const Layers> layers) {
  view_.Update([&](View* next) {
    FamilyView& family = next->families[0];
    std::erase_if(family.frozen, [&](const FrozenTable& f) { return f.table == table.table; });
    family.layers = std::move(layers);
  });
  frozen_count_.fetch_sub(1, std::memory_order_acq_rel);
  stats_.flushes.fetch_add(1, std::memory_order_relaxed);
}

// From where the cursor stands, as far as one file goes: written, synced, and not named yet.
Result<std::shared_ptr<const Run>> DbImpl::WriteOneRun(EntryCursor* cursor, AccountDelta* accounts) {
  CAMBIUM_TRY(const NewIndexFile made, MakeIndexFile(FileKind::kRun));
  RunOptions options;
  options.page_size = static_cast<std::uint32_t>(page_size_);
  options.filter_bits_per_key = static_cast<unsigned>(options_.filter_bits_per_key);
  RunBuilder builder(made.file, made.header, options_.comparator, options);
  for (; cursor->Valid() && !builder.IsFull(); cursor->Next()) {
    CAMBIUM_RETURN_IF_ERROR(builder.Add(cursor->key(), cursor->entry()));
    accounts->Add(cursor->entry());
  }
  CAMBIUM_RETURN_IF_ERROR(cursor->status());
  CAMBIUM_TRY(const RunInfo info, builder.Finish());
  if (!MutantIs(Mutant::kCommitBeforeRunSync)) CAMBIUM_RETURN_IF_ERROR(Judge(made.file->SyncData()));
  return Run::Open(made.file, info, options_.comparator, pool_.get());
}

// A table that is too large for one file makes several, which share no key.
Status DbImpl::WriteRun(const FrozenTable& table, EntryCursor* cursor) {
  AccountDelta accounts;
  std::vector<std::shared_ptr<const Run>> made;
  do {
    CAMBIUM_TRY(std::shared_ptr<const Run> run, WriteOneRun(cursor, &accounts));
    stats_.flush_bytes.fetch_add(run->info().file_size, std::memory_order_relaxed);
    made.push_back(std::move(run));
  } while (cursor->Valid());
  CAMBIUM_RETURN_IF_ERROR(SyncDirectory());
  {
    const std::lock_guard lock(commit_mutex_);
    std::shared_ptr<const Layers> next = view_.Pin()->families[0].layers;
    Edit edit;
    FamilyEdit family;
    family.id = 0;
    for (const auto& run : made) {
      family.add_runs.push_back(run->info());
      next = next->WithNewestRun(run);
    }
    family.layers.emplace();
    for (const auto& run : next->runs()) family.layers->push_back(run->number());
    family.accounts = std::move(accounts);
    AbsorbTable(table, &edit, &family);
    edit.families.push_back(std::move(family));
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    InstallFlushed(table, std::move(next));
  }
  if (MutantIs(Mutant::kCommitBeforeRunSync)) {
    for (const auto& run : made) {
      CAMBIUM_RETURN_IF_ERROR(Judge(run->files().Find(run->number())->shared_file()->SyncData()));
    }
  }
  return DropUnreferenced();
}

Status DbImpl::MergeTable(const FrozenTable& table, EntryCursor* cursor) {
  MergeInput input;
  input.layers = view_.Pin()->families[0].layers;
  input.memtable = cursor;
  CAMBIUM_TRY(std::unique_ptr<MergeOutcome> outcome, index_->Merge(input));
  CAMBIUM_RETURN_IF_ERROR(CommitMerge(outcome.get(), &table));
  return DropUnreferenced();
}

// Commits a merge, and with it, if `table` is given, the flush of that table.
Status DbImpl::CommitMerge(MergeOutcome* outcome, const FrozenTable* table) {
  CAMBIUM_RETURN_IF_ERROR(SyncDirectory());
  std::vector<NumberedFile> old_files;
  std::vector<NumberedFile> new_files;
  {
    const std::lock_guard lock(commit_mutex_);
    const std::shared_ptr<const Layers> current = view_.Pin()->families[0].layers;
    Edit edit;
    FamilyEdit family;
    family.id = 0;
    CAMBIUM_TRY(std::shared_ptr<const Layers> next, outcome->Stage(*current, &family));
    if (table != nullptr) AbsorbTable(*table, &edit, &family);
    edit.families.push_back(std::move(family));
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    outcome->Committed();
    current->AppendFiles(&old_files);
    next->AppendFiles(&new_files);
    if (table != nullptr) {
      InstallFlushed(*table, std::move(next));
    } else {
      view_.Update([&](View* view) { view->families[0].layers = std::move(next); });
    }
  }
  std::sort(new_files.begin(), new_files.end());
  for (const NumberedFile& file : old_files) {
    if (std::binary_search(new_files.begin(), new_files.end(), file)) continue;
    obsolete_.MakeObsolete(file.number);
    if (MutantIs(Mutant::kUnlinkIndexWhilePinned)) obsolete_.Add(FilePath(path_, file.kind, file.number));
  }
  stats_.merges.fetch_add(1, std::memory_order_relaxed);
  stats_.merge_bytes.fetch_add(outcome->stats().bytes_written, std::memory_order_relaxed);
  return Status::OK();
}

bool DbImpl::ClaimMerge() {
  const std::lock_guard lock(background_mutex_);
  return !std::exchange(merging_, true);
}
void DbImpl::ReleaseMerge() {
  const std::lock_guard lock(background_mutex_);
  merging_ = false;
}

bool DbImpl::MergeIsDue() const {
  const std::shared_ptr<const View> view = view_.Pin();
  return view != nullptr && index_->IsMergeDue(*view->families[0].layers, false);
}

// One step of a merge that is due, or, with `force`, all steps that the runs of this moment need.
Status DbImpl::MergeLayers(bool force) {
  if (!ClaimMerge()) return Status::OK();  // a flush is merging; its end looks again
  std::set<std::uint64_t> wanted;
  for (const auto& run : view_.Pin()->families[0].layers->runs()) wanted.insert(run->number());
  Status s;
  while (s.ok()) {
    MergeInput input;
    input.layers = view_.Pin()->families[0].layers;
    const auto& runs = input.layers->runs();
    const bool more = std::any_of(runs.begin(), runs.end(), [&](const auto& r) { return wanted.contains(r->number()); });
    if (!(force && more) && !index_->IsMergeDue(*input.layers, false)) break;
    // A step commits after as many bytes of new pages as a memory table may hold, so that a merge neither holds much
    // unpublished nor starts from the beginning after a crash.
    input.max_output_bytes = options_.write_buffer_size;
    Result<std::unique_ptr<MergeOutcome>> outcome = index_->Merge(input);
    s = outcome.ok() ? CommitMerge(outcome->get(), nullptr) : outcome.status();
    if (s.ok()) s = DropUnreferenced();
    EpochCollect();
    if (!force) break;
  }
  ReleaseMerge();
  return s;
}

// Seals what was rotated: synced, with an index of its records behind them, and its end in the MANIFEST.
Status DbImpl::SealRotated() {
  for (RotatedSegment& rotated : log_->TakeRotated()) unsealed_.push_back(std::move(rotated));
  while (!unsealed_.empty()) {
    const RotatedSegment& rotated = unsealed_.front();
    const SegmentEnd& end = rotated.end;
    CAMBIUM_RETURN_IF_ERROR(log_->SyncRotated(end.segment));
    // Without its index the segment is as good, only slower to collect: no reason not to seal it.
    const bool has_footer = end.segment->file().Write(end.length, rotated.footer).ok();
    if (has_footer) {
      const Status synced = end.segment->file().SyncData();
      if (!synced.ok()) return synced.Fatal();
    }
    {
      const std::lock_guard lock(commit_mutex_);
      SegmentInfo info = manifest_->state().segments.at(end.segment->number());
      info.sealed = true;
      info.has_footer = has_footer;
      info.sealed_length = end.length;
      info.file_size = end.length + (has_footer ? rotated.footer.size() : 0);
      info.last_sequence = end.last_sequence;
      Edit edit;
      edit.set_segments.push_back(info);
      CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    }
    unsealed_.erase(unsealed_.begin());
  }
  return DropUnreferenced();
}

Status DbImpl::MakeSpare() {
  const std::lock_guard lock(commit_mutex_);
  if (spare_ != nullptr) return Status::OK();
  CAMBIUM_TRY(spare_, MakeSegmentLocked());
  return Status::OK();
}

Status DbImpl::DropUnreferenced() {
  std::vector<std::shared_ptr<Segment>> gone;
  {
    const std::lock_guard lock(commit_mutex_);
    const ManifestState& state = manifest_->state();
    SequenceNumber flushed = kMaxSequenceNumber;
    for (const auto& [id, family] : state.families) flushed = std::min(flushed, family.flushed_sequence);
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
        const auto committed = large_committed_.find(number);
        if (committed != large_committed_.end() && committed->second > flushed) continue;
      } else if (number > state.replay.segment ||
                 (number == state.replay.segment && state.replay.offset < info.sealed_length)) {
        continue;  // recovery may still have to read it
      }
      edit.drop_segments.push_back(number);
      gone.push_back(view->segments.Find(info.slot));
    }
    if (gone.empty()) return Status::OK();
    if (MutantIs(Mutant::kDeleteBeforeCommit)) {
      for (const auto& segment : gone) static_cast<void>(fs_->Unlink(segment->path()));
    }
    CAMBIUM_RETURN_IF_ERROR(CommitEdit(&edit));
    for (const std::uint64_t number : edit.drop_segments) large_committed_.erase(number);
    view_.Update([&](View* next) {
      for (const auto& segment : gone) next->segments = next->segments.Without(segment->slot());
    });
  }
  for (const auto& segment : gone) {
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
    const Status removed = fs_->Unlink(path);
    if (!removed.ok() && !removed.IsPathNotFound() && first.ok()) first = removed;
  }
  return first;
}

Status DbImpl::Flush(const FlushOptions& options) {
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  SequenceNumber upto = 0;
  while (true) {
    {
      const std::lock_guard lock(append_mutex_);
      if (active_->empty()) {
        upto = published_.load(std::memory_order_relaxed);
        break;
      }
      if (frozen_count_.load(std::memory_order_acquire) < options_.max_write_buffer_number - 1) {
        upto = published_.load(std::memory_order_relaxed);
        Freeze();
        break;
      }
    }
    CAMBIUM_RETURN_IF_ERROR(WaitForFlushOf(0));
  }
  return options.wait ? WaitForFlushOf(upto) : Status::OK();
}

Status DbImpl::CompactRange(const CompactRangeOptions&, const Slice* begin, const Slice* end) {
  CAMBIUM_RETURN_IF_ERROR(Flush({}));
  const auto overlaps = [&](const Run& run) {
    const Comparator& order = *options_.comparator;
    return run.entry_count() > 0 && (begin == nullptr || order.Compare(run.info().largest_key, *begin) >= 0) &&
           (end == nullptr || order.Compare(run.info().smallest_key, *end) <= 0);
  };
  const auto work_left = [&] {
    const std::shared_ptr<const View> view = view_.Pin();
    const auto& runs = view->families[0].layers->runs();
    return std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return overlaps(*run); });
  };
  const auto merge = static_cast<std::size_t>(Job::kMerge);
  while (work_left()) {
    std::uint64_t seen = 0;
    {
      const std::lock_guard lock(background_mutex_);
      force_merge_ = true;
      seen = runs_[merge];
      ScheduleLocked(Job::kMerge);
    }
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] { return runs_[merge] != seen; }));
    const std::lock_guard lock(background_mutex_);
    if (!last_status_[merge].ok()) return last_status_[merge];
  }
  return Status::OK();
}

Status DbImpl::WaitForCompact() {
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  {
    // A job that failed is work left: it gets another chance, since a full disk may have space again.
    const std::lock_guard lock(background_mutex_);
    for (std::size_t job = 0; job < kJobCount; ++job) {
      if (!last_status_[job].ok()) ScheduleLocked(static_cast<Job>(job));
    }
  }
  while (true) {
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&] {
      return std::none_of(scheduled_.begin(), scheduled_.end(), [](bool scheduled) { return scheduled; });
    }));
    EpochCollect();
    const bool merge = MergeIsDue();
    const std::lock_guard lock(background_mutex_);
    for (const Status& last : last_status_) CAMBIUM_RETURN_IF_ERROR(last);
    if (merge) ScheduleLocked(Job::kMerge);
    if (std::none_of(scheduled_.begin(), scheduled_.end(), [](bool scheduled) { return scheduled; })) {
      return Status::OK();
    }
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
  if (!read_only_ && log_ != nullptr) {
    {
      const std::lock_guard lock(background_mutex_);
      closing_ = true;
    }
    const auto idle = [&] {
      return std::none_of(scheduled_.begin(), scheduled_.end(), [](bool scheduled) { return scheduled; });
    };
    {
      std::unique_lock lock(background_mutex_);
      while (!idle()) {
        lock.unlock();
        const bool ran = executor_->RunOneInstead();
        lock.lock();
        if (!ran && !idle()) background_changed_.wait(lock);
      }
    }
    first = Health();
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
  active_.reset();
  spare_.reset();
  unsealed_.clear();
  log_.reset();
  view_.Install(nullptr);
  EpochDrain();
  if (manifest_ != nullptr && Health().ok()) static_cast<void>(RemoveObsolete());
  manifest_.reset();
  index_.reset();
  lock_.reset();
  return MutantIs(Mutant::kCloseHidesError) ? Status::OK() : first;
}

DbImpl::~DbImpl() {
  if (closed_.load(std::memory_order_acquire)) return;
  const Status closed = Shut();
  if (!closed.ok() && logger_ != nullptr) logger_->Log(InfoLogLevel::kError, "closing: " + closed.ToString());
}

void DbImpl::operator delete(DbImpl* db, std::destroying_delete_t) {
  if (ForkGeneration() != db->fork_generation_) return;
  db->~DbImpl();
  ::operator delete(db);
}

}  // namespace cambium
