// How large a random test is in this build: CAMBIUM_SCALE times what CI takes, and a tenth of it under a sanitizer,
// where every step costs so much more.
#pragma once

#include <cstdint>

#include "testing/seed.h"

namespace cambium::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderSanitizer = true;
#else
inline constexpr bool kUnderSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kUnderThreadSanitizer = true;
#else
inline constexpr bool kUnderThreadSanitizer = false;
#endif

[[nodiscard]] inline std::uint64_t ScaledCount(std::uint64_t in_ci) {
  const std::uint64_t count = in_ci * ScaleFromEnvironment();
  return kUnderSanitizer ? (count + 9) / 10 : count;
}

// The same for random programs, each of which goes through all floors: under a sanitizer a 25th of them shows what the
// code does with memory, and that what it does is right is shown without.
[[nodiscard]] inline std::uint64_t ScaledPrograms(std::uint64_t in_ci) {
  const std::uint64_t count = in_ci * ScaleFromEnvironment();
  return kUnderSanitizer ? (count + 24) / 25 : count;
}

}  // namespace cambium::testing
