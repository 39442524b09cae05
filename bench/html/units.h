// Format: numbers with three significant digits and a unit.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::bench {

enum class Unit : unsigned char {
  kPlain,      // 1.23
  kCount,      // 1.23 M
  kOpsPerSec,  // 1.23 M/s
  kBytes,      // 1.23 GiB
  kMicros,     // given in microseconds: 1.23 ms, 1.23 µs
  kSeconds,    // given in seconds: 1.23 s
  kTimes,      // 1.23x
  kPercent,    // 1.23 %
};

std::string Format(Unit unit, double value);

// Formats `value` with `digits` digits after the point.
std::string Decimal(double value, int digits);

}  // namespace cambium::bench
