#include "upkeep/table_flush.h"

#include <cassert>
#include <utility>

#include "options/options_check.h"
#include "upkeep/filter_job.h"
#include "upkeep/flush_commit.h"
#include "upkeep/hidden_garbage.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Only in a mutant, which does not sync runs before the commit.
Status SyncAfterCommit(const std::vector<std::shared_ptr<const Run>>& runs) {
  if (!MutantIs(Mutant::kCommitBeforeRunSync)) return Status::OK();
  for (const auto& run : runs) {
    CAMBIUM_RETURN_IF_ERROR(DbContext::JudgeSync(run->files().Find(run->number())->shared_file()->SyncData()));
  }
  return Status::OK();
}

// A full disk is no damage.
bool IsDamage(const Status& s) {
  return s.severity() != Status::Severity::kFatal && (s.IsCorruption() || (s.IsIOError() && !s.IsNoSpace()));
}

}  // namespace

TableFlush::TableFlush(const FlushTools& tools, std::shared_ptr<Family> family, FrozenTable table)
    : tools_(tools),
      family_(std::move(family)),
      table_(std::move(table)),
      start_micros_(tools.db.NowMicros()),
      before_(tools.commits.LayersOf(*family_)),
      cursor_(table_.table->NewCursor(kMaxSequenceNumber)),
      ranges_(table_.table->RangesAt(kMaxSequenceNumber)),
      shape_(MakeShape()) {
  info_.db_name = tools_.db.events.db_name();
  info_.cf_name = family_->name;
  info_.cf_id = family_->id;
  info_.job_id = tools_.db.events.NewJobId();
  info_.flush_reason = table_.reason;
  info_.num_entries = table_.table->version_count();
  info_.largest_seqno = table_.end.sequence;
  tools_.db.events.Add([this_db = tools_.db.facade, info = info_](EventListener* listener) {
    listener->OnFlushBegin(this_db, info);
  });
}

TableFlush::~TableFlush() {
  if (has_claim_) ReleaseTree(Status::Aborted("the flush was not committed"));
}

// The shape by which the index chooses between a run and the tree. Leaves the cursor at the first key.
MemtableShape TableFlush::MakeShape() {
  MemtableShape shape;
  cursor_->SeekToLast();
  if (cursor_->Valid()) largest_ = cursor_->key().ToString();
  cursor_->SeekToFirst();
  if (cursor_->Valid()) smallest_ = cursor_->key().ToString();
  shape.key_count = cursor_->Valid() ? table_.table->key_count() : 0;  // its range deletes may have left no key
  shape.ranges = ranges_.get();
  shape.smallest_key = smallest_;
  shape.largest_key = largest_;
  shape.max_output_bytes = tools_.compactor.StepBytes(*family_);
  return shape;
}

Status TableFlush::Write() {
  const Status merged = WriteIntoTree();
  return merged.IsAborted() ? WriteRun() : merged;
}

Status TableFlush::WriteIntoTree() {
  const Status run = Status::Aborted("a run is written");
  // A flush asks no compaction filter, so the filter would never see entries that a flush put into the tree. On a full
  // disk a run takes less space than the pages that a merge into the tree rewrites, and a later sweep can stop on the
  // way.
  if (HasFilter(family_->options()) || tools_.disk.IsFull() || !tools_.jobs.ClaimCompaction(family_.get())) return run;
  has_claim_ = true;
  // The layers are read after the claim: a sweep may have begun before the claim, and none begins while this thread has
  // it.
  const std::shared_ptr<const Layers> layers = tools_.commits.LayersOf(*family_);
  Status done = run;
  if (layers != nullptr && family_->index->PickFlush(*layers, shape_) == FlushChoice::kIntoTree &&
      HasRoomToMerge(*layers)) {
    done = MergeIntoTree(layers);
  }
  if (done.ok()) return done;
  ReleaseTree(done);
  if (!IsDamage(done)) return done;
  tools_.db.logger->Log(InfoLogLevel::kWarn,
                        "a memtable that could not be merged into the tree becomes a run: " + done.ToString());
  return run;
}

// Flushes of many families run at once, and each may rewrite a whole small tree for a small memtable.
bool TableFlush::HasRoomToMerge(const Layers& layers) {
  const std::uint64_t most = std::max(shape_.max_output_bytes, kTreeFlushBytesLeast);
  const std::uint64_t copies = most / 2;  // the merge also copies live pages out of sparse files
  merging_.emplace(&tools_.disk.merging_bytes, std::min(layers.shape().base_live_bytes, most + copies));
  std::uint64_t free = 0;
  if (!tools_.db.fs->FreeSpace(tools_.db.path, &free).ok()) return true;
  return MutantIs(Mutant::kMergeWithoutRoom) ||
         tools_.disk.FreeBeyondReserve(free) >=
             merging_->total() + tools_.disk.compaction_room.load(std::memory_order_relaxed);
}

Status TableFlush::MergeIntoTree(const std::shared_ptr<const Layers>& layers) {
  assert(has_claim_ && !is_committed_ && family_->compaction_files == nullptr);
  CompactionInput input;
  input.layers = layers;
  input.memtable = cursor_.get();
  input.memtable_ranges = ranges_;
  input.max_output_bytes = shape_.max_output_bytes;
  input.file_percent_max = tools_.space.index_file_percent_max.load(std::memory_order_relaxed);
  input.syncs = unsynced_.files();
  input.before_write = tools_.pace.PermitFor(FILE_BYTES_FLUSH, [] { return IO_USER; });
  files_.emplace(tools_.runs.FilesOf(*family_, TableFileCreationReason::kFlush, info_.job_id));
  family_->compaction_files = &*files_;
  CAMBIUM_TRY(outcome_, family_->index->Compact(input));
  info_.bytes_written = outcome_->stats().bytes_written;
  merge_.emplace(&tools_.db, &tools_.commits, family_.get(), outcome_.get(), &table_, nullptr);
  return Status::OK();
}

// The cursor is at the first key again.
void TableFlush::ReleaseTree(const Status& done) {
  assert(has_claim_ && "the claim is released once");
  family_->compaction_files = nullptr;
  if (files_.has_value()) files_->Done(done);
  files_.reset();
  merge_.reset();
  outcome_.reset();
  unsynced_.Clear();
  has_claim_ = false;
  merging_.reset();
  tools_.jobs.ReleaseCompaction(family_.get());
  cursor_->SeekToFirst();
}

bool TableFlush::CanBecomeRun() const {
  // Aborted: log GC has put a run on top meanwhile, below which the tree's new entries would lie.
  const bool is_overtaken = status.IsAborted() && status.severity() != Status::Severity::kFatal;
  return merge_.has_value() && !is_committed_ && (IsDamage(status) || is_overtaken);
}

void TableFlush::Reset() {
  assert(!is_committed_);
  if (has_claim_) ReleaseTree(status);
  sample_.reset();
  made_.clear();
  unsynced_.Clear();
  accounts_ = {};
  info_.output_files.clear();
  info_.bytes_written = 0;
  cursor_->SeekToFirst();
}

// A memtable that is too large for one file makes several runs, which share no key. The range deletes are in the first
// run, which lies below the others: there they hide older layers, and nothing in the other runs.
Status TableFlush::WriteRun() {
  assert(!has_claim_ && !merge_.has_value() && made_.empty());
  sample_.emplace(cursor_.get(), shape_.key_count);
  do {
    CAMBIUM_TRY(std::shared_ptr<const Run> run, tools_.runs.Make(*family_, &*sample_, made_.empty() ? ranges_.get() : nullptr,
                                                                 &accounts_, &unsynced_, info_.job_id));
    family_->index_stats.AddRun(run->info());
    tools_.db.meter.Tick(FLUSH_WRITE_BYTES, run->info().file_size);
    info_.bytes_written += run->info().file_size;
    info_.output_files.push_back(tools_.db.PathOf(FileKind::kRun, run->number()));
    made_.push_back(std::move(run));
  } while (sample_->Valid());
  return Status::OK();
}

Result<bool> TableFlush::Stage(Edit* edit) {
  assert(!is_committed_);
  if (merge_.has_value()) return merge_->Stage(edit);
  assert(!made_.empty());
  next_ = tools_.commits.LayersOf(*family_);
  if (next_ == nullptr) return false;
  FamilyEdit change;
  change.id = family_->id;
  for (const auto& run : made_) {
    change.add_runs.push_back(run->info());
    next_ = next_->WithNewestRun(run);
  }
  change.layers.emplace();
  for (const auto& run : next_->runs()) change.layers->push_back(run->number());
  change.accounts = accounts_;
  SetFlushed(tools_.commits.state(), *family_, table_, &change);
  edit->families.push_back(std::move(change));
  return true;
}

void TableFlush::Install(View* view) {
  if (merge_.has_value()) return merge_->Install(view);
  InstallFlushed(tools_.db, view, *family_, table_, next_);
}

void TableFlush::Committed() {
  assert(!is_committed_ && "a table is flushed once");
  is_committed_ = true;
  if (merge_.has_value()) return merge_->Committed();
  family_->frozen_count.fetch_sub(1, std::memory_order_acq_rel);
}

Status TableFlush::End() {
  if (is_committed_) status = SyncAfterCommit(made_);
  if (is_committed_) NoteFlushed();
  // A dropped family needs no flush. But a failed sync of the directory concerns all families.
  const bool is_dropped = family_->dropped.load(std::memory_order_acquire);
  if (is_dropped && status.severity() != Status::Severity::kFatal) status = Status::OK();
  if (has_claim_) ReleaseTree(status);
  info_.status = status;
  info_.elapsed_micros = tools_.db.NowMicros() - start_micros_;
  tools_.db.meter.MeasureMicros(FLUSH_TIME, info_.elapsed_micros);
  tools_.db.events.Add([this_db = tools_.db.facade, info = info_](EventListener* listener) {
    listener->OnFlushCompleted(this_db, info);
  });
  return status;
}

void TableFlush::NoteFlushed() {
  if (merge_.has_value()) {
    info_.merged_into_tree = true;
    info_.output_files = tools_.compactor.PathsOf(merge_->Finish().new_files);
  } else if (before_ != nullptr) {
    NoteHidden(family_.get(), *sample_, *before_);
  }
  const std::shared_ptr<const Layers> now = tools_.commits.LayersOf(*family_);
  if (now == nullptr) return;
  if (!merge_.has_value() && ranges_ != nullptr) NoteCovered(family_.get(), *now);
  if (before_ != nullptr) {
    family_->index_stats.AddFlush(*family_->index, *before_, *now, shape_, family_->options().write_buffer_size);
  }
}

}  // namespace cambium
