// TreeLayers: the durable layers of a family with a B+-tree.
//
//   runs[0]    newest
//   ...        added since the sweep began
//   runs[k]  ┐
//   ...      ├ the swept set S, if a sweep is in progress: keys below its cursor are masked, the tree has them
//   runs[n]  ┘
//   tree       root, and the index segments that hold its pages
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "index/family_files.h"
#include "index/index.h"
#include "index/merge_cursor.h"
#include "manifest/state.h"

namespace cambium {

class TreeLayers final : public Layers {
 public:
  // The contents. Immutable after construction.
  struct Parts {
    const Comparator* comparator = nullptr;
    PagePool* pool = nullptr;
    std::uint32_t page_size = 4096;
    std::vector<std::shared_ptr<const Run>> runs;  // newest first
    std::optional<SweepState> sweep;               // its runs are the last of `runs`
    TreeRoot root;
    FileSet files;                                 // the index segments
    IndexSegments segments;
  };
  explicit TreeLayers(Parts parts);

  // Opens every file that the committed state names and checks it against the state. Corruption if a file is a
  // different one, or shorter than committed.
  static Result<std::shared_ptr<const TreeLayers>> Open(const FamilyState& state, const Comparator* comparator,
                                                        PagePool* pool, const OpenIndexFile& open_file);

  using Layers::Find;
  Result<bool> Find(Slice key, PageRef* keep, Entry* entry, FoundIn* where) const override;
  void FindTogether(std::span<Lookup> lookups) const override;
  void AppendCursors(std::vector<MergeChild>* children) const override;
  Result<std::uint64_t> ApproximateSize(Slice begin, Slice end) const override;
  [[nodiscard]] Result<TreePart> CoveredByRanges() const override;
  [[nodiscard]] const std::vector<std::shared_ptr<const Run>>& runs() const override { return parts_.runs; }
  [[nodiscard]] std::shared_ptr<const Layers> WithNewestRun(std::shared_ptr<const Run> run) const override;
  [[nodiscard]] Result<double> MergedRuns() const override;
  void AppendFiles(std::vector<NumberedFile>* files) const override;

  [[nodiscard]] const Parts& parts() const { return parts_; }
  // The number of the tree's entries below `key`. Reads one page per level.
  Result<std::uint64_t> Rank(Slice key) const;
  // The number of the tree's entries that the ranges cover. Reads one page per level for each end of each range.
  Result<std::uint64_t> KeysCovered(const RangeDeletes& ranges) const;
  // KeysCovered for the ranges of all runs, computed by the first call. If pages cannot be read, each range counts as
  // one key: decisions based on the number can wait until the pages are readable.
  [[nodiscard]] std::uint64_t KeysCoveredByRuns() const;

  // Cursors of runs()[first] and older runs, newest first, masked if a sweep is in progress.
  [[nodiscard]] std::vector<MergeChild> RunCursors(std::size_t first) const;
  // The index of the first run of the swept set; runs().size() without a sweep.
  [[nodiscard]] std::size_t first_swept() const { return first_swept_; }

 private:
  [[nodiscard]] LayersShape Measure() const override;
  [[nodiscard]] bool IsMasked(std::size_t run, Slice key) const;
  [[nodiscard]] Result<TreePart> MeasureRun(std::size_t run, Slice begin, Slice end) const;
  [[nodiscard]] Result<TreePart> MeasureBase(Slice begin, Slice end) const;

  const Parts parts_;
  const KeyOrder order_;
  const std::size_t first_swept_;
  mutable std::atomic<std::uint64_t> keys_covered_{~std::uint64_t{0}};  // by the ranges of runs; all ones: not computed
};

}  // namespace cambium
