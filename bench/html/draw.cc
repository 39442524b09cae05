#include "html/draw.h"

#include <algorithm>

namespace cambium::bench {
namespace {

constexpr double kPhoneWidth = 350;
constexpr double kHalfWidth = 560;
constexpr double kFullWidth = 1150;
constexpr double kTitleHeight = 34;
constexpr double kLegendRow = 20;
constexpr double kSymbol = 26;            // of an entry, with the gap after it
constexpr double kGap = 14;               // between entries
constexpr std::size_t kPanelsOfHalf = 4;  // more panels take the full width

double EntryWidth(const LegendEntry& entry) { return kSymbol + TextWidth(entry.name) + kGap; }

// Calls `visit(entry, corner)` from left to right, row by row; returns the number of rows.
template <typename Visit>
int Flow(const std::vector<LegendEntry>& entries, double width, Visit visit) {
  int row = 0;
  double x = 0;
  for (const LegendEntry& entry : entries) {
    if (x > 0 && x + EntryWidth(entry) - kGap > width) {
      ++row;
      x = 0;
    }
    visit(entry, Point{x, row * kLegendRow});
    x += EntryWidth(entry);
  }
  return entries.empty() ? 0 : row + 1;
}

Svg Draw(const Plot& plot, double width, double top) {
  if (const auto* lines = std::get_if<LineChart>(&plot.chart)) return DrawLineChart(*lines, plot.title, width, top);
  return DrawBarChart(std::get<BarChart>(plot.chart), plot.title, width, top);
}

}  // namespace

std::string Shorten(const std::string& text, double width) {
  if (TextWidth(text) <= width) return text;
  const auto fits = static_cast<std::size_t>(std::max(1.0, width / kGlyph - 2));
  return text.substr(0, fits) + "..";
}

double LegendHeight(const std::vector<LegendEntry>& entries, double width) {
  return kLegendRow * Flow(entries, width, [](const LegendEntry&, Point) {});
}

void DrawLegend(Svg* svg, const std::vector<LegendEntry>& entries, Point corner, double width) {
  Flow(entries, width, [&](const LegendEntry& entry, Point at) {
    const Point middle{corner.x + at.x + 10, corner.y + at.y + kLegendRow / 2};
    switch (entry.kind) {
      case LegendEntry::Kind::kBlock:
        svg->Rect({middle.x - 7, middle.y - 5}, 12, 10, "block " + entry.classes);
        break;
      case LegendEntry::Kind::kReference:
        svg->Line({middle.x - 10, middle.y}, {middle.x + 10, middle.y}, "reference");
        break;
      case LegendEntry::Kind::kLine:
        svg->Line({middle.x - 10, middle.y}, {middle.x + 10, middle.y}, "curve " + entry.classes);
        if (entry.markers) svg->Marker(middle, entry.shape, "marker " + entry.classes);
        break;
    }
    svg->Text({corner.x + at.x + kSymbol, middle.y + 4}, Svg::Anchor::kStart, "label", entry.name);
  });
}

bool IsWide(const Plot& plot) {
  const auto* bars = std::get_if<BarChart>(&plot.chart);
  return bars != nullptr && bars->panels.size() > kPanelsOfHalf;
}

Markup DrawInline(const Plot& plot, Paper paper) {
  const double width = paper == Paper::kPhone ? kPhoneWidth : paper == Paper::kHalf ? kHalfWidth : kFullWidth;
  return Draw(plot, width, 0).Inline();
}

Markup DrawStandalone(const Plot& plot) {
  const double width = IsWide(plot) ? kFullWidth : kHalfWidth;
  const std::string title = plot.of.empty() ? plot.title : plot.title + " · " + plot.of;
  Svg svg = Draw(plot, width, kTitleHeight);
  svg.Text({14, 23}, Svg::Anchor::kStart, "title", Shorten(title, (width - 28) * 0.9));
  return svg.Standalone();
}

}  // namespace cambium::bench
