#include "lsm_fallback/level_score.h"

#include <algorithm>

namespace cambium {
namespace {

// The average over all files of levels.
double BytesPerEntry(const CompactionShape& shape) {
  double bytes = 0;
  double entries = 0;
  for (const TierShape& tier : shape.tiers) {
    for (const RunInfo* file : tier.files) {
      bytes += static_cast<double>(file->file_size);
      entries += static_cast<double>(file->root.entry_count);
    }
  }
  return entries == 0 ? 0 : bytes / entries;
}

}  // namespace

double RunScore(const CompactionShape& shape, const CompactionPolicy& policy) {
  if (shape.runs.empty()) return 0;
  const double by_count = static_cast<double>(shape.runs.size()) /
                          static_cast<double>(std::max<std::uint64_t>(1, policy.level0_file_num_compaction_trigger));
  auto bytes = static_cast<double>(SumBytes(shape.runs));
  for (const RunInfo* run : shape.runs) bytes += static_cast<double>(shape.BytesCovered(*run, 0));
  return std::max(by_count, bytes / policy.TargetLevelSize(1));
}

double LevelScore(const CompactionShape& shape, const CompactionPolicy& policy, std::uint32_t level, bool is_last) {
  const std::span<const TierShape> tiers = shape.TiersOf(level);
  if (tiers.empty()) return 0;
  const double bytes_per_entry = BytesPerEntry(shape);
  double bytes = 0;
  for (const TierShape& tier : tiers) {
    for (const RunInfo* file : tier.files) {
      bytes += static_cast<double>(file->file_size + shape.BytesCovered(*file, level));
      // If a file has more tombstones than other entries, each surplus one will remove an entry of about this size
      // below.
      const double deletions = static_cast<double>(file->tombstone_count) * 2;
      const auto entries = static_cast<double>(file->root.entry_count);
      if (deletions > entries && level != shape.deepest()) bytes += (deletions - entries) * bytes_per_entry * 2;
    }
  }
  if (is_last) return bytes / policy.TargetLevelSize(level);
  const double by_bytes = bytes / policy.UpperLevelSize(level);
  // Under the leveled style a level has more than one tier only if another style left them.
  const double tiers_max = policy.is_lazy() ? std::max(2.0, policy.max_bytes_for_level_multiplier) : 1.5;
  return std::max(by_bytes, static_cast<double>(tiers.size()) / tiers_max);
}

}  // namespace cambium
