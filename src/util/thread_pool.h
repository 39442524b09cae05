// ThreadPool: the Executor that has its own threads.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "cambium/clock.h"
#include "cambium/executor.h"
#include "util/mutex.h"

namespace cambium {

// Any thread may call any function, and so may a running task. Tasks of one priority start in the order of scheduling.
class ThreadPool final : public Executor {
 public:
  // Starts `threads` threads, at least one, and `urgent_threads` more; at most `threads` kLow tasks run at once. If the
  // system gives fewer, those do the work. If it gives none, each Schedule tries again, and meanwhile RunOneInstead and
  // the destructor run tasks.
  explicit ThreadPool(int threads, int urgent_threads = 0);
  // Runs the queued tasks and those that they schedule, then joins the threads. Drops tasks scheduled for later. Not
  // from a task.
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void Schedule(TaskPriority priority, std::function<void()> task) override;
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override;
  bool RunOneInstead() override;

 private:
  static constexpr std::size_t kPriorities = 3;

  // Starts a thread. Returns false if the system cannot, or if there is no memory for one.
  bool StartOne() CAMBIUM_REQUIRES(mutex_);
  void RunTasks();
  // Moves the delayed tasks that are due to waiting_.
  void TakeDue() CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] bool HasWaiting() const CAMBIUM_REQUIRES(mutex_);
  // Removes and returns the first task of the highest priority that has one, or an empty function. Takes no kLow task
  // if low_max_ of them run. *is_low says whether it is a kLow task.
  std::function<void()> Take(bool* is_low) CAMBIUM_REQUIRES(mutex_);

  const std::size_t low_max_;
  Mutex mutex_;
  CondVar wake_;
  std::array<std::deque<std::function<void()>>, kPriorities> waiting_ CAMBIUM_GUARDED_BY(mutex_);  // by TaskPriority
  struct Later {
    TaskPriority priority;
    std::function<void()> task;
  };
  const std::shared_ptr<Clock> clock_ = Clock::Default();
  std::multimap<std::uint64_t, Later> later_ CAMBIUM_GUARDED_BY(mutex_);  // by the microsecond when they are due
  std::size_t running_ CAMBIUM_GUARDED_BY(mutex_) = 0;                    // running tasks, which may schedule more
  std::size_t running_low_ CAMBIUM_GUARDED_BY(mutex_) = 0;                // how many of them are kLow tasks
  bool closing_ CAMBIUM_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ CAMBIUM_GUARDED_BY(mutex_);  // constant while closing_
};

}  // namespace cambium
