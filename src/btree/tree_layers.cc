#include "btree/tree_layers.h"

#include <cassert>
#include <utility>

#include "index/covered_part.h"
#include "index/filter.h"
#include "index/merge_cursor.h"
#include "index/tree_cursor.h"
#include "index/tree_part.h"

namespace cambium {

TreeLayers::TreeLayers(Parts parts)
    : parts_(std::move(parts)),
      order_(parts_.comparator),
      first_swept_(parts_.runs.size() - (parts_.sweep.has_value() ? parts_.sweep->runs.size() : 0)) {
  assert(!parts_.sweep.has_value() || parts_.sweep->runs.size() <= parts_.runs.size());
}

Result<std::shared_ptr<const TreeLayers>> TreeLayers::Open(const FamilyState& state, const Comparator* comparator,
                                                           PagePool* pool, const OpenIndexFile& open_file) {
  Parts parts;
  parts.comparator = comparator;
  parts.pool = pool;
  parts.page_size = static_cast<std::uint32_t>(state.page_size);
  parts.sweep = state.sweep;
  parts.root = state.root;
  parts.segments = state.index_segments;
  for (const RunInfo& info : state.runs) {
    CAMBIUM_TRY(std::shared_ptr<File> file, open_file(FileKind::kRun, info.number));
    CAMBIUM_TRY(std::shared_ptr<const Run> run, Run::Open(std::move(file), info, comparator, pool));
    parts.runs.push_back(std::move(run));
  }
  for (const auto& [number, info] : state.index_segments) {
    CAMBIUM_TRY(std::shared_ptr<File> file, open_file(FileKind::kIndex, number));
    CAMBIUM_TRY(std::shared_ptr<const IndexFile> segment,
                IndexFile::Open(std::move(file), FileKind::kIndex, number, pool));
    FileInfo facts;
    CAMBIUM_RETURN_IF_ERROR(segment->file().GetInfo(&facts));
    if (facts.size < info.length) {
      return Status::Corruption(segment->path() + ":" + std::to_string(facts.size) + ": ends here, but " +
                                std::to_string(info.length) + " bytes are committed");
    }
    if (segment->header().file_id != info.file_id || segment->page_size() != state.page_size) {
      return Status::Corruption(segment->path() + ":0: is another file than the committed one");
    }
    parts.files = parts.files.With(std::move(segment));
  }
  return std::make_shared<const TreeLayers>(std::move(parts));
}

// The empty cursor of a sweep that has just begun masks nothing, even if the comparator orders keys before the empty
// key.
bool TreeLayers::IsMasked(std::size_t run, Slice key) const {
  assert(run < parts_.runs.size());
  if (run < first_swept_ || parts_.sweep->cursor.empty()) return false;
  return order_.Compare(key, parts_.sweep->cursor) < 0;
}

Result<bool> TreeLayers::Find(Slice key, PageRef* keep, Entry* entry, FoundIn* where) const {
  const std::uint64_t hash = FilterHash(key);  // once for all filters
  for (const auto& run : parts_.runs) run->PrefetchFilter(hash);
  *where = FoundIn::kRun;
  for (std::size_t i = 0; i < parts_.runs.size(); ++i) {
    if (IsMasked(i, key)) break;  // it is masked in all older runs too
    CAMBIUM_TRY(const bool found, parts_.runs[i]->FindHashed(key, hash, keep, entry));
    if (found) return true;
  }
  *where = FoundIn::kTree;
  return TreeFind(parts_.root, parts_.files, parts_.pool, order_, key, hash, keep, entry);
}

void TreeLayers::FindTogether(std::span<Lookup> lookups) const {
  for (std::size_t i = 0; i < parts_.runs.size(); ++i) {
    OpenLookups open = OpenOf(lookups);
    std::erase_if(open, [&](const Lookup* lookup) { return IsMasked(i, lookup->key); });
    parts_.runs[i]->FindTogether(open);
    NoteFound(open, FoundIn::kRun);
  }
  const OpenLookups open = OpenOf(lookups);
  TreeFindTogether(parts_.root, parts_.files, parts_.pool, order_, open);
  NoteFound(open, FoundIn::kTree);
}

std::vector<MergeChild> TreeLayers::RunCursors(std::size_t first) const {
  std::vector<MergeChild> children;
  for (std::size_t i = first; i < parts_.runs.size(); ++i) {
    MergeChild child(parts_.runs[i]->NewCursor());
    child.name = FileName(FileKind::kRun, parts_.runs[i]->number());
    child.ranges = parts_.runs[i]->ranges();
    if (i >= first_swept_ && !parts_.sweep->cursor.empty()) child.first_visible = parts_.sweep->cursor;
    children.push_back(std::move(child));
  }
  return children;
}

void TreeLayers::AppendCursors(std::vector<MergeChild>* children) const {
  for (MergeChild& run : RunCursors(0)) children->push_back(std::move(run));
  children->emplace_back(std::make_unique<TreeCursor>(parts_.root, parts_.files, parts_.pool, parts_.comparator));
  children->back().name = "tree";
}

std::shared_ptr<const Layers> TreeLayers::WithNewestRun(std::shared_ptr<const Run> run) const {
  assert(run != nullptr);
  Parts parts = parts_;
  parts.runs.insert(parts.runs.begin(), std::move(run));
  return std::make_shared<const TreeLayers>(std::move(parts));
}

LayersShape TreeLayers::Measure() const {
  LayersShape shape;
  shape.run_count = parts_.runs.size();
  for (const auto& run : parts_.runs) {
    shape.run_keys += run->entry_count();
    shape.run_tombstones += run->info().tombstone_count;
    shape.run_range_deletes += run->info().range_delete_count;
    shape.run_file_bytes += run->info().disk_bytes();
    shape.memory_bytes += run->memory_bytes();
  }
  shape.base_keys = parts_.root.entry_count;
  shape.base_value_bytes = parts_.root.value_bytes;
  shape.height = parts_.root.height;
  for (const auto& [number, info] : parts_.segments) {
    shape.base_file_bytes += info.length;
    shape.base_live_bytes += info.live_units * parts_.page_size;
  }
  shape.sweep_in_progress = parts_.sweep.has_value();
  shape.swept_runs = parts_.runs.size() - first_swept_;
  return shape;
}

void TreeLayers::AppendFiles(std::vector<NumberedFile>* files) const {
  for (const auto& run : parts_.runs) files->push_back({FileKind::kRun, run->number()});
  for (const auto& [number, info] : parts_.segments) files->push_back({FileKind::kIndex, number});
}

Result<std::uint64_t> TreeLayers::KeysCovered(const RangeDeletes& ranges) const {
  std::uint64_t keys = 0;
  for (std::size_t i = 0; i < ranges.count(); ++i) {
    CAMBIUM_TRY(const std::uint64_t below, Rank(ranges.begin(i)));
    CAMBIUM_TRY(const std::uint64_t upto, Rank(ranges.end(i)));
    keys += upto > below ? upto - below : 0;
  }
  return keys;
}

std::uint64_t TreeLayers::KeysCoveredByRuns() const {
  std::vector<const RangeDeletes*> parts;
  std::uint64_t count = 0;
  for (const auto& run : parts_.runs) {
    if (run->ranges() == nullptr) continue;
    parts.push_back(run->ranges().get());
    count += run->ranges()->count();
  }
  if (parts.empty()) return 0;
  constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint64_t keys = keys_covered_.load(std::memory_order_relaxed);
  if (keys != kUnknown) return keys;
  const Result<std::uint64_t> covered = KeysCovered(RangeDeletes::Union(parts_.comparator, parts));
  keys = covered.ok() ? *covered : count;
  keys_covered_.store(keys, std::memory_order_relaxed);
  return keys;
}

Result<std::uint64_t> TreeLayers::Rank(Slice key) const {
  return TreeRank(parts_.root, parts_.files, parts_.pool, order_, key);
}

// Assumes that the swept runs' keys are spread like those of the tree.
Result<double> TreeLayers::MergedRuns() const {
  if (!parts_.sweep.has_value() || parts_.root.entry_count == 0) return 0.0;
  CAMBIUM_TRY(const std::uint64_t below, Rank(parts_.sweep->cursor));
  return static_cast<double>(parts_.sweep->runs.size()) * static_cast<double>(below) /
         static_cast<double>(parts_.root.entry_count);
}

Result<TreePart> TreeLayers::MeasureRun(std::size_t run, Slice begin, Slice end) const {
  if (IsMasked(run, end)) return TreePart{};
  return parts_.runs[run]->Measure(IsMasked(run, begin) ? Slice(parts_.sweep->cursor) : begin, end);
}

Result<TreePart> TreeLayers::MeasureBase(Slice begin, Slice end) const {
  return MeasureTree(parts_.root, shape().base_live_bytes, parts_.files, parts_.pool, order_, begin, end);
}

// Keys that the sweep in progress has merged are counted in the tree, and no longer in the swept runs.
Result<std::uint64_t> TreeLayers::ApproximateSize(Slice begin, Slice end) const {
  CAMBIUM_TRY(TreePart base, MeasureBase(begin, end));
  std::uint64_t bytes = base.Bytes();
  for (std::size_t i = 0; i < parts_.runs.size(); ++i) {
    CAMBIUM_TRY(const TreePart part, MeasureRun(i, begin, end));
    bytes += part.Bytes();
  }
  return bytes;
}

// The sweep in progress has applied the swept runs' ranges to the tree below its cursor. Newer keys that the tree has
// there count as covered: the estimate is too high until the sweep ends.
Result<TreePart> TreeLayers::CoveredByRanges() const {
  CoveredPart covered(parts_.comparator);
  for (std::size_t i = 0; i < parts_.runs.size(); ++i) {
    CAMBIUM_RETURN_IF_ERROR(
        covered.Add(parts_.runs[i]->ranges().get(), [&](Slice begin, Slice end) { return MeasureRun(i, begin, end); }));
  }
  CAMBIUM_RETURN_IF_ERROR(covered.Add(nullptr, [&](Slice begin, Slice end) { return MeasureBase(begin, end); }));
  return covered.total();
}

}  // namespace cambium
