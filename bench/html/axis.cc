#include "html/axis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cambium::bench {
namespace {

constexpr double kHeadroom = 1.06;

// The largest value on an axis; the smallest on a logarithmic axis is its inverse. The next round number must be finite
// too.
constexpr double kLargest = 1e300;
bool HasPlace(double value, bool log) { return std::abs(value) <= kLargest && (!log || value >= 1 / kLargest); }

// Returns the smallest of 1, 2, 5 times a power of ten that is at least `step`; for bytes, a power of two.
double RoundUp(double step, Unit unit) {
  if (unit == Unit::kBytes) return std::exp2(std::ceil(std::log2(step) - 1e-9));
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

double RoundDown(double value, Unit unit) {
  if (unit == Unit::kBytes) return std::exp2(std::floor(std::log2(value) + 1e-9));
  const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + 1e-9)) return factor * power;
  }
  return power;
}

std::vector<Tick> Linear(const Axis& axis, int most) {
  std::vector<Tick> ticks;
  const double step = RoundUp((axis.high - axis.low) / (most - 1), axis.unit);
  const double end = axis.high + step * 1e-6;
  for (double i = std::ceil(axis.low / step - 1e-6); i * step <= end; ++i) {
    ticks.push_back({i * step, Format(axis.unit, i * step)});
  }
  return ticks;
}

// Returns ticks at every `every`-th whole power; with `between` also at 2 and 5 times each power of 10.
std::vector<Tick> Powers(const Axis& axis, double every, bool between) {
  const double base = axis.unit == Unit::kBytes ? 2 : 10;
  const double first = std::floor(std::log(axis.low) / std::log(base) + 1e-9);
  std::vector<Tick> ticks;
  if (!HasPlace(axis.low, true) || !std::isfinite(axis.high)) return ticks;  // the loop would not end
  const auto is_below = [&](double value) { return std::isfinite(value) && value <= axis.high * (1 + 1e-9); };
  for (double power = first; is_below(std::pow(base, power));) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !between) break;
      const double value = factor * std::pow(base, power);
      const bool inside = value >= axis.low * (1 - 1e-9) && value <= axis.high * (1 + 1e-9);
      if (inside) ticks.push_back({value, Format(axis.unit, value)});
    }
    power += ticks.empty() ? 1 : every;
  }
  return ticks;
}

// Returns as many ticks as fit, but more than one.
std::vector<Tick> Logarithmic(const Axis& axis, int most) {
  const auto fit = [most](const std::vector<Tick>& ticks) { return ticks.size() <= static_cast<std::size_t>(most); };
  const std::vector<Tick> fine = Powers(axis, 1, true);
  if (axis.unit != Unit::kBytes && fit(fine)) return fine;
  std::vector<Tick> ticks = Powers(axis, 1, false);
  for (double every = 2; !fit(ticks); ++every) ticks = Powers(axis, every, false);
  return ticks.size() < 2 && axis.unit != Unit::kBytes ? fine : ticks;
}

}  // namespace

double Axis::Place(double value) const {
  if (log) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  return (value - low) / (high - low);
}

std::vector<Tick> TicksOf(const Axis& axis, int most) {
  if (!axis.ticks.empty()) return axis.ticks;
  return axis.log ? Logarithmic(axis, most) : Linear(axis, most);
}

Axis AxisAround(const std::string& title, Unit unit, bool log, const std::vector<double>& values) {
  Axis axis{.title = title, .unit = unit, .log = log};
  double low = 0;
  double high = 0;
  bool any = false;
  for (const double value : values) {
    if (!HasPlace(value, log)) continue;
    low = any ? std::min(low, value) : value;
    high = any ? std::max(high, value) : value;
    any = true;
  }
  if (!log) {
    axis.high = high > 0 ? high * kHeadroom : 1;
    return axis;
  }
  axis.low = any ? RoundDown(low, unit) : 1;
  axis.high = any ? RoundUp(high, unit) : 10;
  if (axis.high <= axis.low) axis.high = RoundUp(axis.low * 1.5, unit);
  return axis;
}

}  // namespace cambium::bench
