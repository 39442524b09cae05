// How much of the device work that nobody waits for may take, beside users whose calls become slow by it: a pure
// function of what was measured. foreground.h measures, and lets the work pause.
//
//   calls of users ──sampled──▶ mean of a window, by kind of call ──▶ twice what it is in quiet?  yes: share / 2
//                                                                     not 1.5 times:              share * 2
//
// A share of 1/4 means that such work pauses three times as long as it works. The measure of quiet is learned from
// windows in which none of that work ran; each database and each workload has its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cambium {

// Calls that take alike. A window in which their mix has changed would otherwise look slow.
enum class CallKind : unsigned char { kRead, kWrite, kSyncedWrite };
inline constexpr std::size_t kCallKinds = 3;

// What calls of one kind took, of those that were sampled.
struct CallWindow {
  std::uint64_t samples = 0;
  double mean_micros = 0;
};

struct YieldState {
  std::array<double, kCallKinds> quiet_micros = {-1, -1, -1};  // negative: not known yet
  double share = 1;
};

inline constexpr double kShareMin = 1.0 / 16;           // work that never ended would be no better
inline constexpr std::uint64_t kWindowSamplesMin = 16;  // fewer say nothing

// After a window. `did_work`: some of the work that yields ran in it.
[[nodiscard]] YieldState NextYield(const YieldState& before, const std::array<CallWindow, kCallKinds>& windows,
                                   bool did_work);

}  // namespace cambium
