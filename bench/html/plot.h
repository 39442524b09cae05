// Plot: the contents of a drawing, without pixels.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "html/axis.h"
#include "html/markup.h"
#include "html/units.h"

namespace cambium::bench {

// A table of text. Cells are text, not markup.
struct DataTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct DataPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low = std::nullopt;  // spread of y over the rounds
  std::optional<double> high = std::nullopt;
  std::string note = {};  // shown where the mouse rests
  bool hollow = false;
};

struct Series {
  std::string name;
  int place = 0;      // in the palette
  bool lines = true;  // connects its points
  bool markers = true;
  std::vector<DataPoint> points = {};
  // Spans of the x axis that are marked below the curves: where an engine stalled.
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
  std::string marked = {};  // the meaning of Series::marked
  // If above 0, the y axis has this many rows, from top to bottom. The names of the rows are the ticks of the axis. Low
  // and high of a point are then the spread of x.
  std::size_t rows = 0;
};

struct BarPart {
  int cause = 0;  // index into BarChart::causes
  double value = 0;
};

struct Bar {
  std::string name;
  int place = 0;  // in the palette
  double value = 0;
  std::optional<double> low = std::nullopt;  // spread over the rounds
  std::optional<double> high = std::nullopt;
  std::vector<BarPart> parts = {};  // empty: the bar has the engine's colour
};

// A panel of bars with a scale of its own.
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
  std::string name;  // the name of its file
  std::string title;
  std::string of = {};  // the run, if there are several; shown in a file of its own, but on a page by the heading
  std::string caption;  // says what is shown, and which direction is better
  std::variant<LineChart, BarChart> chart;
  DataTable table;  // the same as numbers
};

// The width of a drawing. The height follows from the contents.
enum class Paper : unsigned char { kPhone, kHalf, kFull };

// Return the drawing for a page, or for a file of its own, which includes the title.
Markup DrawInline(const Plot& plot, Paper paper);
Markup DrawStandalone(const Plot& plot);
// Returns whether the plot takes the full width of a page.
bool IsWide(const Plot& plot);

}  // namespace cambium::bench
