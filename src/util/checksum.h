// The checksum of everything on disk: 64-bit XXH3, with a seed that binds bytes to their place.
#pragma once

#include <cstdint>
#include <memory>

#include "cambium/slice.h"
#include "util/mutant.h"

namespace cambium {

[[nodiscard]] std::uint64_t Checksum64(Slice bytes, std::uint64_t seed);

// Compares the checksum that is stored with the one of the bytes that were read. Every reader of a file calls this, so
// that a fuzz target can switch all checksums off in one place: damaged bytes then reach the code after the checks.
[[nodiscard]] inline bool ChecksumMatches(std::uint64_t stored, std::uint64_t computed) {
  return stored == computed || MutantIs(Mutant::kEveryChecksumMatches);
}

// Computes the same checksum piece by piece. If it is constructed with `seed` and gets Update(a), then Update(b),
// Digest() returns Checksum64(a + b, seed).
class Checksum64Stream {
 public:
  explicit Checksum64Stream(std::uint64_t seed);
  ~Checksum64Stream();
  Checksum64Stream(const Checksum64Stream&) = delete;
  Checksum64Stream& operator=(const Checksum64Stream&) = delete;
  void Update(Slice bytes);
  [[nodiscard]] std::uint64_t Digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Mixes an offset into a file's seed, so that the same bytes at another offset do not validate.
// The multiplier is 2^64 / golden ratio, rounded to odd (Knuth, TAOCP 6.4): consecutive offsets give distant seeds.
[[nodiscard]] constexpr std::uint64_t SeedAt(std::uint64_t file_seed, std::uint64_t offset) {
  return file_seed ^ ((offset + 1) * 0x9e3779b97f4a7c15u);
}

}  // namespace cambium
