#include <algorithm>
#include <cmath>

#include "html/draw.h"

namespace cambium::bench {
namespace {

constexpr double kRow = 21;
constexpr double kBarHeight = 13;
constexpr double kHead = 28;  // of a panel, for its title
constexpr double kFoot = 10;
constexpr double kGutter = 28;  // between panels side by side
constexpr double kMargin = 10;
constexpr double kPanelMin = 330;
constexpr double kNameMax = 128;

double HighOf(const BarPanel& panel) {
  double high = 0;
  for (const Bar& bar : panel.bars) high = std::max({high, bar.value, bar.high.value_or(0)});
  return high > 0 ? high : 1;
}

double HeightOf(const BarPanel& panel) { return kHead + kRow * static_cast<double>(panel.bars.size()) + kFoot; }

double NamesWidth(const BarChart& chart) {
  double width = 0;
  for (const BarPanel& panel : chart.panels) {
    for (const Bar& bar : panel.bars) width = std::max(width, TextWidth(bar.name));
  }
  return std::min(width, kNameMax) + 8;
}

double ValuesWidth(const BarChart& chart) {
  double width = 0;
  for (const BarPanel& panel : chart.panels) {
    for (const Bar& bar : panel.bars) width = std::max(width, TextWidth(Format(chart.unit, bar.value)));
  }
  return width + 10;
}

std::string NoteOf(const BarChart& chart, const Bar& bar) {
  std::string note = bar.name + ": " + Format(chart.unit, bar.value);
  if (bar.low.has_value() && bar.high.has_value() && *bar.high > *bar.low) {
    note += " (" + Format(chart.unit, *bar.low) + " to " + Format(chart.unit, *bar.high) + ")";
  }
  return note;
}

void DrawBar(Svg* svg, const BarChart& chart, const Bar& bar, Point corner, double scale) {
  const double top = corner.y + (kRow - kBarHeight) / 2;
  const double middle = corner.y + kRow / 2;
  const std::string colour = "e" + std::to_string(bar.place);
  if (bar.parts.empty()) {
    svg->Rect({corner.x, top}, std::max(1.0, bar.value * scale), kBarHeight, "bar mark " + colour, NoteOf(chart, bar));
  } else {
    double x = corner.x;
    double sum = 0;
    for (const BarPart& part : bar.parts) {
      sum += part.value;
      const double end =
          std::min(corner.x + sum * scale, corner.x + std::max(bar.value, bar.high.value_or(0)) * scale * 1.02);
      svg->Rect({x, top}, std::max(0.0, end - x), kBarHeight, "bar mark c" + std::to_string(part.cause),
                NoteOf(chart, bar) + "; of that " + chart.causes[static_cast<std::size_t>(part.cause)] + " " +
                    Format(chart.unit, part.value));
      x = std::max(x, end);
    }
    const double value = corner.x + bar.value * scale;
    svg->Line({value, top - 2}, {value, top + kBarHeight + 2}, "total");
  }
  double end = bar.value;
  if (bar.low.has_value() && bar.high.has_value() && *bar.high > *bar.low) {
    const double low = corner.x + *bar.low * scale;
    const double high = corner.x + *bar.high * scale;
    svg->Line({low, middle}, {high, middle}, "whisker");
    svg->Line({low, middle - 3}, {low, middle + 3}, "whisker");
    svg->Line({high, middle - 3}, {high, middle + 3}, "whisker");
    end = *bar.high;
  }
  svg->Text({corner.x + end * scale + 6, middle + 4}, Svg::Anchor::kStart, "value", Format(chart.unit, bar.value));
}

void DrawPanel(Svg* svg, const BarChart& chart, const BarPanel& panel, Point corner, double width) {
  const double names = NamesWidth(chart);
  const double scale = (width - names - ValuesWidth(chart)) / HighOf(panel);
  svg->Text({corner.x, corner.y + 18}, Svg::Anchor::kStart, "panel", Shorten(panel.title, width));
  double y = corner.y + kHead;
  const double height = kRow * static_cast<double>(panel.bars.size());
  for (const Bar& bar : panel.bars) {
    svg->Text({corner.x + names - 8, y + kRow / 2 + 4}, Svg::Anchor::kEnd, "tick", Shorten(bar.name, kNameMax));
    DrawBar(svg, chart, bar, {corner.x + names, y}, scale);
    y += kRow;
  }
  svg->Line({corner.x + names, corner.y + kHead}, {corner.x + names, corner.y + kHead + height}, "axis");
}

}  // namespace

Svg DrawBarChart(const BarChart& chart, const std::string& label, double width, double top) {
  const double inner = width - 2 * kMargin;
  const auto fit = static_cast<std::size_t>(std::max(1.0, std::floor((inner + kGutter) / (kPanelMin + kGutter))));
  const std::size_t columns = std::min(fit, std::max<std::size_t>(1, chart.panels.size()));
  const double panel_width = (inner - kGutter * static_cast<double>(columns - 1)) / static_cast<double>(columns);
  std::vector<Point> corners;
  double y = top;
  for (std::size_t i = 0; i < chart.panels.size(); i += columns) {
    double height = 0;
    for (std::size_t j = i; j < std::min(i + columns, chart.panels.size()); ++j) {
      corners.push_back({kMargin + static_cast<double>(j - i) * (panel_width + kGutter), y});
      height = std::max(height, HeightOf(chart.panels[j]));
    }
    y += height;
  }
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < chart.causes.size(); ++i) {
    legend.push_back({.name = chart.causes[i], .kind = LegendEntry::Kind::kBlock, .classes = "c" + std::to_string(i)});
  }
  Svg svg(width, y + LegendHeight(legend, inner) + 6, label);
  for (std::size_t i = 0; i < chart.panels.size(); ++i)
    DrawPanel(&svg, chart, chart.panels[i], corners[i], panel_width);
  DrawLegend(&svg, legend, {kMargin, y}, inner);
  return svg;
}

}  // namespace cambium::bench
