// A plot of bars: a panel per benchmark, a bar per engine.
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
// Of the benchmarks that it concerns.
std::optional<Plot> PlotBars(const Palette& palette, const RunView& run, const BarsOf& what,
                             const std::function<bool(const StepOfRun&)>& concerns);

// " (3 rounds)", or "" if there was but one.
std::string RoundsNote(const RunView& run);
// The name of the run, where there are several.
std::string NameAmongSeveral(const RunView& run);

}  // namespace cambium::bench
