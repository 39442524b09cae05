// IndexStats: the bytes that a family's flushes and compactions wrote, and the bytes that the cost law of its index
// expects. The property "cambium.index-stats" shows them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "index/index.h"

namespace cambium {

// Figures of one family since the database was opened. One flush and one compaction of the family at a time, and log
// GC, add to them; any thread reads them.
class IndexStats {
 public:
  // Called when a memtable is flushed: `before` are the layers without it, `after` those with it.
  void AddFlush(const Index& index, const Layers& before, const Layers& after, const MemtableShape& memtable,
                std::uint64_t step_bytes);
  // Called for each run that a flush or log GC has written.
  void AddRun(const RunInfo& run);
  // Called when a compaction, or a step of one, is committed.
  void AddCompaction(const CompactionStats& stats, const Layers& after, bool with_memtable);

  // The figures by name, for layers of this shape. `kind`: "btree" or "lsm".
  [[nodiscard]] std::map<std::string, std::string> Describe(const std::string& kind, const LayersShape& shape) const;

 private:
  using Counter = std::atomic<std::uint64_t>;

  // Estimates the fraction of flushed keys that were new to the layers, from the growth of the layers since the last
  // measurement (the mark). The arguments are the number of keys in the layers before and after the flush.
  double NewShare(std::uint64_t keys_before, std::uint64_t keys);

  Counter flushes_{0};
  Counter flushed_keys_{0};     // including tombstones: updates, as the law counts them
  Counter flush_bytes_{0};      // of runs that were written
  Counter merges_{0};           // steps of compactions
  Counter merge_bytes_{0};
  Counter sweeps_{0};           // sweeps of a tree that have ended, or level compactions
  Counter straight_merges_{0};  // flushes straight into the tree
  std::atomic<double> law_bytes_{0};

  // Used by the flush only, except that log GC also adds to run_keys_.
  Counter run_keys_{0};         // of the runs in flush_bytes_
  double new_share_ = 0;
  std::uint64_t keys_at_mark_ = 0;
  std::uint64_t flushed_at_mark_ = 0;
  bool has_mark_ = false;
};

// The text of the property "levelstats", in RocksDB's form.
[[nodiscard]] std::string LevelTable(const LayersShape& shape, std::uint32_t level_count);
// The number of files in a level; the runs are level 0.
[[nodiscard]] std::uint64_t FilesAtLevel(const LayersShape& shape, std::uint64_t level);

}  // namespace cambium
