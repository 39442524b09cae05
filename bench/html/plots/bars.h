// A plot of bars: a panel for each benchmark, a bar for each engine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "html/arrangement.h"
#include "html/plot.h"

namespace cambium::bench {

struct BarsOf {
  std::string name;
  std::string title;
  std::string caption;
  Unit unit;
  Metric metric;
};
// Draws the benchmarks for which `concerns` is true.
std::optional<Plot> PlotBars(const Palette& palette, const RunView& run, const BarsOf& what,
                             const std::function<bool(const StepOfRun&)>& concerns);

// Returns a note on whiskers and the number of rounds, or "" for one round.
std::string RoundsNote(const RunView& run);
// Returns the name of the run if there are several, else "".
std::string NameAmongSeveral(const RunView& run);

}  // namespace cambium::bench
