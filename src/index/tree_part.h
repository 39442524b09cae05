// Measures the part of a tree between two keys, from the totals in its branches, without reading the pages in between.
#pragma once

#include <cstdint>

#include "index/index_file.h"
#include "index/page_pool.h"

namespace cambium {

// Entries and bytes of values are exact. page_bytes is the entries' share of the bytes of all pages, as if all entries
// were of one size. The branches do not say what share of the values is inline, that is, in these pages. The two leaves
// at the bounds serve as a sample of this share. Parts of several trees can be added.
struct TreePart {
  std::uint64_t entries = 0;      // tombstones included
  std::uint64_t value_bytes = 0;  // as the size codes say; includes inline values
  std::uint64_t page_bytes = 0;
  std::uint64_t sampled_entries = 0;
  std::uint64_t sampled_inline_bytes = 0;

  TreePart& operator+=(const TreePart& other);
  // Bytes of the pages, plus those of the values outside of them: between page_bytes and page_bytes + value_bytes.
  [[nodiscard]] std::uint64_t Bytes() const;
};

// Measures the keys in [begin, end) of a tree whose pages take `page_bytes`. Reads one page per level for each bound.
// Any thread.
Result<TreePart> MeasureTree(const TreeRoot& root, std::uint64_t page_bytes, const FileSet& files, PagePool* pool,
                             const KeyOrder& order, Slice begin, Slice end);
// The whole tree, without a sample.
[[nodiscard]] TreePart WholeTree(const TreeRoot& root, std::uint64_t page_bytes);

// The number of entries before the key.
Result<std::uint64_t> TreeRank(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order,
                               Slice key);

}  // namespace cambium
