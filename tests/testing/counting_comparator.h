// CountingComparator: the bytewise order; counts the comparisons of two keys. One thread at a time.
#pragma once

#include <cstdint>
#include <utility>

#include "cambium/comparator.h"

namespace cambium::testing {

class CountingComparator final : public Comparator {
 public:
  int Compare(Slice a, Slice b) const override {
    ++count_;
    return a.compare(b);
  }
  const char* Name() const override { return "test.Counting"; }
  // Since the last call.
  [[nodiscard]] std::uint64_t TakeCount() const { return std::exchange(count_, 0); }

 private:
  mutable std::uint64_t count_ = 0;
};

}  // namespace cambium::testing
