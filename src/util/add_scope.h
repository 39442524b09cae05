// AddScope adds to a sum for its lifetime.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

namespace cambium {

class AddScope {
 public:
  AddScope(std::atomic<std::uint64_t>* sum, std::uint64_t amount)
      : sum_(sum), amount_(amount), total_(sum->fetch_add(amount, std::memory_order_relaxed) + amount) {}
  ~AddScope() {
    [[maybe_unused]] const std::uint64_t before = sum_->fetch_sub(amount_, std::memory_order_relaxed);
    assert(before >= amount_);
  }
  AddScope(const AddScope&) = delete;
  AddScope& operator=(const AddScope&) = delete;

  // The sum just after this scope added its amount.
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  std::atomic<std::uint64_t>* const sum_;
  const std::uint64_t amount_;
  const std::uint64_t total_;
};

}  // namespace cambium
