// Compactor::OneStep: one step of the compaction of one family, from the files that it writes to the end of its commit.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "index/file_syncs.h"
#include "state/table_files.h"
#include "upkeep/compact/compaction_change.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/compact/filter_job.h"
#include "util/meter.h"

namespace cambium {

// The files that a step makes, known to its family during the step.
class StepFiles {
 public:
  StepFiles(Family* family, TableFiles files) : family_(*family), files_(std::move(files)) {
    assert(family_.compaction_files == nullptr && "a family has one compaction at a time");
    family_.compaction_files = &files_;
  }
  ~StepFiles() { family_.compaction_files = nullptr; }
  StepFiles(const StepFiles&) = delete;
  StepFiles& operator=(const StepFiles&) = delete;

  void Done(const Status& status) { files_.Done(status); }

 private:
  Family& family_;
  TableFiles files_;
};

// One thread, which has claimed the family's compaction until the step is destroyed. The bytes of the step count as in
// flight until then, so it is destroyed after the commit. Listeners hear that the step begins and that it ends; if an
// exception passes, they hear that its files are given up.
class Compactor::OneStep {
 public:
  OneStep(Compactor* compactor, Family* family, CompactionReason reason);
  ~OneStep();
  OneStep(const OneStep&) = delete;
  OneStep& operator=(const OneStep&) = delete;

  // Writes the files. Adds them to *syncs, and the caller syncs them before the commit; null: Write syncs them.
  Status Write(std::shared_ptr<const Layers> layers, CompactionRequest* request, FileSyncs* syncs);
  // Returns the change for CommitTogether. Requires that Write has succeeded.
  [[nodiscard]] PendingChange* change() { return &*change_; }
  // Called after the commit, with no lock held. Returns the status of the change; if it is OK, the old files are
  // removed once no reader has them.
  Status FinishCommit();
  // Reports the end. Returns the result of the step: a step that was abandoned is no error.
  Status End(const Status& done);

 private:
  void EndFilter(const Status& done);

  Compactor& compactor_;
  DbContext& db_;
  Family& family_;
  CompactionJobInfo info_;
  const Stopwatch watch_;
  const std::uint64_t start_;  // microseconds
  BeforeWrite permit_;         // counts the bytes as in flight as long as the step lives
  std::optional<StepFiles> files_;
  Creations creations_;
  std::unique_ptr<FilterJob> filter_;  // null: the family has no filter, or its job has ended
  std::unique_ptr<CompactionOutcome> outcome_;
  std::optional<CompactionChange> change_;
};

}  // namespace cambium
