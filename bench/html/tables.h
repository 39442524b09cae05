// The tables of a report, as HTML.
#pragma once

#include <string>
#include <vector>

#include "html/arrangement.h"
#include "html/plot.h"

namespace cambium::bench {

// A figure that engines are compared by.
struct Figure {
  std::string name;
  Unit unit;
  std::optional<Better> better;  // nothing: no ratio is drawn
  Metric metric;
};
// All that a report shows, the most telling first. Those of benchmarks to which they do not apply are nothing.
const std::vector<Figure>& ComparedFigures();

// A table that does not fit scrolls by itself: the page does not.
std::string ToHtml(const DataTable& table);

// A row per benchmark, a column per engine: the median, half the spread in per cent, and how many times as good as this
// engine Cambium (the first of `run`) was, round by round. A doubtful ratio is marked "?". Empty if no engine has such
// a figure.
std::string ComparisonTable(const RunView& run, const Figure& figure);

std::string ClaimsTable(const std::vector<Claim>& claims);
// What the runs' machines were like: one column where all agree.
std::string MachineTable(const std::vector<ReportRun>& runs);
// Each command once.
std::string CommandList(const Arrangement& arrangement);
// Version and settings of each engine, once where all runs agree.
std::string SettingsTable(const Arrangement& arrangement);

}  // namespace cambium::bench
