// LeafBuilder, BranchBuilder: each builds one page from items in key order. They say when the next item does not fit,
// and use more than one unit if an item is too large for one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/page_format.h"

namespace cambium {

struct PageBuilderOptions {
  std::uint32_t page_size = 4096;
  // The most of a page that is filled, header included. Less than 100 leaves room for the few keys of the next sweep.
  unsigned fill_percent = 95;
  // If not 0, branches of level 1 get a filter over all keys below them.
  unsigned filter_bits_per_key = 0;
};

// The keys of a page under construction: their common prefix and suffix, and the bytes they will take.
class KeyColumn {
 public:
  // All values that the encoded size depends on.
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
  void Add(Slice key, const Shape& with_key);  // with_key is With(key), if the caller has it already
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }
  [[nodiscard]] Slice key(std::uint32_t i) const;
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Shape With(Slice key) const;  // the shape after adding `key`

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
  Shape shape_;
};

// Keys must be added in strictly ascending order, which TreeBuilder checks. One thread.
class LeafBuilder {
 public:
  LeafBuilder(const KeyOrder& order, const PageBuilderOptions& options) : order_(order), options_(options) {}

  // False if the entry would fill the page beyond fill_percent. An empty page takes any legal entry.
  [[nodiscard]] bool Fits(Slice key, const Entry& entry) const;
  // False if the page would exceed `size_max` bytes; fill_percent and units do not matter. An empty page takes any
  // legal entry.
  [[nodiscard]] bool FitsIn(std::size_t size_max, Slice key, const Entry& entry) const;
  // Copies key and entry. InvalidArgument if the key or the inline value is too large for any page; NotSupported if
  // pages do not hold the kind of entry. After an error nothing has changed. Adding an entry that does not fit grows
  // the page, up to 64 units.
  Status Add(Slice key, const Entry& entry);

  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(words_.size()); }
  [[nodiscard]] std::uint64_t value_bytes() const { return value_bytes_; }
  [[nodiscard]] Slice last_key() const { return keys_.key(keys_.count() - 1); }
  // The hashes of the leaf's keys, for the filter of the branch above.
  [[nodiscard]] std::shared_ptr<const LeafKeys> HashKeys() const;
  [[nodiscard]] std::size_t used_bytes() const;
  // Bytes used, header included, as a percentage of the units the page has now. 0 if empty.
  [[nodiscard]] unsigned fill_percent() const;
  [[nodiscard]] unsigned units() const { return units_; }
  [[nodiscard]] static unsigned usual_units() { return 1; }

  // Writes the page into *page (units() * page_size bytes) for its place, clears the builder and returns the reference.
  ChildRef Finish(PageId id, std::uint64_t file_seed, std::string* page);
  // As Finish, if the place is not known yet: the caller calls PlacePage and sets the pointer of the returned
  // reference.
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

// Builds a branch from its children. A branch has one unit; a branch with a filter has up to kFilteredBranchUnits: at
// most kFilterUnits for the filter, depending on its keys, and the rest for the children. Either kind grows beyond that
// until it has kBranchChildrenMin children, so that trees of long keys stay flat.
inline constexpr std::uint32_t kBranchChildrenMin = 8;

class BranchBuilder {
 public:
  BranchBuilder(const KeyOrder& order, const PageBuilderOptions& options, unsigned level)
      : order_(order), options_(options), level_(level) {}

  [[nodiscard]] bool Fits(Slice separator, const ChildRef& child) const;
  // `separator`: keys to its left < separator <= keys of the child. The first child's separator is not stored in the
  // page, because its parent has it; see lower(). `keys` is only kept for the caller who builds the filter. Errors as
  // for LeafBuilder::Add; Corruption if the totals of the children overflow.
  Status Add(Slice separator, const ChildRef& child, std::shared_ptr<const LeafKeys> keys = nullptr);

  [[nodiscard]] bool empty() const { return children_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(children_.size()); }
  [[nodiscard]] const ChildRef& child(std::uint32_t i) const { return children_[i]; }
  [[nodiscard]] Slice separator(std::uint32_t i) const { return i == 0 ? lower() : keys_.key(i - 1); }
  [[nodiscard]] const std::shared_ptr<const LeafKeys>& keys_of(std::uint32_t i) const { return leaf_keys_[i]; }
  [[nodiscard]] Slice lower() const { return lower_; }  // the first child's separator
  [[nodiscard]] std::size_t used_bytes() const;
  // A branch with a filter has two limits: the space for its children and the number of keys in its filter. Returns the
  // percentage of the fuller one.
  [[nodiscard]] unsigned fill_percent() const;
  [[nodiscard]] unsigned units() const { return units_; }
  // The units that a branch has unless a large item needs more.
  [[nodiscard]] unsigned usual_units() const { return has_filter() ? kFilteredBranchUnits : 1; }
  [[nodiscard]] std::uint64_t entry_count() const { return entry_count_; }  // of all children
  // The number of blocks of its filter; 0: no filter.
  [[nodiscard]] std::uint32_t filter_blocks() const { return has_filter() ? BlocksFor(entry_count_) : 0; }

  // `filter` has filter_blocks() blocks, or is null.
  ChildRef Finish(PageId id, std::uint64_t file_seed, const BranchFilterBuilder* filter, std::string* page);

 private:
  // The first child's separator is not among the stored keys.
  [[nodiscard]] KeyColumn::Shape ShapeWith(Slice separator) const {
    return empty() ? keys_.shape() : keys_.With(separator);
  }
  [[nodiscard]] bool has_filter() const { return level_ == 1 && options_.filter_bits_per_key > 0; }
  [[nodiscard]] std::uint64_t FilterKeysMax() const;  // the most keys that kFilterUnits have enough bits for
  [[nodiscard]] std::uint32_t BlocksFor(std::uint64_t keys) const;
  // Bytes of header, keys and columns, and of the filter's fields if the page has a filter.
  [[nodiscard]] std::size_t ColumnBytes(const KeyColumn::Shape& keys, std::size_t children) const;
  [[nodiscard]] std::size_t ColumnBytesMax() const;  // the limit while the branch has its usual units

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

// Returns the shortest s with left < s <= right in byte order: `right`, cut after the first byte that differs. In any
// other order returns `right`. Requires left < right. Borrows from `right`.
[[nodiscard]] Slice ShortestSeparator(Slice left, Slice right, const KeyOrder& order);

}  // namespace cambium
