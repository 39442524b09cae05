#include "upkeep/compact/compaction_step.h"

#include <utility>

#include "util/fault_point.h"

namespace cambium {

Compactor::OneStep::OneStep(Compactor* compactor, Family* family, CompactionReason reason)
    : compactor_(*compactor),
      db_(compactor->db_),
      family_(*family),
      watch_(&db_.meter, COMPACTION_TIME),
      start_(db_.NowMicros()) {
  info_.db_name = db_.events.db_name();
  info_.cf_name = family_.name;
  info_.cf_id = family_.id;
  info_.job_id = db_.events.NewJobId();
  info_.compaction_reason = reason;
  db_.events.Add([db = db_.facade, info = info_](EventListener* listener) { listener->OnCompactionBegin(db, info); });
  db_.events.Deliver();
  files_.emplace(family, compactor_.runs_.FilesOf(family_, TableFileCreationReason::kCompaction, info_.job_id));
}

// Ends the filter job only after an exception: of the filter, or bad_alloc.
Compactor::OneStep::~OneStep() {
  try {
    EndFilter(Status::Aborted("an exception has ended the compaction"));
  } catch (...) {  // files of the filter remain as orphans, which the next Open removes
  }
}

void Compactor::OneStep::EndFilter(const Status& done) {
  if (const std::unique_ptr<FilterJob> filter = std::move(filter_); filter != nullptr) {
    compactor_.EndFilterJob(filter.get(), done, &creations_);
  }
}

Status Compactor::OneStep::Write(std::shared_ptr<const Layers> layers, CompactionRequest* request, FileSyncs* syncs) {
  CompactionInput input = compactor_.InputFor(&family_, std::move(layers), request);
  filter_ = compactor_.NewFilterJob(family_, request, input, &creations_);
  permit_ = input.before_write;
  input.filter = filter_.get();
  input.syncs = syncs;
  CAMBIUM_TRY(outcome_, family_.index->Compact(input));
  CAMBIUM_FAULT_POINT("Merge:written");
  const CompactionStats& stats = outcome_->stats();
  info_.base_input_level = static_cast<int>(stats.level);
  info_.output_level = static_cast<int>(stats.output_level);
  info_.bytes_read = stats.bytes_read;
  info_.bytes_written = stats.bytes_written;
  info_.entries_merged = stats.entries_merged;
  info_.entries_dropped = stats.entries_dropped;
  if (filter_ != nullptr) CAMBIUM_RETURN_IF_ERROR(SyncChanged(filter_.get()));
  change_.emplace(&db_, &compactor_.commits_, &family_, outcome_.get(), nullptr, filter_.get());
  return Status::OK();
}

Status Compactor::OneStep::FinishCommit() {
  CAMBIUM_RETURN_IF_ERROR(change_->status);
  const CompactionChange::Files files = change_->Finish();
  compactor_.NoteStep(&family_);
  info_.input_files = compactor_.PathsOf(files.old_files);
  info_.output_files = compactor_.PathsOf(files.new_files);
  return Status::OK();
}

Status Compactor::OneStep::End(const Status& done) {
  EndFilter(done);
  info_.status = done;
  files_->Done(done);
  info_.elapsed_micros = db_.NowMicros() - start_;
  db_.events.Add([db = db_.facade, info = info_](EventListener* its) { its->OnCompactionCompleted(db, info); });
  db_.events.Deliver();
  return done.IsShutdownInProgress() ? Status::OK() : done;
}

}  // namespace cambium
