// BTreeIndex: the Index whose layers are runs above one copy-on-write B+-tree.
//
// A flush makes a run, or merges the memtable straight into the tree if that costs no more. When the runs hold enough
// keys, or are too many, a sweep merges them (the set S) into the tree, in steps if they are large. If the index has a
// bounded room, S has only the oldest runs, as many as have room. Each step commits the new root and its progress:
//
//   begun     MANIFEST: sweep = {S, cursor}, root; from then on, lookups skip keys of S below the cursor
//   resumed   the same S, even if new runs are on top; the cursor moves forward
//   ended     root; S leaves the stack of layers
//
// A walk for a compaction filter (CompactRange) commits only a new root. It reads only the tree, which is the lowest
// layer, so it does not depend on the runs or on a sweep in progress.
//
// sweep_policy.h decides when to sweep, sweep.h merges, index_segment.h writes the pages. This class prepares their
// input and turns their output into MANIFEST edits.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <vector>

#include "btree/index_segment.h"
#include "btree/sweep_policy.h"
#include "btree/sweep.h"
#include "btree/tree_layers.h"
#include "index/index.h"

namespace cambium {

struct BTreeIndexOptions {
  const Comparator* comparator = nullptr;
  PagePool* pool = nullptr;
  IndexSegmentOptions segments;  // with the page size
  unsigned fill_percent = 95;
  unsigned filter_bits_per_key = 10;  // ignored if the comparator may call keys with different bytes equal
  SweepPolicy merges;  // flush_pages_max is ignored: it follows from the size of memtables
  std::size_t write_buffer_size = 64u << 20;
  EvacuationPolicy evacuation;  // small_units is ignored: it follows from the size of segments
  CreateIndexFile create_file;
};

class SweepOutcome;

// All layers passed to it must be TreeLayers with its comparator and page size. PickFlush, IsCompactionDue and
// SetOptions: any thread. The rest: one thread at a time. One compaction at a time: it lasts from Compact until
// Committed, or until its outcome is destroyed. The index must outlive its outcomes.
class BTreeIndex final : public Index {
 public:
  explicit BTreeIndex(BTreeIndexOptions options);

  [[nodiscard]] FlushChoice PickFlush(const Layers& layers, const MemtableShape& memtable) const override;
  [[nodiscard]] bool IsCompactionDue(const Layers& layers, bool urgent) const override;
  void SetRoom(const IndexRoom& room) override { room_.store(room.standing, std::memory_order_relaxed); }
  // True while the layers still have a run of the request with keys in its range. After that, if the filter must be
  // asked, true until the walk has reached the end of the range.
  bool IsCompactionDue(const Layers& layers, CompactionRequest* request) const override;
  [[nodiscard]] double ExpectedBytes(const Layers& layers, const MemtableShape& memtable,
                                     const UpdateShape& update) const override;
  Result<std::unique_ptr<CompactionOutcome>> Compact(const CompactionInput& input) override;
  void SetOptions(const ColumnFamilyOptions& options) override {
    runs_max_.store(RunsMaxBelow(options.level0_slowdown_writes_trigger), std::memory_order_relaxed);
    sweep_ratio_.store(static_cast<std::uint64_t>(options.sweep_ratio), std::memory_order_relaxed);
    filter_bits_per_key_.store(static_cast<unsigned>(options.filter_bits_per_key), std::memory_order_relaxed);
    write_buffer_size_.store(options.write_buffer_size, std::memory_order_relaxed);
  }
  void SealFiles() override { open_segment_ = {}; }

 private:
  friend class SweepOutcome;

  [[nodiscard]] Result<double> ShareToBeReplaced(const TreeLayers& layers, std::uint64_t memtable_keys) const;
  // The size of new segments: a 64th of the tree, but at most a step of a sweep. Larger if there would be too many
  // segments otherwise, but never larger than the options say.
  [[nodiscard]] IndexSegmentOptions SegmentsFor(const TreeLayers& layers, bool with_memtable,
                                                std::uint64_t step_bytes_max) const;
  [[nodiscard]] Result<std::set<std::uint64_t>> VictimsOf(const TreeLayers& layers, const IndexSegmentOptions& segments,
                                                          const CompactionInput& input,
                                                          std::uint64_t copy_bytes_max) const;
  // The bytes of pages in these segments that the tree does not use.
  [[nodiscard]] static std::uint64_t DeadBytesOf(const TreeLayers& layers, const std::set<std::uint64_t>& segments);
  [[nodiscard]] bool HasRunFor(const Layers& layers, const CompactionRequest& request) const;
  // Compact for a request whose runs are all swept: asks the filter about the values of the tree.
  Result<std::unique_ptr<CompactionOutcome>> Walk(const CompactionInput& input);
  // The common end of Compact and Walk: runs the sweep, and syncs the files that it has written, or adds them to
  // `syncs` unless that is null.
  Result<std::unique_ptr<CompactionOutcome>> RunSweep(SweepInput sweep, const IndexSegmentOptions& segments,
                                                      std::unique_ptr<SweepOutcome> outcome, FileSyncs* syncs);
  // Returns the index in layers.runs() at which the runs of a new sweep begin: they are the oldest ones, at least one.
  [[nodiscard]] std::size_t FirstToSweep(const TreeLayers& layers) const;
  std::vector<std::uint64_t> ChooseLayers(const TreeLayers& layers, bool resumes, const CompactionInput& input,
                                          SweepInput* sweep);
  OpenIndexSegment TakeOpenSegment(const TreeLayers& layers, const std::set<std::uint64_t>& victims);

  // The current policy, if a step of a sweep may write `step_bytes_max` bytes.
  [[nodiscard]] SweepPolicy Policy(std::uint64_t step_bytes_max = std::numeric_limits<std::uint64_t>::max()) const;
  // The current options for building pages.
  [[nodiscard]] PageBuilderOptions Pages() const;

  const BTreeIndexOptions options_;
  // These four begin as in options_; SetOptions changes them.
  std::atomic<std::uint64_t> runs_max_;
  std::atomic<std::uint64_t> sweep_ratio_;
  std::atomic<unsigned> filter_bits_per_key_;
  std::atomic<std::size_t> write_buffer_size_;
  std::atomic<std::uint64_t> room_{std::numeric_limits<std::uint64_t>::max()};  // IndexRoom::standing
  OpenIndexSegment open_segment_;  // without a file: the next sweep starts a new segment
};

}  // namespace cambium
