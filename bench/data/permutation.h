// Permutation: the numbers [0, n) in a random order, each once, without a table of them.
#pragma once

#include <cstdint>

#include "data/mix.h"

namespace cambium::bench {

// A four-round Feistel network over the smallest even number of bits, at least 2, with 2^bits >= n. A result outside
// [0, n) is encrypted again until it falls inside (cycle walking). A number takes at most four encryptions on average.
// Immutable.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed) : n_(n), seed_(seed) {
    while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < n) ++half_bits_;
  }

  // Returns the number at place `i` of the order. Requires i < n.
  [[nodiscard]] std::uint64_t At(std::uint64_t i) const {
    do {
      i = Encrypt(i);
    } while (i >= n_);
    return i;
  }

 private:
  [[nodiscard]] std::uint64_t Encrypt(std::uint64_t x) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (Mix(right ^ Mix(seed_ + round)) & mask);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t n_;
  std::uint64_t seed_;
  unsigned half_bits_ = 1;
};

}  // namespace cambium::bench
