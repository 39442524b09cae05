#include <algorithm>

#include "html/plots.h"
#include "html/plots/bars.h"

namespace cambium::bench {
namespace {

constexpr double kLeastSpan = 2;   // of the axis, on both sides of 1
constexpr double kRowPart = 0.62;  // the part of a row that its engines share

// Returns the place of an engine's point in the row of a benchmark. Rows count from the top, places on the axis from
// below.
double PlaceInRow(std::size_t row, std::size_t rows, std::size_t engine, std::size_t engines) {
  const double middle = static_cast<double>(rows - 1 - row);
  if (engines == 1) return middle;
  return middle + kRowPart * (0.5 - static_cast<double>(engine) / static_cast<double>(engines - 1));
}

// Returns the steps for which the first engine and any other have speeds.
std::vector<StepOfRun> SharedSteps(const RunView& run, const Metric& speed) {
  std::vector<StepOfRun> shared;
  for (const StepOfRun& step : run.steps()) {
    if (step.effect == Effect::kMaintains) continue;
    const Rounds own = run.RoundsOf(step.step, run.engines().front(), speed);
    const auto compares = [&](const std::string& engine) {
      return engine != run.engines().front() && !Divide(own, run.RoundsOf(step.step, engine, speed)).empty();
    };
    if (std::any_of(run.engines().begin(), run.engines().end(), compares)) shared.push_back(step);
  }
  return shared;
}

}  // namespace

std::optional<Plot> PlotRatios(const Palette& palette, const RunView& run) {
  const Metric speed = [](const Result& r) { return r.ops_per_sec > 0 ? std::optional(r.ops_per_sec) : std::nullopt; };
  const std::vector<StepOfRun> steps = SharedSteps(run, speed);
  if (steps.empty()) return std::nullopt;
  const std::string& base = run.engines().front();
  LineChart chart;
  chart.rows = steps.size();
  DataTable table{.head = {"benchmark", base + " over", "median", "least", "most", "rounds"}, .rows = {}};
  std::vector<double> ratios = {1 / kLeastSpan, kLeastSpan};
  for (std::size_t e = 1; e < run.engines().size(); ++e) {
    const std::string& engine = run.engines()[e];
    Series series{.name = "over " + engine, .place = palette.PlaceOf(engine), .lines = false};
    for (std::size_t row = 0; row < steps.size(); ++row) {
      const Rounds own = run.RoundsOf(steps[row].step, base, speed);
      const auto ratio = SpreadOf(Divide(own, run.RoundsOf(steps[row].step, engine, speed)));
      if (!ratio.has_value()) continue;
      series.points.push_back({.x = ratio->median,
                               .y = PlaceInRow(row, steps.size(), e - 1, run.engines().size() - 1),
                               .low = ratio->low,
                               .high = ratio->high,
                               .note = steps[row].name + " " + Format(Unit::kTimes, ratio->median),
                               .hollow = IsDoubtful(*ratio)});
      ratios.insert(ratios.end(), {ratio->low, ratio->high});
      table.rows.push_back({steps[row].name, engine, Format(Unit::kTimes, ratio->median),
                            Format(Unit::kTimes, ratio->low), Format(Unit::kTimes, ratio->high),
                            std::to_string(ratio->rounds)});
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  chart.x = AxisAround("times as fast", Unit::kTimes, true, ratios);
  chart.y = {.title = "", .low = -0.5, .high = static_cast<double>(steps.size()) - 0.5};
  for (std::size_t row = 0; row < steps.size(); ++row) {
    chart.y.ticks.push_back({static_cast<double>(steps.size() - 1 - row), steps[row].name});
  }
  chart.references.push_back({.name = "as fast", .points = {{.x = 1, .y = chart.y.low}, {.x = 1, .y = chart.y.high}}});
  return Plot{.name = run.prefix() + "ratios",
              .title = "How many times as fast " + base + " is",
              .of = NameAmongSeveral(run),
              .caption = "Operations per second of " + base +
                         " over those of each other engine, round by round; right of the dashed line is better, and a "
                         "hollow mark says nothing, because its rounds do not agree.",
              .chart = chart,
              .table = table};
}

}  // namespace cambium::bench
