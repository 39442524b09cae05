#include "heap_tree.h"

#include <utility>

#include "heap_run.h"
#include "index/filter.h"
#include "index/tree_cursor.h"
#include "key_list.h"
#include "require.h"

namespace cambium::bench {

HeapTree::HeapTree(std::uint64_t keys) : heap_files_(RoomFor(keys)) {
  const std::shared_ptr<const Run> run = MakeRun(&heap_files_, &pool_, DealIds(keys, 1).front());
  std::vector<MergeChild> layers;
  layers.emplace_back(run->NewCursor());
  const std::unique_ptr<IndexSegmentWriter> writer = NewWriter();
  root_ = Require(Sweep(SweepOf(std::move(layers)), writer.get())).root;
  Require(writer->Sync());
  for (const IndexSegmentWriter::Segment& segment : writer->segments()) files_ = files_.With(segment.file);
  Require(root_.entry_count == keys, "the tree has lost keys or has too many");

  // The sweep has put every page into the pool. These lookups fill in what branches remember of their children.
  const KeyOrder order(BytewiseComparator());
  const KeyList all = KeyList::Shuffled(keys, kInsertSeed);
  PageRef keep;
  Entry entry;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t hash = FilterHash(all[i]);
    const bool found = Require(TreeFind(root_, files_, &pool_, order, all[i], hash, &keep, &entry));
    Require(found, "a key of the tree is missing");
  }
  Require(pool_.stats().evictions == 0, "the tree does not fit the pool");
}

SweepInput HeapTree::SweepOf(std::vector<MergeChild> layers) {
  SweepInput input;
  input.comparator = BytewiseComparator();
  input.pool = &pool_;
  input.pages.filter_bits_per_key = 10;
  input.root = root_;
  input.files = files_;
  input.layers = std::move(layers);
  return input;
}

std::unique_ptr<IndexSegmentWriter> HeapTree::NewWriter() {
  IndexSegmentOptions options;
  options.segment_bytes_max = std::uint64_t{1} << 30;
  return std::make_unique<IndexSegmentWriter>(options, heap_files_.creator(), &pool_);
}

std::vector<PageRef> HeapTree::LowestBranches() {
  std::vector<PagePointer> level{root_.page};
  for (unsigned height = root_.height - 1; height > 1; --height) {
    std::vector<PagePointer> below;
    for (const PagePointer page : level) {
      const PageRef branch = Require(GetTreePage(files_, &pool_, page, height));
      for (std::uint32_t i = 0; i < branch->count(); ++i) below.push_back(branch->child_pointer(i));
    }
    level = std::move(below);
  }
  std::vector<PageRef> branches;
  for (const PagePointer page : level) branches.push_back(Require(GetTreePage(files_, &pool_, page, 1)));
  return branches;
}

}  // namespace cambium::bench
