// OfflineTasks: runs the tasks of an offline compaction in the background, several at a time. They are no jobs: nothing
// else schedules them, and Close does not wait for them.
#pragma once

#include <functional>

#include "state/db_context.h"
#include "state/jobs.h"
#include "util/mutex.h"

namespace cambium {

// Any thread.
class OfflineTasks {
 public:
  OfflineTasks(DbContext* db, const Jobs* jobs) : db_(*db), jobs_(*jobs) {}
  OfflineTasks(const OfflineTasks&) = delete;
  OfflineTasks& operator=(const OfflineTasks&) = delete;

  // Runs `task` in the background as soon as fewer than `most` are under way. After a failed task, starts no other.
  Status Start(std::function<Status()> task, int most) CAMBIUM_EXCLUDES_ROLES;
  // Waits until all tasks have ended, even after a fatal error, because they use the database. Returns their first
  // error.
  Status Await() CAMBIUM_EXCLUDES_ROLES;

 private:
  // One round of a wait until fewer than `most` are under way: runs a task in this thread, or waits for a change.
  void RunOrWait(int most) CAMBIUM_REQUIRES(mutex_);
  void Run(std::function<Status()>* task) CAMBIUM_EXCLUDES(mutex_);

  DbContext& db_;
  const Jobs& jobs_;
  Mutex mutex_;
  CondVar changed_;
  int under_way_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  Status first_error_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
