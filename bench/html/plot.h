// Plot: what a drawing shows, before anybody thinks of pixels.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "html/axis.h"
#include "html/units.h"

namespace cambium::bench {

// Text as rows and columns. Cells are text, not markup.
struct DataTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct DataPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low = std::nullopt;  // of y, over the rounds
  std::optional<double> high = std::nullopt;
  std::string note = {};  // what is told where the mouse rests
  bool hollow = false;
};

struct Series {
  std::string name;
  int place = 0;      // in the palette
  bool lines = true;  // between its points
  bool markers = true;
  std::vector<DataPoint> points = {};
  // Parts of the x axis that are marked below the curves: where an engine stood still.
  std::vector<std::pair<double, double>> marked = {};
};

// A curve that is not measured: a law, a ceiling.
struct Reference {
  std::string name;
  std::vector<DataPoint> points;
};

struct LineChart {
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<Reference> references = {};
  std::string marked = {};  // what Series::marked means
  // Over 0: the y axis has so many rows, from top to bottom, whose names are its ticks. Low and high of points are of
  // x.
  std::size_t rows = 0;
};

struct BarPart {
  int cause = 0;  // which of BarChart::causes
  double value = 0;
};

struct Bar {
  std::string name;
  int place = 0;  // in the palette
  double value = 0;
  std::optional<double> low = std::nullopt;  // over the rounds
  std::optional<double> high = std::nullopt;
  std::vector<BarPart> parts = {};  // empty: the bar has the engine's colour
};

// Panels of bars; each has a scale of its own.
struct BarPanel {
  std::string title;
  std::vector<Bar> bars;
};

struct BarChart {
  Unit unit = Unit::kPlain;
  std::vector<BarPanel> panels;
  std::vector<std::string> causes = {};  // of parts
};

struct Plot {
  std::string name;  // of its file
  std::string title;
  std::string of = {};  // the run, where there are several: a file of its own says it, on a page the heading does
  std::string caption;  // what it shows, and which direction is better
  std::variant<LineChart, BarChart> chart;
  DataTable table;  // the same in numbers
};

// How wide a drawing is; how high, it decides itself.
enum class Paper : unsigned char { kPhone, kHalf, kFull };

// As a drawing for a page, or for a file of its own, which has the title on it.
std::string DrawInline(const Plot& plot, Paper paper);
std::string DrawStandalone(const Plot& plot);
// Whether it wants the whole width of a page.
bool IsWide(const Plot& plot);

}  // namespace cambium::bench
