// Svg: a drawing, built element by element. plot.css defines the looks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "html/markup.h"

namespace cambium::bench {

struct Point {
  double x;
  double y;
};

// `classes`: the classes of an element in plot.css. `title`: shown where the mouse rests; empty: none.
class Svg {
 public:
  // `label`: read by screen readers.
  Svg(double width, double height, const std::string& label);

  void Line(Point from, Point to, const std::string& classes);
  void Rect(Point corner, double width, double height, const std::string& classes, const std::string& title = "");
  // Each part is a line of its own, so gaps between parts stay empty.
  void Path(const std::vector<std::vector<Point>>& parts, const std::string& classes, const std::string& title = "");
  // `shape`: one of six, by number.
  void Marker(Point middle, int shape, const std::string& classes, const std::string& title = "");
  enum class Anchor : unsigned char { kStart, kMiddle, kEnd };
  void Text(Point at, Anchor anchor, const std::string& classes, const std::string& text);
  // Rotated to the left around its middle.
  void TurnedText(Point at, const std::string& classes, const std::string& text);

  // Returns the drawing for a page that has plot.css.
  [[nodiscard]] Markup Inline() const;
  // Returns a file of its own, with plot.css and a background.
  [[nodiscard]] Markup Standalone() const;

 private:
  void Element(Literal name, const Markup& attributes, const std::string& title);

  double width_;
  double height_;
  std::string label_;
  Markup body_;
};

}  // namespace cambium::bench
