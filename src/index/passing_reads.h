// PassingReads: ReadOptions::fill_cache = false, as far as the pool of index pages is concerned.
//
// While one lives that is on, pages that this thread has to read into a pool are *passing*: there are at most
// kPassingPagesMax of them, each makes room for the next, and pages that are there already do not become warmer. Whoever
// asks for such a page otherwise makes it one like all others.
#pragma once

#include <cstddef>

namespace cambium {

// Enough for what a few threads have in use at a time.
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

  // Of this thread.
  [[nodiscard]] static bool AreOn() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
  const bool is_on_;
};

}  // namespace cambium
