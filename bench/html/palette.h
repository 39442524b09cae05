// Palette: the colour, dash and marker of each engine, the same in all plots and, for known engines, in all reports.
//
// The colours are classes e0 to e14 in plot.css, for light and dark paper. They differ for the colour-blind too (after
// Okabe and Ito), and are never the only distinction: lines also differ by dash and marker, and bars have names.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cambium::bench {

inline constexpr int kPaletteSize = 15;

class Palette {
 public:
  // Known engines have fixed places; others get the remaining places, in the given order.
  explicit Palette(const std::vector<std::string>& labels);

  [[nodiscard]] int PlaceOf(const std::string& label) const;

 private:
  std::map<std::string, int> places_;
};

// Returns Cambium's labels first, the others in the given order.
std::vector<std::string> InPaletteOrder(std::vector<std::string> labels);

}  // namespace cambium::bench
