// ThreadStripe: chooses the stripe of a counter that a thread adds to. A counter with stripes has several cache lines,
// so that threads seldom share one. The first 32 threads of the process need no locked instruction.
//
//   struct alignas(64) Line { std::atomic<std::uint64_t> hits{0}; };
//   std::array<Line, ThreadStripe::kCount> lines;
//   const ThreadStripe mine = ThreadStripe::OfThisThread();  mine.Add(&lines[mine.index()].hits, 1);
//
// A reader of the counter adds up all lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cambium {

// The first threads of the process have a stripe each; later threads share the second half of the stripes.
class ThreadStripe {
 public:
  static constexpr std::size_t kCount = 64;

  static ThreadStripe OfThisThread() {
    static std::atomic<std::size_t> next{0};
    thread_local constinit std::size_t index = kCount;
    if (index == kCount) {
      const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
      index = number < kOwn ? number : kOwn + number % (kCount - kOwn);
    }
    return ThreadStripe(index);
  }
  // One of the shared stripes, for any thread.
  static constexpr ThreadStripe Common() { return ThreadStripe(kCount - 1); }

  [[nodiscard]] std::size_t index() const { return index_; }
  // True if only this thread writes to the stripe's counters.
  [[nodiscard]] bool is_own() const { return index_ < kOwn; }
  // Adds `n` to a counter of this stripe.
  void Add(std::atomic<std::uint64_t>* counter, std::uint64_t n) const {
    if (is_own()) {
      counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    } else {
      counter->fetch_add(n, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr std::size_t kOwn = kCount / 2;
  explicit constexpr ThreadStripe(std::size_t index) : index_(index) {}
  std::size_t index_;
};

}  // namespace cambium
