// SineRate: operations per second that vary over the day: a sin(b t + c) + d.
#pragma once

#include <algorithm>
#include <cmath>

#include "flags/mixgraph_flags.h"
#include "util/prng.h"

namespace cambium::bench {

// Returns the rate at `seconds` since the beginning, at least 1. The noise is db_bench's: up to half of a, rounded down
// to whole operations, up or down, times the noise. There is none if a is below 1.
inline double SineRate(const MixgraphFlags& f, double seconds, Prng* random) {
  double rate = f.sine_a * std::sin(f.sine_b * seconds + f.sine_c) + f.sine_d;
  const auto whole = f.sine_a >= 1 ? static_cast<std::uint64_t>(f.sine_a) : 0;
  if (f.sine_mix_rate_noise > 0 && whole > 0) {
    rate += (static_cast<double>(random->Uniform(whole)) - static_cast<double>(whole) / 2) * f.sine_mix_rate_noise;
  }
  return std::max(rate, 1.0);
}

}  // namespace cambium::bench
