// Plots of the samples of a phase, in the last round only: single moments have no median over the rounds.
#include <algorithm>

#include "html/escape.h"
#include "html/plots.h"
#include "html/plots/bars.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kSamplesMin = 4;     // fewer make no curve
constexpr double kStandstill = 0.1;        // a fraction of the median speed
constexpr std::size_t kMarkersMax = 30;    // more would hide the curve
constexpr std::size_t kTableRowsMax = 60;  // for an engine

// Returns null if the last round has too few samples.
const Result* LastRound(const RunView& run, const StepOfRun& step, const std::string& engine) {
  const std::vector<const Result*> results = run.ResultsOf(step.step, engine);
  if (results.empty() || results.back()->samples.size() < kSamplesMin) return nullptr;
  return results.back();
}

void AddToTable(const Series& series, Unit unit, DataTable* table) {
  const std::size_t every = (series.points.size() + kTableRowsMax - 1) / kTableRowsMax;
  for (std::size_t i = 0; i < series.points.size(); i += every) {
    table->rows.push_back({series.name, Format(Unit::kSeconds, series.points[i].x), Format(unit, series.points[i].y)});
  }
}

// Returns the plot with axes around all points, and its table.
Plot Finish(LineChart chart, const std::string& y_title, Unit unit) {
  std::vector<double> xs;
  std::vector<double> ys;
  DataTable table{.head = {"engine", "after", y_title}, .rows = {}};
  for (Series& series : chart.series) {
    series.markers = series.points.size() <= kMarkersMax;
    for (const DataPoint& point : series.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
    AddToTable(series, unit, &table);
  }
  for (const Reference& reference : chart.references) ys.push_back(reference.points.front().y);
  chart.x = AxisAround("time since the benchmark began", Unit::kSeconds, false, xs);
  chart.y = AxisAround(y_title, unit, false, ys);
  for (Reference& reference : chart.references) reference.points.back().x = chart.x.high;
  return {.name = {}, .title = {}, .of = {}, .caption = {}, .chart = std::move(chart), .table = std::move(table)};
}

// Returns Cambium's ceiling for the live bytes at the end.
std::optional<Reference> CeilingOf(const RunView& run, const Result& result) {
  const double ceiling = run.run().facts.max_space_amplification;
  if (ceiling <= 0 || result.engine != "cambium" || result.live_bytes.value_or(0) == 0) return std::nullopt;
  const double bytes = ceiling * static_cast<double>(*result.live_bytes);
  return Reference{.name = "ceiling: " + Format(Unit::kPlain, ceiling) + " x live",
                   .points = {{.x = 0, .y = bytes}, {.x = 0, .y = bytes}}};
}

Series SpaceOf(const Result& result) {
  Series series;
  for (const Sample& sample : result.samples) {
    series.points.push_back({.x = sample.seconds,
                             .y = static_cast<double>(sample.disk_bytes),
                             .note = Format(Unit::kBytes, static_cast<double>(sample.disk_bytes)) + " after " +
                                     Format(Unit::kSeconds, sample.seconds)});
  }
  return series;
}

// Returns the speeds between samples until the last operation is done; the rest of the time is settling.
Series SpeedOf(const Result& result) {
  Series series;
  std::vector<double> speeds;
  std::vector<std::pair<double, double>> spans;
  const std::uint64_t all = result.samples.back().ops;
  Sample before;
  for (const Sample& sample : result.samples) {
    const double seconds = sample.seconds - before.seconds;
    if (before.ops == all) break;
    if (seconds <= 0 || sample.ops < before.ops) continue;
    const double speed = static_cast<double>(sample.ops - before.ops) / seconds;
    series.points.push_back({.x = (sample.seconds + before.seconds) / 2,
                             .y = speed,
                             .note = Format(Unit::kOpsPerSec, speed) + " around " +
                                     Format(Unit::kSeconds, (sample.seconds + before.seconds) / 2)});
    speeds.push_back(speed);
    spans.emplace_back(before.seconds, sample.seconds);
    before = sample;
  }
  if (speeds.empty()) return series;
  const double slow = Median(speeds) * kStandstill;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (speeds[i] > slow) continue;
    const bool goes_on = !series.marked.empty() && series.marked.back().second == spans[i].first;
    if (goes_on) {
      series.marked.back().second = spans[i].second;
    } else {
      series.marked.push_back(spans[i]);
    }
  }
  return series;
}

}  // namespace

std::vector<Plot> PlotsOfSpaceOverTime(const Palette& palette, const RunView& run) {
  std::vector<Plot> plots;
  for (const StepOfRun& step : run.steps()) {
    if (!step.changes) continue;
    LineChart chart;
    for (const std::string& engine : run.engines()) {
      const Result* result = LastRound(run, step, engine);
      if (result == nullptr || result->samples.back().disk_bytes == 0) continue;
      Series series = SpaceOf(*result);
      series.name = engine;
      series.place = palette.PlaceOf(engine);
      chart.series.push_back(std::move(series));
      std::optional<Reference> ceiling = CeilingOf(run, *result);
      if (ceiling.has_value() && chart.references.empty()) chart.references.push_back(*ceiling);
    }
    if (chart.series.empty()) continue;
    const bool has_ceiling = !chart.references.empty();
    Plot plot = Finish(std::move(chart), "bytes on disk", Unit::kBytes);
    plot.name = run.prefix() + "space-over-time-" + ToSlug(step.name);
    plot.title = "Space during " + step.name;
    plot.of = NameAmongSeveral(run);
    plot.caption = std::string(
                       "Bytes of all files of the database while the benchmark ran and until it had settled, last "
                       "round; lower is better") +
                   (has_ceiling ? ", and the dashed line is Cambium's ceiling over what is alive at the end." : ".");
    plots.push_back(std::move(plot));
  }
  return plots;
}

std::vector<Plot> PlotsOfThroughputOverTime(const Palette& palette, const RunView& run) {
  std::vector<Plot> plots;
  for (const StepOfRun& step : run.steps()) {
    if (step.effect == Effect::kMaintains) continue;
    LineChart chart;
    bool stalls = false;
    for (const std::string& engine : run.engines()) {
      const Result* result = LastRound(run, step, engine);
      if (result == nullptr) continue;
      Series series = SpeedOf(*result);
      if (series.points.size() < kSamplesMin - 1) continue;
      series.name = engine;
      series.place = palette.PlaceOf(engine);
      stalls |= !series.marked.empty();
      chart.series.push_back(std::move(series));
    }
    if (chart.series.empty()) continue;
    if (stalls) chart.marked = "stall: under a tenth of its median";
    Plot plot = Finish(std::move(chart), "operations per second", Unit::kOpsPerSec);
    plot.name = run.prefix() + "throughput-over-time-" + ToSlug(step.name);
    plot.title = "Throughput during " + step.name;
    plot.of = NameAmongSeveral(run);
    plot.caption = std::string(
                       "Operations per second between one look and the next, last round; higher and steadier is "
                       "better") +
                   (stalls ? ", and each engine's strip below the curves shows when it almost stood still." : ".");
    plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace cambium::bench
