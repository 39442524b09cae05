// Arithmetic of sizes that are estimates.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace cambium {

// a - b, or 0 if b is larger.
inline std::uint64_t Minus(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

inline std::uint64_t AtLeastZero(std::int64_t bytes) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
}

inline std::uint64_t Times(std::uint64_t n, double factor) {
  assert(factor >= 0);
  return static_cast<std::uint64_t>(static_cast<double>(n) * factor);
}

}  // namespace cambium
