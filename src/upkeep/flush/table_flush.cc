#include "upkeep/flush/table_flush.h"

#include <cassert>
#include <utility>

#include "upkeep/arithmetic.h"
#include "upkeep/hidden_garbage.h"
#include "util/mutant.h"

namespace cambium {
namespace {

HasVersions VersionsOf(const Family& family) {
  return family.KeepsVersions() && !MutantIs(Mutant::kFlushWritesNoVersions) ? HasVersions::kYes : HasVersions::kNo;
}

}  // namespace

TableFlush::TableFlush(const FlushTools& tools, std::shared_ptr<Family> family, FrozenTable table)
    : tools_(tools),
      family_(std::move(family)),
      start_micros_(tools.db.NowMicros()),
      before_(tools.commits.LayersOf(*family_)),
      input_(std::move(table), tools.compactor.StepBytes(*family_), VersionsOf(*family_)),
      tree_(tools, family_.get(), &input_, &unsynced_) {
  info_.db_name = tools_.db.events.db_name();
  info_.cf_name = family_->name;
  info_.cf_id = family_->id;
  info_.job_id = tools_.db.events.NewJobId();
  info_.flush_reason = input_.table().reason;
  info_.num_entries = input_.table().table->version_count();
  info_.largest_seqno = input_.table().end.sequence;
  tools_.db.events.Add([this_db = tools_.db.facade, info = info_](EventListener* listener) {
    listener->OnFlushBegin(this_db, info);
  });
}

Status TableFlush::Write() {
  if (newest_.grain == 0) {
    newest_ = LiveSample::Of(*input_.table().table, tools_.space.sample_grain.load(std::memory_order_relaxed));
  }
  const Status merged = tree_.Write(&info_);
  return merged.IsAborted() ? WriteRun() : merged;
}

Status TableFlush::WriteRun() {
  assert(tree_.change() == nullptr && !run_.has_value());
  run_.emplace(tools_, family_.get(), &input_);
  return run_->Write(&unsynced_, &info_);
}

void TableFlush::Reset() {
  assert(!is_committed_);
  tree_.Release(status);
  run_.reset();
  unsynced_.Clear();
  info_.output_files.clear();
  info_.bytes_written = 0;
  input_.StartOver(VersionsOf(*family_));
  lacks_versions_ = false;
}

PendingChange& TableFlush::change() {
  if (CompactionChange* const merged = tree_.change(); merged != nullptr) return *merged;
  assert(run_.has_value());
  return *run_;
}

Result<bool> TableFlush::Stage(Edit* edit) {
  assert(!is_committed_);
  // The family may have begun to keep versions since the files were begun. All that its layers then had was flushed
  // before it; an inline value without a version that came later would seem as old.
  lacks_versions_ = family_->KeepsVersions() && input_.has_versions() == HasVersions::kNo &&
                    !MutantIs(Mutant::kFlushWritesNoVersions) && !MutantIs(Mutant::kFlushUnderWayHasNoVersions);
  if (lacks_versions_) return Status::Aborted("the column family keeps versions now, so the flush begins again");
  return change().Stage(edit);
}

void TableFlush::Committed() {
  assert(!is_committed_ && "a memtable is flushed once");
  is_committed_ = true;
  change().Committed();
  NoteEstimates();
}

// If memory runs out, the estimates are made as if the sample had no older values.
void TableFlush::NoteEstimates() noexcept {
  const LogTable& table = *input_.table().table;
  const FamilySums& sums = tools_.commits.index().SumsOf(family_->id);
  const std::uint64_t below = Minus(sums.bytes, table.newest_separated_bytes());
  try {
    is_known_ = NoteReplaced(family_.get(), table, std::move(newest_), below, run_.has_value(),
                                    run_.has_value() ? run_->ranges() : nullptr);
  } catch (...) {
    family_->live_sample.Clear();
    family_->live_sample.MarkPartial();
  }
}

Status TableFlush::End() {
  if (is_committed_) status = run_.has_value() ? run_->SyncAfterCommit() : Status::OK();
  if (is_committed_) NoteFlushed();
  // A dropped family needs no flush. But a failed sync of the directory concerns all families.
  const bool is_dropped = family_->dropped.load(std::memory_order_acquire);
  if (is_dropped && status.severity() != Status::Severity::kFatal) status = Status::OK();
  tree_.Release(status);
  info_.status = status;
  info_.elapsed_micros = tools_.db.NowMicros() - start_micros_;
  tools_.db.meter.MeasureMicros(FLUSH_TIME, info_.elapsed_micros);
  tools_.db.events.Add([this_db = tools_.db.facade, info = info_](EventListener* listener) {
    listener->OnFlushCompleted(this_db, info);
  });
  return status;
}

void TableFlush::NoteFlushed() {
  CompactionChange* const merged = tree_.change();
  if (merged != nullptr) {
    info_.merged_into_tree = true;
    info_.output_files = tools_.compactor.PathsOf(merged->Finish().new_files);
  } else if (before_ != nullptr) {
    NoteHidden(family_.get(), {run_->runs(), run_->sample(), run_->has_stretches()}, *before_, is_known_);
  }
  const std::shared_ptr<const Layers> now = tools_.commits.LayersOf(*family_);
  if (now == nullptr) return;
  if (merged == nullptr && run_->ranges() != nullptr) NoteCovered(family_.get(), *now);
  if (before_ != nullptr) {
    family_->index_stats.AddFlush(*family_->index, *before_, *now, input_.shape(), family_->options().write_buffer_size);
  }
}

}  // namespace cambium
