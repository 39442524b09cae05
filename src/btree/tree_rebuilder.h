// TreeRebuilder: makes a new tree out of entries in key order and of whole subtrees of an older tree, which keep their
// addresses. The pages of the new tree that it writes are full enough, see open_pages.h.
//
// The right edge of the tree is the exception: of each level the last page may be as empty as it likes. Nothing to its
// right could be joined with it, and what a sorted load brings next goes there. There is one such page a level, and
// whatever lands right of it goes through it, so these pages are never left behind in the middle of the tree.
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

// One thread. After an error it is of no more use; what was appended to the sink is then garbage.
class TreeRebuilder {
 public:
  // Hashes the keys of a leaf of the old tree, when its branch is to have a filter and they are not known. Null if it
  // cannot be read: the branch then has no filter. Without such a function none has where it would be needed.
  using KeyReader = std::function<std::shared_ptr<const LeafKeys>(const ChildRef& leaf)>;

  TreeRebuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options,
                KeyReader read_keys = nullptr);
  ~TreeRebuilder();
  TreeRebuilder(const TreeRebuilder&) = delete;
  TreeRebuilder& operator=(const TreeRebuilder&) = delete;

  // Strictly behind everything added so far: Corruption if not, because the input is what files say.
  Status Add(Slice key, const Entry& entry);

  // Makes room for a subtree whose page has this level: closes what is open at it and below. False if that would leave
  // a page too empty. Then the subtree has to be opened, and its children or entries added one by one; at most a few
  // neighbours are needed until it is true.
  Result<bool> CanGraft(unsigned level);

  // Takes over a subtree by address, right after CanGraft(level) was true.
  //
  //   keys added before < lower <= keys of the subtree < *upper <= keys added later
  //
  // Both are separators of the old tree; null where there is none. `keys`: of a leaf, what is known of its keys.
  Status Graft(const ChildRef& child, unsigned level, Slice lower, const Slice* upper,
               std::shared_ptr<const LeafKeys> keys = nullptr);

  // Closes all pages. A root with one child is not made. height 0 if nothing was added.
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

  // What the next key must be behind: the last key, or the upper bound of the last subtree, which it may equal.
  enum class Bound : unsigned char { kNone, kKey, kUpper, kEnd };
  Bound bound_kind_ = Bound::kNone;
  std::string bound_;
};

}  // namespace cambium
