#include "upkeep/failing_jobs.h"

#include <utility>
#include <vector>

namespace cambium {

Status FailingJobs::RunFailing(Family* family, bool waits) {
  for (const Job job : {Job::kSeal, Job::kCollect}) CAMBIUM_RETURN_IF_ERROR(Run(job, nullptr, waits));
  const std::shared_ptr<Family> kept = commits_.FindFamily(family->id);
  return kept == nullptr ? Status::OK() : Run(Job::kCompact, kept, waits);  // null: dropped
}

Status FailingJobs::Run(Job job, const std::shared_ptr<Family>& family, bool waits) {
  if (jobs_.FailureOf(job, family).ok()) return Status::OK();
  const std::optional<std::uint64_t> seen = jobs_.ScheduleToAwait(job, family);
  if (seen.has_value() && waits) CAMBIUM_RETURN_IF_ERROR(jobs_.AwaitEnd(job, *seen, family));
  CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
  return jobs_.FailureOf(job, family);
}

Status FailingJobs::RunAgain() {
  std::vector<std::pair<Job, std::shared_ptr<Family>>> failed;
  {
    const JobsLock lock(jobs_);
    jobs_.ForEach([&failed](Job job, const std::shared_ptr<Family>& family, const JobState* state) {
      if (!state->last.ok() || state->failures > 0) failed.emplace_back(job, family);
    });
  }
  Status first;
  for (const auto& [job, family] : failed) {
    const std::optional<std::uint64_t> seen = jobs_.ScheduleToAwait(job, family);
    if (seen.has_value()) CAMBIUM_RETURN_IF_ERROR(jobs_.AwaitEnd(job, *seen, family));
    Status done = jobs_.LastOf(job, family);
    if (done.ok()) done = jobs_.FailureOf(job, family);
    if (first.ok()) first = done;
  }
  return first.ok() ? jobs_.Health() : first;
}

}  // namespace cambium
