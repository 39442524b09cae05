#include "upkeep/flush/tree_flush.h"

#include <algorithm>
#include <cassert>

#include "options/options_check.h"
#include "upkeep/compact/filter_job.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// A full disk is no damage.
bool IsDamage(const Status& s) {
  return s.severity() != Status::Severity::kFatal && (s.IsCorruption() || (s.IsIOError() && !s.IsNoSpace()));
}

}  // namespace

Status TreeFlush::Write(FlushJobInfo* info) {
  const Status run = Status::Aborted("a run is written");
  // A flush asks no compaction filter, so the filter would never see entries that a flush put into the tree. On a full
  // disk a run takes less space than the pages that a merge into the tree rewrites, and a later sweep can stop on the
  // way.
  if (HasFilter(family_.options()) || tools_.disk.IsFull() || !tools_.jobs.ClaimCompaction(&family_)) return run;
  has_claim_ = true;
  // The layers are read after the claim: a sweep may have begun before the claim, and none begins while this thread has
  // it.
  const std::shared_ptr<const Layers> layers = tools_.commits.LayersOf(family_);
  Status done = run;
  if (layers != nullptr && family_.index->PickFlush(*layers, input_.shape()) == FlushChoice::kIntoTree &&
      HasRoomToMerge(*layers)) {
    done = Merge(layers, info);
  }
  if (done.ok()) return done;
  Release(done);
  if (!IsDamage(done)) return done;
  tools_.db.logger->Log(InfoLogLevel::kWarn,
                        "a memtable that could not be merged into the tree becomes a run: " + done.ToString());
  return run;
}

// Flushes of many families run at once, and each may rewrite a whole small tree for a small memtable.
bool TreeFlush::HasRoomToMerge(const Layers& layers) {
  const std::uint64_t most = std::max(input_.shape().max_output_bytes, kTreeFlushBytesLeast);
  const std::uint64_t copies = most / 2;  // the merge also copies live pages out of sparse files
  const std::uint64_t its = std::min(layers.shape().base_live_bytes, most + copies);
  merging_.emplace(&tools_.disk.merging_bytes, its);
  // Flushes that share a commit free the old pages of all their trees only after it. Under a ceiling that bounds
  // indexes, these pages may together take as many bytes as a step may write; the other memtables become runs, which
  // are merged later.
  const bool is_bounded = tools_.space.index_file_percent_max.load(std::memory_order_relaxed) < kFilePercentUnbounded;
  const std::uint64_t together = std::max(its, tools_.space.step_bytes.load(std::memory_order_relaxed));
  if (is_bounded && merging_->total() > together && !MutantIs(Mutant::kFlushesMergeAllTrees)) return false;
  std::uint64_t free = 0;
  if (!tools_.db.fs->FreeSpace(tools_.db.path, &free).ok()) return true;
  return MutantIs(Mutant::kMergeWithoutRoom) ||
         tools_.disk.FreeBeyondReserve(free) >=
             merging_->total() + tools_.disk.compaction_room.load(std::memory_order_relaxed);
}

Status TreeFlush::Merge(const std::shared_ptr<const Layers>& layers, FlushJobInfo* info) {
  assert(has_claim_ && !change_.has_value() && family_.compaction_files == nullptr);
  CompactionInput input;
  input.layers = layers;
  input.memtable = input_.cursor();
  input.memtable_keys = input_.shape().key_count;
  input.memtable_ranges = input_.ranges();
  input.max_output_bytes = input_.shape().max_output_bytes;
  input.file_percent_max = tools_.space.index_file_percent_max.load(std::memory_order_relaxed);
  input.syncs = unsynced_.files();
  input.before_write = permit_ = tools_.pace.PermitFor(FILE_BYTES_FLUSH, [] { return IO_USER; });
  files_.emplace(tools_.runs.FilesOf(family_, TableFileCreationReason::kFlush, info->job_id));
  family_.compaction_files = &*files_;
  CAMBIUM_TRY(outcome_, family_.index->Compact(input));
  info->bytes_written = outcome_->stats().bytes_written;
  change_.emplace(&tools_.db, &tools_.commits, &family_, outcome_.get(), &input_.table(), nullptr);
  return Status::OK();
}

void TreeFlush::Release(const Status& done) {
  if (!has_claim_) return;
  family_.compaction_files = nullptr;
  if (files_.has_value()) files_->Done(done);
  files_.reset();
  change_.reset();
  outcome_.reset();
  unsynced_.Clear();
  has_claim_ = false;
  merging_.reset();
  tools_.jobs.ReleaseCompaction(&family_);
  input_.cursor()->SeekToFirst();
}

bool TreeFlush::CanBecomeRun(const Status& failed) const {
  // Aborted: log GC has put a run on top meanwhile, and the tree's new entries would lie below it.
  const bool is_overtaken = failed.IsAborted() && failed.severity() != Status::Severity::kFatal;
  return change_.has_value() && (IsDamage(failed) || is_overtaken);
}

}  // namespace cambium
