// What a family's flushes and merges wrote, beside what the cost law of its index expects: "cambium.index-stats".
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "index/index.h"

namespace cambium {

// Figures of one family since the database was opened. The flush of the family and whoever commits its merges add to
// them, one of each at a time; anybody reads.
class IndexStats {
 public:
  // A memtable has become durable: `before` are the layers that it found, `after` those with it.
  void AddFlush(const Index& index, const Layers& before, const Layers& after, const MemtableShape& memtable,
                std::uint64_t step_bytes);
  // A flush has written a run.
  void AddRun(const RunInfo& run);
  // A merge, or a step of one, is committed.
  void AddCompaction(const CompactionStats& stats, const Layers& after, bool with_memtable);

  // Of the layers of now and of what was added. `kind` as in "btree".
  [[nodiscard]] std::map<std::string, std::string> Describe(const std::string& kind, const LayersShape& shape) const;

 private:
  using Counter = std::atomic<std::uint64_t>;

  // The part of the flushed keys that the layers did not have, from how these have grown since the mark. The keys of the
  // layers before and after the flush.
  double NewShare(std::uint64_t keys_before, std::uint64_t keys);

  Counter flushes_{0};
  Counter flushed_keys_{0};     // tombstones included: updates, as the law counts them
  Counter flush_bytes_{0};      // of runs
  Counter merges_{0};           // steps
  Counter merge_bytes_{0};
  Counter sweeps_{0};           // that have ended, or compactions
  Counter straight_merges_{0};  // that took a memtable along
  std::atomic<double> law_bytes_{0};

  // The flush's alone.
  Counter run_keys_{0};         // of the runs in flush_bytes_
  double new_share_ = 0;
  std::uint64_t keys_at_mark_ = 0;
  std::uint64_t flushed_at_mark_ = 0;
  bool has_mark_ = false;
};

// RocksDB's "levelstats".
[[nodiscard]] std::string LevelTable(const LayersShape& shape, std::uint32_t level_count);
// Files of a level, the runs being level 0.
[[nodiscard]] std::uint64_t FilesAtLevel(const LayersShape& shape, std::uint64_t level);

}  // namespace cambium
