// What log GC has to write under uniform overwrites, whatever its policy, for the garbage that it is left.
//
// A segment is emptied when a part e of it is still alive, and that part is written again: W = 1 / (1 - e) bytes per byte
// of the user's. What is alive of a segment decays exponentially from 1 to e, so that over the log (1 - e) / -ln(e) is
// alive, one over the space amplification (appendix of Rosenblum and Ousterhout, 1992, without their cleaning overhead).
#pragma once

#include <cmath>

namespace cambium::bench {

// For a log of `space_amp` bytes per live byte, over 1. Bytes written, the user's own among them, per byte of the user's.
inline double WriteAmpOfUniform(double space_amp) {
  double low = 1e-9;  // all garbage is taken at once: S is large
  double high = 1 - 1e-9;
  for (int i = 0; i < 100; ++i) {
    const double e = (low + high) / 2;
    const double s = -std::log(e) / (1 - e);
    (s > space_amp ? low : high) = e;
  }
  return 1 / (1 - (low + high) / 2);
}

}  // namespace cambium::bench
