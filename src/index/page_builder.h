// LeafBuilder, BranchBuilder: one page from keys in order. They know when the next item would not fit, and take more
// units than one where an item is too big.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/page_format.h"

namespace cambium {

struct PageBuilderOptions {
  std::uint32_t page_size = 4096;
  // How full a page becomes at most, header included. Less than 100 leaves room for the next sweep's few keys.
  unsigned fill_percent = 95;
  // Of the filters over all keys below them, which branches of level 1 have then. 0: none do.
  unsigned filter_bits_per_key = 0;
};

// Keys of a page while it grows: their common prefix and suffix, and how many bytes they will take.
class KeyColumn {
 public:
  // All that the size depends on.
  struct Shape {
    std::size_t count = 0;
    std::size_t bytes = 0;   // sum of key lengths
    std::size_t prefix = 0;  // common to all; a single key is all prefix
    std::size_t suffix = 0;  // common to all, and may overlap the prefix
    std::size_t shortest = 0;
    std::size_t longest = 0;

    [[nodiscard]] std::size_t stored_suffix() const { return suffix < shortest - prefix ? suffix : shortest - prefix; }
    [[nodiscard]] bool has_stride() const { return shortest == longest; }
    [[nodiscard]] std::size_t middle_bytes() const { return bytes - count * (prefix + stored_suffix()); }
    [[nodiscard]] bool wide_slots() const { return !has_stride() && middle_bytes() > 0xffff; }
    // Bytes of prefix, suffix, heads, slots and keys, filler included.
    [[nodiscard]] std::size_t encoded_size() const;
  };

  void Clear();
  void Add(Slice key) { Add(key, With(key)); }
  void Add(Slice key, const Shape& with_key);  // with_key = With(key), for who has it already
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }
  [[nodiscard]] Slice key(std::uint32_t i) const;
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Shape With(Slice key) const;  // the shape if `key` were added

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
  Shape shape_;
};

// Add in strictly ascending order (the caller's duty: TreeBuilder checks it). One thread.
class LeafBuilder {
 public:
  LeafBuilder(const KeyOrder& order, const PageBuilderOptions& options) : order_(order), options_(options) {}

  // False if the page would grow beyond its fill. An empty page takes anything legal.
  [[nodiscard]] bool Fits(Slice key, const Entry& entry) const;
  // False if the page would grow beyond `size_max` bytes, whatever its fill and its units. The same for an empty page.
  [[nodiscard]] bool FitsIn(std::size_t size_max, Slice key, const Entry& entry) const;
  // Copies both. InvalidArgument if the key or the inline value is too large for any page, or the kind is not one that
  // pages hold; then nothing has changed. Without Fits() the page grows by units, up to 64.
  Status Add(Slice key, const Entry& entry);

  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(words_.size()); }
  [[nodiscard]] std::uint64_t value_bytes() const { return value_bytes_; }
  [[nodiscard]] Slice first_key() const { return keys_.key(0); }
  [[nodiscard]] Slice last_key() const { return keys_.key(keys_.count() - 1); }
  // For the filter of the branch above it.
  [[nodiscard]] std::shared_ptr<const LeafKeys> HashKeys() const;
  [[nodiscard]] std::size_t used_bytes() const;
  // Of the units it has now, header included. 0 if empty.
  [[nodiscard]] unsigned fill_percent() const;
  [[nodiscard]] unsigned units() const { return units_; }
  [[nodiscard]] static unsigned usual_units() { return 1; }

  // Writes the page for its place into *page (units() * page_size bytes), empties the builder, says where it points.
  ChildRef Finish(PageId id, std::uint64_t file_seed, std::string* page);
  // The same for a page whose place is not known yet: PlacePage, and the pointer of what is returned, are left to do.
  ChildRef FinishUnplaced(std::string* page);

 private:
  [[nodiscard]] std::size_t SizeWith(const KeyColumn::Shape& keys, const Entry& entry) const;

  KeyOrder order_;
  PageBuilderOptions options_;
  KeyColumn keys_;
  std::vector<std::uint64_t> words_;  // inline words with offsets from the start of the heap
  std::string heap_;
  std::uint64_t value_bytes_ = 0;
  unsigned units_ = 1;
};

// The same for children. A branch has one unit. One with a filter has up to kFilteredBranchUnits: the filter as many as it
// needs for the keys, at most kFilterUnits, and the rest for the children, at most as much. Both grow beyond that until
// there are kBranchChildrenMin children, so that trees of long keys stay flat.
inline constexpr std::uint32_t kBranchChildrenMin = 8;

class BranchBuilder {
 public:
  BranchBuilder(const KeyOrder& order, const PageBuilderOptions& options, unsigned level)
      : order_(order), options_(options), level_(level) {}

  [[nodiscard]] bool Fits(Slice separator, const ChildRef& child) const;
  // `separator`: keys left of it < separator <= keys of the child. That of the first child is not stored in the page
  // (its parent knows it); see lower(). `keys` is for whoever makes the filter, and only kept here. InvalidArgument as
  // above; Corruption if the totals of the children overflow.
  Status Add(Slice separator, const ChildRef& child, std::shared_ptr<const LeafKeys> keys = nullptr);

  [[nodiscard]] bool empty() const { return children_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(children_.size()); }
  [[nodiscard]] const ChildRef& child(std::uint32_t i) const { return children_[i]; }
  [[nodiscard]] Slice separator(std::uint32_t i) const { return i == 0 ? lower() : keys_.key(i - 1); }
  [[nodiscard]] const std::shared_ptr<const LeafKeys>& keys_of(std::uint32_t i) const { return leaf_keys_[i]; }
  [[nodiscard]] Slice lower() const { return lower_; }  // the first child's separator
  [[nodiscard]] std::size_t used_bytes() const;
  // With a filter: of what it may have of children, or of keys, whichever is more.
  [[nodiscard]] unsigned fill_percent() const;
  [[nodiscard]] unsigned units() const { return units_; }
  // More units than that are due to an item that is large.
  [[nodiscard]] unsigned usual_units() const { return has_filter() ? kFilteredBranchUnits : 1; }
  // The blocks that its filter has; 0: it has none.
  [[nodiscard]] std::uint64_t entry_count() const { return entry_count_; }  // of all children
  [[nodiscard]] std::uint32_t filter_blocks() const { return has_filter() ? BlocksFor(entry_count_) : 0; }

  // `filter`: of filter_blocks() blocks, or null.
  ChildRef Finish(PageId id, std::uint64_t file_seed, const BranchFilterBuilder* filter, std::string* page);

 private:
  // The first child's separator is not among the keys.
  [[nodiscard]] KeyColumn::Shape ShapeWith(Slice separator) const {
    return empty() ? keys_.shape() : keys_.With(separator);
  }
  [[nodiscard]] bool has_filter() const { return level_ == 1 && options_.filter_bits_per_key > 0; }
  [[nodiscard]] std::uint64_t FilterKeysMax() const;  // that a filter of kFilterUnits has the bits for
  [[nodiscard]] std::uint32_t BlocksFor(std::uint64_t keys) const;
  // Header, keys and columns; of a page with a filter, what it says of that too.
  [[nodiscard]] std::size_t ColumnBytes(const KeyColumn::Shape& keys, std::size_t children) const;
  [[nodiscard]] std::size_t ColumnBytesMax() const;  // that usually are

  KeyOrder order_;
  PageBuilderOptions options_;
  unsigned level_;
  std::string lower_;
  KeyColumn keys_;
  std::vector<ChildRef> children_;
  std::vector<std::shared_ptr<const LeafKeys>> leaf_keys_;  // of each child
  std::uint64_t entry_count_ = 0;  // of all children
  std::uint64_t value_bytes_ = 0;
  unsigned units_ = 1;
};

// The shortest s with left < s <= right, if order is byte order (right, cut behind the first byte that differs), else
// `right`. Requires left < right. Borrows from `right`.
[[nodiscard]] Slice ShortestSeparator(Slice left, Slice right, const KeyOrder& order);

}  // namespace cambium
