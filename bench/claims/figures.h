// Figures: the results of a preset's experiments, asked for by name, round by round.
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

std::optional<double> OpsPerSec(const Result& r);  // of a workload that writes, settling included
// While it worked: as OpsPerSec, but without the time to settle. Who published the rate of a phase of writes alone, and
// the wait after it by itself or not at all, is compared by these two.
std::optional<double> WorkingOpsPerSec(const Result& r);
std::optional<double> SettleSeconds(const Result& r);
std::optional<double> SpaceAmp(const Result& r);
std::optional<double> BytesOnDisk(const Result& r);
std::optional<double> MissesPerOp(const Result& r);  // of the cache for index pages or blocks

// A figure for each of several experiments, such as sizes of values, in their order; no rounds where it is missing.
using Several = std::vector<std::pair<std::string, Rounds>>;

class Figures {
 public:
  explicit Figures(const std::vector<Result>& results) : results_(results) {}

  // Whether anything of a preset was run: experiments are called "PRESET, ...".
  [[nodiscard]] bool Has(const std::string& preset) const;
  // Of each round; empty if nobody ran it, or it has no such figure.
  [[nodiscard]] Rounds Of(const std::string& experiment, const std::string& engine, const std::string& benchmark,
                          const Metric& metric) const;
  // a's figure over b's, of each round.
  [[nodiscard]] Rounds RatioOf(const std::string& experiment, const std::string& a, const std::string& b,
                               const std::string& benchmark, const Metric& metric) const;
  // The post's write amplification of several benchmarks together.
  [[nodiscard]] Rounds WriteAmpOf(const std::string& experiment, const std::string& engine,
                                  const std::vector<std::string>& benchmarks) const;
  // Seconds that several benchmarks took together.
  [[nodiscard]] Rounds SecondsOf(const std::string& experiment, const std::string& engine,
                                 const std::vector<std::string>& benchmarks) const;

 private:
  [[nodiscard]] std::map<unsigned, const Result*> ResultsOf(const std::string& experiment, const std::string& engine,
                                                            const std::string& benchmark) const;
  const std::vector<Result>& results_;
};

// The median, as "1.5x"; "-" if there is none.
std::string Text(const Rounds& rounds, int digits, const char* unit = "");
// The least and the most of the medians: "1.02 to 1.10".
std::string TextOfRange(const Several& figures, int digits, const char* unit = "");
// "16 B 0.5x, 128 B 0.9x".
std::string TextOfEach(const Several& figures, int digits, const char* unit = "");

// The claims of each preset; nothing if none of its experiments was run.
std::vector<Claim> JudgeBlobDb2021(const Figures& figures);
std::vector<Claim> JudgeSlides4(const Figures& figures);
std::vector<Claim> JudgeBadger2017(const Figures& figures);
std::vector<Claim> JudgeFast20(const Figures& figures);

}  // namespace cambium::bench
