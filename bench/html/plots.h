// The plots of a report. Each is a pure function of results, and returns nothing (or an empty list) if they have no
// data for it. Figures are medians over the rounds, with the slowest and the fastest as spread, unless the caption says
// otherwise.
#pragma once

#include <optional>
#include <vector>

#include "html/arrangement.h"
#include "html/plot.h"

namespace cambium::bench {

// A plot for each benchmark that ran with at least two value sizes.
std::vector<Plot> PlotsByValueSize(const Palette& palette, const Chapter& chapter);
std::optional<Plot> PlotThroughput(const Palette& palette, const RunView& run);
// Ratios of the first engine over each other one, taken round by round.
std::optional<Plot> PlotRatios(const Palette& palette, const RunView& run);
// A plot for each benchmark.
std::vector<Plot> PlotLatencies(const Palette& palette, const RunView& run);
std::optional<Plot> PlotWriteAmp(const Palette& palette, const RunView& run);
std::optional<Plot> PlotSpaceAmp(const Palette& palette, const RunView& run);
// A plot for each benchmark that changes the database and has enough samples.
std::vector<Plot> PlotsOfSpaceOverTime(const Palette& palette, const RunView& run);
std::vector<Plot> PlotsOfThroughputOverTime(const Palette& palette, const RunView& run);
std::optional<Plot> PlotIndexBytes(const Palette& palette, const RunView& run);
// Space and writes of all workloads that overwrite, compared with the law of log cleaning.
std::optional<Plot> PlotLaw(const Arrangement& arrangement);

}  // namespace cambium::bench
