#include "index/tree_part.h"

#include <algorithm>
#include <limits>

#include "index/tree_cursor.h"

namespace cambium {
namespace {

// Measures everything before `key`; the leaf that covers the key serves as the sample.
Result<TreePart> Before(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order, Slice key) {
  TreePart before;
  CAMBIUM_TRY(PageRef page, GetTreeRoot(root, files, pool));
  if (!page) return before;
  while (!page->is_leaf()) {
    const std::uint32_t place = page->ChildFor(key, order);
    for (std::uint32_t i = 0; i < place; ++i) {
      const ChildRef child = page->child(i);
      before.entries += child.entry_count;
      before.value_bytes += child.value_bytes;
    }
    CAMBIUM_TRY(page, GetTreePage(files, pool, page->child_pointer(place), page->level() - 1u));
  }
  bool equal = false;
  const std::uint32_t place = page->LowerBound(key, order, &equal);
  for (std::uint32_t i = 0; i < page->count(); ++i) {
    const Entry entry = page->entry(i);
    if (i < place) before.value_bytes += ValueBytesOf(entry);
    before.sampled_inline_bytes += entry.inline_value.size();
  }
  before.entries += place;
  before.sampled_entries = page->count();
  return before;
}

// Returns of * part / whole, or the largest number: the totals of a damaged tree may be any.
std::uint64_t Share(std::uint64_t of, std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return 0;
  const double share = static_cast<double>(of) * static_cast<double>(part) / static_cast<double>(whole);
  return share < 0x1p64 ? static_cast<std::uint64_t>(share) : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

TreePart& TreePart::operator+=(const TreePart& other) {
  entries += other.entries;
  value_bytes += other.value_bytes;
  page_bytes += other.page_bytes;
  sampled_entries += other.sampled_entries;
  sampled_inline_bytes += other.sampled_inline_bytes;
  return *this;
}

std::uint64_t TreePart::Bytes() const {
  return page_bytes + value_bytes - std::min(value_bytes, Share(sampled_inline_bytes, entries, sampled_entries));
}

Result<TreePart> MeasureTree(const TreeRoot& root, std::uint64_t page_bytes, const FileSet& files, PagePool* pool,
                             const KeyOrder& order, Slice begin, Slice end) {
  CAMBIUM_TRY(const TreePart low, Before(root, files, pool, order, begin));
  CAMBIUM_TRY(TreePart part, Before(root, files, pool, order, end));
  // If a tree's totals are inconsistent, verification reports that. Here it is enough that the subtractions do not
  // underflow and that no part is larger than the whole.
  part.entries -= std::min(part.entries, low.entries);
  part.value_bytes -= std::min(part.value_bytes, low.value_bytes);
  part.page_bytes = Share(page_bytes, std::min(part.entries, root.entry_count), root.entry_count);
  part.sampled_entries += low.sampled_entries;
  part.sampled_inline_bytes += low.sampled_inline_bytes;
  return part;
}

TreePart WholeTree(const TreeRoot& root, std::uint64_t page_bytes) {
  return {.entries = root.entry_count, .value_bytes = root.value_bytes, .page_bytes = page_bytes};
}

Result<std::uint64_t> TreeRank(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order,
                               Slice key) {
  CAMBIUM_TRY(const TreePart before, Before(root, files, pool, order, key));
  return before.entries;
}

}  // namespace cambium
