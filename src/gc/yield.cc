#include "gc/yield.h"

#include <algorithm>
#include <cassert>

namespace cambium {
namespace {

constexpr double kSlow = 2;     // times the quiet mean
constexpr double kNormal = 1.5;
constexpr double kClockMicros = 1;  // smaller differences are noise of the clock
constexpr double kLearn = 1.0 / 4;  // weight of a quiet window
// If calls are slow although the work hardly runs, the work is not the cause. Then the quiet mean slowly moves to the
// mean time of these calls.
constexpr double kLearnAtFloor = 1.0 / 16;

}  // namespace

YieldState NextYield(const YieldState& before, const std::array<CallWindow, kCallKinds>& windows, bool did_work) {
  assert(before.share >= kShareMin && before.share <= 1);
  YieldState after = before;
  bool is_slow = false;
  bool is_normal = true;
  for (std::size_t i = 0; i < kCallKinds; ++i) {
    const CallWindow& window = windows[i];
    double& quiet = after.quiet_micros[i];
    if (window.samples < kWindowSamplesMin) continue;
    if (quiet < 0) {
      if (!did_work) quiet = window.mean_micros;
      continue;
    }
    is_slow = is_slow || window.mean_micros > kSlow * quiet + kClockMicros;
    is_normal = is_normal && window.mean_micros <= kNormal * quiet + kClockMicros;
    if (!did_work) {
      quiet += (window.mean_micros - quiet) * kLearn;
    } else if (window.mean_micros < quiet) {
      quiet = window.mean_micros;  // the calls have become faster
    } else if (before.share <= kShareMin) {
      quiet += (window.mean_micros - quiet) * kLearnAtFloor;
    }
  }
  if (did_work && is_slow) {
    after.share = std::max(before.share / 2, kShareMin);
  } else if (!did_work || is_normal) {
    after.share = std::min(before.share * 2, 1.0);
  }
  return after;
}

}  // namespace cambium
