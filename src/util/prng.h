// Prng: repeatable random numbers for tests, benchmarks and samples. Not for secrets, not for identifiers.
#pragma once

#include <cstdint>
#include <string>

namespace cambium {

// xoshiro256** (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2018), seeded by splitmix64.
// One thread at a time. The same seed gives the same numbers on every machine, unlike the standard distributions.
class Prng {
 public:
  explicit Prng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t Next() {
    const std::uint64_t result = RotateLeft(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = RotateLeft(state_[3], 45);
    return result;
  }

  // Uniform in [0, n), n > 0, with negligible bias (Lemire's multiply-shift, no rejection).
  std::uint64_t Uniform(std::uint64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(Next()) * n) >> 64);
  }
  // Uniform in [low, high].
  std::uint64_t Between(std::uint64_t low, std::uint64_t high) { return low + Uniform(high - low + 1); }
  bool OneIn(std::uint64_t n) { return Uniform(n) == 0; }
  // Uniform in [0, 1).
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Many small numbers, few large ones: uniform in [0, 2^k) with k uniform in [0, max_bits].
  std::uint64_t Skewed(unsigned max_bits) { return Uniform(std::uint64_t{1} << Uniform(max_bits + 1)); }
  // Not inline: tests fill whole disks with these bytes, and most tests are compiled without optimisation.
  std::string Bytes(std::size_t n);

 private:
  static std::uint64_t RotateLeft(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t state_[4];
};

}  // namespace cambium
