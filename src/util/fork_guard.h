// Which side of a fork this is. A child inherits memory and descriptors of a database that is not its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace cambium {

// Goes up by one in the child of every fork. An object remembers the number at its making, and refuses to work under
// another. Costs a load, where asking for the process id costs a system call.
[[nodiscard]] std::uint64_t ForkGeneration();

// What all of a process shares, made when it is first asked for and never destroyed: other threads, and destructors of
// static objects, may ask to the last. A forked child makes its own. The parent's has threads that the child does not
// have, and mutexes that they may have held; it is left as it is. For static objects, any thread.
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
    return newest->object;  // another thread's, of the same generation: there is no other way to be in time
  }

 private:
  struct Copy {
    std::uint64_t generation = 0;
    Copy* of_parent = nullptr;  // so that who looks for leaks finds it
    T object;
  };
  std::atomic<Copy*> newest_{nullptr};
};

}  // namespace cambium
