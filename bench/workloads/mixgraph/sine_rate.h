// SineRate: how many operations a second a workload asks for as its day goes on: a sin(b t + c) + d.
#pragma once

#include <algorithm>
#include <cmath>

#include "flags/mixgraph_flags.h"
#include "util/prng.h"

namespace cambium::bench {

// Operations a second, at `seconds` since the beginning; at least 1. The noise of db_bench: as many whole operations as
// a, up or down by a half of them, times the noise; none where a is less than one.
inline double SineRate(const MixgraphFlags& f, double seconds, Prng* random) {
  double rate = f.sine_a * std::sin(f.sine_b * seconds + f.sine_c) + f.sine_d;
  const auto whole = f.sine_a >= 1 ? static_cast<std::uint64_t>(f.sine_a) : 0;
  if (f.sine_mix_rate_noise > 0 && whole > 0) {
    rate += (static_cast<double>(random->Uniform(whole)) - static_cast<double>(whole) / 2) * f.sine_mix_rate_noise;
  }
  return std::max(rate, 1.0);
}

}  // namespace cambium::bench
