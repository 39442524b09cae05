// When to merge what: pure functions of numbers. btree_index carries out what they say.
//
// The law behind them. m updates, uniform over N keys in L leaves of P bytes, rewrite
//
//   touched = L (1 - e^(-m/L)) leaves,   P * touched / m bytes per update:
//
// a whole page per update while m is far below L, and s * N/m bytes (s bytes an entry) when m is above it. Memtables of
// a large database are small against L, so they become runs (about 22 bytes a key) until these hold 1/sweep_ratio of
// the keys, and then one sweep rewrites the tree once for all of them. The same number says when a memtable may go
// straight into the tree: when a sweep would be due with it anyway. N counts the keys of the tree that lie between the
// first and the last key to be merged, so that a load in key order, which lands behind all of them, never makes a run.
//
// A flush cannot stop on the way, and writers wait for it when the next memtable is full. So it goes straight into the
// tree only if it rewrites no more than a step of a sweep does, whatever the database holds; above that it leaves a run,
// and the sweep that is then due goes in steps, between which runs of new flushes find their place. To empty files
// either copies half a step at most, or one file, which is not larger than a step where that does not make too many.
//
// Range deletes. What they cover is cut out of the tree: read, but not written, so that it costs less than so many
// updates. But as long as it is not cut it is garbage, in the index and in the log. So a key of the tree that ranges of
// runs cover counts like a key of the runs: when both together are 1/sweep_ratio of the tree, a sweep is due. A memtable
// whose ranges cover many leaves always becomes a run, because sweeps can stop on the way and a flush cannot.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "index/index.h"

namespace cambium {

// L (1 - e^(-m/L)): how many of `leaves` pages are touched by so many updates, spread uniformly.
[[nodiscard]] double PagesTouched(double leaves, double updates);

struct SweepPolicy {
  std::uint64_t sweep_ratio = 8;
  std::uint64_t runs_max = 16;  // what a point look-up has to ask at most, before the tree
  // Pages that a flush may write beside those for its own memtable. The least that a user can make of it is a MiB of
  // them, some milliseconds of a slow disk.
  std::uint64_t flush_pages_max = 16384;
};

// Pages that a merge writes beside those that new keys of the memtable would need in any case: the leaves between, and
// what the runs hold.
[[nodiscard]] double PagesBesideMemtable(double leaves, double keys_per_leaf, double memtable_keys, double run_keys);

// What is to be merged, and with what.
struct SweepShape {
  std::uint64_t memtable_keys = 0;
  std::uint64_t memtable_ranges = 0;  // range deletes; no keys and none of them: only runs are to be merged
  std::uint64_t memtable_covered_keys = 0;  // of the tree, by its range deletes
  std::uint64_t run_count = 0;
  std::uint64_t run_keys = 0;
  std::uint64_t run_covered_keys = 0;       // the same for the runs
  std::uint64_t tree_keys = 0;
  std::uint64_t tree_keys_between = 0;  // of them, those between the first and the last key to be merged
  std::uint64_t keys_per_leaf = 150;
  std::uint32_t tree_height = 0;
  bool sweep_in_progress = false;
  bool urgent = false;  // space is short, or nobody needs the device
};

enum class SweepChoice : unsigned char {
  kNothing,
  kMakeRun,        // the memtable becomes a run
  kFlushIntoTree,  // memtable and all runs go into the tree
  kSweep,          // all runs of now go into the tree
  kResumeSweep,    // the sweep in progress goes on, over the runs it began with
};

// With a memtable: kMakeRun or kFlushIntoTree. Without: one of the others.
[[nodiscard]] SweepChoice PickSweep(const SweepShape& shape, const SweepPolicy& policy);

struct IndexSegmentUse {
  std::uint64_t number = 0;
  std::uint64_t units = 0;       // committed, the header's unit included
  std::uint64_t live_units = 0;
};

struct EvacuationPolicy {
  // Index files may hold so many percent of what is live. Copying starts above that, and not at every segment that is
  // half dead, because most pages of such a segment die by themselves if one waits: at 200 copying adds at most a
  // quarter to what uniform updates write, where the eager rule doubles it.
  std::uint64_t file_percent_max = 200;
  // Segments below so many units (a sixteenth of what they may become) are joined when there are more than
  // small_segments_max of them: every opening of the database may leave one.
  std::uint64_t small_units = 1024;
  std::size_t small_segments_max = 4;
};

// Segments whose live pages merges shall copy, so that they can go: those with the smallest live part first, never one
// that is within the bounds itself (at 200, half alive), until the rest is; and small ones. Not more than `budget_units` to
// be copied, but one segment at least if any is due. While more than half of all pages will be replaced by what is left of
// the sweep in progress (`share_to_be_replaced`, an estimate for uniform keys), files may hold twice as much: most of
// what a copy would save dies by itself then.
[[nodiscard]] std::set<std::uint64_t> PickVictims(const std::vector<IndexSegmentUse>& segments,
                                                  const EvacuationPolicy& policy, std::uint64_t budget_units,
                                                  double share_to_be_replaced = 0);

}  // namespace cambium
