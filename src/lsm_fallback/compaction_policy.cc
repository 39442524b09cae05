#include "lsm_fallback/compaction_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium {

std::uint64_t CompactionPolicy::TargetFileSize(std::uint32_t level) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / (2 * kGrandparentFiles);
  std::uint64_t bytes = target_file_size_base;
  for (std::uint32_t i = 1; i < level; ++i) {
    if (__builtin_mul_overflow(bytes, target_file_size_multiplier, &bytes)) return kMost;
  }
  return std::min(bytes, kMost);
}

double CompactionPolicy::TargetLevelSize(std::uint32_t level) const {
  return static_cast<double>(std::max<std::uint64_t>(1, max_bytes_for_level_base)) *
         std::pow(max_bytes_for_level_multiplier, static_cast<double>(level) - 1);
}

}  // namespace cambium
