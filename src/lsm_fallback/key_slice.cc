#include "lsm_fallback/key_slice.h"

#include <algorithm>
#include <cassert>

namespace cambium {
namespace {

// The bytes between each border and the next one. A file that crosses borders counts in equal parts.
std::vector<double> Weights(const KeyOrder& order, const TierShape& guide, std::span<const TierShape> tiers,
                            bool with_guide) {
  std::vector<double> weights(guide.files.size(), 0);
  for (std::size_t i = 0; with_guide && i < guide.files.size(); ++i) {
    weights[i] = static_cast<double>(guide.files[i]->file_size);
  }
  for (const TierShape& tier : tiers) {
    for (const RunInfo* file : tier.files) {
      const std::size_t first = BorderBefore(order, guide, file->smallest_key);
      const std::size_t last = BorderBefore(order, guide, file->largest_key);
      const double part = static_cast<double>(file->file_size) / static_cast<double>(last - first + 1);
      for (std::size_t i = first; i <= last; ++i) weights[i] += part;
    }
  }
  return weights;
}

// The first border from `start` on with input between it and the next border; the number of borders if there is none.
std::size_t FirstWithInput(const KeyOrder& order, const TierShape& guide, std::span<const TierShape> tiers,
                           std::size_t start) {
  std::size_t first = guide.files.size();
  for (const TierShape& tier : tiers) {
    const auto file = std::ranges::find_if(tier.files, [&](const RunInfo* f) {
      return start == 0 || !EndsBefore(order, KeySpan::Of(*f), guide.files[start]->smallest_key);
    });
    if (file == tier.files.end()) continue;
    first = std::min(first, std::max(start, BorderBefore(order, guide, (*file)->smallest_key)));
  }
  return first;
}

}  // namespace

std::size_t BorderBefore(const KeyOrder& order, const TierShape& guide, Slice key) {
  const auto after = std::ranges::partition_point(
      guide.files, [&](const RunInfo* file) { return order.Compare(file->smallest_key, key) <= 0; });
  const auto count = static_cast<std::size_t>(after - guide.files.begin());
  return count == 0 ? 0 : count - 1;
}

Stretch CutSlice(const KeyOrder& order, const TierShape& guide, std::span<const TierShape> tiers, bool with_guide,
                 std::size_t start, std::uint64_t budget) {
  std::size_t first = FirstWithInput(order, guide, tiers, start);
  if (first == guide.files.size()) first = FirstWithInput(order, guide, tiers, 0);
  assert(first < guide.files.size() && "there is input");
  const std::vector<double> weights = Weights(order, guide, tiers, with_guide);
  double bytes = weights[first];
  std::size_t end = first + 1;
  while (end < guide.files.size() && bytes < static_cast<double>(budget)) bytes += weights[end++];
  return {first, end};
}

}  // namespace cambium
