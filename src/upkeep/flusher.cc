#include "upkeep/flusher.h"

#include <algorithm>
#include <utility>

#include "upkeep/filter_job.h"
#include "upkeep/flush_commit.h"
#include "upkeep/hidden_garbage.h"
#include "upkeep/key_sample.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Returns the shape by which the index chooses between a run and the tree. Leaves the cursor at the first key. The
// shape refers to *smallest and *largest.
MemtableShape ShapeOf(const LogTable& table, const RangeDeletes* ranges, EntryCursor* cursor, std::string* smallest,
                      std::string* largest) {
  MemtableShape shape;
  cursor->SeekToLast();
  if (cursor->Valid()) *largest = cursor->key().ToString();
  cursor->SeekToFirst();
  if (cursor->Valid()) *smallest = cursor->key().ToString();
  shape.key_count = cursor->Valid() ? table.key_count() : 0;  // its range deletes may have left no key
  shape.ranges = ranges;
  shape.smallest_key = *smallest;
  shape.largest_key = *largest;
  return shape;
}

// Only in a mutant, which does not sync runs before the commit.
Status SyncAfterCommit(const std::vector<std::shared_ptr<const Run>>& runs) {
  if (!MutantIs(Mutant::kCommitBeforeRunSync)) return Status::OK();
  for (const auto& run : runs) {
    CAMBIUM_RETURN_IF_ERROR(DbContext::JudgeSync(run->files().Find(run->number())->shared_file()->SyncData()));
  }
  return Status::OK();
}

}  // namespace

Flusher::Flusher(DbState* state, Pace* pace, RunMaker* runs, SnapshotRuns* snapshots, Compactor* compactor)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      space_(state->space),
      disk_(state->full_disk),
      pace_(*pace),
      runs_(*runs),
      snapshot_runs_(*snapshots),
      compactor_(*compactor) {}

Status Flusher::FlushOldest(const std::shared_ptr<Family>& family) {
  FrozenTable table;
  {  // the view is released at once, because it would keep segments that log GC empties
    const std::shared_ptr<const View> view = commits_.view().Pin();
    const FamilyView* const found = view->Find(family->id);
    if (found == nullptr || found->frozen.empty()) return Status::OK();
    table = MutantIs(Mutant::kFlushOutOfOrder) ? found->frozen.front() : found->frozen.back();
  }
  FlushJobInfo info;
  info.db_name = db_.events.db_name();
  info.cf_name = family->name;
  info.cf_id = family->id;
  info.job_id = db_.events.NewJobId();
  info.flush_reason = table.reason;
  info.num_entries = table.table->version_count();
  info.largest_seqno = table.end.sequence;
  db_.events.Add([this, info](EventListener* listener) { listener->OnFlushBegin(db_.facade, info); });
  db_.events.Deliver();
  const Stopwatch watch(&db_.meter, FLUSH_TIME);
  const std::uint64_t start = db_.NowMicros();
  info.status = FlushTable(family, table, &info);
  info.elapsed_micros = db_.NowMicros() - start;
  db_.events.Add([this, info](EventListener* listener) { listener->OnFlushCompleted(db_.facade, info); });
  return info.status;
}

Status Flusher::FlushTable(const std::shared_ptr<Family>& family, const FrozenTable& table, FlushJobInfo* info) {
  // The index must never have an operation that the log may lose.
  if (!MutantIs(Mutant::kFlushBeforeLogSync)) CAMBIUM_RETURN_IF_ERROR(head_.log()->SyncUpTo(table.end.sequence));

  std::unique_ptr<EntryCursor> cursor = table.table->NewCursor(kMaxSequenceNumber);
  const SharedRanges ranges = table.table->RangesAt(kMaxSequenceNumber);
  std::string smallest;
  std::string largest;
  MemtableShape shape = ShapeOf(*table.table, ranges.get(), cursor.get(), &smallest, &largest);
  shape.max_output_bytes = compactor_.StepBytes(*family);

  const std::shared_ptr<const Layers> before = commits_.LayersOf(*family);
  Status done = TryFlushIntoTree(family.get(), table, shape, cursor.get(), ranges, info);
  if (done.IsAborted()) {
    KeySample sample(cursor.get(), shape.key_count);
    done = WriteRun(family.get(), table, &sample, ranges, info);
    if (done.ok() && before != nullptr) NoteHidden(family.get(), sample, *before);
    const std::shared_ptr<const Layers> now = commits_.LayersOf(*family);
    if (done.ok() && ranges != nullptr && now != nullptr) NoteCovered(family.get(), *now);
  }
  // A dropped family needs no flush. But a failed sync of the directory concerns all families.
  if (family->dropped.load(std::memory_order_acquire) && done.severity() != Status::Severity::kFatal) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(done);
  if (const std::shared_ptr<const Layers> after = commits_.LayersOf(*family); before != nullptr && after != nullptr) {
    family->index_stats.AddFlush(*family->index, *before, *after, shape, family->options().write_buffer_size);
  }
  CAMBIUM_RETURN_IF_ERROR(commits_.DropUnreferenced());
  const Status bounded = snapshot_runs_.BoundPinnedMemory();
  if (!bounded.ok()) {  // the flush itself has succeeded
    db_.logger->Log(InfoLogLevel::kWarn, "memory that snapshots pin could not be moved to runs: " + bounded.ToString());
  }
  return Status::OK();
}

Status Flusher::TryFlushIntoTree(Family* family, const FrozenTable& table, const MemtableShape& shape,
                                 EntryCursor* cursor, const SharedRanges& ranges, FlushJobInfo* info) {
  const Status run = Status::Aborted("a run is written");
  // A flush asks no compaction filter, so the filter would never see entries that a flush put into the tree. On a full
  // disk a run takes less space than the pages that a merge into the tree rewrites, and a later sweep can stop on the
  // way.
  if (HasFilter(family->options()) || disk_.IsFull() || !jobs_.ClaimCompaction(family)) return run;
  // The layers are read after the claim: a sweep may have begun before the claim, and none begins while this thread has
  // it.
  const std::shared_ptr<const Layers> layers = commits_.LayersOf(*family);
  Status done = run;
  if (layers != nullptr && family->index->PickFlush(*layers, shape) == FlushChoice::kIntoTree) {
    done = FlushIntoTree(family, table, cursor, ranges, info);
  }
  jobs_.ReleaseCompaction(family);
  if (done.ok()) return done;
  cursor->SeekToFirst();
  // A run does not need the tree, so damage in the tree is no reason to refuse writes.
  const bool is_damage = done.IsCorruption() || (done.IsIOError() && !done.IsNoSpace());
  if (!is_damage || done.severity() == Status::Severity::kFatal) return done;
  db_.logger->Log(InfoLogLevel::kWarn, "a memtable that could not be merged into the tree becomes a run: " + done.ToString());
  return run;
}

// A memtable that is too large for one file makes several runs, which share no key. The range deletes are in the first
// run, which lies below the others: there they hide older layers, and nothing in the other runs.
Status Flusher::WriteRun(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                        FlushJobInfo* info) {
  AccountDelta accounts;
  std::vector<std::shared_ptr<const Run>> made;
  do {
    CAMBIUM_TRY(std::shared_ptr<const Run> run,
                runs_.Make(*family, cursor, made.empty() ? ranges.get() : nullptr, &accounts, info->job_id));
    family->index_stats.AddRun(run->info());
    db_.meter.Tick(FLUSH_WRITE_BYTES, run->info().file_size);
    info->bytes_written += run->info().file_size;
    info->output_files.push_back(db_.PathOf(FileKind::kRun, run->number()));
    made.push_back(std::move(run));
  } while (cursor->Valid());
  CAMBIUM_RETURN_IF_ERROR(db_.SyncDirectory());
  CAMBIUM_RETURN_IF_ERROR(CommitRuns(family, table, made, std::move(accounts)));
  return SyncAfterCommit(made);
}

Status Flusher::CommitRuns(Family* family, const FrozenTable& table, const std::vector<std::shared_ptr<const Run>>& made,
                           AccountDelta accounts) {
  const CommitLock lock(commits_);
  std::shared_ptr<const Layers> next = commits_.LayersOf(*family);
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
  AbsorbTable(commits_, *family, table, &edit, &change);
  edit.families.push_back(std::move(change));
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, [&](View* view) { InstallFlushed(view, *family, table, std::move(next)); }));
  family->frozen_count.fetch_sub(1, std::memory_order_acq_rel);
  return Status::OK();
}

Status Flusher::FlushIntoTree(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                          FlushJobInfo* info) {
  CompactionInput input;
  input.layers = commits_.LayersOf(*family);
  if (input.layers == nullptr) return Status::OK();
  input.memtable = cursor;
  input.memtable_ranges = ranges;
  input.max_output_bytes = compactor_.StepBytes(*family);
  input.file_percent_max = space_.index_file_percent_max.load(std::memory_order_relaxed);
  input.before_write = pace_.PermitFor(FILE_BYTES_FLUSH, [] { return IO_USER; });
  TableFiles files = runs_.FilesOf(*family, TableFileCreationReason::kFlush, info->job_id);
  family->compaction_files = &files;
  Compactor::Files merged;
  const Status done = [&] {
    CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, family->index->Compact(input));
    info->bytes_written = outcome->stats().bytes_written;
    return compactor_.Commit(family, outcome.get(), &table, nullptr, &merged);
  }();
  family->compaction_files = nullptr;
  files.Done(done);
  info->merged_into_tree = done.ok();
  info->output_files = compactor_.PathsOf(merged.new_files);
  return done;
}

Status Flusher::FlushNow(Family* family, bool wait) {
  SequenceNumber upto = 0;
  while (true) {
    {
      const AppendLock lock(head_);
      if (family->dropped.load(std::memory_order_relaxed)) return DroppedStatus(*family);
      upto = head_.published();
      if (family->active->empty()) break;
      if (WriteHead::MayFreeze(*family)) {
        head_.Freeze(family, FlushReason::kManualFlush);
        break;
      }
    }
    CAMBIUM_RETURN_IF_ERROR(WaitFor(family, 0));
  }
  db_.events.Deliver();
  if (wait) CAMBIUM_RETURN_IF_ERROR(WaitFor(family, upto));
  return jobs_.Health();  // a job may have found a fatal error meanwhile
}

Status Flusher::WaitFor(Family* family, SequenceNumber sequence) {
  const std::shared_ptr<Family> kept = commits_.FindFamily(family->id);
  if (kept == nullptr) return Status::OK();  // dropped: nothing to wait for
  while (true) {
    std::uint64_t seen = 0;
    {
      const JobsLock lock(jobs_);
      // A call that waits for a failed flush tries it again.
      if (family->frozen_count.load(std::memory_order_acquire) > 0) jobs_.ScheduleLocked(Job::kFlush, kept);
      seen = family->flush.ended;
    }
    if (family->frozen_count.load(std::memory_order_acquire) == 0) return Status::OK();
    CAMBIUM_RETURN_IF_ERROR(jobs_.AwaitEnd(Job::kFlush, seen, kept));
    CAMBIUM_RETURN_IF_ERROR(jobs_.LastOf(Job::kFlush, kept));
    if (sequence == 0) return Status::OK();
    const CommitLock lock(commits_);
    const auto state = commits_.state().families.find(family->id);
    if (state == commits_.state().families.end() || state->second.flushed_sequence >= sequence) return Status::OK();
  }
}

}  // namespace cambium
