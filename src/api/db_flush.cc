// Flushes: a memory table becomes a run, or goes straight into the tree.
#include <algorithm>

#include "api/db_impl.h"
#include "api/filter_job.h"
#include "index/run.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/mutant.h"

namespace cambium {

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
  MemtableShape top;
  cursor->SeekToLast();
  const std::string largest = cursor->Valid() ? cursor->key().ToString() : std::string();
  cursor->SeekToFirst();
  const std::string smallest = cursor->Valid() ? cursor->key().ToString() : std::string();
  top.key_count = cursor->Valid() ? table.table->key_count() : 0;  // its ranges may have left nothing
  top.ranges = ranges.get();
  top.smallest_key = smallest;
  top.largest_key = largest;
  top.max_output_bytes = StepBytes(*family);

  const std::shared_ptr<const Layers> before = LayersOf(*family);
  // The layers of now: a sweep may have begun since, and while the claim is ours none begins. A flush asks no filter,
  // so where there is one it merges nothing: what it put into the tree would have passed by.
  Status done = Status::Aborted("not tried");
  // On a full disk it may take less than what a merge writes anew; and a sweep can stop on the way.
  if (!HasFilter(family->options()) && !IsDiskFull() && ClaimCompaction(family.get())) {
    const std::shared_ptr<const Layers> layers = LayersOf(*family);
    if (layers != nullptr && family->index->PickFlush(*layers, top) == FlushChoice::kIntoTree) {
      done = FlushIntoTree(family.get(), table, cursor.get(), ranges, info);
    }
    ReleaseCompaction(family.get());
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
Status DbImpl::FlushIntoTree(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                          FlushJobInfo* info) {
  CompactionInput input;
  input.layers = LayersOf(*family);
  if (input.layers == nullptr) return Status::OK();
  input.memtable = cursor;
  input.memtable_ranges = ranges;
  input.max_output_bytes = StepBytes(*family);
  input.file_percent_max = space_.index_file_percent_max.load(std::memory_order_relaxed);
  input.before_write = PermitFor(FILE_BYTES_FLUSH, [] { return IO_USER; });
  TableFiles files = FilesOf(*family, TableFileCreationReason::kFlush, info->job_id);
  family->merge_files = &files;
  CompactedFiles merged;
  const Status done = [&] {
    CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, family->index->Compact(input));
    info->bytes_written = outcome->stats().bytes_written;
    return CommitCompaction(family, outcome.get(), &table, nullptr, &merged);
  }();
  family->merge_files = nullptr;
  files.Done(done);
  info->merged_into_tree = done.ok();
  info->output_files = PathsOf(merged.new_files);
  return done;
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

}  // namespace cambium
