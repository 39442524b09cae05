#include "util/manual_executor.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cambium {

void ManualExecutor::Schedule(TaskPriority priority, std::function<void()> task) {
  const MutexLock lock(mutex_);
  waiting_.push_back({priority, std::move(task)});
}

void ManualExecutor::ScheduleAfter(std::uint64_t /*micros*/, TaskPriority priority, std::function<void()> task) {
  const MutexLock lock(mutex_);
  later_.push_back({priority, std::move(task)});
}

std::size_t ManualExecutor::LetTimePass() {
  const MutexLock lock(mutex_);
  const std::size_t count = later_.size();
  std::move(later_.begin(), later_.end(), std::back_inserter(waiting_));
  later_.clear();
  return count;
}

std::function<void()> ManualExecutor::Take() {
  const MutexLock lock(mutex_);
  if (waiting_.empty()) return {};
  const auto next =
      prng_.has_value()
          ? waiting_.begin() + static_cast<std::ptrdiff_t>(prng_->Uniform(waiting_.size()))
          : std::min_element(waiting_.begin(), waiting_.end(),
                             [](const Waiting& a, const Waiting& b) { return a.priority < b.priority; });
  std::function<void()> task = std::move(next->task);
  waiting_.erase(next);
  return task;
}

bool ManualExecutor::RunOneInstead() {
  const std::function<void()> task = Take();
  if (task) {
    task();
    return true;
  }
  if (nothing_to_run_) nothing_to_run_();
  return false;
}

std::size_t ManualExecutor::RunAll() {
  std::size_t count = 0;
  for (std::function<void()> task = Take(); task; task = Take()) {
    task();
    ++count;
  }
  return count;
}

std::size_t ManualExecutor::pending() const {
  const MutexLock lock(mutex_);
  return waiting_.size();
}

std::size_t ManualExecutor::DropAll() {
  std::vector<Waiting> dropped;  // destroyed after unlocking: objects that a task captured may call back
  std::vector<Waiting> later;
  const MutexLock lock(mutex_);
  dropped.swap(waiting_);
  later.swap(later_);
  return dropped.size() + later.size();
}

}  // namespace cambium
