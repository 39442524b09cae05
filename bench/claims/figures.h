// Figures: the results of a preset's experiments, asked for by name; and how claims are put together from them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "claim.h"
#include "result.h"

namespace cambium::bench {

using Metric = std::function<std::optional<double>(const Result&)>;

std::optional<double> OpsPerSec(const Result& r);
std::optional<double> SpaceAmp(const Result& r);
std::optional<double> MissesPerOp(const Result& r);  // of the cache for index pages or blocks

// A figure for each of several experiments, such as sizes of values.
struct Range {
  std::vector<double> values;

  [[nodiscard]] bool empty() const { return values.empty(); }
  [[nodiscard]] double low() const;
  [[nodiscard]] double high() const;
  // "1.02 to 1.10", with so many digits; "-" if there is none.
  [[nodiscard]] std::string Text(int digits, const char* unit = "") const;
};

class Figures {
 public:
  explicit Figures(const std::vector<Result>& results) : results_(results) {}

  // Whether anything of a preset was run: experiments are called "PRESET, ...".
  [[nodiscard]] bool Has(const std::string& preset) const;
  // The median over rounds; nothing if nobody ran it, or it has no such figure.
  [[nodiscard]] std::optional<double> Of(const std::string& experiment, const std::string& engine,
                                         const std::string& benchmark, const Metric& metric) const;
  // a's figure over b's, of each round; their median.
  [[nodiscard]] std::optional<double> RatioOf(const std::string& experiment, const std::string& a, const std::string& b,
                                              const std::string& benchmark, const Metric& metric) const;
  // The post's write amplification of several benchmarks together.
  [[nodiscard]] std::optional<double> WriteAmpOf(const std::string& experiment, const std::string& engine,
                                                 const std::vector<std::string>& benchmarks) const;
  // Seconds that several benchmarks took together.
  [[nodiscard]] std::optional<double> SecondsOf(const std::string& experiment, const std::string& engine,
                                                const std::vector<std::string>& benchmarks) const;

 private:
  [[nodiscard]] std::vector<const Result*> Rounds(const std::string& experiment, const std::string& engine,
                                                  const std::string& benchmark) const;
  const std::vector<Result>& results_;
};

// "1.5x"; "-" if there is none.
std::string Text(std::optional<double> value, int digits, const char* unit = "");

// Adds a figure if it is there.
void Add(Range* range, std::optional<double> value);

// The claims of each preset; nothing if none of its experiments was run.
std::vector<Claim> JudgeBlobDb2021(const Figures& figures);
std::vector<Claim> JudgeSlides4(const Figures& figures);
std::vector<Claim> JudgeBadger2017(const Figures& figures);
std::vector<Claim> JudgeFast20(const Figures& figures);

// A claim that nothing can be said about because `needed` is missing.
Claim NotMeasured(Claim claim, const std::string& needed);

}  // namespace cambium::bench
