// OrphanLeaves: which leaves of a tree's files are the ones below branches that are lost.
//
// A file keeps pages that were replaced, and nothing in a page says so. But pages are only ever added behind others, so
// where two leaves have keys of one range, the one that was written later has replaced the other:
//
//   written    leaf 1  a---d      leaf 2  e-----h      leaf 3  e--g      the branch had 6 entries, of 120 bytes
//   chosen     a---d   3 entries                       e--g   3 entries  and these are 120 bytes: it is these
//
// From the latest one back, each leaf is chosen that has no key in the range of a chosen one. If every page can be read
// but for the branches themselves, all that are below them are chosen: none of them can be replaced. What else is chosen
// would be one that was replaced by nothing, since all its keys were deleted. Then there are more entries than the branch
// had, which its parent knows.
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

  // `branches` in the order of keys; they share none. The comparator must outlive this.
  OrphanLeaves(const Comparator* order, std::vector<Branch> branches);

  // Every leaf of the files, in any order. What cannot be below one of the branches is passed over.
  void Add(const PageView& leaf);
  // Behind the last Add.
  void Choose();
  // All leaves below it are there, and known.
  [[nodiscard]] bool IsKnown(std::size_t branch) const { return is_known_.at(branch); }
  // It is below a branch that is known.
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
