// PassingReads: implements ReadOptions::fill_cache = false for the pool of index pages.
//
// While a PassingReads with is_on lives, the pages that this thread loads into a pool are *passing*: there are at most
// kPassingPagesMax of them, each new one replaces an old one, and hits do not make other pages warmer. If an ordinary
// read hits a passing page, it becomes an ordinary page.
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
