// Detects forks. A child inherits the memory and descriptors of a database that belongs to its parent.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace cambium {

// Returns a number that each fork increments in the child. An object records it when created, and refuses to work if it
// has changed. Costs one load; getpid() would cost a system call.
[[nodiscard]] std::uint64_t ForkGeneration();

// Holds one T for the whole process, created at the first Get() and never destroyed: other threads and destructors of
// static objects may call Get() to the very end. A forked child creates a new T and does not touch its parent's, which
// may depend on threads that the child lacks and on mutexes that they held. Only for static objects. Any thread.
template <typename T>
class PerProcess {
 public:
  T& Get() {
    const std::uint64_t generation = ForkGeneration();
    Copy* newest = newest_.load(std::memory_order_acquire);
    if (newest != nullptr && newest->generation == generation) return newest->object;
    auto made = std::make_unique<Copy>();
    made->generation = generation;
    made->of_parent = newest;
    if (newest_.compare_exchange_strong(newest, made.get(), std::memory_order_acq_rel)) return made.release()->object;
    return newest->object;  // another thread of this process created it first
  }

 private:
  struct Copy {
    std::uint64_t generation = 0;
    Copy* of_parent = nullptr;  // keeps it reachable for leak checkers
    T object;
  };
  std::atomic<Copy*> newest_{nullptr};
};

}  // namespace cambium
