#include "html/plots/bars.h"

namespace cambium::bench {

std::string RoundsNote(const RunView& run) {
  return run.rounds() > 1 ? " (whiskers: slowest and fastest of " + std::to_string(run.rounds()) + " rounds)" : "";
}

std::string NameAmongSeveral(const RunView& run) { return run.prefix().empty() ? "" : run.name(); }

std::optional<Plot> PlotBars(const Palette& palette, const RunView& run, const BarsOf& what,
                             const std::function<bool(const StepOfRun&)>& concerns) {
  BarChart chart{.unit = what.unit, .panels = {}};
  DataTable table{.head = {"benchmark", "engine", "median", "least", "most", "rounds"}, .rows = {}};
  for (const StepOfRun& step : run.steps()) {
    if (!concerns(step)) continue;
    BarPanel panel{.title = step.name, .bars = {}};
    for (const std::string& engine : run.engines()) {
      const std::optional<Spread> spread = run.SpreadOfRounds(step.step, engine, what.metric);
      if (!spread.has_value()) continue;
      panel.bars.push_back({.name = engine,
                            .place = palette.PlaceOf(engine),
                            .value = spread->median,
                            .low = spread->low,
                            .high = spread->high});
      table.rows.push_back({step.name, engine, Format(what.unit, spread->median), Format(what.unit, spread->low),
                            Format(what.unit, spread->high), std::to_string(spread->rounds)});
    }
    if (!panel.bars.empty()) chart.panels.push_back(std::move(panel));
  }
  if (chart.panels.empty()) return std::nullopt;
  return Plot{.name = run.prefix() + what.name,
              .title = what.title,
              .of = NameAmongSeveral(run),
              .caption = what.caption,
              .chart = chart,
              .table = table};
}

}  // namespace cambium::bench
