#include "tree_family.h"

#include <algorithm>
#include <utility>

#include "index/tree_check.h"
#include "index/tree_cursor.h"

namespace cambium::testing {

TreeFamily::TreeFamily(const TreeFamilyOptions& options) : IndexFamily(options, IndexType::kBTree), options_(options) {
  Start();
}

std::unique_ptr<Index> TreeFamily::MakeIndex() {
  BTreeIndexOptions options;
  options.comparator = comparator();
  options.pool = &pool();
  options.segments = {options_.page_size, options_.segment_bytes_max, options_.write_bytes};
  options.merges = options_.policy;
  options.filter_bits_per_key = options_.filter_bits_per_key;
  options.evacuation = options_.evacuation;
  options.create_file = [this] { return CreateFile(FileKind::kIndex); };
  return std::make_unique<BTreeIndex>(std::move(options));
}

Result<std::shared_ptr<const Layers>> TreeFamily::OpenLayers(const OpenIndexFile& open_file) {
  CAMBIUM_TRY(std::shared_ptr<const TreeLayers> layers, TreeLayers::Open(state(), comparator(), &pool(), open_file));
  return std::shared_ptr<const Layers>(std::move(layers));
}

MemtableShape TreeFamily::memtable_shape() const {
  MemtableShape shape;
  shape.key_count = memtable_.size();
  if (!memtable_.empty()) {
    shape.smallest_key = memtable_.begin()->second.key;
    shape.largest_key = memtable_.rbegin()->second.key;
  }
  shape.ranges = memtable_ranges_.get();
  return shape;
}

Result<std::unique_ptr<CompactionOutcome>> TreeFamily::CompactMemtable() {
  const std::unique_ptr<EntryCursor> cursor = NewMapCursor(&memtable_);
  CompactionInput input{layers_, cursor.get()};
  input.memtable_ranges = memtable_ranges_;
  return index_->Compact(input);
}

Status TreeFamily::FlushIntoTree() {
  CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, CompactMemtable());
  return Commit(outcome.get(), true);
}

Status TreeFamily::Flush() {
  if (memtable_.empty() && memtable_ranges_->empty()) return Status::OK();
  return index_->PickFlush(*layers_, memtable_shape()) == FlushChoice::kIntoTree ? FlushIntoTree() : FlushRun();
}

Status TreeFamily::SweepAll() {
  do {
    CAMBIUM_RETURN_IF_ERROR(Step());
  } while (layers().parts().sweep.has_value());
  return Status::OK();
}

std::uint64_t TreeFamily::index_file_bytes() {
  std::uint64_t bytes = 0;
  for (const auto& [number, info] : state().index_segments)
    bytes += fs().probe().DurableSize(PathOf(FileKind::kIndex, number));
  return bytes;
}

Status TreeFamily::VisitEntries(const VisitEntry& visit) const {
  for (MergeChild& child : layers().RunCursors(0)) {
    if (child.first_visible.has_value()) {
      child.cursor->Seek(*child.first_visible);
    } else {
      child.cursor->SeekToFirst();
    }
    for (; child.cursor->Valid(); child.cursor->Next()) {
      CAMBIUM_RETURN_IF_ERROR(visit(child.cursor->key(), child.cursor->entry()));
    }
    CAMBIUM_RETURN_IF_ERROR(child.cursor->status());
  }
  TreeCheckCallbacks callbacks;
  callbacks.on_entry = [&visit](Slice key, const Entry& entry) {
    if (entry.kind == EntryKind::kTombstone) return Wrong("tombstone in the tree at " + key.ToString(true));
    return visit(key, entry);
  };
  TreeCheckStats stats;
  CAMBIUM_RETURN_IF_ERROR(
      CheckTree(layers().parts().root, layers().parts().files, comparator(), callbacks, &stats));
  return stats.entries == state().root.entry_count ? Status::OK() : Wrong("entry count of the tree");
}

Status TreeFamily::CheckFiles() const {
  CAMBIUM_TRY(const TreeFacts facts, Walk());
  std::map<std::uint64_t, std::uint64_t> live;
  for (const auto& [number, info] : state().index_segments) live[number] = info.live_units;
  if (live != facts.units) return Wrong("live units of index segments");
  if (layers().parts().segments != state().index_segments) return Wrong("segments of the layers");
  if (layers().parts().root != state().root) return Wrong("root of the layers");
  if (layers().parts().sweep != state().sweep) return Wrong("sweep of the layers");
  if (layers().parts().files.size() != live.size()) return Wrong("files of the layers");
  return Status::OK();
}

Result<TreeFacts> TreeFamily::Walk() const {
  TreeFacts facts;
  const TreeRoot& root = layers().parts().root;
  if (root.height == 0) return facts;
  struct Visit {
    PagePointer page;
    unsigned level;
    bool on_right_edge;
  };
  std::vector<Visit> stack{{root.page, root.height - 1, true}};
  double fill_sum = 0;
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    PagePool& pool = *layers().parts().pool;
    CAMBIUM_TRY(const PageRef page, GetTreePage(layers().parts().files, &pool, visit.page, visit.level));
    facts.units[FileNumberOf(visit.page.id)] += UnitsOf(visit.page.id);
    facts.page_bytes += page->bytes().size();
    if (page->is_leaf()) {
      ++facts.leaves;
      facts.leaf_ids.push_back(visit.page.id);
      const double fill = 100.0 * static_cast<double>(page->used_bytes()) / static_cast<double>(page->bytes().size());
      fill_sum += fill;
      if (!visit.on_right_edge) facts.leaf_fill_min = std::min(facts.leaf_fill_min, static_cast<unsigned>(fill));
      continue;
    }
    ++facts.branches;
    if (visit.page.id == root.page.id) {
      facts.root_children = page->count();
    } else if (!visit.on_right_edge) {
      facts.children_min = std::min(facts.children_min, page->count());
    }
    for (std::uint32_t i = page->count(); i-- > 0;) {
      stack.push_back({page->child(i).page, visit.level - 1, visit.on_right_edge && i + 1 == page->count()});
    }
  }
  facts.leaf_fill = fill_sum / static_cast<double>(facts.leaves);
  return facts;
}

}  // namespace cambium::testing
