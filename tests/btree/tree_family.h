// TreeFamily: an IndexFamily whose index is the B+-tree.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "btree/btree_index.h"
#include "btree/tree_layers.h"
#include "testing/index_family.h"

namespace cambium::testing {

struct TreeFamilyOptions : IndexFamilyOptions {
  std::uint64_t segment_bytes_max = 64 * 1024;
  std::size_t write_bytes = 4096;
  SweepPolicy policy;
  EvacuationPolicy evacuation;
  unsigned filter_bits_per_key = 10;
};

// Measurements from a walk over all pages of the tree.
struct TreeFacts {
  std::uint64_t leaves = 0;
  std::uint64_t branches = 0;
  std::uint64_t page_bytes = 0;
  double leaf_fill = 0;                       // average, in percent
  unsigned leaf_fill_min = 100;               // of all leaves but the last one
  std::uint32_t children_min = ~0u;           // of branches that are neither on the right edge nor the root
  std::uint32_t root_children = 0;            // 0 if the root is a leaf
  std::map<std::uint64_t, std::uint64_t> units;  // live units by file
  std::vector<PageId> leaf_ids;               // in key order
};

class TreeFamily final : public IndexFamily {
 public:
  explicit TreeFamily(const TreeFamilyOptions& options);

  // Merges the memtable straight into the tree, up to the moment before the commit.
  Result<std::unique_ptr<CompactionOutcome>> CompactMemtable();
  Status FlushIntoTree();
  Status Flush();  // into a run or into the tree, as PickFlush chooses
  Status SweepAll();

  // Returns the figures of the memtable that PickFlush uses.
  [[nodiscard]] MemtableShape memtable_shape() const;
  // Removes a key from the model that a compaction filter has removed.
  void Forget(const std::string& key) { durable_.erase(key); }

  Result<TreeFacts> Walk() const;
  [[nodiscard]] const TreeLayers& layers() const { return static_cast<const TreeLayers&>(*layers_); }
  [[nodiscard]] std::shared_ptr<const TreeLayers> shared_layers() const {
    return std::static_pointer_cast<const TreeLayers>(layers_);
  }
  [[nodiscard]] BTreeIndex& index() { return static_cast<BTreeIndex&>(*index_); }
  // Bytes of all .idx files that the state names.
  [[nodiscard]] std::uint64_t index_file_bytes();

 private:
  std::unique_ptr<Index> MakeIndex() override;
  Result<std::shared_ptr<const Layers>> OpenLayers(const OpenIndexFile& open_file) override;
  Status VisitEntries(const VisitEntry& visit) const override;
  Status CheckFiles() const override;

  const TreeFamilyOptions options_;
};

}  // namespace cambium::testing
