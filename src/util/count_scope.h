// CountScope increments a counter for its lifetime.
#pragma once

#include <atomic>
#include <cassert>

namespace cambium {

class CountScope {
 public:
  explicit CountScope(std::atomic<int>* count) : count_(count) { count_->fetch_add(1, std::memory_order_relaxed); }
  ~CountScope() {
    [[maybe_unused]] const int before = count_->fetch_sub(1, std::memory_order_relaxed);
    assert(before > 0);
  }
  CountScope(const CountScope&) = delete;
  CountScope& operator=(const CountScope&) = delete;

 private:
  std::atomic<int>* const count_;
};

}  // namespace cambium
