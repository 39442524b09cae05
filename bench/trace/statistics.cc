#include "trace/statistics.h"

#include <algorithm>

namespace cambium::bench {

void TraceStatistics::Add(const TracedOp& op) {
  ++ops_;
  if (!op.more) ++calls_;
  last_micros_ = std::max(last_micros_, op.micros);
  GroupStatistics& group = groups_[{GroupOf(op.kind), op.family}];
  ++group.ops;
  ++group.per_second[op.micros / 1'000'000];
  group.key_bytes += op.key.size() + op.end_key.size();
  const bool has_key = op.kind != TracedKind::kSeekToFirst && op.kind != TracedKind::kSeekToLast;
  KeyAccesses* const accesses = has_key ? &group.keys[op.key] : nullptr;
  if (accesses != nullptr) ++accesses->count;
  if (op.value_size.has_value()) {
    if (op.IsLookup()) ++group.found;
    group.value_bytes += *op.value_size;
    ++group.value_sizes[*op.value_size];
    accesses->value_size = *op.value_size;  // an operation with a value has a key
  }
  if (op.scan_length.has_value()) ++group.scan_lengths[*op.scan_length];
}

std::uint64_t TraceStatistics::OpsOf(OpGroup group) const {
  std::uint64_t ops = 0;
  for (const auto& [place, its] : groups_) ops += place.first == group ? its.ops : 0;
  return ops;
}

Counts TraceStatistics::SizesOf(OpGroup group) const {
  Counts all;
  for (const auto& [place, its] : groups_) {
    if (place.first != group) continue;
    for (const auto& [size, count] : its.value_sizes) all[size] += count;
  }
  return all;
}

Counts TraceStatistics::ScanLengths() const {
  Counts all;
  for (const auto& [place, its] : groups_) {
    for (const auto& [length, count] : its.scan_lengths) all[length] += count;
  }
  return all;
}

Counts TraceStatistics::PerSecond() const {
  Counts all;
  for (const auto& [place, its] : groups_) {
    for (const auto& [second, count] : its.per_second) all[second] += count;
  }
  return all;
}

std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> TraceStatistics::Accesses() const {
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> all;
  for (const auto& [place, its] : groups_) {
    for (const auto& [key, accesses] : its.keys) all[{place.second, key}] += accesses.count;
  }
  return all;
}

}  // namespace cambium::bench
