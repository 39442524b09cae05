// ManualExecutor: an Executor without threads. A test decides when a task runs, and a seed decides which.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "cambium/executor.h"
#include "util/prng.h"

namespace cambium {

// Tasks run in the thread that calls RunOneInstead or RunAll, and nowhere else. Any thread may call any function; a
// run is repeatable when one thread makes all calls.
class ManualExecutor final : public Executor {
 public:
  // Higher priority first, then in the order in which they came: what one thread of a pool would do.
  ManualExecutor() = default;
  // Any waiting task may be next, of whatever priority: with several threads, one that started early may be held up
  // behind all others. The same seed and the same calls give the same order.
  explicit ManualExecutor(std::uint64_t seed) : prng_(seed) {}
  // Drops what waits, unrun: a test that ends in a power cut leaves work behind.
  ~ManualExecutor() override = default;

  void Schedule(TaskPriority priority, std::function<void()> task) override;
  // Waits, whatever the delay, until LetTimePass.
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override;
  // Runs one task, and says whether there was one. A task that runs may call it too.
  bool RunOneInstead() override;
  // Runs tasks until none waits, those that were scheduled meanwhile included; returns how many.
  std::size_t RunAll();
  [[nodiscard]] std::size_t pending() const;
  // What was scheduled for later joins what waits; returns how many.
  std::size_t LetTimePass();
  // Drops what waits, unrun, and what was scheduled for later; returns how many.
  std::size_t DropAll();

  // `f` is called, outside any lock of this class, when RunOneInstead finds nothing to run. Who called it is about to
  // block, with one thread for ever: a test fails there and then instead of hanging. Set it before others call.
  void OnNothingToRun(std::function<void()> f) { nothing_to_run_ = std::move(f); }

 private:
  struct Waiting {
    TaskPriority priority;
    std::function<void()> task;
  };
  // Takes the next task out, empty if none waits. Needs no lock held.
  std::function<void()> Take();

  mutable std::mutex mutex_;
  std::vector<Waiting> waiting_;  // mutex_; in the order in which they came
  std::vector<Waiting> later_;    // mutex_
  std::optional<Prng> prng_;      // mutex_
  std::function<void()> nothing_to_run_;
};

}  // namespace cambium
