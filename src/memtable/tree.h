// MemTree: the B+-tree of a memtable. Its leaves hold the newest record of each key.
//
//   Branch (level 2)                   A separator is a record: the first one of the right node when it was split off.
//     |- Branch (level 1)              Nothing is ever deleted, so that record, or a newer one of its key, stays the
//     |    |- Leaf |- Leaf |- Leaf     first of that node, and a cursor finds the next leaf by its separator: leaves
//     |- Branch ...                    have no links.
//
// Heads after a prefix. All keys between two separators, a node's fences, share the prefix that the fences share, and a
// search that reaches a node is for a key between its fences. So a node may take its heads, the 8 bytes that it
// compares, from after that prefix. Without this, keys such as "customer/000123" would all have equal heads. Only a
// split checks whether a longer prefix helps.
//
// Splits. A node splits in the middle, unless its last insertions were a run, each right after (or right before) the
// one before it: then it splits where the run continues, and a run at the end of a full leaf starts a new leaf. So
// ascending and descending loads, also many of them interleaved, leave full leaves. A run is at least 16 insertions, so
// that no load can force one leaf per key.
//
// Threads: one writer at a time (SplitBytesMax, Locate, Replace, Insert), and any number of concurrent readers. See
// node.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cambium/comparator.h"
#include "cambium/status.h"
#include "memtable/arena.h"
#include "memtable/node.h"

namespace cambium {

// A consistent copy of a leaf.
struct LeafCopy {
  unsigned count = 0;
  Record records[kNodeSlots];
  // The separator at which the next leaf starts; no record in the last leaf.
  Record next;
};

class MemTree {
 public:
  explicit MemTree(const Comparator* comparator) : search_(comparator) {}
  MemTree(const MemTree&) = delete;
  MemTree& operator=(const MemTree&) = delete;

  // For the writer.
  static constexpr unsigned kHeightMax = 32;  // nodes of a level use over 4 slots on average, whatever was inserted
  struct Step {
    Node* node;
    unsigned slot;     // leaf: where the key is, or would be; branch: which child
    Record low, high;  // the node's fences; no record at the edges of the tree
  };
  struct Place {
    Step steps[kHeightMax];  // from the root down
    unsigned height = 0;
    bool found = false;
    [[nodiscard]] const Step& leaf() const { return steps[height - 1]; }
    [[nodiscard]] Record record() const { return found ? leaf().node->RecordAt(leaf().slot) : Record(); }
  };

  // Returns the most memory that the splits of `insertions` Inserts take.
  [[nodiscard]] std::size_t SplitBytesMax(std::size_t insertions) const;
  // Finds the place of `key`, where it is or belongs. Valid until the next Insert.
  void Locate(Slice key, Place* place) const;
  // Replaces the record found at `place` by `record`, a newer version of its key.
  void Replace(const Place& place, Record record);
  // Inserts `record`, of the key that was located and not found. `arena` must have reserved SplitBytesMax(1).
  void Insert(const Place& place, Record record, Arena* arena);

  // For readers. Returns the newest record of the key, or no record.
  [[nodiscard]] Record Find(Slice key) const;
  // Each copies a leaf: the one that `key` belongs to; the one with the greatest key < `key`; the first; the last. If
  // the tree is empty, count is 0.
  void CopyLeafOf(Slice key, LeafCopy* copy) const;
  void CopyLeafBefore(Slice key, LeafCopy* copy) const;
  void CopyFirstLeaf(LeafCopy* copy) const;
  void CopyLastLeaf(LeafCopy* copy) const;
  [[nodiscard]] int Compare(Slice a, Slice b) const { return search_.Compare(a, b); }
  // Estimates which part of the keys lies before `key`, 0 to 1, as if all nodes of a level had equally many keys below
  // them. Exact in a tree of one leaf.
  [[nodiscard]] double PartBefore(Slice key) const;

  // For tests: checks order, fences, heads, levels, counts and chains, and sets *counts. The writer must be idle.
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

  const NodeSearch search_;
  std::atomic<Node*> root_{nullptr};
  // Used by the writer only.
  unsigned height_ = 0;
  std::uint64_t nodes_by_level_[kHeightMax] = {};
};

}  // namespace cambium
