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

// A tree of the first `keys` present ids, made by a sweep as in the engine, so that the lowest branches have filters.
class HeapTree {
 public:
  explicit HeapTree(std::uint64_t keys);

  [[nodiscard]] const TreeRoot& root() const { return root_; }
  [[nodiscard]] const FileSet& files() const { return files_; }
  [[nodiscard]] PagePool* pool() { return &pool_; }
  [[nodiscard]] HeapFiles* heap_files() { return &heap_files_; }

  // Returns the branches right above the leaves, pinned, in key order.
  [[nodiscard]] std::vector<PageRef> LowestBranches();

  // Returns the input of a sweep of `layers` into this tree.
  [[nodiscard]] SweepInput SweepOf(std::vector<MergeChild> layers);
  // Returns a writer for its output.
  [[nodiscard]] std::unique_ptr<IndexSegmentWriter> NewWriter();

 private:
  HeapFiles heap_files_;
  PagePool pool_{std::size_t{2} << 30};  // declared after heap_files_, whose pages it holds
  FileSet files_;
  TreeRoot root_;
};

}  // namespace cambium::bench
