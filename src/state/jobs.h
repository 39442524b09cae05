// Jobs: the background work of a database: which jobs are scheduled, who waits for them, and the fatal error that ends
// all writing.
//
//   Schedule(job) ──▶ Executor ──▶ Run(job): JobWork::Do, then JobWork::After, then waiting threads check again
//
// Each job has at most one task under way; flushes and compactions have one for each column family. A job that is
// scheduled while it runs will run again. A job that failed runs again when something schedules it.
//
// A thread that holds jobs_lock may take only the locks of the executor's queue, of the WriteBudget's figures and of
// the logger; it may look at the view. It must not release a view, or layers, because releasing their last file
// schedules a job.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cambium/listener.h"
#include "state/db_context.h"
#include "state/family.h"
#include "state/lock_roles.h"
#include "util/mutex.h"

namespace cambium {

enum class Job : std::uint8_t {
  kFlush,        // flushes the oldest frozen memtable of a family
  kCompact,      // does the next step of a family's compaction
  kSeal,         // gives rotated segments their footer and records their end in the MANIFEST
  kSpare,        // creates a segment ahead
  kCollect,      // log GC: punching, clustering, relocation
  kRemove,       // removes obsolete files, punches dead ranges
  kLookAtSpace,  // compares the database with its ceiling
  kIdle,         // starts idle work after a while without writes
  kReserve,      // makes or resizes the file that keeps space for a full disk
};
inline constexpr std::size_t kJobCount = 9;

// After this many failures of a job in a row, writes fail.
inline constexpr int kFailuresMax = 10;

// Does the work of the jobs. Called on the threads of the executor.
class JobWork {
 public:
  virtual ~JobWork() = default;
  // Does the job. `family` is set for kFlush and kCompact.
  virtual Status Do(Job job, const std::shared_ptr<Family>& family) = 0;
  // Called after each job, with its result and no lock held.
  struct Next {
    bool repeats = false;   // the job itself is due again
    bool compacts = false;  // a compaction of the family is due
  };
  virtual Next After(Job job, const std::shared_ptr<Family>& family, const Status& done) = 0;
};

class Jobs {
 public:
  // *db outlives the jobs.
  explicit Jobs(DbContext* db) : db_(*db) {}
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Called before the first call of Schedule. `on_fatal` is called for each fatal error, by a thread that may hold the
  // append lock and the commit lock.
  void Begin(JobWork* work, std::function<void(const Status&)> on_fatal);
  // Called when Open is done. Until then no job is scheduled: Open alone changes memtables, layers and files.
  void Start() CAMBIUM_EXCLUDES(jobs_lock);

  // ---- The fatal error ----

  // OK, or the error after which nothing may be written until the database is opened again.
  [[nodiscard]] Status Health() const CAMBIUM_EXCLUDES(jobs_lock);
  [[nodiscard]] bool has_fatal() const { return has_fatal_.load(std::memory_order_acquire); }
  // Ends all writing. The first error is kept.
  void SetFatal(const Status& status, BackgroundErrorReason reason = BackgroundErrorReason::kWrite)
      CAMBIUM_EXCLUDES(jobs_lock);
  // Reports an error of background work to the listeners, and counts it.
  void ReportError(BackgroundErrorReason reason, const Status& status);
  // Reports the result of a job: a failure as the fatal error, or to the log and the listeners.
  void Judge(Job job, const Status& done) CAMBIUM_EXCLUDES(jobs_lock);
  // The number of errors reported since Open.
  [[nodiscard]] std::uint64_t error_count() const { return error_count_.load(std::memory_order_relaxed); }

  // ---- Jobs that fail again and again (upkeep/failing_jobs.h) ----

  // Counts failures in a row. Run calls it for kSeal and kCollect. Compactor calls it for kCompact, because that job
  // may end without having tried anything.
  void NoteResult(Job job, Family* family, const Status& result) CAMBIUM_EXCLUDES(jobs_lock);
  // OK, or the last failure if there were kFailuresMax in a row.
  [[nodiscard]] Status FailureOf(Job job, const std::shared_ptr<Family>& family) CAMBIUM_EXCLUDES(jobs_lock);
  // True if kSeal or kCollect has failed kFailuresMax times in a row.
  [[nodiscard]] bool has_failing_job() const { return has_failing_job_.load(std::memory_order_relaxed); }

  // ---- Scheduling ----

  void Schedule(Job job, const std::shared_ptr<Family>& family = nullptr) CAMBIUM_EXCLUDES(jobs_lock);
  // For callers that cannot undo what they did. False: the executor has thrown an exception, for example because it has
  // no memory for the task; the job is not scheduled until a later call schedules it.
  bool ScheduleIfPossible(Job job, const std::shared_ptr<Family>& family = nullptr) noexcept
      CAMBIUM_EXCLUDES(jobs_lock);
  void ScheduleLocked(Job job, const std::shared_ptr<Family>& family) CAMBIUM_REQUIRES(jobs_lock);
  // Schedules the job and returns how many times it had ended, for AwaitEnd. Returns nothing if it cannot be scheduled
  // any more: the database is closing, or has a fatal error.
  [[nodiscard]] std::optional<std::uint64_t> ScheduleToAwait(Job job, const std::shared_ptr<Family>& family = nullptr)
      CAMBIUM_EXCLUDES(jobs_lock);

  // ---- Flushes and compactions that one job does for several families ----

  // Takes the flushes, or the compactions, of at most `most` families away from their tasks: of families whose job is
  // scheduled and not under way, and for which `suits` returns true. `suits` is called under jobs_lock, and throws
  // nothing. Until GiveBack, the tasks skip this work.
  [[nodiscard]] std::vector<std::shared_ptr<Family>> Take(Job job, std::size_t most,
                                                          const std::function<bool(const Family&)>& suits)
      CAMBIUM_EXCLUDES(jobs_lock);
  // `done`: the result, which the caller has reported. nullopt: the job was not tried, and remains scheduled, unless no
  // job can be scheduled any more.
  void GiveBack(Job job, const std::shared_ptr<Family>& family, const std::optional<Status>& done, JobWork::Next next)
      CAMBIUM_EXCLUDES(jobs_lock);

  // ---- Waiting ----

  // Waits until `done`, which is called under jobs_lock, returns true. Fails with the fatal error. If the executor
  // has no threads, runs tasks in the calling thread.
  Status WaitUntil(const std::function<bool()>& done) CAMBIUM_EXCLUDES_ROLES;
  // Waits until the job has ended more than `seen` times.
  Status AwaitEnd(Job job, std::uint64_t seen, const std::shared_ptr<Family>& family = nullptr) CAMBIUM_EXCLUDES_ROLES;
  // The result of the last run that has ended.
  [[nodiscard]] Status LastOf(Job job, const std::shared_ptr<Family>& family = nullptr) CAMBIUM_EXCLUDES(jobs_lock);
  // Waits until no job is scheduled.
  Status AwaitIdle() CAMBIUM_EXCLUDES_ROLES;

  // ---- Under jobs_lock ----

  [[nodiscard]] JobState* StateOf(Job job, Family* family) CAMBIUM_REQUIRES(jobs_lock);
  // Calls `visit` for each job of the database and of each family.
  void ForEach(const std::function<void(Job, const std::shared_ptr<Family>&, JobState*)>& visit)
      CAMBIUM_REQUIRES(jobs_lock);
  [[nodiscard]] bool IsIdle() CAMBIUM_REQUIRES(jobs_lock);
  // True if a job is scheduled that may make the files smaller.
  [[nodiscard]] bool HasJobThatFreesSpace() const CAMBIUM_REQUIRES(jobs_lock);
  // True if the flush of a family is scheduled.
  [[nodiscard]] bool IsFlushScheduled() const CAMBIUM_REQUIRES(jobs_lock) { return flushes_scheduled_ > 0; }
  [[nodiscard]] bool IsScheduled(Job job) const CAMBIUM_REQUIRES(jobs_lock) {
    return states_[static_cast<std::size_t>(job)].scheduled;
  }
  [[nodiscard]] Status fatal() const CAMBIUM_REQUIRES(jobs_lock);  // OK if there is none

  // ---- The one compaction of a family ----

  // An index has one compaction at a time. False: another thread has claimed it.
  [[nodiscard]] bool ClaimCompaction(Family* family) CAMBIUM_EXCLUDES(jobs_lock);
  void ReleaseCompaction(Family* family) CAMBIUM_EXCLUDES(jobs_lock);
  // Waits until the calling thread has claimed the compaction.
  Status AwaitClaimOfCompaction(Family* family) CAMBIUM_EXCLUDES_ROLES;
  // The same, but before all others that want to claim it.
  Status AwaitNextClaimOfCompaction(Family* family) CAMBIUM_EXCLUDES_ROLES;
  // The claim of a FilterCall (upkeep/compact/filter_call.h). False: another thread has it.
  [[nodiscard]] bool ClaimFilterCall(Family* family) CAMBIUM_EXCLUDES(jobs_lock);
  void ReleaseFilterCall(Family* family) CAMBIUM_EXCLUDES(jobs_lock);

  // ---- Families that have jobs ----

  void Add(std::shared_ptr<Family> family) CAMBIUM_EXCLUDES(jobs_lock);
  // Takes the memory that so many calls of Add need, so that they cannot fail.
  void ReserveFor(std::size_t count) CAMBIUM_EXCLUDES(jobs_lock);
  // The same for a call of Drop.
  void ReserveForDrop() CAMBIUM_EXCLUDES(jobs_lock);
  // Called when the family was dropped. It is kept until no job, handle or snapshot holds it.
  void Drop(std::shared_ptr<Family> family) CAMBIUM_EXCLUDES(jobs_lock);
  // Releases dropped families that have no other holder, and with them their last files. The caller may hold the
  // families lock, but no other.
  void ReleaseDropped() CAMBIUM_EXCLUDES(jobs_lock);

  // ---- Waiting calls ----

  // The number of writes that wait for a job. While there are some, no job pauses in favour of users.
  [[nodiscard]] std::atomic<int>* stalled_writers() { return &stalled_writers_; }
  [[nodiscard]] bool HasStalledWriters() const { return stalled_writers_.load(std::memory_order_relaxed) > 0; }
  [[nodiscard]] bool HasWaitingCalls() const { return waiting_calls_.load(std::memory_order_relaxed) > 0; }

  // ---- Closing ----

  [[nodiscard]] bool is_closing() const { return closing_.load(std::memory_order_relaxed); }
  // Prevents further jobs from being scheduled. Returns when all jobs have ended.
  void Close() CAMBIUM_EXCLUDES(jobs_lock);
  // Undoes Close: the database could not be closed.
  void GoOn() CAMBIUM_EXCLUDES(jobs_lock);
  // Families that were dropped and are still held.
  [[nodiscard]] std::vector<std::shared_ptr<Family>> Dropped() const CAMBIUM_EXCLUDES(jobs_lock);
  // Releases all families. Called when no other thread uses the database any more.
  void ReleaseFamilies() CAMBIUM_EXCLUDES(jobs_lock);

 private:
  friend class JobsLock;
  static BackgroundErrorReason ReasonOf(Job job);
  void Run(Job job, const std::shared_ptr<Family>& family) CAMBIUM_EXCLUDES(jobs_lock);
  // False if another job does the work of this task, or has done it.
  bool Begin(Job job, const std::shared_ptr<Family>& family) CAMBIUM_EXCLUDES(jobs_lock);
  // Counts a run of the job as ended, and schedules what is due next.
  void End(Job job, const std::shared_ptr<Family>& family, const Status& done, JobWork::Next next)
      CAMBIUM_REQUIRES(jobs_lock);
  // Notes whether the family's flush has failed and is not scheduled again.
  void SetFlushFailed(Family* family, bool has_failed) CAMBIUM_REQUIRES(jobs_lock);
  // Tells the budget whether flushes can free memory. They cannot after a fatal error, or after a failed flush until a
  // flush is scheduled again.
  void TellBudget() CAMBIUM_REQUIRES(jobs_lock);
  // Wakes threads that wait for the end of a job. A flush that has ended may have made room in the budget.
  void NoteEnd(Job job) CAMBIUM_REQUIRES(jobs_lock);
  // One round of a wait: runs a task in this thread, or waits for a change. `done` is called under jobs_lock.
  void RunOrWait(const std::function<bool()>& done) CAMBIUM_REQUIRES(jobs_lock);

  DbContext& db_;
  JobWork* work_ = nullptr;
  std::function<void(const Status&)> on_fatal_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::array<JobState, kJobCount> states_ CAMBIUM_GUARDED_BY(jobs_lock);  // of jobs without a family
  // The families of the current view. Kept here too, because a view must not be released under jobs_lock.
  std::vector<std::shared_ptr<Family>> families_ CAMBIUM_GUARDED_BY(jobs_lock);
  std::vector<std::shared_ptr<Family>> dropped_ CAMBIUM_GUARDED_BY(jobs_lock);
  int flushes_scheduled_ CAMBIUM_GUARDED_BY(jobs_lock) = 0;  // families, dropped ones included
  int flushes_failed_ CAMBIUM_GUARDED_BY(jobs_lock) = 0;     // families, without dropped ones
  Status fatal_ CAMBIUM_GUARDED_BY(jobs_lock);
  bool is_started_ CAMBIUM_GUARDED_BY(jobs_lock) = false;
  std::atomic<std::uint64_t> error_count_{0};
  std::atomic<bool> has_failing_job_{false};  // written under jobs_lock, as the next two
  std::atomic<bool> has_fatal_{false};
  std::atomic<bool> closing_{false};
  std::atomic<int> waiting_calls_{0};    // calls that wait for background work
  std::atomic<int> stalled_writers_{0};  // writes that wait for a job
};

// Holds jobs_lock for its lifetime.
class CAMBIUM_SCOPED_CAPABILITY JobsLock {
 public:
  explicit JobsLock(const Jobs& jobs) CAMBIUM_ACQUIRE(jobs_lock)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("takes the mutex that has the role")
      : lock_(jobs.mutex_) {}
  ~JobsLock() CAMBIUM_RELEASE() {}
  JobsLock(const JobsLock&) = delete;
  JobsLock& operator=(const JobsLock&) = delete;

 private:
  const MutexLock lock_;
};

}  // namespace cambium
