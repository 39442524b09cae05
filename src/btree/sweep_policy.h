// When to sweep, and what: pure functions of numbers. BTreeIndex carries out what they choose.
//
// The functions follow from this law: m updates, uniform over N keys in L leaves of P bytes, rewrite
//
//   touched = L (1 - e^(-m/L)) leaves,   P * touched / m bytes per update:
//
// a whole page per update while m is far below L, and s * N/m bytes (s bytes per entry) when m is above it. The
// memtables of a large database are small compared with L. So they become runs (about 22 bytes per key) until the runs
// hold 1/sweep_ratio of the keys, and then one sweep rewrites the tree once for all of them. The same ratio decides
// whether a memtable is merged straight into the tree: it is, if its keys make a sweep due anyway. N counts only the
// keys of the tree between the first and the last key to be merged. So a load in key order, whose keys are all above
// the tree's, never makes a run.
//
// A flush cannot stop half-way, and writers wait for it when the next memtable is full. So it goes straight into the
// tree only if it rewrites no more than a step of a sweep does, however large the database is. Otherwise it makes a
// run, and the sweep that is then due runs in steps, with flushes of new runs in between. To empty files, a flush or a
// step of a sweep copies at most half of the bytes it may write, or one file. A file is no larger than a step, unless
// there would be too many files.
//
// Range deletes. A sweep cuts the keys that they cover out of the tree: it reads them, but does not write them, which
// is cheaper than as many updates. But until then these keys are garbage, in the index and in the log. So a key of the
// tree that a run's ranges cover counts like a key of a run: when keys of runs and covered keys together make up
// 1/sweep_ratio of the tree, a sweep is due. A memtable whose ranges cover many leaves always becomes a run, because a
// sweep can stop half-way and a flush cannot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <limits>
#include <set>
#include <vector>

#include "index/index.h"

namespace cambium {

// L (1 - e^(-m/L)): how many of `leaves` pages that many updates touch, if they are spread uniformly.
[[nodiscard]] double PagesTouched(double leaves, double updates);

struct SweepPolicy {
  std::uint64_t sweep_ratio = 8;
  std::uint64_t runs_max = 16;  // the most runs that a lookup has to ask before the tree
  // A sweep is also due if the runs have this many bytes, because all of them may be hidden or hide others. Under a
  // ceiling BTreeIndex derives the number from the room.
  std::uint64_t run_bytes_max = std::numeric_limits<std::uint64_t>::max();
  // Pages that a flush may write in addition to those of its own memtable. BTreeIndex derives the number from
  // write_buffer_size, and uses at least one MiB of pages: some milliseconds of a slow disk.
  std::uint64_t flush_pages_max = 16384;
};

// Returns runs_max for a family whose writes slow down from `slowdown_trigger` runs on: a sweep is due by then, so that
// no write is slowed down by runs that nothing would remove.
[[nodiscard]] constexpr std::uint64_t RunsMaxBelow(int slowdown_trigger) {
  return std::min(SweepPolicy().runs_max, static_cast<std::uint64_t>(slowdown_trigger) - 1);
}

// Pages that a merge with the tree writes in addition to the memtable's own new pages: the leaves it touches, and the
// pages for the keys of the runs.
[[nodiscard]] double PagesBeyondMemtable(double leaves, double keys_per_leaf, double memtable_keys, double run_keys);

// The memtable and the layers that PickSweep decides about.
struct SweepShape {
  std::uint64_t memtable_keys = 0;
  std::uint64_t memtable_ranges = 0;  // range deletes. If there are neither keys nor ranges: runs only, no memtable
  std::uint64_t memtable_covered_keys = 0;  // keys of the tree that these ranges cover
  std::uint64_t run_count = 0;
  std::uint64_t run_keys = 0;
  std::uint64_t run_bytes = 0;
  std::uint64_t run_covered_keys = 0;       // keys of the tree that the runs' ranges cover
  std::uint64_t tree_keys = 0;
  std::uint64_t tree_keys_between = 0;  // those between the first and the last key to be merged
  std::uint64_t keys_per_leaf = 150;
  std::uint32_t tree_height = 0;
  bool sweep_in_progress = false;
  bool urgent = false;  // space is short, or the database is idle
};

enum class SweepChoice : unsigned char {
  kNothing,
  kMakeRun,        // the memtable becomes a run
  kFlushIntoTree,  // memtable and all runs go into the tree
  kSweep,          // a new sweep merges runs into the tree: all, or the oldest ones that have room
  kResumeSweep,    // the sweep in progress continues with the runs it began with
};

// With a memtable, returns kMakeRun or kFlushIntoTree; without, one of the others.
[[nodiscard]] SweepChoice PickSweep(const SweepShape& shape, const SweepPolicy& policy);

struct IndexSegmentUse {
  std::uint64_t number = 0;
  std::uint64_t units = 0;       // committed, the header's unit included
  std::uint64_t live_units = 0;
};

struct EvacuationPolicy {
  // Index files may take this percentage of the live bytes; only above it are live pages copied. They are not copied
  // from every segment that is half dead, because most pages of such a segment die soon anyway. At 200, copying adds at
  // most a quarter to what uniform updates write; copying from every half-dead segment would double it.
  std::uint64_t file_percent_max = 200;
  // The pages that the step will add before it frees any. The limit holds for the files after the step.
  std::uint64_t growth_units = 0;
  // A segment of fewer than small_units (a sixteenth of the largest size) is small. Every Open of the database may
  // leave one, so when there are more than small_segments_max of them, small segments are joined.
  std::uint64_t small_units = 1024;
  std::size_t small_segments_max = 4;
  bool only_what_fits = false;  // no segment is chosen whose live pages exceed the budget
  // If set, the step may rewrite the whole tree, and this many pages of it are replaced anyway.
  std::optional<std::uint64_t> replaced_units = std::nullopt;
};

// Chooses segments whose live pages sweeps copy elsewhere, so that the segments can be deleted. Takes those with the
// smallest live part first, until the files are within file_percent_max, but never a segment that is within it by
// itself (at 200: at least half alive). Then takes small ones. The live pages of all that it takes fit into
// `budget_units`. Without only_what_fits the first segment is taken even if it does not fit. `share_to_be_replaced`
// estimates, for uniform keys, which share of all pages the rest of the sweep in progress will replace. If that is more
// than one half, twice file_percent_max is allowed, because most pages that would be copied are soon replaced anyway.
//
// With policy.replaced_units: takes all segments if the files would exceed file_percent_max after the step, because the
// replaced pages are dead then. So a small tree has no dead pages after such a step, in particular none in the segment
// that its pages were appended to.
[[nodiscard]] std::set<std::uint64_t> PickVictims(const std::vector<IndexSegmentUse>& segments,
                                                  const EvacuationPolicy& policy, std::uint64_t budget_units,
                                                  double share_to_be_replaced = 0);

}  // namespace cambium
