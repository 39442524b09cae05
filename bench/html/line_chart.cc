#include <algorithm>
#include <cmath>

#include "html/draw.h"

namespace cambium::bench {
namespace {

constexpr double kRight = 14;
constexpr double kTop = 10;
constexpr double kBelow = 44;      // ticks and title of the x axis
constexpr double kStrip = 7;       // of the marks of a series, with the gap below
constexpr double kRowHeight = 18;  // of a row of the y axis, plus kRowSeries for each series
constexpr double kRowSeries = 10;
constexpr double kWhisker = 3;
constexpr double kTickGlyphs = 62;  // pixels for a tick of the x axis

// The rectangle of the curves on paper.
struct Frame {
  double left, top, width, height;
  const LineChart* chart;

  [[nodiscard]] double X(double value) const { return left + chart->x.Place(value) * width; }
  [[nodiscard]] double Y(double value) const { return top + (1 - chart->y.Place(value)) * height; }
  [[nodiscard]] double Bottom() const { return top + height; }
};

bool Drawable(const LineChart& chart, const DataPoint& point) {
  const auto fits = [](const Axis& axis, double value) {
    if (!std::isfinite(value) || (axis.log && value <= 0)) return false;
    const double place = axis.Place(value);
    return place >= -1e-9 && place <= 1 + 1e-9;
  };
  return fits(chart.x, point.x) && fits(chart.y, point.y);
}

std::string ClassOf(int place) { return "e" + std::to_string(place); }

std::vector<LegendEntry> LegendOf(const LineChart& chart) {
  std::vector<LegendEntry> entries;
  for (const Series& s : chart.series) {
    entries.push_back({.name = s.name,
                       .classes = ClassOf(s.place) + (s.lines ? "" : " bare"),
                       .shape = s.place,
                       .markers = s.markers});
  }
  for (const Reference& r : chart.references)
    entries.push_back({.name = r.name, .kind = LegendEntry::Kind::kReference});
  if (!chart.marked.empty()) {
    entries.push_back({.name = chart.marked, .kind = LegendEntry::Kind::kBlock, .classes = "stall"});
  }
  return entries;
}

void DrawAxes(Svg* svg, const Frame& f, int x_ticks, int y_ticks) {
  for (const Tick& tick : TicksOf(f.chart->y, y_ticks)) {
    const double y = f.Y(tick.value);
    svg->Line({f.left, y}, {f.left + f.width, y}, "grid");
    svg->Text({f.left - 6, y + 4}, Svg::Anchor::kEnd, "tick", tick.label);
  }
  for (const Tick& tick : TicksOf(f.chart->x, x_ticks)) {
    const double x = f.X(tick.value);
    svg->Line({x, f.Bottom()}, {x, f.Bottom() + 4}, "axis");
    svg->Text({x, f.Bottom() + 18}, Svg::Anchor::kMiddle, "tick", tick.label);
  }
  svg->Line({f.left, f.Bottom()}, {f.left + f.width, f.Bottom()}, "axis");
  svg->Text({f.left + f.width / 2, f.Bottom() + 36}, Svg::Anchor::kMiddle, "label", f.chart->x.title);
  if (!f.chart->y.title.empty()) svg->TurnedText({13, f.top + f.height / 2}, "label", f.chart->y.title);
}

// Returns the parts of a curve that lie within the axes.
std::vector<std::vector<Point>> PartsOf(const Frame& f, const std::vector<DataPoint>& points) {
  std::vector<std::vector<Point>> parts(1);
  for (const DataPoint& point : points) {
    if (Drawable(*f.chart, point)) {
      parts.back().push_back({f.X(point.x), f.Y(point.y)});
    } else if (!parts.back().empty()) {
      parts.emplace_back();
    }
  }
  return parts;
}

void DrawSeries(Svg* svg, const Frame& f, const Series& s) {
  const std::string colour = ClassOf(s.place);
  if (s.lines) svg->Path(PartsOf(f, s.points), "curve mark " + colour, s.name);
  for (const DataPoint& point : s.points) {
    if (!Drawable(*f.chart, point)) continue;
    const double x = f.X(point.x);
    const bool spreads = point.low.has_value() && point.high.has_value() && *point.high > *point.low;
    if (spreads && f.chart->rows > 0) {
      const double y = f.Y(point.y);
      svg->Line({f.X(std::max(*point.low, f.chart->x.low)), y}, {f.X(std::min(*point.high, f.chart->x.high)), y},
                "spread " + colour);
    } else if (spreads) {
      const double low = f.Y(std::max(*point.low, f.chart->y.low));
      const double high = f.Y(std::min(*point.high, f.chart->y.high));
      svg->Line({x, low}, {x, high}, "spread " + colour);
      svg->Line({x - kWhisker, low}, {x + kWhisker, low}, "spread " + colour);
      svg->Line({x - kWhisker, high}, {x + kWhisker, high}, "spread " + colour);
    }
    if (s.markers) {
      svg->Marker({x, f.Y(point.y)}, s.place, std::string("marker mark ") + (point.hollow ? "hollow " : "") + colour,
                  s.name + ": " + point.note);
    }
  }
}

// Draws the marked times, in a row for each series below the curves.
void DrawMarked(Svg* svg, const Frame& f, double top) {
  double y = top;
  for (const Series& s : f.chart->series) {
    for (const auto& [from, to] : s.marked) {
      const double left = f.X(std::max(from, f.chart->x.low));
      const double right = f.X(std::min(to, f.chart->x.high));
      svg->Rect({left, y}, std::max(1.0, right - left), kStrip - 2, "block " + ClassOf(s.place),
                s.name + ": " + f.chart->marked + ", from " + Format(f.chart->x.unit, from) + " to " +
                    Format(f.chart->x.unit, to));
    }
    y += kStrip;
  }
}

}  // namespace

Svg DrawLineChart(const LineChart& chart, const std::string& label, double width, double top) {
  const bool phone = width < 500;
  const std::vector<LegendEntry> legend = LegendOf(chart);
  const double row_height = kRowHeight + kRowSeries * static_cast<double>(chart.series.size());
  const double rows_height = row_height * static_cast<double>(chart.rows);
  const double height = (chart.rows > 0 ? rows_height + kTop : phone ? 230 : 270) + top;
  const int y_ticks = 6;
  double ticks_width = 0;
  for (const Tick& tick : TicksOf(chart.y, y_ticks)) ticks_width = std::max(ticks_width, TextWidth(tick.label));
  const double left = ticks_width + (chart.y.title.empty() ? 14 : 28);
  const double strips = chart.marked.empty() ? 0 : kStrip * static_cast<double>(chart.series.size()) + 6;
  const Frame f{left, top + kTop, width - left - kRight, height - top - kTop, &chart};
  const double below = f.Bottom() + strips + kBelow;
  Svg svg(width, below + LegendHeight(legend, width - 16) + 6, label);
  if (strips > 0) DrawMarked(&svg, f, f.Bottom() + kBelow);
  DrawAxes(&svg, f, static_cast<int>(std::max(3.0, f.width / kTickGlyphs)), y_ticks);
  for (const Reference& r : chart.references) svg.Path(PartsOf(f, r.points), "reference", r.name);
  // Cambium's series are the first, and are drawn last, on top.
  for (auto s = chart.series.rbegin(); s != chart.series.rend(); ++s) DrawSeries(&svg, f, *s);
  DrawLegend(&svg, legend, {8, below}, width - 16);
  return svg;
}

}  // namespace cambium::bench
