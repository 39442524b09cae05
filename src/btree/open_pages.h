// OpenPages: the newest pages of one level of a tree that is being built. They are held back a little, so that none of
// them has to be written while it is nearly empty.
//
//   ... written | page | page | open page <- items
//
// Items go into the open page until it has the usual fill; then the next one is opened, and the oldest of three is
// written. When the row is cut (an old subtree is taken over to its right), the open page may be too empty. Then its
// items and those of the pages held back are dealt out evenly over as many pages as they need, if that leaves each of
// them full enough; else the row cannot be cut here, and the builder of the tree goes on into the subtree. With three
// pages in hand there is always a good deal, and with less than that one or two neighbours are enough. So no cut ever
// leaves a page emptier than kFillMin, and no small insertion runs on over all its neighbours.
//
// Rejected: filling greedily, and closing whatever is open. One key more in a leaf of 95 % makes a leaf of one key; and
// moving that key on into the neighbour, full as well, moves it through the whole tree.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "index/page_builder.h"
#include "util/result.h"

namespace cambium {

// What an item of a row is: of a leaf an entry with its key, of a branch a child with the separator left of it.
struct LeafItem {
  Slice key;
  Entry entry;
};
struct BranchItem {
  Slice key;
  ChildRef child;
  std::shared_ptr<const LeafKeys> keys = nullptr;  // of a leaf, if the branch is to have a filter
};

// One thread.
template <typename Builder, typename Item>
class OpenPages {
 public:
  // Of the units that it usually has, or has; less only where items are so large that no deal of them does better.
  static constexpr unsigned kFillMin = 66;
  static constexpr std::size_t kPagesHeld = 3;

  // Writes out one page, whose separator to the left is `lower`.
  using Writer = std::function<Status(Slice lower, Builder* page)>;

  OpenPages(const KeyOrder& order, const PageBuilderOptions& options, unsigned level)
      : order_(order), options_(options), level_(level) {}

  // `lower`: what separates the item from everything before it, should it become the first of a page; borrowed.
  Status Add(const Item& item, Slice lower, const Writer& write);

  // Writes all pages, none of them too empty. False if that cannot be done: then the open page stays.
  Result<bool> Cut(const Writer& write);
  // Writes all pages; nothing will come behind them, so that the last may be as empty as it likes. It is one page less
  // where that is possible, and no branch of a single child if there are two pages.
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
  Status Deal(std::size_t page_count);
  template <typename Source>
  Result<std::vector<Page>> DealOnce(const std::vector<Source>& sources, std::size_t page_count) const;
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
