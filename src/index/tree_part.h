// How much of a tree lies between two keys, from the totals that its branches hold: no page in between is read.
#pragma once

#include <cstdint>

#include "index/index_file.h"
#include "index/page_pool.h"

namespace cambium {

// Entries and bytes of values are exact. Bytes of pages are the entries' share of all pages of the tree, as if its keys
// were of one length. Nothing says how many of the values lie inline, in these pages; the leaves at both ends are a
// sample of that. Parts of several trees add up.
struct TreePart {
  std::uint64_t entries = 0;      // tombstones included
  std::uint64_t value_bytes = 0;  // by size code; of inline values too
  std::uint64_t page_bytes = 0;
  std::uint64_t sampled_entries = 0;
  std::uint64_t sampled_inline_bytes = 0;

  TreePart& operator+=(const TreePart& other);
  // Pages, and the values that are not in them. At least page_bytes, and at most that and value_bytes.
  [[nodiscard]] std::uint64_t Bytes() const;
};

// Of the keys in [begin, end), of a tree whose pages take `page_bytes`. Reads a page per level for either end. Any
// thread.
Result<TreePart> MeasureTree(const TreeRoot& root, std::uint64_t page_bytes, const FileSet& files, PagePool* pool,
                             const KeyOrder& order, Slice begin, Slice end);
// All of it, without a sample.
[[nodiscard]] TreePart WholeTree(const TreeRoot& root, std::uint64_t page_bytes);

// How many entries lie before the key.
Result<std::uint64_t> TreeRank(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order,
                               Slice key);

}  // namespace cambium
