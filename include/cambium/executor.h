// Executor: who runs background work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace cambium {

enum class TaskPriority : unsigned char { kHigh = 0, kNormal = 1, kLow = 2 };

// Any thread may call any function. Tasks never wait for other tasks, so one thread is enough for all of them.
class Executor {
 public:
  virtual ~Executor() = default;

  // `threads` threads of its own, and `urgent_threads` more: of tasks of kLow at most `threads` run at a time, so that long
  // ones never keep the others waiting. The destructor runs what is queued, then joins them.
  static std::unique_ptr<Executor> NewThreadPool(int threads, int urgent_threads = 0);

  // Runs `task` later, once; among waiting tasks the higher priority first.
  virtual void Schedule(TaskPriority priority, std::function<void()> task) = 0;

  // The same, not before so many microseconds have passed. What is not due yet is dropped, unrun, with the executor.
  virtual void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) = 0;

  // For a thread that is about to wait for something that a task will bring about, and that holds no lock. False: there
  // are threads that run the tasks, so block. True: one task was run right here; look again before blocking. An
  // executor without threads, as tests use, lets tasks run in no other place and so keeps a run repeatable.
  virtual bool RunOneInstead() = 0;
};

}  // namespace cambium
