// Claim: what somebody has published, beside what was measured here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/result.h"

namespace cambium::bench {

enum class Verdict : unsigned char {
  kHolds,
  kInPart,    // some of what the criterion asks for
  kDiffers,   // nothing of it
  kDoubtful,  // it hangs on figures whose rounds do not agree
  kNotMeasured
};

struct Claim {
  std::string id;         // "A3", as docs/BENCHMARKS.md counts them
  std::string source;     // who published it, when
  std::string text;       // what is claimed
  std::string published;  // its figure
  std::string criterion = {};  // what must have been measured for it to hold
  std::string measured = {};   // the figure of this run
  Verdict verdict = Verdict::kNotMeasured;
  // Why it was not measured; or what of it does not hold, too low or too high, and where it is known the likely reason.
  std::string why = {};
  std::size_t rounds = 0;    // of that figure which decides and has the fewest
};

// Those about which the experiments in `results` say something, and those of their presets for which results are
// missing; medians over rounds.
std::vector<Claim> JudgeClaims(const std::vector<Result>& results);

}  // namespace cambium::bench
