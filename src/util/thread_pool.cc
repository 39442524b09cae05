#include "util/thread_pool.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "util/background_thread.h"

namespace cambium {

ThreadPool::ThreadPool(int threads, int urgent_threads) : low_max_(threads < 1 ? 1 : static_cast<std::size_t>(threads)) {
  const MutexLock lock(mutex_);
  const std::size_t wanted = low_max_ + (urgent_threads < 1 ? 0 : static_cast<std::size_t>(urgent_threads));
  while (threads_.size() < wanted && StartOne()) {
  }
}

ThreadPool::~ThreadPool() {
  std::multimap<std::uint64_t, Later> dropped;  // destroyed after unlocking: objects that a task captured may call back
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    dropped.swap(later_);
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
  bool is_low = false;
  for (std::function<void()> task = Take(&is_low); task; task = Take(&is_low)) task();  // if there was no thread
}

bool ThreadPool::StartOne() {
  try {
    threads_.reserve(threads_.size() + 1);  // so that push_back of a started thread cannot fail
    std::thread thread = StartBackgroundThread("cambium-work", [this] { RunTasks(); });
    if (!thread.joinable()) return false;
    threads_.push_back(std::move(thread));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void ThreadPool::Schedule(TaskPriority priority, std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    waiting_[static_cast<std::size_t>(priority)].push_back(std::move(task));
    if (threads_.empty() && !closing_) (void)StartOne();
  }
  wake_.NotifyOne();
}

void ThreadPool::ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    if (closing_) return;
    later_.emplace(clock_->NowMicros() + micros, Later{priority, std::move(task)});
    if (threads_.empty()) (void)StartOne();
  }
  wake_.NotifyOne();
}

void ThreadPool::TakeDue() {
  if (later_.empty()) return;
  const std::uint64_t now = clock_->NowMicros();
  while (!later_.empty() && later_.begin()->first <= now) {
    Later& due = later_.begin()->second;
    waiting_[static_cast<std::size_t>(due.priority)].push_back(std::move(due.task));
    later_.erase(later_.begin());
  }
}

bool ThreadPool::RunOneInstead() {
  MutexLock lock(mutex_);
  if (!threads_.empty()) return false;
  bool is_low = false;
  const std::function<void()> task = Take(&is_low);
  lock.Unlock();
  if (!task) return false;
  task();
  return true;
}

bool ThreadPool::HasWaiting() const {
  return std::ranges::any_of(waiting_, [](const auto& queue) { return !queue.empty(); });
}

std::function<void()> ThreadPool::Take(bool* is_low) {
  TakeDue();
  for (std::size_t priority = 0; priority < kPriorities; ++priority) {
    auto& queue = waiting_[priority];
    *is_low = priority == static_cast<std::size_t>(TaskPriority::kLow);
    if (queue.empty() || (*is_low && running_low_ >= low_max_)) continue;
    std::function<void()> task = std::move(queue.front());
    queue.pop_front();
    return task;
  }
  return {};
}

void ThreadPool::RunTasks() {
  MutexLock lock(mutex_);
  for (;;) {
    bool is_low = false;
    std::function<void()> task = Take(&is_low);
    if (task) {
      // Wake another thread: this one may have been the thread that waited for the next due time, or may have received
      // a wake-up that was meant for another task.
      if (!later_.empty() || HasWaiting()) wake_.NotifyOne();
      ++running_;
      if (is_low) ++running_low_;
      assert(running_low_ <= low_max_ && running_low_ <= running_);
      lock.Unlock();
      task();
      task = nullptr;  // destroys its captures before the task counts as done
      lock.Lock();
      assert(running_ > 0 && (!is_low || running_low_ > 0));
      if (is_low) --running_low_;
      if (--running_ == 0 && closing_) wake_.NotifyAll();
    } else if (closing_ && running_ == 0) {
      return;
    } else if (later_.empty()) {
      wake_.Wait(mutex_);
    } else {
      const std::uint64_t now = clock_->NowMicros();
      const std::uint64_t due = later_.begin()->first;
      if (due > now) wake_.WaitFor(mutex_, due - now);
    }
  }
}

std::unique_ptr<Executor> Executor::NewThreadPool(int threads, int urgent_threads) {
  return std::make_unique<ThreadPool>(threads, urgent_threads);
}

}  // namespace cambium
