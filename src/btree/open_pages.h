// OpenPages: the newest pages of one level of a tree under construction. They are held back, so that none of them has
// to be written while nearly empty.
//
//   ... written | page | page | open page <- items
//
// Items go into the open page until it has the usual fill. Then the next page is opened, and the oldest of three is
// written. When the row must be cut, because an old subtree follows that is kept by address, the open page may be too
// empty. Then the items of all pages held are redistributed evenly over as many pages as they need, if that leaves each
// page full enough. If not, the row cannot be cut here, and the rebuilder goes on with the items of the subtree. Three
// held pages can always be redistributed well. With fewer, the row can be cut after the items of one or two further
// subtrees. So no cut leaves a page emptier than kFillMin, and no small insertion rewrites all its neighbours.
//
// Rejected: filling pages greedily and closing the open one as it is. One more key in a leaf that is 95 % full would
// then make a leaf of one key. If that key went into the next leaf, which is full too, the overflow would pass through
// the whole tree.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "index/page_builder.h"
#include "util/result.h"

namespace cambium {

// The items of a row, that is, of the pages of one level. A leaf has entries with their keys; a branch has children
// with their left separators.
struct LeafItem {
  Slice key;
  Entry entry;
};
struct BranchItem {
  Slice key;
  ChildRef child;
  std::shared_ptr<const LeafKeys> keys = nullptr;  // if the child is a leaf and the branch gets a filter
};

// One thread.
template <typename Builder, typename Item>
class OpenPages {
 public:
  // The least fill of a page, in per cent of its usual or actual units. It is less only if items are so large that no
  // distribution does better.
  static constexpr unsigned kFillMin = 66;
  static constexpr std::size_t kPagesHeld = 3;

  // Writes one page; `lower` is the separator to its left.
  using Writer = std::function<Status(Slice lower, Builder* page)>;

  OpenPages(const KeyOrder& order, const PageBuilderOptions& options, unsigned level)
      : order_(order), options_(options), level_(level) {}

  // `lower` separates the item from everything before it. It is used if the item becomes the first of a page; borrowed.
  Status Add(const Item& item, Slice lower, const Writer& write);

  // Writes all pages, none of them too empty. False if that is impossible; then the open page is kept.
  Result<bool> Cut(const Writer& write);
  // Writes all pages of a row that has ended; its last page may have any fill. Uses one page less if possible, and
  // avoids a branch with a single child if there are two pages.
  Status End(const Writer& write);

  [[nodiscard]] bool empty() const { return pages_.empty(); }
  [[nodiscard]] std::size_t page_count() const { return pages_.size(); }
  [[nodiscard]] const Builder& page(std::size_t i) const { return pages_[i].builder; }

 private:
  struct Page {
    std::string lower;
    Builder builder;
  };

  [[nodiscard]] Builder NewBuilder(unsigned fill_percent) const;
  [[nodiscard]] bool IsFullEnough(const Builder& page) const;
  [[nodiscard]] std::size_t PagesNeeded(unsigned* average_fill) const;
  Status Redistribute(std::size_t page_count);
  template <typename Source>
  Result<std::vector<Page>> RedistributeOnce(const std::vector<Source>& sources, std::size_t page_count) const;
  Status WriteUpToLargeLeaf(const Writer& write);
  Status WriteAll(const Writer& write);

  const KeyOrder order_;
  const PageBuilderOptions options_;
  const unsigned level_;
  std::vector<Page> pages_;  // oldest first; the last is open
};

extern template class OpenPages<LeafBuilder, LeafItem>;
extern template class OpenPages<BranchBuilder, BranchItem>;
using OpenLeaves = OpenPages<LeafBuilder, LeafItem>;
using OpenBranches = OpenPages<BranchBuilder, BranchItem>;

}  // namespace cambium
