// FailingJobs: makes writes fail if background work fails again and again.
//
// A job that has failed is tried again when something schedules it, and often that helps. But if every compaction of a
// family fails, runs pile up; if log GC or seals fail, the log grows. So from kFailuresMax failures in a row on, each
// write runs the failing job again, waits for it, and fails with its error. As soon as the job succeeds, writes do too.
// Reads, Flush and CompactRange are not affected.
//
//   counted      kCompact of the family, kCollect, kSeal (Jobs::NoteResult). A failed flush is noticed anyway: the
//                memtables fill up, and writes wait for a flush and return its error
//   not counted  errors that end by themselves (IsTransient), above all a full disk, which has its own rules
#pragma once

#include <memory>

#include "state/db_state.h"

namespace cambium {

class FailingJobs {
 public:
  explicit FailingJobs(DbState* state) : jobs_(state->jobs), commits_(state->commits) {}

  // Before a write to the family. OK, or the error of a job that fails again and again. If `waits` is false, a job is
  // scheduled and the error of its last run is returned.
  Status Check(Family* family, bool waits) CAMBIUM_EXCLUDES_ROLES {
    const bool fails = jobs_.has_failing_job() || family->is_compaction_failing.load(std::memory_order_relaxed);
    return fails && !MutantIs(Mutant::kFailuresStayUnnoticed) ? RunFailing(family, waits) : Status::OK();
  }
  // Runs again every job whose last run has failed, and returns the first error.
  Status RunAgain() CAMBIUM_EXCLUDES_ROLES;

 private:
  Status RunFailing(Family* family, bool waits);
  Status Run(Job job, const std::shared_ptr<Family>& family, bool waits);

  Jobs& jobs_;
  CommitPoint& commits_;
};

}  // namespace cambium
