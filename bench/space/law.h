// The law of log cleaning: what log GC must write under uniform overwrites, whatever its policy, for a given amount of
// garbage.
//
// Log GC empties a segment when a share e of it is still live, and writes this share again. For each byte that the user
// writes, W = 1 / (1 - e) bytes are written. The live share of a segment decays exponentially from 1 to e. Its mean
// over the log is (1 - e) / -ln(e), and the space amplification is the inverse of this mean (appendix of Rosenblum and
// Ousterhout, 1992, without their cleaning overhead).
#pragma once

#include <cmath>

namespace cambium::bench {

// Returns the bytes written, those of the user included, per byte of the user, for a log of `space_amp` bytes per live
// byte. Requires space_amp > 1.
inline double WriteAmpOfUniform(double space_amp) {
  double low = 1e-9;  // a segment is emptied when almost nothing is live: space_amp is large
  double high = 1 - 1e-9;
  for (int i = 0; i < 100; ++i) {
    const double e = (low + high) / 2;
    const double s = -std::log(e) / (1 - e);
    (s > space_amp ? low : high) = e;
  }
  return 1 / (1 - (low + high) / 2);
}

}  // namespace cambium::bench
