// Figures over the rounds of a run: medians, and ratios that are taken within a round.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/result.h"

namespace cambium::bench {

// A figure for each round that has one.
using Rounds = std::map<unsigned, double>;

// The median and both ends of a figure over the rounds.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t rounds = 0;
};

// Which of two figures of the same kind is the better one.
enum class Better : unsigned char { kMore, kLess };

double Median(std::vector<double> values);  // requires at least one value
double Median(const Rounds& rounds);
std::vector<double> Values(const Rounds& rounds);
// Returns nothing if there is no round.
std::optional<Spread> SpreadOf(const Rounds& rounds);
// Returns a / b for each round that both have.
Rounds Divide(const Rounds& a, const Rounds& b);

// Returns whether low and high are further apart than half of the median.
bool AreFarApart(const Spread& ratio);
// Returns whether the rounds do not agree: some ratios are above 1 and others below, or their spread exceeds half of
// their median.
bool IsDoubtful(const Spread& ratio);

// Returns the names of the steps of one run: "readrandom", and "readrandom 2" if it is repeated.
std::map<std::uint64_t, std::string> NameSteps(const std::vector<Result>& results);

// Adds `name` unless it is in the list already.
void AddOnce(std::vector<std::string>* names, const std::string& name);

}  // namespace cambium::bench
