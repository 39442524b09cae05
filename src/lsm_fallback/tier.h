// Tier: one sorted sequence in several files: runs that do not overlap, in key order.
//
//   level 1  tier 7   [a..d] [f..k] [m..z]     newest of its level
//            tier 3   [b......k]      [p..y]
//   level 2  tier 0   [a..c] [d..h] [i..p] [q..z]
//
// Under the leveled style a level has one tier. Under the lazy style it may have several; a larger number is newer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/run.h"
#include "lsm_fallback/key_span.h"
#include "util/result.h"

namespace cambium {

using RunList = std::vector<std::shared_ptr<const Run>>;

// Immutable, shared by the layers that contain it. Any thread.
class Tier {
 public:
  // `runs` may be in any order. Corruption, naming both files, if two of them overlap.
  static Result<std::shared_ptr<const Tier>> Make(const Comparator* comparator, std::uint32_t level,
                                                  std::uint64_t number, RunList runs);

  [[nodiscard]] std::uint32_t level() const { return level_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const RunList& runs() const { return runs_; }  // never empty
  // The range deletes of all runs, which hide entries of older tiers. Null if there are none.
  [[nodiscard]] const std::shared_ptr<const RangeDeletes>& ranges() const { return ranges_; }

  // The only run that may have the key: the one whose span contains it. Null if none does.
  [[nodiscard]] const Run* Find(Slice key) const;

  // Measures the keys in [begin, end). Reads pages only of the first and the last run of the range; the runs in between
  // count as a whole.
  Result<TreePart> Measure(Slice begin, Slice end) const;

 private:
  Tier(const Comparator* comparator, std::uint32_t level, std::uint64_t number, RunList runs);
  void MakeFences();
  [[nodiscard]] std::size_t FirstByFences(Slice key) const;

  const KeyOrder order_;
  const std::uint32_t level_;
  const std::uint64_t number_;
  const RunList runs_;
  const std::shared_ptr<const RangeDeletes> ranges_;
  // Under byte order: the largest keys of the runs as numbers in one array, so that a lookup does not load a dozen keys
  // from memory. Each number has the eight bytes after the prefix that all of these keys share.
  std::string fence_prefix_;
  std::vector<std::uint64_t> fences_;
};

// The union of the range deletes of the runs; null if they have none.
[[nodiscard]] std::shared_ptr<const RangeDeletes> RangesOf(const Comparator* comparator, const RunList& runs);

// The index of the first run that does not end before `key`; runs.size() if there is none. `runs` are in key order.
[[nodiscard]] std::size_t FirstNotBefore(const KeyOrder& order, const RunList& runs, Slice key);

// Corruption if the run's smallest key is above its largest one, which no order of keys allows.
Status CheckSpan(const KeyOrder& order, const Run& run);

}  // namespace cambium
