// The tables of a report as HTML.
#pragma once

#include <string>
#include <vector>

#include "html/arrangement.h"
#include "html/plot.h"

namespace cambium::bench {

// A figure by which engines are compared.
struct Figure {
  std::string name;
  Unit unit;
  std::optional<Better> better;  // nothing: no ratio is shown
  Metric metric;
};
// Returns all figures of a report, the most telling first. A metric returns nothing if it does not apply to the
// benchmark.
const std::vector<Figure>& ComparedFigures();

// A table that is too wide scrolls by itself, not with the page.
Markup ToHtml(const DataTable& table);

// A row for each benchmark, a column for each engine. A cell has the median, half the spread in per cent, and a ratio:
// 2 means that Cambium, the first engine of `run`, is twice as good as this engine. It is the median of the rounds'
// ratios, and is marked "?" if the rounds do not agree. The table is empty if no engine has the figure.
Markup ComparisonTable(const RunView& run, const Figure& figure);

Markup ClaimsTable(const std::vector<Claim>& claims);
// Facts about the machines of the runs; a fact on which all agree is shown once.
Markup MachineTable(const std::vector<ReportRun>& runs);
// Each command once.
Markup CommandList(const Arrangement& arrangement);
// Version and settings of each engine; settings on which all runs agree are shown once.
Markup SettingsTable(const Arrangement& arrangement);

}  // namespace cambium::bench
