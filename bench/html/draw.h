// Drawing charts: text, legends, and the two kinds of charts.
#pragma once

#include <string>
#include <vector>

#include "html/plot.h"
#include "html/svg.h"

namespace cambium::bench {

constexpr double kGlyph = 6.7;  // the width of a glyph of 12 pixel text: a little more than the average

inline double TextWidth(const std::string& text) { return static_cast<double>(text.size()) * kGlyph; }
// Returns the part of `text` that fits into `width` pixels, with ".." for the rest.
std::string Shorten(const std::string& text, double width);

// A name in a legend, and its symbol.
struct LegendEntry {
  enum class Kind : unsigned char { kLine, kBlock, kReference };
  std::string name;
  Kind kind = Kind::kLine;
  std::string classes = {};  // its colour
  int shape = 0;
  bool markers = true;
};

// Returns the height of a legend of this width.
double LegendHeight(const std::vector<LegendEntry>& entries, double width);
void DrawLegend(Svg* svg, const std::vector<LegendEntry>& entries, Point corner, double width);

// `top`: the space left free above, for a title.
Svg DrawLineChart(const LineChart& chart, const std::string& label, double width, double top);
Svg DrawBarChart(const BarChart& chart, const std::string& label, double width, double top);

}  // namespace cambium::bench
