// The plots of a report. Each is a pure function of results, and nothing (or an empty list) where they have no data for
// it. Figures are medians over the rounds, with the slowest and the fastest as spread, unless the caption says
// otherwise.
#pragma once

#include <optional>
#include <vector>

#include "html/arrangement.h"
#include "html/plot.h"

namespace cambium::bench {

// One per benchmark that ran with at least two sizes of values.
std::vector<Plot> PlotsByValueSize(const Palette& palette, const Chapter& chapter);
std::optional<Plot> PlotThroughput(const Palette& palette, const RunView& run);
// Of the first engine over each other one, round by round.
std::optional<Plot> PlotRatios(const Palette& palette, const RunView& run);
// One per benchmark.
std::vector<Plot> PlotLatencies(const Palette& palette, const RunView& run);
std::optional<Plot> PlotWriteAmp(const Palette& palette, const RunView& run);
std::optional<Plot> PlotSpaceAmp(const Palette& palette, const RunView& run);
// One per benchmark that writes and was long enough to be looked at a few times.
std::vector<Plot> PlotsOfSpaceOverTime(const Palette& palette, const RunView& run);
std::vector<Plot> PlotsOfThroughputOverTime(const Palette& palette, const RunView& run);
std::optional<Plot> PlotIndexBytes(const Palette& palette, const RunView& run);
// Of all runs: what overwrites cost in space and in writes, beside the law of log cleaning.
std::optional<Plot> PlotLaw(const Arrangement& arrangement);

}  // namespace cambium::bench
