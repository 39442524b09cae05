// Which record a request is for, as YCSB chooses it (Cooper and others, "Benchmarking cloud serving systems with YCSB",
// SoCC 2010; generators of YCSB 0.17).
#pragma once

#include <cstdint>

#include "data/key.h"
#include "data/zipf.h"
#include "util/prng.h"

namespace cambium::bench {

inline constexpr double kYcsbTheta = 0.99;

// A few records get most requests, and lie anywhere: ranks are drawn from ten thousand million, whose zeta is known, and
// hashed onto the items. Immutable.
class ScrambledZipf {
 public:
  explicit ScrambledZipf(std::uint64_t items) : items_(items) {}
  [[nodiscard]] std::uint64_t Next(Prng* random) const { return YcsbHash(ranks_.Next(random)) % items_; }

 private:
  std::uint64_t items_;
  Zipf ranks_{10'000'000'000u, kYcsbTheta, 26.46902820178302};
};

// The newer a record, the more requests. One thread.
class LatestZipf {
 public:
  // `ages` is over as many records as there are at first.
  explicit LatestZipf(const Zipf& ages) : ages_(ages) {}
  // Of records [0, count); count never falls.
  std::uint64_t Next(std::uint64_t count, Prng* random) {
    ages_.GrowTo(count);
    return count - 1 - ages_.Next(random);
  }

 private:
  Zipf ages_;
};

}  // namespace cambium::bench
