// Chooses the record of a request as YCSB does (Cooper and others, "Benchmarking cloud serving systems with YCSB",
// SoCC 2010; generators of YCSB 0.17).
#pragma once

#include <cstdint>

#include "data/key.h"
#include "data/zipf.h"
#include "util/prng.h"

namespace cambium::bench {

inline constexpr double kYcsbTheta = 0.99;

// A few records, anywhere in the key space, get most requests. A rank below 10^10 is drawn and hashed to a record. For
// this number of ranks the normalising sum zeta is a known constant. Immutable.
class ScrambledZipf {
 public:
  explicit ScrambledZipf(std::uint64_t items) : items_(items) {}
  [[nodiscard]] std::uint64_t Next(Prng* random) const { return YcsbHash(ranks_.Next(random)) % items_; }

 private:
  std::uint64_t items_;
  Zipf ranks_{10'000'000'000u, kYcsbTheta, 26.46902820178302};
};

// The newer a record is, the more requests it gets. One thread.
class LatestZipf {
 public:
  // `ages` ranges over the initial number of records.
  explicit LatestZipf(const Zipf& ages) : ages_(ages) {}
  // Returns a record of [0, count). count must never fall.
  std::uint64_t Next(std::uint64_t count, Prng* random) {
    ages_.GrowTo(count);
    return count - 1 - ages_.Next(random);
  }

 private:
  Zipf ages_;
};

}  // namespace cambium::bench
