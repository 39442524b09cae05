#include "lsm_fallback/compaction_shape.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace cambium {

std::span<const TierShape> CompactionShape::TiersOf(std::uint32_t level) const {
  return {std::ranges::lower_bound(tiers, level, {}, &TierShape::level),
          std::ranges::upper_bound(tiers, level, {}, &TierShape::level)};
}

std::uint64_t CompactionShape::BytesCovered(const RunInfo& file, std::uint32_t level) const {
  const auto its = ranges.find(file.number);
  if (its == ranges.end()) return 0;
  const KeyOrder order(comparator);
  std::uint64_t bytes = 0;
  for (const TierShape& tier : tiers) {
    if (tier.level <= level) continue;
    for (const RunInfo* below : FilesOf(tier, Overlapped(order, tier, KeySpan::Of(file)))) {
      const KeySpan span = KeySpan::Of(*below);
      const bool is_covered = its->second->CoversAllOf(&span.smallest, &span.largest) &&
                              (span.largest_is_open || its->second->Covers(span.largest));
      if (is_covered) bytes += below->file_size;
    }
  }
  return bytes;
}

Stretch Overlapped(const KeyOrder& order, const TierShape& tier, const KeySpan& span) {
  const auto first = std::ranges::partition_point(
      tier.files, [&](const RunInfo* file) { return EndsBefore(order, KeySpan::Of(*file), span.smallest); });
  const auto end = std::partition_point(
      first, tier.files.end(), [&](const RunInfo* file) { return !EndsBefore(order, span, file->smallest_key); });
  return {static_cast<std::size_t>(first - tier.files.begin()), static_cast<std::size_t>(end - tier.files.begin())};
}

KeySpan SpanOf(const KeyOrder& order, std::span<const RunInfo* const> files) {
  assert(!files.empty());
  KeySpan span = KeySpan::Of(*files.front());
  for (const RunInfo* file : files) span = Union(order, span, KeySpan::Of(*file));
  return span;
}

std::uint64_t SumBytes(std::span<const RunInfo* const> files) {
  return std::accumulate(files.begin(), files.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const RunInfo* file) { return sum + file->file_size; });
}

const TierShape* GrandparentsOf(const CompactionShape& shape, std::uint32_t output_level) {
  for (const TierShape& tier : shape.tiers) {
    if (tier.level > output_level && shape.TiersOf(tier.level).size() == 1) return &tier;
  }
  return nullptr;
}

}  // namespace cambium
