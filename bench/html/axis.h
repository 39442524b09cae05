// Axis: maps figures to places on paper, linear or logarithmic, and chooses ticks.
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
  std::string title;  // with the unit, or what is counted
  Unit unit = Unit::kPlain;
  bool log = false;
  double low = 0;  // figures outside [low, high] are not drawn; above 0 if log
  double high = 1;
  std::vector<Tick> ticks = {};  // empty: chosen by TicksOf

  // Returns 0 at low, 1 at high.
  [[nodiscard]] double Place(double value) const;
};

// Returns the axis' own ticks, or at most `most` (2 or more) at round figures within low and high.
std::vector<Tick> TicksOf(const Axis& axis, int most);

// Returns an axis for these figures. A linear axis begins at 0. A logarithmic axis reaches from the largest round
// figure that is not above the smallest value to the smallest one that is not below the largest value. Round figures
// are 1, 2 or 5 times a power of 10, or for bytes powers of 2.
Axis AxisAround(const std::string& title, Unit unit, bool log, const std::vector<double>& values);

}  // namespace cambium::bench
