// Computes the share of the device that background work may take while it slows down users' calls: a pure function of
// measurements. Work that a user waits for is not limited. foreground.h measures, and makes the work pause.
//
//   calls of users ──sampled──▶ mean of a window, by kind of call ──▶ above twice the quiet mean?  yes: share / 2
//                                                                     below 1.5 times:             share * 2
//
// A share of 1/4 means that the work pauses three times as long as it runs. The quiet mean is learned from windows in
// which none of that work ran; each database and workload has its own quiet mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cambium {

// Kinds of calls that take a similar time. Without them, a change in the mix of calls would look like slowness.
enum class CallKind : unsigned char { kRead, kWrite, kSyncedWrite };
inline constexpr std::size_t kCallKinds = 3;

// The sampled durations of calls of one kind.
struct CallWindow {
  std::uint64_t samples = 0;
  double mean_micros = 0;
};

struct YieldState {
  std::array<double, kCallKinds> quiet_micros = {-1, -1, -1};  // negative: unknown
  double share = 1;
};

inline constexpr double kShareMin = 1.0 / 16;           // with less, the work would hardly ever end
inline constexpr std::uint64_t kWindowSamplesMin = 16;  // fewer samples are ignored

// The state after a window. `did_work`: background work that yields ran in it.
[[nodiscard]] YieldState NextYield(const YieldState& before, const std::array<CallWindow, kCallKinds>& windows,
                                   bool did_work);

}  // namespace cambium
