#include "lsm_fallback/compaction_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "util/mutant.h"

namespace cambium {
namespace {

// Level 1 may have this part of the room, and so may the runs that wait for their compaction. Both take as much again
// while a step rewrites the runs. The rest is for the log.
constexpr std::uint64_t kUpperLevelsOfRoom = 8;
constexpr std::uint64_t kFilesOfRoom = 64;  // a slice takes about eight files
// Below these sizes, headers, branches and syncs of files cost more than what they save.
constexpr std::uint64_t kUpperLevelBytesLeast = 512u << 10;
constexpr std::uint64_t kFileBytesLeast = 256u << 10;

}  // namespace

std::uint64_t CompactionPolicy::TargetFileSize(std::uint32_t level) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / (2 * kGrandparentFiles);
  std::uint64_t bytes = target_file_size_base;
  for (std::uint32_t i = 1; i < level; ++i) {
    if (__builtin_mul_overflow(bytes, target_file_size_multiplier, &bytes)) return std::min(kMost, file_bytes_max);
  }
  return std::min({bytes, kMost, file_bytes_max});
}

double CompactionPolicy::TargetLevelSize(std::uint32_t level) const {
  const double bytes = static_cast<double>(std::max<std::uint64_t>(1, max_bytes_for_level_base)) *
                       std::pow(max_bytes_for_level_multiplier, static_cast<double>(level) - 1);
  return level == 1 ? std::min(bytes, static_cast<double>(upper_level_bytes_max)) : bytes;
}

double CompactionPolicy::UpperLevelSize(std::uint32_t level) const {
  return std::min(TargetLevelSize(level), static_cast<double>(upper_level_bytes_max));
}

CompactionPolicy CompactionPolicy::Within(IndexRoom room) const {
  CompactionPolicy within = *this;
  const std::uint64_t level_bytes = std::max(room.standing / kUpperLevelsOfRoom, kUpperLevelBytesLeast);
  if (level_bytes >= max_bytes_for_level_base || num_levels < 3 || MutantIs(Mutant::kLevelsIgnoreRoom)) return within;
  within.style = kCompactionStyleLazyLevel;
  within.upper_level_bytes_max = level_bytes;
  within.file_bytes_max = std::max(room.step / kFilesOfRoom, kFileBytesLeast);
  return within;
}

}  // namespace cambium
