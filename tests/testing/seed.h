// Every random test gets its seed here. The seed is printed, and repeats the test.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace cambium::testing {

// Returns `fallback`, or the seed in the environment: CAMBIUM_SEED=0x2a (or 42). Prints the result.
inline std::uint64_t SeedFromEnvironment(std::uint64_t fallback) {
  std::uint64_t seed = fallback;
  if (const char* text = std::getenv("CAMBIUM_SEED"); text != nullptr && *text != '\0') {
    seed = std::strtoull(text, nullptr, 0);
  }
  std::printf("CAMBIUM_SEED=0x%llx\n", static_cast<unsigned long long>(seed));
  return seed;
}

// Returns how many times longer than in CI a random test runs: CAMBIUM_SCALE=20 for a night.
inline std::uint64_t ScaleFromEnvironment() {
  const char* text = std::getenv("CAMBIUM_SCALE");
  const std::uint64_t scale = text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
  return scale == 0 ? 1 : scale;
}

}  // namespace cambium::testing
