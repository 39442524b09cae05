// How large a random test is in this build: CAMBIUM_SCALE times the size in CI, and a sixteenth of that under a
// sanitizer, where every step costs much more.
#pragma once

#include <cstdint>

#include "testing/seed.h"
#include "util/sanitizer.h"

namespace cambium::testing {

inline constexpr bool kUnderSanitizer = kUnderAddressSanitizer || kUnderThreadSanitizer;

[[nodiscard]] inline std::uint64_t ScaledCount(std::uint64_t in_ci) {
  const std::uint64_t count = in_ci * ScaleFromEnvironment();
  return kUnderSanitizer ? (count + 15) / 16 : count;
}

// As ScaledCount, for random programs, each of which exercises all floors. Under a sanitizer a 25th of them is enough
// to check memory accesses; builds without sanitizers check the results.
[[nodiscard]] inline std::uint64_t ScaledPrograms(std::uint64_t in_ci) {
  const std::uint64_t count = in_ci * ScaleFromEnvironment();
  return kUnderSanitizer ? (count + 24) / 25 : count;
}

// A sweep that lets each call fail, or damages each place, takes every kSweepStep-th under a sanitizer. Builds without
// sanitizers check the results of all of them.
inline constexpr std::uint64_t kSweepStep = kUnderSanitizer ? 5 : 1;

}  // namespace cambium::testing
