// CommonPrefix: how many leading bytes two slices share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cambium/slice.h"

namespace cambium {

// Returns the number of leading bytes that `a` and `b` share. Compares eight bytes at a time, because keys may share a
// prefix of 64 KiB.
[[nodiscard]] inline std::size_t CommonPrefix(Slice a, Slice b) {
  const std::size_t limit = std::min(a.size(), b.size());
  std::size_t n = 0;
  for (; limit - n >= sizeof(std::uint64_t); n += sizeof(std::uint64_t)) {
    std::uint64_t word_a = 0;
    std::uint64_t word_b = 0;
    std::memcpy(&word_a, a.data() + n, sizeof(word_a));
    std::memcpy(&word_b, b.data() + n, sizeof(word_b));
    if (word_a == word_b) continue;
    static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);
    const int bits = std::endian::native == std::endian::little ? std::countr_zero(word_a ^ word_b)
                                                                : std::countl_zero(word_a ^ word_b);
    return n + static_cast<std::size_t>(bits / 8);
  }
  while (n < limit && a[n] == b[n]) ++n;
  return n;
}

}  // namespace cambium
