// What the two kinds of charts have in common when they are drawn.
#pragma once

#include <string>
#include <vector>

#include "html/plot.h"
#include "html/svg.h"

namespace cambium::bench {

constexpr double kGlyph = 6.7;  // of text of 12 pixels, on average and a little more

inline double TextWidth(const std::string& text) { return static_cast<double>(text.size()) * kGlyph; }
// What fits into so many pixels, with ".." for the rest.
std::string Shorten(const std::string& text, double width);

// How a name is shown in a legend.
struct LegendEntry {
  enum class Kind : unsigned char { kLine, kBlock, kReference };
  std::string name;
  Kind kind = Kind::kLine;
  std::string classes = {};  // its colour
  int shape = 0;
  bool markers = true;
};

// How high a legend of this width will be.
double LegendHeight(const std::vector<LegendEntry>& entries, double width);
void DrawLegend(Svg* svg, const std::vector<LegendEntry>& entries, Point corner, double width);

// `top` is how much is left free above, for a title.
Svg DrawLineChart(const LineChart& chart, const std::string& label, double width, double top);
Svg DrawBarChart(const BarChart& chart, const std::string& label, double width, double top);

}  // namespace cambium::bench
