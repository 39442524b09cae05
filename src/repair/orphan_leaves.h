// OrphanLeaves finds the leaves below lost branches of a tree among all leaves in the tree's files.
//
// The files still have pages that were replaced, and a page does not say whether it was. But pages are only appended.
// So if the key ranges of two leaves overlap, the later one has replaced the earlier one:
//
//   written    leaf 1  a---d      leaf 2  e-----h      leaf 3  e--g      the branch had 6 entries, of 120 bytes
//   chosen     a---d   3 entries                       e--g   3 entries  6 entries of 120 bytes: the right ones
//
// Going back from the latest leaf, a leaf is chosen if it overlaps none of those already chosen. If all pages except
// the branches can be read, all leaves below the branches are chosen, since none of them was replaced. A chosen leaf
// can be wrong only if all its keys were deleted, so that no leaf replaced it. Then the chosen leaves have more entries
// than the branch's parent has recorded for the branch.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "index/page_format.h"
#include "repair/leaf_scan.h"

namespace cambium {

// One thread. Memory: two keys for each leaf that is added.
class OrphanLeaves {
 public:
  struct Branch {
    KeySpan span;
    std::uint64_t entry_count = 0;
    std::uint64_t value_bytes = 0;
  };

  // `branches` are disjoint and in key order. The comparator must outlive this object.
  OrphanLeaves(const Comparator* order, std::vector<Branch> branches);

  // Must be called with every leaf of the files, in any order. Ignores leaves that cannot be below one of the branches.
  void Add(const PageView& leaf);
  // Chooses the leaves, after the last Add.
  void Choose();
  // Whether all leaves below the branch are found.
  [[nodiscard]] bool IsKnown(std::size_t branch) const { return is_known_.at(branch); }
  // Whether the leaf is below a known branch.
  [[nodiscard]] bool IsLive(PageId leaf) const { return live_.contains(leaf); }

 private:
  struct Leaf {
    PageId id{};
    std::size_t branch = 0;
    std::string first;
    std::string last;
    std::uint64_t entry_count = 0;
    std::uint64_t value_bytes = 0;
  };

  const Comparator* order_;
  const std::vector<Branch> branches_;
  std::vector<Leaf> leaves_;
  std::vector<bool> is_known_;
  std::set<PageId> live_;
};

}  // namespace cambium
