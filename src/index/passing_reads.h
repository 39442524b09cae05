// PassingReads: implements ReadOptions::fill_cache = false for the pool of index pages.
//
// While a PassingReads with is_on lives, hits by this thread make no page warmer, and the pages that it loads into a
// pool are *passing*. If a pool has kPassingPagesMax of them, a new one replaces the oldest that is not pinned; only if
// all are pinned are there more. If an ordinary read hits a passing page, the page becomes an ordinary one.
#pragma once

#include <cstddef>

namespace cambium {

// Enough for the pages that a few threads use at a time.
inline constexpr std::size_t kPassingPagesMax = 64;

class PassingReads {
 public:
  explicit PassingReads(bool is_on) : is_on_(is_on) {
    if (is_on_) ++depth_;
  }
  ~PassingReads() {
    if (is_on_) --depth_;
  }
  PassingReads(const PassingReads&) = delete;
  PassingReads& operator=(const PassingReads&) = delete;

  // Whether passing reads are on for this thread.
  [[nodiscard]] static bool AreOn() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
  const bool is_on_;
};

}  // namespace cambium
