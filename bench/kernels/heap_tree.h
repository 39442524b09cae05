// HeapTree: a copy-on-write tree in memory, all of it in the page pool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "btree/index_segment.h"
#include "btree/sweep.h"
#include "heap_file.h"
#include "index/page_pool.h"

namespace cambium::bench {

// The present ids [0, keys), made as the engine makes its trees: by a sweep, so that the lowest branches have filters.
class HeapTree {
 public:
  explicit HeapTree(std::uint64_t keys);

  [[nodiscard]] const TreeRoot& root() const { return root_; }
  [[nodiscard]] const FileSet& files() const { return files_; }
  [[nodiscard]] PagePool* pool() { return &pool_; }
  [[nodiscard]] HeapFiles* heap_files() { return &heap_files_; }

  // Branches that are right above leaves, pinned, in key order.
  [[nodiscard]] std::vector<PageRef> LowestBranches();

  // What a sweep of `layers` into this tree takes in, but for its sink.
  [[nodiscard]] SweepInput SweepOf(std::vector<MergeChild> layers);
  // A sink for it.
  [[nodiscard]] std::unique_ptr<IndexSegmentWriter> NewWriter();

 private:
  HeapFiles heap_files_;
  PagePool pool_{std::size_t{2} << 30};  // goes after the files, whose frames it has
  FileSet files_;
  TreeRoot root_;
};

}  // namespace cambium::bench
