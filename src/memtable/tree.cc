#include "memtable/tree.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "util/common_prefix.h"

namespace cambium {
namespace {

[[nodiscard]] Branch* AsBranch(Node* node) {
  assert(node->level > 0);
  return static_cast<Branch*>(node);
}
[[nodiscard]] const Branch* AsBranch(const Node* node) {
  assert(node->level > 0);
  return static_cast<const Branch*>(node);
}

// How a full node is split to insert one more slot.
struct Split {
  unsigned kept;       // slots that stay in the left node
  bool to_right;       // the new slot is inserted into the right node
  bool run_continues;  // the node with the new slot remembers the run
};

constexpr int kRunMin = 16;

[[nodiscard]] Split ChooseSplit(const Node& node, unsigned slot) {
  assert(node.Count() == kNodeSlots);
  const bool leaf = node.level == 0;
  if (node.run >= kRunMin && slot == node.last_insert + 1u) {
    const bool at_end = slot == kNodeSlots;
    return {slot, at_end, !at_end};
  }
  if (node.run <= -kRunMin && slot == node.last_insert) {
    if (slot == 0) return {0, false, false};
    // In a branch the child that was split must stay in the same node as its new half, so one separator less is kept.
    return {leaf ? slot : slot - 1, true, true};
  }
  return {kNodeSlots / 2, slot > kNodeSlots / 2, false};
}

// Moves the run to the half that continues it, if any. Called before the insertion.
void PassRun(const Split& split, Node* left, Node* right, unsigned right_slot) {
  if (split.run_continues && !split.to_right) return;
  if (split.run_continues) {
    right->last_insert = static_cast<std::uint8_t>(right_slot);
    right->run = left->run;
  }
  left->ForgetInserts();
}

}  // namespace

// ---- Readers ----

// Walks from the root to a leaf; `choose(branch)` returns which child to follow. After it has noted a child's version,
// it checks the branch again. The writer makes the parent odd before it makes a split child even, so a reader with the
// parent's old pointer and the child's new version is detected here.
template <typename ChooseChild>
MemTree::Visit MemTree::Descend(ChooseChild choose, Record* next) const {
  for (;;) {
    if (next != nullptr) *next = Record();
    const Node* node = root_.load(std::memory_order_acquire);
    if (node == nullptr) return {};
    std::uint32_t version = node->StableVersion();
    bool whole = root_.load(std::memory_order_acquire) == node;
    while (whole && node->level > 0) {
      const Branch* branch = AsBranch(node);
      const unsigned i = choose(*branch);
      const Node* child = branch->ChildAt(i);
      child->Prefetch();
      if (next != nullptr && i < branch->Count()) *next = branch->RecordAt(i);
      const std::uint32_t child_version = child->StableVersion();
      whole = branch->StillAt(version);
      node = child;
      version = child_version;
    }
    if (whole) return {node, version};
  }
}

Record MemTree::Find(Slice key) const {
  for (;;) {
    const Visit leaf = Descend([&](const Branch& branch) { return search_.ChildOf(branch, key); }, nullptr);
    if (leaf.node == nullptr) return {};
    bool equal;
    const unsigned slot = search_.LowerBound(*leaf.node, key, &equal);
    const Record record = equal ? leaf.node->RecordAt(slot) : Record();
    if (leaf.node->StillAt(leaf.version)) return record;
  }
}

double MemTree::PartBefore(Slice key) const {
  struct Choice {
    unsigned child = 0;
    unsigned children = 1;
  };
  for (;;) {
    Choice choices[kHeightMax];  // by level; a descent that starts again overwrites them
    const auto choose = [&](const Branch& branch) {
      const unsigned child = search_.ChildOf(branch, key);
      choices[branch.level] = {child, branch.Count() + 1};
      return child;
    };
    const Visit leaf = Descend(choose, nullptr);
    if (leaf.node == nullptr) return 0;
    bool equal;
    const unsigned slot = search_.LowerBound(*leaf.node, key, &equal);
    double part = static_cast<double>(slot) / std::max(leaf.node->Count(), 1u);
    for (unsigned level = 1; level < kHeightMax; ++level) {
      part = (choices[level].child + part) / choices[level].children;
    }
    if (leaf.node->StillAt(leaf.version)) return std::clamp(part, 0.0, 1.0);
  }
}

template <typename ChooseChild>
void MemTree::CopyLeaf(ChooseChild choose, LeafCopy* copy) const {
  for (;;) {
    const Visit leaf = Descend(choose, &copy->next);
    copy->count = 0;
    if (leaf.node == nullptr) return;
    const unsigned count = leaf.node->Count();
    for (unsigned i = 0; i < count; ++i) copy->records[i] = leaf.node->RecordAt(i);
    copy->count = count;
    if (leaf.node->StillAt(leaf.version)) return;
  }
}

void MemTree::CopyLeafOf(Slice key, LeafCopy* copy) const {
  CopyLeaf([&](const Branch& branch) { return search_.ChildOf(branch, key); }, copy);
}
void MemTree::CopyLeafBefore(Slice key, LeafCopy* copy) const {
  CopyLeaf([&](const Branch& branch) { return search_.ChildBefore(branch, key); }, copy);
}
void MemTree::CopyFirstLeaf(LeafCopy* copy) const {
  CopyLeaf([](const Branch&) { return 0u; }, copy);
}
void MemTree::CopyLastLeaf(LeafCopy* copy) const {
  CopyLeaf([](const Branch& branch) { return branch.Count(); }, copy);
}

// ---- The writer ----

// Bounds the splits that n insertions into a level of N nodes cause. There are two kinds. A split in the middle turns a
// node of 63 slots into two of at most 33. So each of the N nodes may split once at once, and then each split needs 31
// insertions: N + n / 31. A split at a run needs 16 insertions, or a run that began before. One run may cause two
// splits: one before the keys that follow it in its leaf, and one at the end of the leaf. So runs cause
// at most 2 (N + n / 16) splits. Both kinds together are fewer than 3 N + n / 4, and never more than n. Each split
// inserts a node one level up.
std::size_t MemTree::SplitBytesMax(std::size_t insertions) const {
  // A tree of one leaf: most families of a database with thousands of them have no other.
  const Node* const root = root_.load(std::memory_order_relaxed);
  if (root == nullptr && insertions <= kNodeSlots) return sizeof(Node);
  if (root != nullptr && height_ == 1 && root->Count() + insertions <= kNodeSlots) return 0;
  std::size_t bytes = height_ == 0 ? sizeof(Node) : 0;
  std::size_t arriving = insertions;
  for (unsigned level = 0; arriving > 0; ++level) {
    // If the root splits, there is a new root above it, which starts with one separator.
    if (level > 0 && level >= height_) bytes += sizeof(Branch);
    const std::size_t nodes = level < height_ ? nodes_by_level_[level] : 0;
    const std::size_t splits = std::min(arriving, 3 * nodes + arriving / 4);
    bytes += splits * (level == 0 ? sizeof(Node) : sizeof(Branch));
    arriving = splits;
  }
  return bytes;
}

void MemTree::Locate(Slice key, Place* place) const {
  place->height = 0;
  place->found = false;
  Node* node = root_.load(std::memory_order_relaxed);
  if (node == nullptr) return;
  Record low, high;
  for (;;) {
    assert(place->height < kHeightMax);
    Step& step = place->steps[place->height++];
    step = {node, 0, low, high};
    if (node->level == 0) {
      step.slot = search_.LowerBound(*node, key, &place->found);
      return;
    }
    Branch* branch = AsBranch(node);
    step.slot = search_.ChildOf(*branch, key);
    node = branch->ChildAt(step.slot);
    node->Prefetch();
    if (step.slot > 0) low = branch->RecordAt(step.slot - 1);
    if (step.slot < branch->Count()) high = branch->RecordAt(step.slot);
  }
}

void MemTree::Replace(const Place& place, Record record) {
  assert(place.found && place.leaf().slot < place.leaf().node->Count());
  place.leaf().node->records[place.leaf().slot].store(record.bytes(), std::memory_order_release);
}

void MemTree::Insert(const Place& place, Record record, Arena* arena) {
  assert(!place.found && place.height == height_ && "the place was located after the last insertion");
  if (place.height == 0) {
    Node* leaf = NewNode(0, arena);
    InsertSlot(leaf, 0, record);
    height_ = 1;
    root_.store(leaf, std::memory_order_release);
    return;
  }
  const Step& step = place.leaf();
  Node* leaf = step.node;
  if (leaf->Count() < kNodeSlots) {
    // An append needs no version: readers see the new slot, or do not, by the count.
    const bool moves_slots = step.slot < leaf->Count();
    if (moves_slots) leaf->BeginChange();
    InsertSlot(leaf, step.slot, record);
    if (moves_slots) leaf->EndChange();
    return;
  }
  Node* right = NewNode(0, arena);
  leaf->BeginChange();
  const Record separator = SplitLeaf(step, right, record);
  AddToParent(place, place.height - 1, separator, right, arena);
  leaf->EndChange();
}

// The node at `depth` has been split and is odd. Inserts its new right half into its parent.
void MemTree::AddToParent(const Place& place, unsigned depth, Record separator, Node* right, Arena* arena) {
  if (depth == 0) {
    Branch* root = AsBranch(NewNode(height_, arena));
    root->SetChild(0, place.steps[0].node);
    InsertChild(root, 0, separator, right);
    ++height_;
    assert(height_ <= kHeightMax);
    root_.store(root, std::memory_order_release);
    return;
  }
  const Step& step = place.steps[depth - 1];
  Branch* parent = AsBranch(step.node);
  parent->BeginChange();
  if (parent->Count() < kNodeSlots) {
    InsertChild(parent, step.slot, separator, right);
  } else {
    Branch* parent_right = AsBranch(NewNode(parent->level, arena));
    const Record parent_separator = SplitBranch(step, parent_right, separator, right);
    AddToParent(place, depth - 1, parent_separator, parent_right, arena);
  }
  parent->EndChange();
}

// Returns the separator between step.node and `right`, which no reader can see yet.
Record MemTree::SplitLeaf(const Step& step, Node* right, Record record) {
  Node* left = step.node;
  const Split split = ChooseSplit(*left, step.slot);
  MoveSlots(left, split.kept, kNodeSlots - split.kept, right);
  left->SetCount(split.kept);
  PassRun(split, left, right, step.slot - split.kept);
  if (split.to_right) {
    InsertSlot(right, step.slot - split.kept, record);
  } else {
    InsertSlot(left, step.slot, record);
  }
  assert(left->Count() + right->Count() == kNodeSlots + 1);
  const Record separator = right->RecordAt(0);
  ChooseHeads(left, step.low, separator);
  ChooseHeads(right, separator, step.high);
  return separator;
}

// The separator of the right node's first child moves up instead of right. Returns it.
Record MemTree::SplitBranch(const Step& step, Branch* right, Record separator, Node* child) {
  Branch* left = AsBranch(step.node);
  const Split split = ChooseSplit(*left, step.slot);
  Record up = separator;
  if (split.kept == kNodeSlots) {
    right->SetChild(0, child);
    left->ForgetInserts();
  } else {
    up = left->RecordAt(split.kept);
    const unsigned first_right = split.kept + 1;
    MoveSlots(left, first_right, kNodeSlots - first_right, right);
    for (unsigned i = first_right; i <= kNodeSlots; ++i) right->SetChild(i - first_right, left->ChildAt(i));
    left->SetCount(split.kept);
    PassRun(split, left, right, step.slot - first_right);
    if (split.to_right) {
      InsertChild(right, step.slot - first_right, separator, child);
    } else {
      InsertChild(left, step.slot, separator, child);
    }
  }
  ChooseHeads(left, step.low, up);
  ChooseHeads(right, up, step.high);
  return up;
}

// The caller makes sure that no reader is misled: readers cannot reach the node yet, or its version is odd, or the slot
// is appended to a leaf.
void MemTree::InsertSlot(Node* node, unsigned slot, Record record) {
  const unsigned count = node->Count();
  assert(count < kNodeSlots && slot <= count);
  for (unsigned i = count; i > slot; --i) node->SetSlot(i, node->HeadAt(i - 1), node->RecordAt(i - 1));
  node->SetSlot(slot, search_.HeadOf(record.key(), node->prefix_size.load(std::memory_order_relaxed)), record);
  node->NoteInsert(slot);
  node->SetCount(count + 1);
}

void MemTree::InsertChild(Branch* branch, unsigned slot, Record separator, Node* child) {
  for (unsigned i = branch->Count() + 1; i > slot + 1; --i) branch->SetChild(i, branch->ChildAt(i - 1));
  branch->SetChild(slot + 1, child);
  InsertSlot(branch, slot, separator);
}

// Moves slots to the empty node `to`, and gives it the prefix of `from`.
void MemTree::MoveSlots(Node* from, unsigned first, unsigned count, Node* to) {
  assert(to->Count() == 0 && first + count <= from->Count());
  to->prefix_size.store(from->prefix_size.load(std::memory_order_relaxed), std::memory_order_release);
  for (unsigned i = 0; i < count; ++i) to->SetSlot(i, from->HeadAt(first + i), from->RecordAt(first + i));
  to->SetCount(count);
}

// The node has new fences. If many of its heads are equal, takes new ones from after the prefix that the fences share.
// Otherwise keeps them: new ones would cost a cache miss for every key.
void MemTree::ChooseHeads(Node* node, Record low, Record high) {
  if (!search_.bytewise() || !low || !high) return;
  const unsigned count = node->Count();
  unsigned equal_neighbours = 0;
  for (unsigned i = 1; i < count; ++i) equal_neighbours += node->HeadAt(i - 1) == node->HeadAt(i) ? 1 : 0;
  if (equal_neighbours * 8 <= count) return;
  const std::size_t prefix_size = CommonPrefix(low.key(), high.key());
  if (prefix_size <= node->prefix_size.load(std::memory_order_relaxed)) return;
  node->prefix_size.store(static_cast<std::uint32_t>(prefix_size), std::memory_order_release);
  for (unsigned i = 0; i < count; ++i) {
    node->heads[i].store(search_.HeadOf(node->RecordAt(i).key(), prefix_size), std::memory_order_release);
  }
}

Node* MemTree::NewNode(unsigned level, Arena* arena) {
  assert(level < kHeightMax);
  ++nodes_by_level_[level];
  const auto node_level = static_cast<std::uint8_t>(level);
  if (level == 0) return new (arena->TakeLines(sizeof(Node))) Node(node_level);
  return new (arena->TakeLines(sizeof(Branch))) Branch(node_level);
}

// ---- Tests ----

Status MemTree::CheckInvariants(Counts* counts) const {
  *counts = {};
  const Node* root = root_.load(std::memory_order_acquire);
  if (root == nullptr) return height_ == 0 ? Status::OK() : Status::Corruption("memtable: height without a root");
  if (root->level + 1u != height_) return Status::Corruption("memtable: the root is not at the top");
  std::uint64_t nodes_by_level[kHeightMax] = {};
  Status status = CheckNode(root, root->level, {}, {}, counts, nodes_by_level);
  if (!status.ok()) return status;
  if (!std::equal(nodes_by_level, nodes_by_level + kHeightMax, nodes_by_level_)) {
    return Status::Corruption("memtable: nodes of a level miscounted");
  }
  return {};
}

Status MemTree::CheckNode(const Node* node, unsigned level, Record low, Record high, Counts* counts,
                          std::uint64_t* nodes_by_level) const {
  const auto wrong = [&](const char* what, unsigned slot) {
    return Status::Corruption("memtable: level " + std::to_string(level) + ", slot " + std::to_string(slot) + ": " +
                              what);
  };
  if (node->level != level) return wrong("a node of another level", 0);
  if (node->version.load(std::memory_order_acquire) % 2 != 0) return wrong("left odd", 0);
  const unsigned count = node->Count();
  if (count > kNodeSlots || (level == 0 && count == 0)) return wrong("impossible count", count);
  ++nodes_by_level[level];
  for (unsigned i = 0; i < count; ++i) {
    const Record record = node->RecordAt(i);
    const Slice key = record.key();
    if (low && Compare(key, low.key()) < (level == 0 ? 0 : 1)) return wrong("below its fence", i);
    if (high && Compare(key, high.key()) >= 0) return wrong("beyond its fence", i);
    if (i > 0 && Compare(node->RecordAt(i - 1).key(), key) >= 0) return wrong("out of order", i);
    if (node->HeadAt(i) != search_.HeadOf(key, node->prefix_size.load(std::memory_order_acquire))) {
      return wrong("wrong head", i);
    }
    if (level > 0) continue;
    ++counts->keys;
    for (Record version = record; version; version = version.older()) {
      ++counts->versions;
      if (Compare(version.key(), key) != 0) return wrong("a version of another key", i);
      if (version.older() && version.older().seq() >= version.seq()) return wrong("versions out of order", i);
      if (!version.LinksAreRight()) return wrong("a version with wrong links", i);
    }
  }
  if (low && level == 0 && Compare(node->RecordAt(0).key(), low.key()) != 0) return wrong("its separator is gone", 0);
  if (level == 0) {
    ++counts->leaves;
    return {};
  }
  ++counts->branches;
  for (unsigned i = 0; i <= count; ++i) {
    const Record child_low = i == 0 ? low : node->RecordAt(i - 1);
    const Record child_high = i == count ? high : node->RecordAt(i);
    Status status = CheckNode(AsBranch(node)->ChildAt(i), level - 1, child_low, child_high, counts, nodes_by_level);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace cambium
