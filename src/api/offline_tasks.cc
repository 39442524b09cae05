#include "api/offline_tasks.h"

#include <cassert>
#include <utility>

#include "util/epoch.h"

namespace cambium {

Status OfflineTasks::Start(std::function<Status()> task, int most) {
  assert(most > 0);
  {
    const MutexLock lock(mutex_);
    while (under_way_ >= most && first_error_.ok() && !jobs_.has_fatal()) RunOrWait(most);
    if (!first_error_.ok()) return first_error_;
    if (under_way_ < most) {
      db_.executor->Schedule(TaskPriority::kLow, [this, its = std::move(task)]() mutable { Run(&its); });
      ++under_way_;  // the task cannot end before this line, because it takes the mutex
      return Status::OK();
    }
  }
  return jobs_.Health();
}

Status OfflineTasks::Await() {
  const MutexLock lock(mutex_);
  while (under_way_ > 0) RunOrWait(1);
  return std::exchange(first_error_, Status::OK());
}

void OfflineTasks::RunOrWait(int most) {
  bool ran = false;
  {
    const MutexUnlock unlocked(mutex_);
    ran = db_.executor->RunOneInstead();
  }
  if (!ran && under_way_ >= most) changed_.Wait(mutex_);
}

void OfflineTasks::Run(std::function<Status()>* task) {
  const Status done = (*task)();
  *task = nullptr;  // releases views and segments
  EpochCollect();   // frees the memory that was retired with them
  const MutexLock lock(mutex_);
  if (first_error_.ok()) first_error_ = done;
  assert(under_way_ > 0);
  --under_way_;
  changed_.NotifyAll();
}

}  // namespace cambium
