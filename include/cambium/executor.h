// Executor: runs background work.
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

  // Makes a pool of `threads` + `urgent_threads` threads. At most `threads` of them run tasks of kLow at a time, so
  // that long tasks never delay the others. The destructor runs what is queued, then joins the threads.
  static std::unique_ptr<Executor> NewThreadPool(int threads, int urgent_threads = 0);

  // Runs `task` later, once; of waiting tasks, the highest priority first.
  virtual void Schedule(TaskPriority priority, std::function<void()> task) = 0;

  // Runs `task` like Schedule, after at least this many microseconds. The destructor drops tasks that are not due yet.
  virtual void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) = 0;

  // For a thread that holds no lock and is about to wait for something that a task will do. False: other threads run
  // the tasks, so block. True: one task was run right here; check again before blocking. An executor without threads,
  // as tests use, runs tasks only here, which makes runs repeatable.
  virtual bool RunOneInstead() = 0;
};

}  // namespace cambium
