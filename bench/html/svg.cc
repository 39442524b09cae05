#include "html/svg.h"

#include "html/assets.h"
#include "html/units.h"

namespace cambium::bench {
namespace {

// Returns tenths of a pixel, as short as possible.
std::string Px(double value) {
  std::string text = Decimal(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

Markup Attribute(Literal name, const std::string& value) { return Markup() << " " << name << "=\"" << value << "\""; }

std::string Place(double x, double y) { return Px(x) + " " + Px(y); }

// Returns the path of a marker around `m`, about as large as a circle of radius 4.
std::string ShapeOf(int shape, Point m) {
  const auto at = [m](double x, double y) { return Place(m.x + x, m.y + y); };
  switch (shape % 6) {
    case 0:
      return "M" + at(-4, 0) + "a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
    case 1:
      return "M" + at(-3.5, -3.5) + "h7v7h-7z";
    case 2:
      return "M" + at(0, -5) + "L" + at(5, 3.5) + "L" + at(-5, 3.5) + "z";
    case 3:
      return "M" + at(0, -5) + "L" + at(5, 0) + "L" + at(0, 5) + "L" + at(-5, 0) + "z";
    case 4:
      return "M" + at(0, 5) + "L" + at(5, -3.5) + "L" + at(-5, -3.5) + "z";
    default:
      return "M" + at(-1.5, -4.5) + "h3v3h3v3h-3v3h-3v-3h-3v-3h3z";
  }
}

}  // namespace

Svg::Svg(double width, double height, const std::string& label) : width_(width), height_(height), label_(label) {}

void Svg::Element(Literal name, const Markup& attributes, const std::string& title) {
  body_ << "<" << name << attributes;
  if (title.empty()) {
    body_ << "/>\n";
  } else {
    body_ << "><title>" << title << "</title></" << name << ">\n";
  }
}

void Svg::Line(Point from, Point to, const std::string& classes) {
  Element("line",
          Attribute("class", classes) << Attribute("x1", Px(from.x)) << Attribute("y1", Px(from.y))
                                      << Attribute("x2", Px(to.x)) << Attribute("y2", Px(to.y)),
          "");
}

void Svg::Rect(Point corner, double width, double height, const std::string& classes, const std::string& title) {
  Element("rect",
          Attribute("class", classes) << Attribute("x", Px(corner.x)) << Attribute("y", Px(corner.y))
                                      << Attribute("width", Px(width)) << Attribute("height", Px(height)),
          title);
}

void Svg::Path(const std::vector<std::vector<Point>>& parts, const std::string& classes, const std::string& title) {
  std::string d;
  for (const std::vector<Point>& part : parts) {
    for (std::size_t i = 0; i < part.size(); ++i) d += (i == 0 ? "M" : "L") + Place(part[i].x, part[i].y);
  }
  Element("path", Attribute("class", classes) << Attribute("d", d), title);
}

void Svg::Marker(Point middle, int shape, const std::string& classes, const std::string& title) {
  Element("path", Attribute("class", classes) << Attribute("d", ShapeOf(shape, middle)), title);
}

void Svg::Text(Point at, Anchor anchor, const std::string& classes, const std::string& text) {
  const char* side = anchor == Anchor::kStart ? "" : anchor == Anchor::kMiddle ? " middle" : " end";
  body_ << "<text" << Attribute("class", classes + side) << Attribute("x", Px(at.x)) << Attribute("y", Px(at.y)) << ">"
        << text << "</text>\n";
}

void Svg::TurnedText(Point at, const std::string& classes, const std::string& text) {
  body_ << "<text" << Attribute("class", classes + " middle")
        << Attribute("transform", "translate(" + Place(at.x, at.y) + ") rotate(-90)") << ">" << text << "</text>\n";
}

Markup Svg::Inline() const {
  return Markup() << "<svg" << Attribute("viewBox", "0 0 " + Px(width_) + " " + Px(height_)) << Attribute("role", "img")
                  << Attribute("aria-label", label_) << ">\n"
                  << body_ << "</svg>\n";
}

Markup Svg::Standalone() const {
  return Markup() << "<svg xmlns=\"http://www.w3.org/2000/svg\"" << Attribute("class", "plot")
                  << Attribute("width", Px(width_)) << Attribute("height", Px(height_))
                  << Attribute("viewBox", "0 0 " + Px(width_) + " " + Px(height_)) << Attribute("role", "img")
                  << Attribute("aria-label", label_) << ">\n<style>\n"
                  << Markup::Trusted(kPlotCss) << "</style>\n"
                  << "<rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n"
                  << body_ << "</svg>\n";
}

}  // namespace cambium::bench
