// Svg: a drawing, element by element. Everything that is text is escaped here; what it looks like says plot.css.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cambium::bench {

struct Point {
  double x;
  double y;
};

// A class of an element: what plot.css calls it.
class Svg {
 public:
  // `label` is what a screen reader says of it.
  Svg(double width, double height, const std::string& label);

  // A `title` is shown where the mouse rests; empty: none.
  void Line(Point from, Point to, const std::string& classes);
  void Rect(Point corner, double width, double height, const std::string& classes, const std::string& title = "");
  // Nothing is drawn through gaps: each part is a line of its own.
  void Path(const std::vector<std::vector<Point>>& parts, const std::string& classes, const std::string& title = "");
  // One of six shapes, told apart by number.
  void Marker(Point middle, int shape, const std::string& classes, const std::string& title = "");
  enum class Anchor : unsigned char { kStart, kMiddle, kEnd };
  void Text(Point at, Anchor anchor, const std::string& classes, const std::string& text);
  // Turned left, in the middle of it.
  void TurnedText(Point at, const std::string& classes, const std::string& text);

  // For a page that has plot.css.
  [[nodiscard]] std::string Inline() const;
  // A file of its own, with plot.css inside, and its paper.
  [[nodiscard]] std::string Standalone() const;

 private:
  void Element(const std::string& head, const std::string& title);

  double width_;
  double height_;
  std::string label_;
  std::string body_;
};

}  // namespace cambium::bench
