// BTreeIndex: the Index whose layers are runs above one copy-on-write B+-tree.
//
// A flush makes a run, or goes straight into the tree where that is no dearer. When the runs hold enough keys, or are
// too many, all of them (the set S) are swept into the tree, in steps if they are large. A step commits the new root,
// and how far it came:
//
//   begun     MANIFEST: sweep = {S, cursor}, root; keys of S below the cursor are masked from then on
//   resumed   the same S, whatever runs have come on top since; the cursor moves forward
//   ended     root; S leaves the stack of layers
//
// A walk for a filter (CompactRange) commits a new root and nothing else: it takes from the tree, which is the lowest
// layer, so it needs nothing to be known of runs, nor of a sweep that is in progress.
//
// sweep_policy.h decides, sweep.h does it, index_segment.h writes. What is left here is the book-keeping between them.
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
  unsigned filter_bits_per_key = 10;  // without effect under a comparator for which filters do not work
  SweepPolicy merges;  // its flush_pages_max follows from the size of memtables
  std::size_t write_buffer_size = 64u << 20;
  EvacuationPolicy evacuation;  // its small_units follow from the size of segments
  CreateIndexFile create_file;
};

// Layers given to it are TreeLayers of the same comparator and page size. Pick*, IsCompactionDue, SetOptions: any thread. The
// rest: one thread at a time, with one merge at a time, from Merge to Committed or to the destruction of its outcome.
// Must outlive outcomes.
class SweepOutcome;

class BTreeIndex final : public Index {
 public:
  explicit BTreeIndex(BTreeIndexOptions options);

  [[nodiscard]] FlushChoice PickFlush(const Layers& layers, const MemtableShape& memtable) const override;
  [[nodiscard]] bool IsCompactionDue(const Layers& layers, bool urgent) const override;
  // True while one of its runs is left that holds keys of the range; then, if a filter is to be asked, while there are
  // keys of the tree that it has not seen.
  bool IsCompactionDue(const Layers& layers, CompactionRequest* request) const override;
  [[nodiscard]] double ExpectedBytes(const Layers& layers, const MemtableShape& memtable,
                                     const UpdateShape& update) const override;
  Result<std::unique_ptr<CompactionOutcome>> Compact(const CompactionInput& input) override;
  void SetOptions(const ColumnFamilyOptions& options) override {
    sweep_ratio_.store(static_cast<std::uint64_t>(options.sweep_ratio), std::memory_order_relaxed);
    filter_bits_per_key_.store(static_cast<unsigned>(options.filter_bits_per_key), std::memory_order_relaxed);
    write_buffer_size_.store(options.write_buffer_size, std::memory_order_relaxed);
  }
  void SealFiles() override { open_segment_ = {}; }

 private:
  friend class SweepOutcome;

  static Result<double> ShareToBeReplaced(const TreeLayers& layers);
  // Segments as large as suits the tree: an eighth of it, not above a step unless they were too many, nor above what the
  // options say.
  [[nodiscard]] IndexSegmentOptions SegmentsFor(const TreeLayers& layers, bool with_memtable,
                                                std::uint64_t step_bytes_max) const;
  [[nodiscard]] std::set<std::uint64_t> VictimsOf(const TreeLayers& layers, const IndexSegmentOptions& segments,
                                                  std::uint64_t file_percent_max, std::uint64_t copy_bytes_max,
                                                  double share_to_be_replaced) const;
  [[nodiscard]] bool HasRunFor(const Layers& layers, const CompactionRequest& request) const;
  // The part of Merge for a request whose runs are all swept: the filter sees the tree.
  Result<std::unique_ptr<CompactionOutcome>> Walk(const CompactionInput& input);
  // The rest of either.
  Result<std::unique_ptr<CompactionOutcome>> Carry(SweepInput sweep, const IndexSegmentOptions& segments,
                                              std::unique_ptr<SweepOutcome> outcome);
  static std::vector<std::uint64_t> ChooseLayers(const TreeLayers& layers, bool resumes, const CompactionInput& input,
                                                 SweepInput* sweep);
  OpenIndexSegment TakeOpenSegment(const TreeLayers& layers, const std::set<std::uint64_t>& victims);

  // What merges are decided by now, where a step of one may write so much.
  [[nodiscard]] SweepPolicy Merges(std::uint64_t step_bytes_max = std::numeric_limits<std::uint64_t>::max()) const;
  // What pages are built with now.
  [[nodiscard]] PageBuilderOptions Pages() const;

  const BTreeIndexOptions options_;
  std::atomic<std::uint64_t> sweep_ratio_;  // of options_.merges, until it is changed
  std::atomic<unsigned> filter_bits_per_key_;  // so too
  std::atomic<std::size_t> write_buffer_size_;
  OpenIndexSegment open_segment_;  // no file: the next merge starts one
};

}  // namespace cambium
