// Tier: runs that share no key, in the order of their keys: one sorted sequence in several files.
//
//   level 1  tier 7   [a..d] [f..k] [m..z]     newest of its level
//            tier 3   [b......k]      [p..y]
//   level 2  tier 0   [a..c] [d..h] [i..p] [q..z]
//
// A level of the leveled style has one tier; where tiers are gathered it has several, and a larger number is newer.
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

// Immutable, shared by the layers that have it. Any thread.
class Tier {
 public:
  // In whatever order. Corruption, which names both files, if two of them may hold the same key.
  static Result<std::shared_ptr<const Tier>> Make(const Comparator* comparator, std::uint32_t level,
                                                  std::uint64_t number, RunList runs);

  [[nodiscard]] std::uint32_t level() const { return level_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const RunList& runs() const { return runs_; }  // never empty
  // The range deletes of all runs, which hide what older tiers say. Null if there are none.
  [[nodiscard]] const std::shared_ptr<const RangeDeletes>& ranges() const { return ranges_; }

  // The run that speaks of the key if any does: the one whose span it lies in. Null if it lies in none.
  [[nodiscard]] const Run* Find(Slice key) const;

  // What the keys in [begin, end) take in its runs. Pages are read of the first and the last of them only; those in
  // between count whole.
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
  // Under byte order: where the runs end, as numbers that lie together, so that a look-up does not wait for the memory
  // of a dozen keys. Each is made of the eight bytes behind the prefix that all these keys share.
  std::string fence_prefix_;
  std::vector<std::uint64_t> fences_;
};

// What the range deletes of these runs cover; null if they have none.
[[nodiscard]] std::shared_ptr<const RangeDeletes> RangesOf(const Comparator* comparator, const RunList& runs);

// The first run of those, which are in order, that does not end before `key`; their number if there is none.
[[nodiscard]] std::size_t FirstNotBefore(const KeyOrder& order, const RunList& runs, Slice key);

// A run says that it begins after its end: no order of keys can be meant by that.
Status CheckSpan(const KeyOrder& order, const RunInfo& run);

}  // namespace cambium
