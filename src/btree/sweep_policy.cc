#include "btree/sweep_policy.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "util/mutant.h"

namespace cambium {
namespace {

// The fewest pages that a run takes: its header, a leaf, and a footer that fills a block.
constexpr double kRunPagesMin = 3;
// The most covered leaves that a flush may have to read and cut out: some milliseconds of a slow disk.
constexpr std::uint64_t kFlushCutsLeavesMax = 256;

}  // namespace

double PagesTouched(double leaves, double updates) {
  if (leaves <= 0 || updates <= 0) return 0;
  return -leaves * std::expm1(-updates / leaves);
}

double PagesBeyondMemtable(double leaves, double keys_per_leaf, double memtable_keys, double run_keys) {
  return PagesTouched(leaves, memtable_keys + run_keys) + run_keys / keys_per_leaf;
}

SweepChoice PickSweep(const SweepShape& shape, const SweepPolicy& policy) {
  assert(policy.sweep_ratio > 0 && shape.keys_per_leaf > 0);
  const std::uint64_t keys = shape.memtable_keys + shape.run_keys;
  if (shape.memtable_keys > 0 || shape.memtable_ranges > 0) {
    // A sweep in progress has a fixed set of runs; this memtable is newer than all of them.
    if (shape.sweep_in_progress) return SweepChoice::kMakeRun;
    const std::uint64_t cut = shape.memtable_covered_keys + shape.run_covered_keys;
    if (cut / shape.keys_per_leaf > kFlushCutsLeavesMax) return SweepChoice::kMakeRun;
    const auto keys_per_leaf = static_cast<double>(shape.keys_per_leaf);
    const double leaves = static_cast<double>(shape.tree_keys_between) / keys_per_leaf;
    if (shape.tree_keys_between / policy.sweep_ratio <= keys + cut) {
      const double extra_pages = PagesBeyondMemtable(leaves, keys_per_leaf, static_cast<double>(shape.memtable_keys),
                                                     static_cast<double>(shape.run_keys));
      return extra_pages <= static_cast<double>(policy.flush_pages_max) ? SweepChoice::kFlushIntoTree
                                                                        : SweepChoice::kMakeRun;
    }
    // A few keys rewrite a few leaves and the branches above them. A run would cost as much, and slow down lookups. A
    // range rewrites the leaves at its ends.
    const double updates = static_cast<double>(keys) + 2.0 * static_cast<double>(shape.memtable_ranges);
    const double pages = PagesTouched(leaves, updates) + shape.tree_height;
    return pages <= kRunPagesMin ? SweepChoice::kFlushIntoTree : SweepChoice::kMakeRun;
  }
  if (shape.sweep_in_progress) return SweepChoice::kResumeSweep;
  if (shape.run_count == 0) return SweepChoice::kNothing;
  const bool is_due = shape.urgent || shape.run_count > policy.runs_max || shape.run_bytes > policy.run_bytes_max ||
                      shape.run_keys + shape.run_covered_keys > shape.tree_keys / policy.sweep_ratio;
  return is_due ? SweepChoice::kSweep : SweepChoice::kNothing;
}

std::set<std::uint64_t> PickVictims(const std::vector<IndexSegmentUse>& segments, const EvacuationPolicy& policy,
                                    std::uint64_t budget_units, double share_to_be_replaced) {
  if (MutantIs(Mutant::kNoEvacuation)) return {};
  std::uint64_t units = 0;
  std::uint64_t live_units = 0;
  std::vector<IndexSegmentUse> small;
  for (const IndexSegmentUse& segment : segments) {
    units += segment.units;
    live_units += segment.live_units;
    if (segment.units < policy.small_units) small.push_back(segment);
  }
  std::set<std::uint64_t> victims;
  if (policy.replaced_units && (units + *policy.replaced_units) * 100 > live_units * policy.file_percent_max) {
    for (const IndexSegmentUse& segment : segments) victims.insert(segment.number);
    return victims;
  }
  std::uint64_t copied = 0;
  const auto take = [&](const IndexSegmentUse& segment) {
    if ((policy.only_what_fits || !victims.empty()) && copied + segment.live_units > budget_units) return;
    if (!victims.insert(segment.number).second) return;
    assert(segment.live_units <= segment.units && segment.units - segment.live_units <= units);
    copied += segment.live_units;
    units -= segment.units - segment.live_units;
  };

  const std::uint64_t percent_max = policy.file_percent_max * (share_to_be_replaced > 0.5 ? 2 : 1);
  std::vector<IndexSegmentUse> sparse;
  std::copy_if(segments.begin(), segments.end(), std::back_inserter(sparse),
               [&](const IndexSegmentUse& s) {  // the header's unit is not dead
                 return s.units > 0 && s.live_units * policy.file_percent_max < (s.units - 1) * 100;
               });
  // live_a / units_a < live_b / units_b
  std::sort(sparse.begin(), sparse.end(), [](const IndexSegmentUse& a, const IndexSegmentUse& b) {
    return a.live_units * b.units < b.live_units * a.units;
  });
  for (const IndexSegmentUse& segment : sparse) {
    if ((units + policy.growth_units) * 100 <= live_units * percent_max) break;
    take(segment);
  }
  if (small.size() > policy.small_segments_max) {
    std::sort(small.begin(), small.end(),
              [](const IndexSegmentUse& a, const IndexSegmentUse& b) { return a.live_units < b.live_units; });
    for (const IndexSegmentUse& segment : small) take(segment);
  }
  return victims;
}

}  // namespace cambium
