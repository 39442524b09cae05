// Arrangement: results in the order of the page: chapters, runs, benchmarks, engines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "html/palette.h"
#include "html/run_facts.h"
#include "results/rounds.h"
#include "workloads/workload.h"

namespace cambium::bench {

using Metric = std::function<std::optional<double>(const Result&)>;

// Returns the effect of a result's benchmark. If this release does not know the benchmark's name, the effect follows
// from the figures.
Effect EffectOf(const Result& result);

struct StepOfRun {
  std::uint64_t step = 0;
  std::string name;  // "readrandom 2" if it is repeated
  Effect effect = Effect::kReads;
  bool changes = false;  // changes what is on disk
};

// A RunView is a run with its steps and engines.
class RunView {
 public:
  // `run` must outlive the view. Names of plots begin with `prefix`.
  RunView(const ReportRun& run, std::string name, std::string prefix);

  [[nodiscard]] const ReportRun& run() const { return *run_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  [[nodiscard]] const std::vector<StepOfRun>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<std::string>& engines() const { return engines_; }  // labels, Cambium first
  // Returns the results in the order of rounds.
  [[nodiscard]] std::vector<const Result*> ResultsOf(std::uint64_t step, const std::string& engine) const;
  [[nodiscard]] Rounds RoundsOf(std::uint64_t step, const std::string& engine, const Metric& metric) const;
  [[nodiscard]] std::optional<Spread> SpreadOfRounds(std::uint64_t step, const std::string& engine,
                                                     const Metric& metric) const;
  [[nodiscard]] unsigned rounds() const { return rounds_; }

 private:
  const ReportRun* run_;
  std::string name_;
  std::string prefix_;
  std::vector<StepOfRun> steps_;
  std::vector<std::string> engines_;
  unsigned rounds_ = 0;
};

// A Chapter is the runs of a preset, or commands that differ only in sizes and counts.
struct Chapter {
  std::string name;
  std::string prefix;
  std::vector<RunView> runs;
};

struct Arrangement {
  Palette palette;
  std::vector<std::string> engines;  // of all runs, Cambium first
  std::vector<Chapter> chapters;
};
// `runs` must outlive the result. Runs without results are left out.
Arrangement Arrange(const std::vector<ReportRun>& runs);

}  // namespace cambium::bench
