#include "claims/figures.h"

#include <algorithm>
#include <cstdio>

namespace cambium::bench {
namespace {

// If a run was repeated, its rounds are numbered after those of the first.
constexpr unsigned kRepeated = 1'000'000;

std::string Decimal(double value, int digits, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f%s", digits, value, unit);
  return text;
}

}  // namespace

std::optional<double> OpsPerSec(const Result& r) { return r.ops_per_sec; }
std::optional<double> WorkingOpsPerSec(const Result& r) {
  const double seconds = r.seconds - r.settle_seconds;
  return seconds > 0 ? std::optional(static_cast<double>(r.ops) / seconds) : std::nullopt;
}
std::optional<double> SettleSeconds(const Result& r) { return r.settle_seconds; }
std::optional<double> SpaceAmp(const Result& r) { return r.space_amp; }
std::optional<double> BytesOnDisk(const Result& r) {
  return r.disk_bytes == 0 ? std::nullopt : std::optional(static_cast<double>(r.disk_bytes));
}
std::optional<double> MissesPerOp(const Result& r) {
  if (!r.cache_misses.has_value() || r.ops == 0) return std::nullopt;
  return static_cast<double>(*r.cache_misses) / static_cast<double>(r.ops);
}

std::string Text(const Rounds& rounds, int digits, const char* unit) {
  return rounds.empty() ? "-" : Decimal(Median(rounds), digits, unit);
}

std::string TextOfRange(const Several& figures, int digits, const char* unit) {
  std::vector<double> medians;
  for (const auto& [name, rounds] : figures) {
    if (!rounds.empty()) medians.push_back(Median(rounds));
  }
  if (medians.empty()) return "-";
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  const std::string from = Decimal(*low, digits, unit);
  const std::string to = Decimal(*high, digits, unit);
  return from == to ? from : from + " to " + to;
}

std::string TextOfEach(const Several& figures, int digits, const char* unit) {
  std::string text;
  for (const auto& [name, rounds] : figures) {
    text += (text.empty() ? "" : ", ") + name + " " + Text(rounds, digits, unit);
  }
  return text;
}

bool Figures::Has(const std::string& preset) const {
  return std::any_of(results_.begin(), results_.end(),
                     [&](const Result& r) { return r.experiment.rfind(preset + ", ", 0) == 0; });
}

std::map<unsigned, const Result*> Figures::ResultsOf(const std::string& experiment, const std::string& engine,
                                                     const std::string& benchmark) const {
  std::map<unsigned, const Result*> rounds;
  for (const Result& r : results_) {
    if (r.experiment != experiment || Label(r) != engine || r.benchmark != benchmark) continue;
    unsigned round = r.round;
    while (rounds.contains(round)) round += kRepeated;
    rounds[round] = &r;
  }
  return rounds;
}

Rounds Figures::Of(const std::string& experiment, const std::string& engine, const std::string& benchmark,
                   const Metric& metric) const {
  Rounds values;
  for (const auto& [round, result] : ResultsOf(experiment, engine, benchmark)) {
    if (const std::optional<double> value = metric(*result); value.has_value()) values[round] = *value;
  }
  return values;
}

Rounds Figures::RatioOf(const std::string& experiment, const std::string& a, const std::string& b,
                        const std::string& benchmark, const Metric& metric) const {
  return Divide(Of(experiment, a, benchmark, metric), Of(experiment, b, benchmark, metric));
}

Rounds Figures::WriteAmpOf(const std::string& experiment, const std::string& engine,
                           const std::vector<std::string>& benchmarks) const {
  // Adds up the ledgers of a round, except logs that hold copies of values.
  std::map<unsigned, std::pair<std::size_t, Result>> sums;
  for (const std::string& benchmark : benchmarks) {
    for (const auto& [round, r] : ResultsOf(experiment, engine, benchmark)) {
      if (!r->ledger.has_value()) continue;
      auto& [count, sum] = sums[round];
      ++count;
      if (!sum.ledger.has_value()) sum.ledger.emplace(WriteLedger{.log_keeps_values = true});
      if (r->ledger->log_keeps_values) sum.ledger->log += r->ledger->log;
      sum.ledger->values += r->ledger->values;
      sum.ledger->flush += r->ledger->flush;
      sum.ledger->merge += r->ledger->merge;
      sum.ledger->gc += r->ledger->gc;
    }
  }
  Rounds values;
  for (const auto& [round, sum] : sums) {
    const std::optional<double> value = WriteAmpOfThePost(sum.second);
    if (sum.first == benchmarks.size() && value.has_value()) values[round] = *value;
  }
  return values;
}

Rounds Figures::SecondsOf(const std::string& experiment, const std::string& engine,
                          const std::vector<std::string>& benchmarks) const {
  std::map<unsigned, std::pair<std::size_t, double>> sums;
  for (const std::string& benchmark : benchmarks) {
    for (const auto& [round, r] : ResultsOf(experiment, engine, benchmark)) {
      ++sums[round].first;
      sums[round].second += r->seconds;
    }
  }
  Rounds values;
  for (const auto& [round, sum] : sums) {
    if (sum.first == benchmarks.size()) values[round] = sum.second;
  }
  return values;
}

std::vector<Claim> JudgeClaims(const std::vector<Result>& results) {
  const Figures figures(results);
  std::vector<Claim> claims;
  for (const auto judge : {JudgeBlobDb2021, JudgeSlides4, JudgeBadger2017, JudgeFast20}) {
    for (Claim& claim : judge(figures)) claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace cambium::bench
