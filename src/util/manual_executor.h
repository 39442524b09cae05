// ManualExecutor: an Executor without threads. The test decides when a task runs, and a seed decides which one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "cambium/executor.h"
#include "util/mutex.h"
#include "util/prng.h"

namespace cambium {

// Tasks run only in the thread that calls RunOneInstead or RunAll. Any thread may call any function; a run is
// repeatable if one thread makes all calls.
class ManualExecutor final : public Executor {
 public:
  // Runs higher priorities first, and tasks of one priority in the order of scheduling, as a pool of one thread would.
  ManualExecutor() = default;
  // Picks a waiting task at random, whatever its priority, because in a pool of several threads a task that started
  // early may be delayed until after all others. The same seed and the same calls give the same order.
  explicit ManualExecutor(std::uint64_t seed) : prng_(seed) {}
  // Drops the waiting tasks without running them: a test that ends in a power cut leaves some.
  ~ManualExecutor() override = default;

  void Schedule(TaskPriority priority, std::function<void()> task) override;
  // The task waits until LetTimePass, whatever its delay.
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override;
  // Runs one task, and returns whether there was one. A running task may call it too.
  bool RunOneInstead() override;
  // Runs tasks until none waits, including those scheduled meanwhile. Returns how many ran.
  std::size_t RunAll();
  [[nodiscard]] std::size_t pending() const;
  // Moves the tasks that were scheduled for later to those that wait now. Returns how many.
  std::size_t LetTimePass();
  // Drops the waiting tasks and those scheduled for later, without running them. Returns how many.
  std::size_t DropAll();

  // RunOneInstead calls `f` if no task waits, without holding a lock of this class. The caller of RunOneInstead is then
  // about to block, and a test with one thread would block for ever; with `f` the test can fail at once. Set it before
  // other threads call functions of this class.
  void OnNothingToRun(std::function<void()> f) { nothing_to_run_ = std::move(f); }

 private:
  struct Waiting {
    TaskPriority priority;
    std::function<void()> task;
  };
  // Removes and returns the next task, or an empty function if none waits.
  std::function<void()> Take() CAMBIUM_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  std::vector<Waiting> waiting_ CAMBIUM_GUARDED_BY(mutex_);  // in the order of scheduling
  std::vector<Waiting> later_ CAMBIUM_GUARDED_BY(mutex_);
  std::optional<Prng> prng_ CAMBIUM_GUARDED_BY(mutex_);
  std::function<void()> nothing_to_run_;
};

}  // namespace cambium
