#include "upkeep/upkeep.h"

#include <vector>

#include "util/epoch.h"

namespace cambium {

Upkeep::Upkeep(DbState* state) : state_(*state) {
  state_.jobs.Begin(this, [this](const Status& fatal) {
    if (CommitLog* const log = state_.head.log(); log != nullptr) log->Fail(fatal);
  });
}

Status Upkeep::Do(Job job, const std::shared_ptr<Family>& family) {
  switch (job) {
    case Job::kFlush: return flusher.FlushOldest(family);
    case Job::kCompact: return compactor.CompactDue(family);
    case Job::kSeal: return sealer.SealRotated();
    case Job::kSpare: return state_.head.MakeSpare();
    case Job::kCollect: return collector.Collect();
    case Job::kRemove: {
      const Status removed = state_.commits.RemoveObsolete();
      const Status punched = puncher.MakeReadyHoles();
      return removed.ok() ? punched : removed;
    }
    case Job::kLookAtSpace:
      return Status::OK();  // After takes the look
    case Job::kIdle: return space_keeper.WorkWhileIdle();
    case Job::kReserve: return disk_keeper.MakeReserve();
  }
  return Status::OK();
}

JobWork::Next Upkeep::After(Job job, const std::shared_ptr<Family>& family, const Status& done) {
  const bool has_no_space = state_.commits.TakeNoSpace();
  if (done.IsNoSpace() || has_no_space) disk_keeper.OnNoSpace();
  state_.full_disk.look_at.store(0, std::memory_order_relaxed);
  EpochCollect();
  state_.jobs.ReleaseDropped();
  Next next;
  if (job == Job::kFlush) next = flusher.NextOf(*family, done);
  if (job == Job::kCompact) next.compacts = done.ok() && compactor.IsDue(*family);
  // Flushes, compactions and seals change accounts and sizes.
  const bool changes_space = job != Job::kSpare && job != Job::kIdle && job != Job::kReserve;
  if (done.ok() && changes_space && job != Job::kLookAtSpace) space_keeper.CheckAfter(job);
  if (done.ok() && job == Job::kLookAtSpace) space_keeper.Check();
  return next;
}

void Upkeep::StopTicking() {
  memory_keeper.Close();
  space_keeper.Close();
  disk_keeper.Close();
}

Status Upkeep::WaitForAll() {
  Jobs& jobs = state_.jobs;
  {
    const JobsLock lock(jobs);
    jobs.ForEach([&jobs](Job job, const std::shared_ptr<Family>& family, const JobState* state)
                     CAMBIUM_REQUIRES(jobs_lock) {
                       if (!state->last.ok()) jobs.ScheduleLocked(job, family);
                     });
  }
  while (true) {
    CAMBIUM_RETURN_IF_ERROR(jobs.AwaitIdle());
    EpochCollect();
    std::vector<std::shared_ptr<Family>> due;
    const std::shared_ptr<const View> view = state_.commits.view().Pin();
    for (const FamilyView& each : view->families) {
      if (compactor.IsDue(*each.family)) due.push_back(each.family);
    }
    const JobsLock lock(jobs);
    Status last;
    jobs.ForEach([&last](Job, const std::shared_ptr<Family>&, const JobState* state) {
      if (last.ok()) last = state->last;
    });
    CAMBIUM_RETURN_IF_ERROR(last);
    for (const auto& family : due) jobs.ScheduleLocked(Job::kCompact, family);
    if (jobs.IsIdle()) return jobs.fatal();
  }
}

}  // namespace cambium
