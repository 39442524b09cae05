// Claim: a published statement, compared with what was measured here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/result.h"

namespace cambium::bench {

enum class Verdict : unsigned char {
  kHolds,
  kInPart,    // a part of the criterion holds
  kDiffers,   // no part of it holds
  kDoubtful,  // depends on figures whose rounds do not agree
  kNotMeasured
};

struct Claim {
  std::string id;              // "A3", as in docs/BENCHMARKS.md
  std::string source;          // who published it, and when
  std::string text;            // the statement
  std::string published;       // the published figure
  std::string criterion = {};  // what must be measured for the claim to hold
  std::string measured = {};   // the figures of this run
  Verdict verdict = Verdict::kNotMeasured;
  // Why it was not measured; or which parts do not hold, too low or too high, and the likely reason if it is known.
  std::string why = {};
  std::size_t rounds = 0;  // the fewest of all figures that decide
};

// Judges the claims of every preset that has results, by medians over rounds. Claims whose results are missing are
// kNotMeasured.
std::vector<Claim> JudgeClaims(const std::vector<Result>& results);

}  // namespace cambium::bench
