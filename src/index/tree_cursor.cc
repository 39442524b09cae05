#include "index/tree_cursor.h"

#include <cassert>

#include "util/mutant.h"

namespace cambium {
namespace {

Status CheckHeight(const TreeRoot& root) {
  if (root.height <= kMaxTreeHeight || MutantIs(Mutant::kNoDepthLimit)) return Status::OK();
  return Status::Corruption("tree of " + std::to_string(root.height) + " levels; no tree has more than " +
                            std::to_string(kMaxTreeHeight));
}

}  // namespace

Result<PageRef> GetTreePage(const FileSet& files, PagePool* pool, PagePointer page, unsigned level) {
  CAMBIUM_TRY(const IndexFile* file, files.FileOf(page.id));
  CAMBIUM_TRY(PageRef ref, pool->Get(*file, page));
  if (ref->level() != level && !MutantIs(Mutant::kNoDepthLimit)) {
    return Status::Corruption("level is " + std::to_string(ref->level()) + "; its parent expects " +
                              std::to_string(level))
        .WithContext(PagePlaceName(file->path(), file->OffsetOf(page.id)));
  }
  return ref;
}

Result<PageRef> GetTreeRoot(const TreeRoot& root, const FileSet& files, PagePool* pool) {
  if (root.height == 0) return PageRef();
  CAMBIUM_RETURN_IF_ERROR(CheckHeight(root));
  return GetTreePage(files, pool, root.page, root.height - 1);
}

Result<bool> TreeFind(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order, Slice key,
                      std::uint64_t hash, PageRef* keep, Entry* entry) {
  CAMBIUM_TRY(PageRef page, GetTreeRoot(root, files, pool));
  if (!page) return false;
  while (!page->is_leaf()) {
    if (order.equal_means_same_bytes && !page->filter().MayContain(hash)) {
      pool->meter().Tick(BLOOM_FILTER_USEFUL);
      return false;
    }
    if (page->filter().count > 0) page->PrefetchSearch();
    CAMBIUM_TRY(page, pool->GetChild(files, page, page->ChildFor(key, order), hash));
  }
  page->PrefetchSearch();
  bool equal = false;
  const std::uint32_t i = page->LowerBound(key, order, &equal);
  if (!equal) return false;
  *entry = page->entry(i);
  *keep = std::move(page);
  return true;
}

TreeCursor::TreeCursor(const TreeRoot& root, FileSet files, PagePool* pool, const Comparator* comparator)
    : root_(root), files_(std::move(files)), pool_(pool), order_(comparator) {}

void TreeCursor::Fail(Status status) {
  status_ = std::move(status);
  valid_ = false;
  path_.clear();
}

bool TreeCursor::Start() {
  valid_ = false;
  is_framed_ = false;
  status_ = Status::OK();
  path_.clear();
  return Push(GetTreeRoot(root_, files_, pool_));
}

bool TreeCursor::Push(Result<PageRef> page) {
  if (!page.ok()) {
    Fail(std::move(page).status());
    return false;
  }
  if (!*page) return false;  // the tree is empty
  path_.push_back({std::move(page).value(), 0});
  return true;
}

bool TreeCursor::PushChild() {
  const Step& parent = path_.back();
  return Push(pool_->GetChild(files_, parent.page, parent.index, std::nullopt));
}

bool TreeCursor::DescendTo(Slice target) {
  if (!Start()) return false;
  while (!path_.back().page->is_leaf()) {
    path_.back().page->PrefetchSearch();
    path_.back().index = path_.back().page->ChildFor(target, order_);
    if (!PushChild()) return false;
  }
  path_.back().page->PrefetchSearch();
  return true;
}

bool TreeCursor::DescendEdge(Edge edge) {
  assert(!path_.empty());
  for (;;) {
    Step& step = path_.back();
    step.index = edge == Edge::kFirst ? 0 : step.page->count() - 1;
    if (step.page->is_leaf()) return true;
    if (!PushChild()) return false;
  }
}

void TreeCursor::SeekToFirst() {
  if (Start() && DescendEdge(Edge::kFirst)) ReadKey();
}

void TreeCursor::SeekToLast() {
  if (Start() && DescendEdge(Edge::kLast)) ReadKey();
}

void TreeCursor::Seek(Slice target) {
  if (!DescendTo(target)) return;
  bool equal = false;
  Step& leaf = path_.back();
  leaf.index = leaf.page->LowerBound(target, order_, &equal);
  if (leaf.index < leaf.page->count()) {
    ReadKey();
  } else {
    NextLeaf();
  }
}

void TreeCursor::SeekForPrev(Slice target) {
  if (!DescendTo(target)) return;
  bool equal = false;
  Step& leaf = path_.back();
  const std::uint32_t i = leaf.page->LowerBound(target, order_, &equal);
  if (equal || i > 0) {
    leaf.index = equal ? i : i - 1;
    ReadKey();
  } else {
    PrevLeaf();
  }
}

void TreeCursor::Next() {
  assert(valid_);
  Step& leaf = path_.back();
  if (leaf.index + 1 < leaf.page->count()) {
    ++leaf.index;
    ReadKey();
  } else {
    NextLeaf();
  }
}

void TreeCursor::Prev() {
  assert(valid_);
  Step& leaf = path_.back();
  if (leaf.index > 0) {
    --leaf.index;
    ReadKey();
  } else {
    PrevLeaf();
  }
}

bool TreeCursor::Advance(bool forward, Slice* key_there) {
  assert(valid_);
  Step& leaf = path_.back();
  if (forward ? leaf.index + 1 < leaf.page->count() : leaf.index > 0) {
    const std::uint32_t upper = forward ? ++leaf.index : leaf.index--;
    // The page says whether its heads compare as its keys, and may say so falsely.
    if (!(order_.bytewise && leaf.page->HeadsAscendTo(upper)) && !AscendsTo(upper)) {
      FailOrder();
      return false;
    }
    ReadKey();
    *key_there = key_;
    return true;
  }
  last_.assign(key_.data(), key_.size());
  forward ? NextLeaf() : PrevLeaf();
  if (!valid_) return false;
  const int order = order_.Compare(last_, key_);
  if ((forward ? order >= 0 : order <= 0) && !MutantIs(Mutant::kSkipOrderCheck)) {
    FailOrder();
    return false;
  }
  *key_there = key_;
  return true;
}

bool TreeCursor::AscendsTo(std::uint32_t i) {
  if (MutantIs(Mutant::kSkipOrderCheck)) return true;
  const PageView& leaf = *path_.back().page;
  std::string other;
  is_framed_ = false;
  const Slice before = leaf.key(i - 1, &other);
  return order_.Compare(before, leaf.key(i, &scratch_)) < 0;
}

void TreeCursor::FailOrder() {
  const PageId page = path_.back().page->id();
  Status why = Status::Corruption("keys out of order");
  const Result<const IndexFile*> file = files_.FileOf(page);
  if (file.ok()) why = why.WithContext(PagePlaceName((*file)->path(), (*file)->OffsetOf(page)));
  Fail(std::move(why));
}

void TreeCursor::NextLeaf() {
  assert(!path_.empty());
  valid_ = false;
  is_framed_ = false;
  path_.pop_back();
  while (!path_.empty() && path_.back().index + 1 >= path_.back().page->count()) path_.pop_back();
  if (path_.empty()) return;
  ++path_.back().index;
  if (PushChild() && DescendEdge(Edge::kFirst)) ReadKey();
}

void TreeCursor::PrevLeaf() {
  assert(!path_.empty());
  valid_ = false;
  is_framed_ = false;
  path_.pop_back();
  while (!path_.empty() && path_.back().index == 0) path_.pop_back();
  if (path_.empty()) return;
  --path_.back().index;
  if (PushChild() && DescendEdge(Edge::kLast)) ReadKey();
}

void TreeCursor::ReadKey() {
  const Step& leaf = path_.back();
  if (is_framed_) {
    leaf.page->CopyMiddle(leaf.index, scratch_.data() + leaf.page->prefix_size());
  } else {
    key_ = leaf.page->key(leaf.index, &scratch_);
    is_framed_ = leaf.page->has_fixed_stride();
  }
  valid_ = true;
}

Slice TreeCursor::key() const {
  assert(valid_);
  return key_;
}

Entry TreeCursor::entry() const {
  assert(valid_);
  return path_.back().page->entry(path_.back().index);
}

std::size_t TreeCursor::PeekAhead(bool forward, std::span<Entry> out) const {
  assert(valid_);
  const Step& leaf = path_.back();
  const std::size_t there = forward ? leaf.page->entry_count() - 1 - leaf.index : leaf.index;
  const std::size_t count = std::min(there, out.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    out[i] = leaf.page->entry(forward ? leaf.index + 1 + i : leaf.index - 1 - i);
  }
  return count;
}

}  // namespace cambium
