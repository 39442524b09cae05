// Axis: from figures to places on paper, linear or by powers, and where its ticks are.
#pragma once

#include <string>
#include <vector>

#include "html/units.h"

namespace cambium::bench {

struct Tick {
  double value;
  std::string label;
};

struct Axis {
  std::string title;  // with the unit, or what it counts
  Unit unit = Unit::kPlain;
  bool log = false;
  double low = 0;  // figures outside are not drawn; over 0 if log
  double high = 1;
  std::vector<Tick> ticks = {};  // empty: chosen by TicksOf

  // 0 at low, 1 at high.
  [[nodiscard]] double Place(double value) const;
};

// At most `most` of them (at least 2), at round figures within low and high, or those the axis has.
std::vector<Tick> TicksOf(const Axis& axis, int most);

// An axis around such figures: from 0 if linear, else from the round figure below to that above: 1, 2
// or 5 times a power of 10, or a power of 2 for bytes.
Axis AxisAround(const std::string& title, Unit unit, bool log, const std::vector<double>& values);

}  // namespace cambium::bench
