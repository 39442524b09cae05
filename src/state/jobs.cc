#include "state/jobs.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "memtable/write_budget.h"
#include "util/count_scope.h"
#include "util/mutant.h"

namespace cambium {
namespace {

const char* const kJobNames[] = {"flush",           "compact",      "seal",          "create a segment ahead",
                                 "collect garbage", "remove files", "look at space", "work while idle",
                                 "keep a reserve"};
static_assert(std::size(kJobNames) == kJobCount);

TaskPriority PriorityOf(Job job) {
  switch (job) {
    case Job::kFlush:
    case Job::kSpare:
    case Job::kLookAtSpace:
      return TaskPriority::kHigh;
    case Job::kSeal:
    case Job::kRemove:
    case Job::kReserve: return TaskPriority::kNormal;
    default: return TaskPriority::kLow;
  }
}

// True if the cause may end without a call of the user: a full disk has its own rules, and the other errors concern one
// run only.
bool IsTransient(const Status& failed) {
  return failed.IsNoSpace() || failed.IsBusy() || failed.IsDenied() || failed.IsTimedOut() || failed.IsShutdownInProgress() ||
         failed.IsColumnFamilyDropped();
}

// True only in mutants, in which a failed sync does not end all writing.
bool MayContinueAfter(const Status& failed) {
  return MutantIs(Mutant::kIgnoreFailedSync) || (failed.IsNoSpace() && MutantIs(Mutant::kNoSpaceSyncIsNotFatal));
}

}  // namespace

void Jobs::Begin(JobWork* work, std::function<void(const Status&)> on_fatal) {
  assert(work_ == nullptr && work != nullptr);
  work_ = work;
  on_fatal_ = std::move(on_fatal);
}

void Jobs::Start() {
  const JobsLock lock(*this);
  is_started_ = true;
}

// ---- The fatal error ----

Status Jobs::Health() const {
  if (!has_fatal()) return Status::OK();
  const JobsLock lock(*this);
  return fatal();
}

Status Jobs::fatal() const {
  if (!has_fatal()) return Status::OK();
  return fatal_.ok() ? Status::Aborted("out of memory for the message of a fatal error").Fatal() : fatal_;
}

void Jobs::SetFatal(const Status& status, BackgroundErrorReason reason) {
  assert(!status.ok());
  if (MayContinueAfter(status)) return;
  bool is_first = false;
  {
    // Nothing here allocates before writers are stopped.
    const JobsLock lock(*this);
    is_first = !has_fatal();
    has_fatal_.store(true, std::memory_order_release);
    TellBudget();
    changed_.NotifyAll();
    if (is_first) fatal_ = status.Fatal();
  }
  on_fatal_(status);
  if (!is_first) return;
  db_.logger->Log(InfoLogLevel::kError, "the database takes no more writes: " + status.ToString());
  ReportError(reason, status.Fatal());
}

void Jobs::ReportError(BackgroundErrorReason reason, const Status& status) {
  error_count_.fetch_add(1, std::memory_order_relaxed);
  db_.events.Add([info = BackgroundErrorInfo{db_.events.db_name(), reason, status}](EventListener* listener) {
    listener->OnBackgroundError(info);
  });
}

// ---- Jobs that fail again and again ----

void Jobs::NoteResult(Job job, Family* family, const Status& result) {
  if (!result.ok() && IsTransient(result)) return;
  const JobsLock lock(*this);
  JobState& state = *StateOf(job, family);
  state.failures = result.ok() ? 0 : state.failures + 1;
  state.failure = result;
  if (state.failures == kFailuresMax) {
    db_.logger->Log(InfoLogLevel::kError, "writes fail until background work succeeds again: " + result.ToString());
  }
  if (family != nullptr) {
    family->is_compaction_failing.store(state.failures >= kFailuresMax, std::memory_order_relaxed);
    return;
  }
  has_failing_job_.store(
      std::ranges::any_of(states_, [](const JobState& each) { return each.failures >= kFailuresMax; }),
      std::memory_order_relaxed);
}

Status Jobs::FailureOf(Job job, const std::shared_ptr<Family>& family) {
  const JobsLock lock(*this);
  const JobState& state = *StateOf(job, family.get());
  if (state.failures < kFailuresMax) return Status::OK();
  return state.failure.WithContext("no writes, because background work has failed " + std::to_string(state.failures) +
                                   " times in a row");
}

BackgroundErrorReason Jobs::ReasonOf(Job job) {
  switch (job) {
    case Job::kFlush: return BackgroundErrorReason::kFlush;
    case Job::kCompact: return BackgroundErrorReason::kCompaction;
    case Job::kCollect: return BackgroundErrorReason::kLogGc;
    default: return BackgroundErrorReason::kFiles;
  }
}

// ---- Scheduling ----

JobState* Jobs::StateOf(Job job, Family* family) {
  assert((family != nullptr) == (job == Job::kFlush || job == Job::kCompact));
  switch (job) {
    case Job::kFlush: return &family->flush;
    case Job::kCompact: return &family->compaction;
    default: return &states_[static_cast<std::size_t>(job)];
  }
}

void Jobs::Schedule(Job job, const std::shared_ptr<Family>& family) {
  const JobsLock lock(*this);
  ScheduleLocked(job, family);
}

bool Jobs::ScheduleIfPossible(Job job, const std::shared_ptr<Family>& family) noexcept {
  try {
    Schedule(job, family);
    return true;
  } catch (...) {  // an executor of the user may throw anything
    return false;
  }
}

void Jobs::ScheduleLocked(Job job, const std::shared_ptr<Family>& family) {
  JobState& state = *StateOf(job, family.get());
  if (!is_started_ || closing_ || db_.read_only || has_fatal()) return;
  if (state.scheduled) {
    state.again = true;
    return;
  }
  assert(!state.under_way && !state.is_taken && !state.was_skipped && "only a scheduled job is under way");
  db_.executor->Schedule(PriorityOf(job), [this, job, family] { Run(job, family); });
  state.scheduled = true;  // unless Schedule throws; the task cannot end before this line, because it takes jobs_lock
  if (job != Job::kFlush) return;
  ++flushes_scheduled_;
  SetFlushFailed(family.get(), false);
  TellBudget();
}

std::optional<std::uint64_t> Jobs::ScheduleToAwait(Job job, const std::shared_ptr<Family>& family) {
  const JobsLock lock(*this);
  ScheduleLocked(job, family);
  const JobState& state = *StateOf(job, family.get());
  if (!state.scheduled) return std::nullopt;
  return state.ended;
}

bool Jobs::Begin(Job job, const std::shared_ptr<Family>& family) {
  const JobsLock lock(*this);
  JobState& state = *StateOf(job, family.get());
  assert(state.scheduled && !state.under_way && "a task runs only for a job that is scheduled");
  state.was_skipped = state.is_taken;
  if (state.is_taken) return false;
  const bool is_done = std::exchange(state.is_done, false) && !state.again;
  if (is_done) {
    state.scheduled = false;
    changed_.NotifyAll();
    return false;
  }
  state.again = false;
  state.under_way = true;
  return true;
}

void Jobs::Run(Job job, const std::shared_ptr<Family>& family) {
  if (!Begin(job, family)) return;
  Status s = Health();
  JobWork::Next next;
  // Another job may have flushed the family together with its own.
  const bool has_work = job != Job::kFlush || family->frozen_count.load(std::memory_order_acquire) > 0;
  if (has_work) {
    if (s.ok()) s = work_->Do(job, family);
    Judge(job, s);
    if (job == Job::kSeal || job == Job::kCollect) NoteResult(job, nullptr, s);
    next = work_->After(job, family, s);
    db_.events.Deliver();  // before the job counts as ended
  }
  const JobsLock lock(*this);
  End(job, family, s, next);
}

void Jobs::Judge(Job job, const Status& done) {
  if (done.severity() == Status::Severity::kFatal) {
    SetFatal(done, ReasonOf(job));
  } else if (!done.ok()) {
    db_.logger->Log(InfoLogLevel::kWarn,
                    std::string("could not ") + kJobNames[static_cast<std::size_t>(job)] + ": " + done.ToString());
    ReportError(ReasonOf(job), done);
  }
}

void Jobs::End(Job job, const std::shared_ptr<Family>& family, const Status& done, JobWork::Next next) {
  JobState& state = *StateOf(job, family.get());
  assert(state.scheduled && !state.is_taken && "a job ends once");
  state.scheduled = state.under_way = false;
  if (job == Job::kFlush) {
    assert(flushes_scheduled_ > 0);
    --flushes_scheduled_;
    const bool has_frozen = family->frozen_count.load(std::memory_order_acquire) > 0;
    SetFlushFailed(family.get(), !done.ok() && has_frozen && !family->dropped.load(std::memory_order_relaxed));
  }
  state.last = done;
  ++state.ended;
  // A failed job does not repeat itself, except kRemove and kSeal: they may have been scheduled meanwhile for other
  // files or segments.
  const bool has_many_items = job == Job::kRemove || job == Job::kSeal;
  const bool again = std::exchange(state.again, false) && (done.ok() || has_many_items);
  if (next.repeats || again) ScheduleLocked(job, family);
  // If another thread is compacting the family, that thread checks for more work when it ends.
  if (next.compacts && !family->compacting) ScheduleLocked(Job::kCompact, family);
  NoteEnd(job);
}

void Jobs::NoteEnd(Job job) {
  changed_.NotifyAll();
  if (job != Job::kFlush || db_.budget == nullptr) return;
  TellBudget();
  db_.budget->NoteChange();
}

void Jobs::SetFlushFailed(Family* family, bool has_failed) {
  if (std::exchange(family->flush.has_failed, has_failed) != has_failed) flushes_failed_ += has_failed ? 1 : -1;
  assert(flushes_failed_ >= 0);
}

void Jobs::TellBudget() {
  if (db_.share != nullptr) db_.share->SetFailing(has_fatal() || (flushes_failed_ > 0 && flushes_scheduled_ == 0));
}

// ---- Flushes and compactions that one job does for several families ----

std::vector<std::shared_ptr<Family>> Jobs::Take(Job job, std::size_t most,
                                                const std::function<bool(const Family&)>& suits) {
  std::vector<std::shared_ptr<Family>> taken;
  if (most == 0) return taken;
  taken.reserve(most);  // nothing throws once a job is taken
  const JobsLock lock(*this);
  for (const std::shared_ptr<Family>& family : families_) {
    JobState& state = *StateOf(job, family.get());
    const bool has_nothing_left = state.is_done && !state.again;
    if (!state.scheduled || state.under_way || state.is_taken || has_nothing_left || !suits(*family)) continue;
    taken.push_back(family);
    state.is_taken = true;
    state.is_done = false;
    state.again = false;  // the caller has not looked for work yet
    if (taken.size() == most) break;
  }
  return taken;
}

void Jobs::GiveBack(Job job, const std::shared_ptr<Family>& family, const std::optional<Status>& done,
                    JobWork::Next next) {
  const JobsLock lock(*this);
  JobState& state = *StateOf(job, family.get());
  assert(state.is_taken && state.scheduled && !state.under_way && "only a job that was taken is given back");
  state.is_taken = false;
  const bool was_skipped = std::exchange(state.was_skipped, false);
  if (was_skipped && done.has_value()) return End(job, family, *done, next);
  if (was_skipped) {
    state.scheduled = state.again = false;
    if (job == Job::kFlush) {
      assert(flushes_scheduled_ > 0);
      --flushes_scheduled_;
    }
    try {
      ScheduleLocked(job, family);
    } catch (...) {  // an executor of the user may throw anything; a later call schedules the job
    }
    if (state.scheduled) return;
    ++state.ended;  // no task will do it, so no thread may wait for its end
    return NoteEnd(job);
  }
  if (!done.has_value()) return;
  // The task has not begun yet. The task of a flush will look for another memtable, or try a failed one again. The task
  // of a compaction does nothing (is_done), unless another call schedules the job before it begins. A failed compaction
  // does not repeat itself.
  if (job == Job::kCompact) {
    state.is_done = true;
    state.again = state.again && done->ok();
  }
  state.last = *done;
  ++state.ended;
  if (next.compacts && !family->compacting) ScheduleLocked(Job::kCompact, family);
  NoteEnd(job);
}

// ---- Waiting ----

void Jobs::RunOrWait(const std::function<bool()>& done) {
  mutex_.AssertHeld();  // the caller holds it, as the role jobs_lock says
  bool ran = false;
  {
    const MutexUnlock unlocked(mutex_);
    ran = db_.executor->RunOneInstead();
  }
  if (!ran && !done()) changed_.Wait(mutex_);
}

Status Jobs::WaitUntil(const std::function<bool()>& done) {
  const CountScope waits(&waiting_calls_);
  const JobsLock lock(*this);
  while (!done()) {
    if (has_fatal()) return fatal();
    RunOrWait([&] { return done() || has_fatal(); });
  }
  return Status::OK();
}

Status Jobs::AwaitEnd(Job job, std::uint64_t seen, const std::shared_ptr<Family>& family) {
  return WaitUntil([&]() CAMBIUM_REQUIRES(jobs_lock) { return StateOf(job, family.get())->ended != seen; });
}

Status Jobs::LastOf(Job job, const std::shared_ptr<Family>& family) {
  const JobsLock lock(*this);
  return StateOf(job, family.get())->last;
}

Status Jobs::AwaitIdle() {
  return WaitUntil([this]() CAMBIUM_REQUIRES(jobs_lock) { return IsIdle(); });
}

// ---- Under jobs_lock ----

void Jobs::ForEach(const std::function<void(Job, const std::shared_ptr<Family>&, JobState*)>& visit) {
  for (const Job job :
       {Job::kSeal, Job::kSpare, Job::kCollect, Job::kRemove, Job::kLookAtSpace, Job::kIdle, Job::kReserve}) {
    visit(job, nullptr, StateOf(job, nullptr));
  }
  for (const std::shared_ptr<Family>& family : families_) {
    for (const Job job : {Job::kFlush, Job::kCompact}) visit(job, family, StateOf(job, family.get()));
  }
}

bool Jobs::IsIdle() {
  bool idle = std::ranges::none_of(dropped_, [](const std::shared_ptr<Family>& family) CAMBIUM_REQUIRES(jobs_lock) {
    return family->flush.scheduled || family->compaction.scheduled;
  });
  ForEach([&idle](Job, const std::shared_ptr<Family>&, const JobState* state) { idle = idle && !state->scheduled; });
  return idle;
}

bool Jobs::HasJobThatFreesSpace() const {
  for (const Job job : {Job::kSeal, Job::kCollect, Job::kRemove}) {
    if (IsScheduled(job)) return true;
  }
  return std::ranges::any_of(families_, [](const std::shared_ptr<Family>& family) CAMBIUM_REQUIRES(jobs_lock) {
    return family->flush.scheduled || family->compaction.scheduled;
  });
}

// ---- The one compaction of a family ----

bool Jobs::ClaimCompaction(Family* family) {
  const JobsLock lock(*this);
  return family->next_claims == 0 && !std::exchange(family->compacting, true);
}

void Jobs::ReleaseCompaction(Family* family) {
  const JobsLock lock(*this);
  assert(family->compacting && family->compaction_files == nullptr && "only a claim can be released, at its end");
  family->compacting = false;
  ++family->compactions_ended;
  changed_.NotifyAll();
}

Status Jobs::AwaitClaimOfCompaction(Family* family) {
  while (!ClaimCompaction(family)) {
    CAMBIUM_RETURN_IF_ERROR(WaitUntil([&]() CAMBIUM_REQUIRES(jobs_lock) {
      return !family->compacting && family->next_claims == 0;
    }));
  }
  return Status::OK();
}

Status Jobs::AwaitNextClaimOfCompaction(Family* family) {
  {
    const JobsLock lock(*this);
    ++family->next_claims;
  }
  Status s;
  for (bool has_claim = false; s.ok() && !has_claim;) {
    s = WaitUntil([&]() CAMBIUM_REQUIRES(jobs_lock) { return !family->compacting; });
    const JobsLock lock(*this);
    has_claim = s.ok() && !std::exchange(family->compacting, true);
  }
  const JobsLock lock(*this);
  assert(family->next_claims > 0);
  --family->next_claims;
  changed_.NotifyAll();
  return s;
}

bool Jobs::ClaimFilterCall(Family* family) {
  const JobsLock lock(*this);
  return !std::exchange(family->has_filter_call, true);
}

void Jobs::ReleaseFilterCall(Family* family) {
  const JobsLock lock(*this);
  assert(family->has_filter_call && "only a claim can be released");
  family->has_filter_call = false;
  changed_.NotifyAll();
}

// ---- Families that have jobs ----

void Jobs::Add(std::shared_ptr<Family> family) {
  assert(family != nullptr && !family->dropped.load(std::memory_order_relaxed));
  const JobsLock lock(*this);
  families_.push_back(std::move(family));
}

// Grows by at least half: otherwise each of many new families would copy the list.
void Jobs::ReserveFor(std::size_t count) {
  const JobsLock lock(*this);
  const std::size_t needed = families_.size() + count;
  if (needed > families_.capacity()) families_.reserve(needed + needed / 2);
}

void Jobs::ReserveForDrop() {
  const JobsLock lock(*this);
  if (dropped_.size() == dropped_.capacity()) dropped_.reserve(2 * dropped_.size() + 1);
}

void Jobs::Drop(std::shared_ptr<Family> family) {
  const JobsLock lock(*this);
  assert(std::ranges::find(families_, family) != families_.end());
  dropped_.push_back(family);
  std::erase(families_, family);
  SetFlushFailed(family.get(), false);
  TellBudget();
  changed_.NotifyAll();
}

void Jobs::ReleaseDropped() {
  std::vector<std::shared_ptr<Family>> unused;  // released after the lock: the release of files schedules a job
  const JobsLock lock(*this);
  unused.reserve(dropped_.size());
  const auto first = std::partition(dropped_.begin(), dropped_.end(),
                                    [](const std::shared_ptr<Family>& family) { return family.use_count() > 1; });
  std::move(first, dropped_.end(), std::back_inserter(unused));
  dropped_.erase(first, dropped_.end());
}

// ---- Closing ----

void Jobs::Close() {
  const JobsLock lock(*this);
  closing_ = true;
  while (!IsIdle()) RunOrWait([this]() CAMBIUM_REQUIRES(jobs_lock) { return IsIdle(); });
}

void Jobs::GoOn() {
  const JobsLock lock(*this);
  closing_ = false;
}

std::vector<std::shared_ptr<Family>> Jobs::Dropped() const {
  const JobsLock lock(*this);
  return dropped_;
}

void Jobs::ReleaseFamilies() {
  std::vector<std::shared_ptr<Family>> families;  // both are released after the mutex
  std::vector<std::shared_ptr<Family>> dropped;
  const JobsLock lock(*this);
  families.swap(families_);
  dropped.swap(dropped_);
}

}  // namespace cambium
