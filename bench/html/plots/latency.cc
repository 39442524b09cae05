#include <algorithm>
#include <cmath>
#include <map>

#include "html/escape.h"
#include "html/plots.h"
#include "html/plots/bars.h"

namespace cambium::bench {
namespace {

// Returns the place of a percentile on the x axis: each nine takes the same room.
double Nines(double percent) { return -std::log10(1 - percent / 100); }

// Returns the median over the rounds for each percentile. Percentiles beyond a single call are left out, except the
// longest call.
std::vector<std::pair<double, double>> MedianCurve(const std::vector<const Result*>& results) {
  std::map<double, std::vector<double>> values;
  double ops = 0;
  for (const Result* r : results) {
    ops = std::max(ops, static_cast<double>(r->ops));
    for (const auto& [percent, micros] : r->latency_curve) values[percent].push_back(micros);
  }
  std::vector<std::pair<double, double>> curve;
  for (const auto& [percent, micros] : values) {
    if (percent < 100 && percent > 100 * (1 - 1 / ops)) continue;
    curve.emplace_back(percent, Median(micros));
  }
  return curve;
}

std::vector<Tick> PercentTicks(double nines_max) {
  std::vector<Tick> ticks = {{Nines(50), "p50"}};
  const char* const names[] = {"p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999"};
  for (int nines = 1; nines <= 6 && nines <= nines_max + 0.01; ++nines) {
    ticks.push_back({static_cast<double>(nines), names[nines - 1]});
  }
  return ticks;
}

std::optional<Plot> PlotLatency(const Palette& palette, const RunView& run, const StepOfRun& step) {
  LineChart chart;
  DataTable table{.head = {"engine", "per cent of calls", "took at most"}, .rows = {}};
  std::vector<double> micros_of_all;
  double right = 1;
  for (const std::string& engine : run.engines()) {
    const std::vector<const Result*> results = run.ResultsOf(step.step, engine);
    const auto curve = MedianCurve(results);
    if (curve.size() < 2) continue;
    const double longest_at = std::log10(std::max(10.0, static_cast<double>(results.front()->ops)));
    Series series{.name = engine, .place = palette.PlaceOf(engine), .points = {}};
    for (const auto& [percent, micros] : curve) {
      const double x = percent < 100 ? Nines(percent) : longest_at;
      const std::string exact = percent < 100 ? Decimal(percent, percent > 99.9 ? 4
                                                                 : percent > 99 ? 1
                                                                                : 0) +
                                                    " %"
                                              : "all";
      series.points.push_back(
          {.x = x, .y = micros, .note = exact + " of calls within " + Format(Unit::kMicros, micros)});
      table.rows.push_back({engine, exact, Format(Unit::kMicros, micros)});
      micros_of_all.push_back(micros);
      right = std::max(right, x);
    }
    chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return std::nullopt;
  chart.x = {.title = "percentile of calls", .low = -0.1, .high = right * 1.04, .ticks = PercentTicks(right)};
  chart.y = AxisAround("latency", Unit::kMicros, true, micros_of_all);
  return Plot{.name = run.prefix() + "latency-" + ToSlug(step.name),
              .title = "Latency of " + step.name,
              .of = NameAmongSeveral(run),
              .caption =
                  "The time within which each part of the calls ended, the longest call at the right end; lower is "
                  "better, and a curve that stays flat to the right means that no call waits for long.",
              .chart = chart,
              .table = table};
}

}  // namespace

std::vector<Plot> PlotLatencies(const Palette& palette, const RunView& run) {
  std::vector<Plot> plots;
  for (const StepOfRun& step : run.steps()) {
    if (step.effect == Effect::kMaintains) continue;
    if (std::optional<Plot> plot = PlotLatency(palette, run, step); plot.has_value()) plots.push_back(*plot);
  }
  return plots;
}

}  // namespace cambium::bench
