// ValueSizes: the distribution of the sizes of a run's values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "data/mix.h"

namespace cambium::bench {

enum class SizeDistribution : unsigned char { kFixed, kUniform, kNormal };

// db_bench's value_size_distribution_type. Immutable.
struct ValueSizes {
  SizeDistribution distribution = SizeDistribution::kFixed;
  std::size_t min = 100;  // bytes
  std::size_t max = 100;

  static ValueSizes Fixed(std::size_t size) { return {SizeDistribution::kFixed, size, size}; }

  [[nodiscard]] bool fixed() const { return min == max; }
  // The mean size.
  [[nodiscard]] double Mean() const { return (static_cast<double>(min) + static_cast<double>(max)) / 2; }

  // Returns the size for a hash whose bits are all random: the same hash has the same size. kNormal: the mean is the
  // middle of the range, the standard deviation a sixth of it, and sizes outside the range are moved to its ends.
  [[nodiscard]] std::size_t Of(std::uint64_t hash) const {
    if (fixed()) return max;
    if (distribution == SizeDistribution::kUniform) return min + hash % (max - min + 1);
    // Box and Muller, "A note on the generation of random normal deviates", 1958.
    const double u = (static_cast<double>(hash >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(Mix(hash) >> 11) * 0x1p-53;
    const double deviate = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
    const double size = Mean() + deviate * static_cast<double>(max - min) / 6;
    return std::clamp(static_cast<std::size_t>(std::max(0.0, std::round(size))), min, max);
  }
};

}  // namespace cambium::bench
