// MemTree: the B+-tree of a memtable: which record is the newest of a key, and which leaf comes next.
//
//   Branch (level 2)                   separators are records: the first one of the right neighbour when it was split
//     |- Branch (level 1)              off. Nothing is ever deleted, so that record (or a newer one of its key) stays
//     |    |- Leaf |- Leaf |- Leaf     there, and a cursor finds the next leaf by its separator: leaves have no links.
//     |- Branch ...
//
// Heads behind a prefix. Between two separators ("fences") all keys share what the fences share, and who has come down
// to a node looks for a key between its fences. So a node may compare 8 bytes from behind that prefix: without it,
// keys such as "customer/000123" would have equal heads throughout. Only a split looks whether that helps.
//
// Splits. In the middle; but a node whose last insertions were a run, each right behind (or before) the other, splits
// where the run goes on, and a run at the end of a full leaf starts the next one. So ascending and descending loads,
// also many of them side by side, leave full leaves. A run must have cost 16 insertions: who tries cannot make one
// leaf per key.
//
// Threads: one writer at a time (Reserve, Find*ForWriter, Insert*); any number of readers. See node.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cambium/comparator.h"
#include "cambium/status.h"
#include "memtable/arena.h"
#include "memtable/node.h"

namespace cambium {

// What a reader saw of a leaf at one moment.
struct LeafCopy {
  unsigned count = 0;
  Record records[kNodeSlots];
  // The separator behind which the next leaf starts; none in the last leaf.
  Record next;
};

class MemTree {
 public:
  explicit MemTree(const Comparator* comparator) : search_(comparator) {}
  MemTree(const MemTree&) = delete;
  MemTree& operator=(const MemTree&) = delete;

  // The writer's side.
  static constexpr unsigned kHeightMax = 32;  // nodes of a level hold more than 4 on average, whatever the order
  struct Step {
    Node* node;
    unsigned slot;  // leaf: where the key is, or would be; branch: which child
    Record low, high;  // the node's fences; none at the edges
  };
  struct Place {
    Step steps[kHeightMax];  // from the root down
    unsigned height = 0;
    bool found = false;
    [[nodiscard]] const Step& leaf() const { return steps[height - 1]; }
    [[nodiscard]] Record record() const { return found ? leaf().node->RecordAt(leaf().slot) : Record(); }
  };

  // The most memory that the splits of `insertions` Inserts take.
  [[nodiscard]] std::size_t SplitBytesMax(std::size_t insertions) const;
  void Locate(Slice key, Place* place) const;
  // `record` is of the key that was located, and follows the one found there.
  void Replace(const Place& place, Record record);
  // `record` is of the key that was located and not found. `arena` has SplitBytesMax(1).
  void Insert(const Place& place, Record record, Arena* arena);

  // Readers. None if the key is not there.
  [[nodiscard]] Record Find(Slice key) const;
  // Copies a leaf: the one where `key` belongs; the one where the greatest key < `key` is; the first; the last.
  // An empty tree has none: count is 0.
  void CopyLeafOf(Slice key, LeafCopy* copy) const;
  void CopyLeafBefore(Slice key, LeafCopy* copy) const;
  void CopyFirstLeaf(LeafCopy* copy) const;
  void CopyLastLeaf(LeafCopy* copy) const;
  [[nodiscard]] int Compare(Slice a, Slice b) const { return search_.Compare(a, b); }
  // Which part of the keys lies before `key`, 0 to 1, as if all nodes of a level had equally many below them: they are
  // half full at least, so that it is a guess. Exact in a tree of one leaf.
  [[nodiscard]] double PartBefore(Slice key) const;

  // For tests, with the writer at rest: order, fences, heads, levels, counts, chains; and what was found.
  struct Counts {
    std::uint64_t keys = 0;
    std::uint64_t versions = 0;
    std::uint64_t leaves = 0;
    std::uint64_t branches = 0;
  };
  Status CheckInvariants(Counts* counts) const;

 private:
  struct Visit {
    const Node* node = nullptr;
    std::uint32_t version = 0;
  };
  template <typename ChooseChild>
  [[nodiscard]] Visit Descend(ChooseChild choose, Record* next) const;
  template <typename ChooseChild>
  void CopyLeaf(ChooseChild choose, LeafCopy* copy) const;

  void InsertSlot(Node* node, unsigned slot, Record record);
  Record SplitLeaf(const Step& step, Node* right, Record record);
  Record SplitBranch(const Step& step, Branch* right, Record separator, Node* child);
  void InsertChild(Branch* branch, unsigned slot, Record separator, Node* child);
  void AddToParent(const Place& place, unsigned depth, Record separator, Node* right, Arena* arena);
  void MoveSlots(Node* from, unsigned first, unsigned count, Node* to);
  void ChooseHeads(Node* node, Record low, Record high);
  Node* NewNode(unsigned level, Arena* arena);

  Status CheckNode(const Node* node, unsigned level, Record low, Record high, Counts* counts,
                   std::uint64_t* nodes_by_level) const;
  Status CheckSlot(const Node* node, unsigned slot, Record low, Record high) const;

  const NodeSearch search_;
  std::atomic<Node*> root_{nullptr};
  // The writer's own.
  unsigned height_ = 0;
  std::uint64_t nodes_by_level_[kHeightMax] = {};
};

}  // namespace cambium
