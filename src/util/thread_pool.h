// ThreadPool: the Executor with threads of its own.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cambium/clock.h"
#include "cambium/executor.h"

namespace cambium {

// Any thread may call any function, a running task too. Tasks of one priority start in the order in which they came.
class ThreadPool final : public Executor {
 public:
  // At least one thread, whatever `threads` says, and `urgent_threads` more. If the system gives fewer than asked for, those
  // that are there do the work; if it gives none, each Schedule asks again, and meanwhile RunOneInstead and the destructor
  // run tasks.
  explicit ThreadPool(int threads, int urgent_threads = 0);
  // Runs what is queued, and what that schedules in turn; then joins. Not from a task.
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void Schedule(TaskPriority priority, std::function<void()> task) override;
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override;
  bool RunOneInstead() override;

 private:
  static constexpr std::size_t kPriorities = 3;

  // False if the system has no thread, or no memory for one, to give. Needs mutex_.
  bool StartOne();
  void RunTasks();
  // Lets tasks join the others whose time has come. Needs mutex_.
  void TakeDue();
  [[nodiscard]] bool HasWaiting() const;  // needs mutex_
  // The first task of the highest priority that has one, or an empty function: none of kLow if as many run as may. *is_low
  // says whether it is one. Needs mutex_.
  std::function<void()> Take(bool* is_low);

  const std::size_t low_max_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::array<std::deque<std::function<void()>>, kPriorities> waiting_;  // mutex_; by TaskPriority
  struct Later {
    TaskPriority priority;
    std::function<void()> task;
  };
  const std::shared_ptr<Clock> clock_ = Clock::Default();
  std::multimap<std::uint64_t, Later> later_;                          // mutex_; by the microsecond when they are due
  std::size_t running_ = 0;                                            // mutex_; they may schedule more
  std::size_t running_low_ = 0;                                        // mutex_; of these, tasks of kLow
  bool closing_ = false;                                               // mutex_
  std::vector<std::thread> threads_;                                   // mutex_; constant while closing_
};

}  // namespace cambium
