#include "claims/figures.h"

#include <algorithm>
#include <cstdio>

namespace cambium::bench {
namespace {

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace

std::optional<double> OpsPerSec(const Result& r) { return r.ops_per_sec; }
std::optional<double> SpaceAmp(const Result& r) { return r.space_amp; }
std::optional<double> MissesPerOp(const Result& r) {
  if (!r.cache_misses.has_value() || r.ops == 0) return std::nullopt;
  return static_cast<double>(*r.cache_misses) / static_cast<double>(r.ops);
}

double Range::low() const { return *std::min_element(values.begin(), values.end()); }
double Range::high() const { return *std::max_element(values.begin(), values.end()); }

std::string Text(std::optional<double> value, int digits, const char* unit) {
  if (!value.has_value()) return "-";
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f%s", digits, *value, unit);
  return text;
}

std::string Range::Text(int digits, const char* unit) const {
  if (values.empty()) return "-";
  const std::string from = bench::Text(low(), digits, unit);
  const std::string to = bench::Text(high(), digits, unit);
  return from == to ? from : from + " to " + to;
}

void Add(Range* range, std::optional<double> value) {
  if (value.has_value()) range->values.push_back(*value);
}

bool Figures::Has(const std::string& preset) const {
  return std::any_of(results_.begin(), results_.end(),
                     [&](const Result& r) { return r.experiment.rfind(preset + ", ", 0) == 0; });
}

std::vector<const Result*> Figures::Rounds(const std::string& experiment, const std::string& engine,
                                           const std::string& benchmark) const {
  std::vector<const Result*> rounds;
  for (const Result& r : results_) {
    if (r.experiment == experiment && Label(r) == engine && r.benchmark == benchmark) rounds.push_back(&r);
  }
  return rounds;
}

std::optional<double> Figures::Of(const std::string& experiment, const std::string& engine,
                                  const std::string& benchmark, const Metric& metric) const {
  std::vector<double> values;
  for (const Result* r : Rounds(experiment, engine, benchmark)) {
    if (const std::optional<double> value = metric(*r); value.has_value()) values.push_back(*value);
  }
  return Median(std::move(values));
}

std::optional<double> Figures::RatioOf(const std::string& experiment, const std::string& a, const std::string& b,
                                       const std::string& benchmark, const Metric& metric) const {
  std::vector<double> ratios;
  for (const Result* one : Rounds(experiment, a, benchmark)) {
    for (const Result* other : Rounds(experiment, b, benchmark)) {
      if (one->round != other->round) continue;
      const std::optional<double> x = metric(*one);
      const std::optional<double> y = metric(*other);
      if (x.has_value() && y.has_value() && *y > 0) ratios.push_back(*x / *y);
    }
  }
  return Median(std::move(ratios));
}

std::optional<double> Figures::WriteAmpOf(const std::string& experiment, const std::string& engine,
                                          const std::vector<std::string>& benchmarks) const {
  // Ledgers of a round are added up; several rounds weigh alike.
  Result sum;
  sum.ledger.emplace();
  for (const std::string& benchmark : benchmarks) {
    const std::vector<const Result*> rounds = Rounds(experiment, engine, benchmark);
    if (rounds.empty()) return std::nullopt;
    for (const Result* r : rounds) {
      if (!r->ledger.has_value()) return std::nullopt;
      sum.ledger->log += r->ledger->log;
      sum.ledger->values += r->ledger->values;
      sum.ledger->flush += r->ledger->flush;
      sum.ledger->merge += r->ledger->merge;
      sum.ledger->gc += r->ledger->gc;
      sum.ledger->log_keeps_values = r->ledger->log_keeps_values;
    }
  }
  return WriteAmpOfThePost(sum);
}

std::optional<double> Figures::SecondsOf(const std::string& experiment, const std::string& engine,
                                         const std::vector<std::string>& benchmarks) const {
  double sum = 0;
  for (const std::string& benchmark : benchmarks) {
    const std::optional<double> seconds =
        Of(experiment, engine, benchmark, [](const Result& r) { return std::optional<double>(r.seconds); });
    if (!seconds.has_value()) return std::nullopt;
    sum += *seconds;
  }
  return sum;
}

Claim NotMeasured(Claim claim, const std::string& needed) {
  claim.measured = "-";
  claim.verdict = Verdict::kNotMeasured;
  claim.why = needed;
  return claim;
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
