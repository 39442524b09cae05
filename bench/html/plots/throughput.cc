#include <algorithm>
#include <map>
#include <utility>

#include "html/escape.h"
#include "html/plots.h"
#include "html/plots/bars.h"
#include "presets/presets.h"

namespace cambium::bench {
namespace {

constexpr int kSizeTicks = 6;
constexpr double kMargin = 1.3;  // around the smallest and the largest size

std::optional<double> Speed(const Result& r) { return r.ops_per_sec > 0 ? std::optional(r.ops_per_sec) : std::nullopt; }

// The speeds of one benchmark in the runs of one kind.
struct BySize {
  std::vector<std::string> engines;
  std::map<std::uint64_t, std::string> commands;
  std::map<std::uint64_t, std::map<std::string, std::vector<double>>> speeds;
  bool mixed = false;  // different commands have the same size, so they differ in more than the size
};

// Returns the part of an experiment's name after the size: "load without blob GC" for "blobdb2021, 1 KiB, load without
// blob GC". Runs of the same kind differ only in size.
std::string KindOf(const Result& r) {
  const std::string size = ", " + SizeName(r.value_size) + ", ";
  const std::size_t at = r.experiment.find(size);
  return at == std::string::npos ? "" : r.experiment.substr(at + size.size());
}

// Curves by benchmark and kind, in the order of their first results.
using Curves = std::vector<std::pair<std::pair<std::string, std::string>, BySize>>;

BySize* CurveOf(const std::pair<std::string, std::string>& name, Curves* curves) {
  for (auto& [known, curve] : *curves) {
    if (known == name) return &curve;
  }
  return &curves->emplace_back(name, BySize{}).second;
}

void Collect(const RunView& run, const StepOfRun& step, Curves* curves) {
  for (const std::string& engine : run.engines()) {
    for (const Result* r : run.ResultsOf(step.step, engine)) {
      if (!Speed(*r).has_value() || r->value_size == 0) continue;
      BySize* const found = CurveOf({step.name, KindOf(*r)}, curves);
      const std::string command = r->experiment + " " + run.run().facts.command;
      const auto [at, is_new] = found->commands.emplace(r->value_size, command);
      found->mixed |= !is_new && at->second != command;
      AddOnce(&found->engines, engine);
      found->speeds[r->value_size][engine].push_back(r->ops_per_sec);
    }
  }
}

Plot PlotOf(const Palette& palette, const Chapter& chapter, const std::string& benchmark, const std::string& kind,
            const BySize& found) {
  LineChart chart;
  DataTable table{.head = {"engine", "value size", "median", "slowest", "fastest", "rounds"}, .rows = {}};
  std::vector<double> all_speeds;
  std::vector<double> all_sizes;
  for (const std::string& engine : found.engines) {
    Series series{.name = engine, .place = palette.PlaceOf(engine), .points = {}};
    for (const auto& [size, speeds] : found.speeds) {
      const auto values = speeds.find(engine);
      if (values == speeds.end()) continue;
      const auto [low, high] = std::minmax_element(values->second.begin(), values->second.end());
      const double median = Median(values->second);
      const std::string size_text = Format(Unit::kBytes, static_cast<double>(size));
      series.points.push_back({.x = static_cast<double>(size),
                               .y = median,
                               .low = *low,
                               .high = *high,
                               .note = Format(Unit::kOpsPerSec, median) + " at " + size_text});
      table.rows.push_back({engine, size_text, Format(Unit::kOpsPerSec, median), Format(Unit::kOpsPerSec, *low),
                            Format(Unit::kOpsPerSec, *high), std::to_string(values->second.size())});
      all_speeds.insert(all_speeds.end(), {median, *low, *high});
      all_sizes.push_back(static_cast<double>(size));
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  chart.x = AxisAround("size of a value", Unit::kBytes, true, all_sizes);
  chart.x.ticks = TicksOf(chart.x, kSizeTicks);
  chart.x.low /= kMargin;
  chart.x.high *= kMargin;
  chart.y = AxisAround("operations per second", Unit::kOpsPerSec, true, all_speeds);
  return Plot{
      .name = chapter.prefix + "by-value-size-" + ToSlug(kind.empty() ? benchmark : benchmark + " " + kind),
      .title = benchmark + " by size of values" + (kind.empty() ? "" : ", " + kind),
      .of = chapter.prefix.empty() ? "" : chapter.name,
      .caption = "Throughput of " + benchmark + " for each size of values, both axes by powers; higher is better.",
      .chart = chart,
      .table = table};
}

}  // namespace

std::vector<Plot> PlotsByValueSize(const Palette& palette, const Chapter& chapter) {
  Curves curves;
  for (const RunView& run : chapter.runs) {
    for (const StepOfRun& step : run.steps()) {
      if (step.effect != Effect::kMaintains) Collect(run, step, &curves);
    }
  }
  std::vector<Plot> plots;
  for (const auto& [name, curve] : curves) {
    if (curve.mixed || curve.speeds.size() < 2) continue;
    plots.push_back(PlotOf(palette, chapter, name.first, name.second, curve));
  }
  return plots;
}

std::optional<Plot> PlotThroughput(const Palette& palette, const RunView& run) {
  return PlotBars(
      palette, run,
      {.name = "throughput",
       .title = "Throughput",
       .caption = "Operations per second of each benchmark, each with a scale of its own; longer is better" +
                  RoundsNote(run) + ".",
       .unit = Unit::kOpsPerSec,
       .metric = Speed},
      [](const StepOfRun& step) { return step.effect != Effect::kMaintains; });
}

}  // namespace cambium::bench
