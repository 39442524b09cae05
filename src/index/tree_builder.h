// TreeBuilder: a tree of pages, bottom-up, from entries in key order. Whole subtrees of an older tree can be taken over
// by address, which is how the sweep leaves what it does not touch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/page_builder.h"
#include "index/page_format.h"
#include "util/result.h"

namespace cambium {

// Where new pages go. The place comes first, because it enters the checksum, and the parent needs both.
class PageSink {
 public:
  struct Place {
    PageId id = PageId::kNone;
    std::uint64_t file_seed = 0;
  };
  virtual ~PageSink() = default;
  // The next `units` of the file. Every Reserve is followed by its Append before the next Reserve.
  virtual Result<Place> Reserve(unsigned units) = 0;
  // `bytes` are units * page size, and borrowed for the call.
  virtual Status Append(PagePointer page, Slice bytes) = 0;
};

// One thread. After an error every further call returns it. What was appended to the sink before is then garbage.
class TreeBuilder {
 public:
  TreeBuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options);
  ~TreeBuilder();
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

  // Strictly behind everything added so far: Corruption ("keys out of order") if not, because the input of a merge is
  // what other files say.
  Status Add(Slice key, const Entry& entry);

  // Takes over a subtree by address. `level` is that of its page (0 = a leaf), which nobody reads here.
  //
  //   keys added before < lower <= keys of the subtree < *upper <= keys added later
  //
  // Both are separators of the old tree: the one left of the child and the one right of it. The leftmost subtree has
  // none on its left, and nothing can have been added before it: the first `lower` is ignored. Without `upper` the next
  // key itself becomes a separator, which is right but long, and order is checked less strictly.
  //
  // Open nodes of `level` and below are closed first, full or not, so that the subtree gets its place in the open branch
  // of level + 1. A chain of branches with one child is made where nothing else is open below; so ask
  // OpenFillPercent(level) before, and descend into the subtree instead, adding its children or entries, where closing
  // would leave pages too empty.
  Status AddSubtree(const ChildRef& child, unsigned level, Slice lower, const Slice* upper);

  // Closes all pages. The root is the lowest page that everything is below. height 0 if nothing was added.
  Result<TreeRoot> Finish();

  // The smallest fill of the nodes that AddSubtree(level) would close; 100 if it closes none.
  [[nodiscard]] unsigned OpenFillPercent(unsigned level) const;
  // Fill and items of the node open at a level; 0 if there is none.
  [[nodiscard]] unsigned FillPercentAt(unsigned level) const;
  [[nodiscard]] std::uint32_t ItemsAt(unsigned level) const;
  [[nodiscard]] bool empty() const { return bound_kind_ == Bound::kNone; }

  // So far, subtrees included.
  [[nodiscard]] std::uint64_t entry_count() const { return entry_count_; }
  [[nodiscard]] std::uint64_t value_bytes() const { return value_bytes_; }
  [[nodiscard]] Slice last_key() const { return bound_; }  // of the last Add, if no subtree came behind it
  [[nodiscard]] std::uint64_t pages_written() const { return pages_written_; }
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  // What the next key must be behind.
  enum class Bound : unsigned char {
    kNone,     // nothing was added yet
    kKey,      // the last key
    kUpper,    // the exclusive upper bound of the last subtree: the next key may equal it
    kSubtree,  // the lower bound of the last subtree, whose end nobody told
    kUnknown,  // nothing is known: one subtree came, and nobody told its end
  };

  Status AddEntry(Slice key, const Entry& entry);
  Status Graft(const ChildRef& child, unsigned level, Slice lower, const Slice* upper);
  Result<TreeRoot> CloseAll();
  [[nodiscard]] Status CheckOrder(Slice key) const;
  // What separates `key`, the first of a new node or subtree, from all before it.
  [[nodiscard]] Slice SeparatorBefore(Slice key) const;
  void SetBound(Bound kind, Slice key);
  Status CloseLeaf();
  Status CloseBranch(unsigned level);
  Status AddChild(unsigned level, Slice separator, const ChildRef& child);
  template <typename Builder>
  Result<ChildRef> Write(Builder* builder);
  [[nodiscard]] const BranchBuilder* Branch(unsigned level) const;  // null if none is open there
  [[nodiscard]] BranchBuilder* Branch(unsigned level);

  PageSink* const sink_;
  const KeyOrder order_;
  const PageBuilderOptions options_;
  LeafBuilder leaf_;
  std::string leaf_lower_;                                // the separator left of the open leaf
  std::vector<std::unique_ptr<BranchBuilder>> branches_;  // [i] is open at level i + 1
  std::string page_;

  std::string bound_;
  Bound bound_kind_ = Bound::kNone;
  std::uint64_t entry_count_ = 0;
  std::uint64_t value_bytes_ = 0;
  std::uint64_t pages_written_ = 0;
  std::uint64_t bytes_written_ = 0;
  Status status_;
};

}  // namespace cambium
