// Figures: looks up results of a preset's experiments by name, round by round.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "claims/claim.h"
#include "results/result.h"
#include "results/rounds.h"

namespace cambium::bench {

using Metric = std::function<std::optional<double>(const Result&)>;

std::optional<double> OpsPerSec(const Result& r);  // settling included
// As OpsPerSec, without the time to settle. For published rates that do not include the wait after the writes.
std::optional<double> WorkingOpsPerSec(const Result& r);
std::optional<double> SettleSeconds(const Result& r);
std::optional<double> SpaceAmp(const Result& r);
std::optional<double> BytesOnDisk(const Result& r);
std::optional<double> MissesPerOp(const Result& r);  // misses of the engine's own cache of index pages or blocks

// A figure for each of several experiments, such as value sizes, in their order. A missing figure has no rounds.
using Several = std::vector<std::pair<std::string, Rounds>>;

class Figures {
 public:
  explicit Figures(const std::vector<Result>& results) : results_(results) {}

  // Returns whether there are results of a preset, whose experiments are named "PRESET, ...".
  [[nodiscard]] bool Has(const std::string& preset) const;
  // Returns the figure of each round; empty if the benchmark did not run or has no such figure.
  [[nodiscard]] Rounds Of(const std::string& experiment, const std::string& engine, const std::string& benchmark,
                          const Metric& metric) const;
  // Returns a's figure over b's for each round.
  [[nodiscard]] Rounds RatioOf(const std::string& experiment, const std::string& a, const std::string& b,
                               const std::string& benchmark, const Metric& metric) const;
  // Returns WriteAmpOfThePost() of several benchmarks together.
  [[nodiscard]] Rounds WriteAmpOf(const std::string& experiment, const std::string& engine,
                                  const std::vector<std::string>& benchmarks) const;
  // Returns the seconds that several benchmarks took together.
  [[nodiscard]] Rounds SecondsOf(const std::string& experiment, const std::string& engine,
                                 const std::vector<std::string>& benchmarks) const;

 private:
  [[nodiscard]] std::map<unsigned, const Result*> ResultsOf(const std::string& experiment, const std::string& engine,
                                                            const std::string& benchmark) const;
  const std::vector<Result>& results_;
};

// Returns the median, as "1.5x"; "-" if there is none.
std::string Text(const Rounds& rounds, int digits, const char* unit = "");
// Returns the smallest and the largest median: "1.02 to 1.10".
std::string TextOfRange(const Several& figures, int digits, const char* unit = "");
// Returns the median of each: "16 B 0.5x, 128 B 0.9x".
std::string TextOfEach(const Several& figures, int digits, const char* unit = "");

// Judge the claims of a preset; empty if none of its experiments ran.
std::vector<Claim> JudgeBlobDb2021(const Figures& figures);
std::vector<Claim> JudgeSlides4(const Figures& figures);
std::vector<Claim> JudgeBadger2017(const Figures& figures);
std::vector<Claim> JudgeFast20(const Figures& figures);

}  // namespace cambium::bench
