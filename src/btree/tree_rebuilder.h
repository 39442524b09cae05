// TreeRebuilder: builds a new tree from entries in key order and from whole subtrees of an older tree, which keep their
// addresses. All pages that it writes are full enough; see open_pages.h.
//
// The right edge of the tree is the exception: the last page of each level may have any fill. Nothing is to its right
// to join it with, and a sorted load will add its next keys there. Anything added to the right of such a page rewrites
// it, so these pages never stay nearly empty in the middle of the tree.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "btree/open_pages.h"
#include "index/page_builder.h"
#include "index/page_format.h"
#include "index/tree_builder.h"
#include "util/result.h"

namespace cambium {

// One thread. Unusable after an error; the pages that were appended to the sink are then garbage.
class TreeRebuilder {
 public:
  // Reads a leaf of the old tree and hashes its keys. Called if the leaf's new branch gets a filter, and Graft was not
  // given usable hashes or a usable filter of the leaf. Returns null if the leaf cannot be read: the branch then has no
  // filter. Without a KeyReader, all such branches have none.
  using KeyReader = std::function<std::shared_ptr<const LeafKeys>(const ChildRef& leaf)>;

  TreeRebuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options,
                KeyReader read_keys = nullptr);
  ~TreeRebuilder();
  TreeRebuilder(const TreeRebuilder&) = delete;
  TreeRebuilder& operator=(const TreeRebuilder&) = delete;

  // Keys must strictly ascend, else Corruption: the input comes from files, which may be damaged.
  Status Add(Slice key, const Entry& entry);

  // Prepares for a subtree whose root page has this level: closes what is open at this level and below. False if that
  // would leave a page too empty. Then the caller has to add the subtree's children or entries one by one. After the
  // items of this subtree and, at most, of the next one, CanGraft returns true again.
  Result<bool> CanGraft(unsigned level);

  // Keeps a subtree by address. Call right after CanGraft(level) has returned true.
  //
  //   keys added before < *lower <= keys of the subtree < *upper <= keys added later
  //
  // Both bounds are separators of the old tree, or null at its edges. `keys`: the hashes of a leaf's keys, or a filter
  // that contains them; null if unknown.
  Status Graft(const ChildRef& child, unsigned level, const Slice* lower, const Slice* upper,
               std::shared_ptr<const LeafKeys> keys = nullptr);

  // Closes all pages. The root never has only one child. If nothing was added, the height is 0.
  Result<TreeRoot> Finish();

 private:
  Status CheckOrder(Slice key) const;
  [[nodiscard]] Slice SeparatorBefore(Slice key) const;
  Status CloseLeaf(Slice lower, LeafBuilder* page);
  Status CloseBranch(unsigned level, Slice lower, BranchBuilder* page);
  Status AddChild(unsigned level, Slice separator, const ChildRef& child,
                  std::shared_ptr<const LeafKeys> keys = nullptr);
  std::optional<BranchFilterBuilder> MakeFilter(const BranchBuilder& page);
  template <typename Builder>
  Result<ChildRef> Write(Builder* page);
  OpenBranches& Branches(unsigned level);

  PageSink* const sink_;
  const KeyOrder order_;
  const PageBuilderOptions options_;
  const KeyReader read_keys_;
  OpenLeaves leaves_;
  std::vector<std::unique_ptr<OpenBranches>> branches_;  // [i] is level i + 1
  std::string encoded_;

  // The bound of the next key: it must be above the last key, or at or above the upper bound of the last subtree.
  enum class Bound : unsigned char { kNone, kKey, kUpper, kEnd };
  Bound bound_kind_ = Bound::kNone;
  std::string bound_;
};

}  // namespace cambium
