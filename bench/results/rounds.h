// What the rounds of a run have in common: medians, and ratios that are taken within a round.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/result.h"

namespace cambium::bench {

// A figure of every round in which there is one.
using Rounds = std::map<unsigned, double>;

// What rounds have in the middle, and at both ends.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t rounds = 0;
};

// Which of two figures of the same kind is the better one.
enum class Better : unsigned char { kMore, kLess };

double Median(std::vector<double> values);  // of at least one
double Median(const Rounds& rounds);
std::vector<double> Values(const Rounds& rounds);
// Nothing if there is no round.
std::optional<Spread> SpreadOf(const Rounds& rounds);
// a / b of each round that both have.
Rounds Divide(const Rounds& a, const Rounds& b);

// Further apart than half of their median.
bool AreFarApart(const Spread& ratio);
// Whether the rounds' ratios say too little: they lie on both sides of 1, or further apart than half of their median.
bool IsDoubtful(const Spread& ratio);

// Names of the steps of one run: "readrandom", and "readrandom 2" where it comes again.
std::map<std::uint64_t, std::string> NameSteps(const std::vector<Result>& results);

void AddOnce(std::vector<std::string>* names, const std::string& name);

}  // namespace cambium::bench
