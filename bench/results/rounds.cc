#include "results/rounds.h"

#include <algorithm>

namespace cambium::bench {
namespace {

constexpr double kSpreadMax = 0.5;  // of ratios, as a fraction of their median

}  // namespace

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double Median(const Rounds& rounds) { return Median(Values(rounds)); }

std::vector<double> Values(const Rounds& rounds) {
  std::vector<double> values;
  for (const auto& [round, value] : rounds) values.push_back(value);
  return values;
}

std::optional<Spread> SpreadOf(const Rounds& rounds) {
  if (rounds.empty()) return std::nullopt;
  const std::vector<double> values = Values(rounds);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return Spread{.median = Median(values), .low = *low, .high = *high, .rounds = values.size()};
}

Rounds Divide(const Rounds& a, const Rounds& b) {
  Rounds ratios;
  for (const auto& [round, value] : a) {
    const auto other = b.find(round);
    if (other != b.end() && other->second > 0) ratios[round] = value / other->second;
  }
  return ratios;
}

bool AreFarApart(const Spread& ratio) { return ratio.high - ratio.low > kSpreadMax * ratio.median; }

bool IsDoubtful(const Spread& ratio) {
  if (ratio.rounds < 2) return false;
  return (ratio.low <= 1 && ratio.high >= 1) || AreFarApart(ratio);
}

std::map<std::uint64_t, std::string> NameSteps(const std::vector<Result>& results) {
  std::map<std::uint64_t, std::string> names;
  for (const Result& result : results) names[result.step] = result.benchmark;
  std::map<std::string, int> seen;
  for (auto& [step, name] : names) {
    if (const int times = ++seen[name]; times > 1) name.append(" ").append(std::to_string(times));
  }
  return names;
}

void AddOnce(std::vector<std::string>* names, const std::string& name) {
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

}  // namespace cambium::bench
