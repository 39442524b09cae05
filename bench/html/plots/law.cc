#include <algorithm>
#include <cmath>
#include <map>

#include "html/plots.h"
#include "space/law.h"

namespace cambium::bench {
namespace {

constexpr double kLeast = 1.02;  // of the curve: it is infinite at 1
constexpr double kHighest = 100;
// The space amplification from which the axis is logarithmic, because a linear axis would crowd smaller values.
constexpr double kWide = 10;
constexpr int kCurvePoints = 120;
constexpr std::size_t kSamplesOfLawMin = 4;

// Returns the space amplification on average over the time if there are enough samples, else at the end.
std::optional<double> SpaceAmpOf(const Result& r) {
  if (r.live_bytes.value_or(0) == 0) return std::nullopt;
  double sum = 0;
  double seconds = 0;
  for (std::size_t i = 1; i < r.samples.size(); ++i) {
    const double span = r.samples[i].seconds - r.samples[i - 1].seconds;
    sum += span * static_cast<double>(r.samples[i].disk_bytes);
    seconds += span;
  }
  if (r.samples.size() < kSamplesOfLawMin || seconds <= 0 || sum <= 0) return r.space_amp;
  return sum / seconds / static_cast<double>(*r.live_bytes);
}

// Returns the write amplification of the log alone, if values stay in the log and the engine keeps a ledger.
std::optional<double> LogAmpOf(const Result& r) {
  if (!r.ledger.has_value() || !r.ledger->log_keeps_values || r.ledger->log == 0) return std::nullopt;
  return static_cast<double>(r.ledger->log + r.ledger->gc) / static_cast<double>(r.ledger->log);
}

bool Overwrites(const Result& r) {
  const Workload* workload = FindWorkload(r.benchmark);
  if (workload == nullptr) return false;
  return workload->effect == Effect::kWrites && !workload->fresh && workload->count != Count::kDeletes;
}

struct Measured {
  std::map<std::string, Series> by_engine;
  DataTable table{.head = {"engine", "run", "benchmark", "space amplification", "write amplification",
                           "of the log alone", "by the law"},
                  .rows = {}};
};

void Measure(const Palette& palette, const RunView& run, const StepOfRun& step, const std::string& engine,
             Measured* all) {
  const auto space = run.SpreadOfRounds(step.step, engine, SpaceAmpOf);
  const auto written = run.SpreadOfRounds(step.step, engine, [](const Result& r) { return r.write_amp; });
  if (!space.has_value() || !written.has_value()) return;
  const auto log = run.SpreadOfRounds(step.step, engine, LogAmpOf);
  Series& series = all->by_engine[engine];
  series.name = engine;
  series.place = palette.PlaceOf(engine);
  series.lines = false;
  const std::string where = run.name() + ", " + step.name + ": " + Format(Unit::kPlain, space->median) + " of space, ";
  series.points.push_back({.x = space->median,
                           .y = written->median,
                           .low = written->low,
                           .high = written->high,
                           .note = where + Format(Unit::kPlain, written->median) + " written"});
  if (log.has_value()) {
    series.points.push_back({.x = space->median,
                             .y = log->median,
                             .note = where + Format(Unit::kPlain, log->median) + " written to the log alone",
                             .hollow = true});
  }
  all->table.rows.push_back({engine, run.name(), step.name, Format(Unit::kPlain, space->median),
                             Format(Unit::kPlain, written->median),
                             log.has_value() ? Format(Unit::kPlain, log->median) : "-",
                             space->median > 1 ? Format(Unit::kPlain, WriteAmpOfUniform(space->median)) : "-"});
}

Reference Law(const LineChart& chart) {
  Reference law{.name = "law of log cleaning", .points = {}};
  for (int i = 0; i <= kCurvePoints; ++i) {
    const double space = kLeast * std::pow(chart.x.high / kLeast, static_cast<double>(i) / kCurvePoints);
    const double written = WriteAmpOfUniform(space);
    if (written <= chart.y.high) law.points.push_back({.x = space, .y = written});
  }
  return law;
}

}  // namespace

std::optional<Plot> PlotLaw(const Arrangement& arrangement) {
  Measured all;
  for (const Chapter& chapter : arrangement.chapters) {
    for (const RunView& run : chapter.runs) {
      for (const StepOfRun& step : run.steps()) {
        const auto is_it = [&](const Result& r) { return r.step == step.step && Overwrites(r); };
        if (std::none_of(run.run().results.begin(), run.run().results.end(), is_it)) continue;
        for (const std::string& engine : run.engines()) Measure(arrangement.palette, run, step, engine, &all);
      }
    }
  }
  if (all.by_engine.empty()) return std::nullopt;
  LineChart chart;
  std::vector<double> spaces = {2};
  std::vector<double> written = {1, 9};
  bool alone = false;
  for (const std::string& engine : arrangement.engines) {
    const auto series = all.by_engine.find(engine);
    if (series == all.by_engine.end()) continue;
    for (const DataPoint& point : series->second.points) {
      spaces.push_back(point.x);
      written.push_back(std::min(kHighest, point.y));
      alone |= point.hollow;
    }
    chart.series.push_back(series->second);
  }
  const auto [least, most] = std::minmax_element(spaces.begin(), spaces.end());
  chart.x = AxisAround("space amplification: bytes on disk per live byte", Unit::kPlain, *most > kWide, spaces);
  chart.x.low = std::min(1.0, std::max(1.0, std::floor(*least * 5)) / 5);
  chart.y = AxisAround("write amplification", Unit::kPlain, true, written);
  chart.references.push_back(Law(chart));
  return Plot{
      .name = "space-and-writes",
      .title = "What overwriting costs: space against writes",
      .of = {},
      .caption = std::string("Each point is a workload that overwrites, by the space it took on average and the "
                             "bytes it wrote per byte of the user's") +
                 (alone ? " (hollow: to the log alone)" : "") +
                 "; further down and to the left is better, and the dashed line is what log GC alone has to write "
                 "under uniform overwrites.",
      .chart = chart,
      .table = all.table};
}

}  // namespace cambium::bench
