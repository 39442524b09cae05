// Powers of 1024 bytes.
#pragma once

#include <cstdint>

namespace cambium::testing {

inline constexpr std::uint64_t kKiB = 1u << 10;
inline constexpr std::uint64_t kMiB = 1u << 20;
inline constexpr std::uint64_t kGiB = 1u << 30;

}  // namespace cambium::testing
