#include "html/units.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>

namespace cambium::bench {
namespace {

struct Step {
  double size;
  const char* name;
};
constexpr Step kCounts[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
constexpr Step kBytes[] = {
    {1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}};
constexpr Step kTimes[] = {{60e6, "min"}, {1e6, "s"}, {1e3, "ms"}, {1, "µs"}, {1e-3, "ns"}};

// Returns 1.23, 12.3, 123, without trailing zeros.
std::string Digits(double value) {
  const double size = std::fabs(value);
  if (!std::isfinite(value)) return "-";
  std::string text = Decimal(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 || size == 0 ? 2 : 4);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

// Formats `value` in the largest unit of which there is at least one.
std::string InSteps(std::span<const Step> steps, double value) {
  for (const Step& step : steps) {
    if (std::fabs(value) >= step.size * 0.9995) return Digits(value / step.size) + " " + step.name;
  }
  return {};
}

}  // namespace

std::string Decimal(double value, int digits) {
  char text[400];  // as long as a double can be
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string Format(Unit unit, double value) {
  std::string text;
  switch (unit) {
    case Unit::kPlain:
      return Digits(value);
    case Unit::kTimes:
      return Digits(value) + "x";
    case Unit::kPercent:
      return Digits(value) + " %";
    case Unit::kCount:
      text = InSteps(kCounts, value);
      return text.empty() ? Digits(value) : text;
    case Unit::kOpsPerSec:
      text = InSteps(kCounts, value);
      return (text.empty() ? Digits(value) + " " : text) + "/s";
    case Unit::kBytes:
      text = InSteps(kBytes, value);
      return text.empty() ? Digits(value) + " B" : text;
    case Unit::kMicros:
      text = InSteps(kTimes, value);
      return text.empty() ? Digits(value) + " µs" : text;
    case Unit::kSeconds:
      text = InSteps(kTimes, value * 1e6);
      return text.empty() ? Digits(value) + " s" : text;
  }
  return text;
}

}  // namespace cambium::bench
