// Which colour, dash and marker an engine has: the same in every plot and every report, Cambium's first.
//
// The colours themselves are in plot.css, as classes e0 to e11, for light and dark paper. They are chosen so that they
// differ for the colour-blind too (after Okabe and Ito), and never stand alone: lines differ by dash and marker, bars
// have their names beside them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cambium::bench {

inline constexpr int kPaletteSize = 12;

class Palette {
 public:
  // Engines that have a place of their own get it; the others what is left, in the order given.
  explicit Palette(const std::vector<std::string>& labels);

  [[nodiscard]] int PlaceOf(const std::string& label) const;

 private:
  std::map<std::string, int> places_;
};

// Cambium's first, the others in the order given.
std::vector<std::string> InPaletteOrder(std::vector<std::string> labels);

}  // namespace cambium::bench
