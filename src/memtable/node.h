// Node: a leaf or a branch of the memtable's tree, for one writer and any number of concurrent readers.
//
//   offset  size  field
//        0     4  version        odd while the writer changes fields that readers may be reading
//        4     4  prefix_size    how many bytes all keys between the node's fences share; heads are taken after them
//        8     2  count          slots in use
//       10     1  level          0 for a leaf
//       11     1  last_insert    slot of the last insertion, kNoSlot after a split; used by the writer only
//       12     1  run            how many successive insertions went right after (< 0: right before) the one before
//       16   504  heads[63]      the 8 key bytes after the prefix as a number, so that most searches touch no key
//      520   504  records[63]    leaf: the newest version of each key; branch: the record whose key is the separator
//     1024   512  children[64]   branches only; the keys of children[i] are < records[i] and >= records[i - 1]
//
// Threads. A node is a seqlock (Boehm, "Can seqlocks get along with programming language memory models?", 2012). The
// writer makes `version` odd, changes the node, and makes it even again. A reader notes an even version, reads, and
// reads again if the version has changed. Readers load the protected fields with acquire and the writer stores them
// with release: a reader that saw one new value therefore also sees the odd version. So no fence is needed; thread
// sanitizers do not understand fences. Two changes of a leaf need no version: a slot appended after the others, which
// `count` publishes, and a newer version of a key in the slot of the older one.
//
// A pointer that a reader follows during a change may be stale but is never invalid: slots below any count once held
// valid pointers, and neither nodes nor records are freed before the memtable.
#pragma once

#include <sched.h>

#include <atomic>
#include <cassert>
#include <cstdint>

#include "cambium/comparator.h"
#include "memtable/arena.h"
#include "memtable/record.h"
#include "util/coding.h"

namespace cambium {

inline constexpr unsigned kNodeSlots = 63;  // fan-out 64
inline constexpr std::uint8_t kNoSlot = 0xff;

struct alignas(Arena::kCacheLine) Node {
  std::atomic<std::uint32_t> version{0};
  std::atomic<std::uint32_t> prefix_size{0};
  std::atomic<std::uint16_t> count{0};
  const std::uint8_t level;
  std::uint8_t last_insert = kNoSlot;
  std::int8_t run = 0;
  std::atomic<std::uint64_t> heads[kNodeSlots];
  std::atomic<const char*> records[kNodeSlots];

  explicit Node(std::uint8_t its_level) : level(its_level) {}

  [[nodiscard]] unsigned Count() const { return count.load(std::memory_order_acquire); }
  [[nodiscard]] Record RecordAt(unsigned slot) const { return Record(records[slot].load(std::memory_order_acquire)); }
  [[nodiscard]] std::uint64_t HeadAt(unsigned slot) const { return heads[slot].load(std::memory_order_acquire); }

  // For readers: returns the version to check against. Spins while a change is in progress: some 30 ns. If it takes
  // longer, the writer's thread was probably preempted, so this yields.
  [[nodiscard]] std::uint32_t StableVersion() const {
    std::uint32_t v = version.load(std::memory_order_acquire);
    for (unsigned turns = 0; (v & 1) != 0; ++turns) {
      if (turns >= 64) ::sched_yield();
      v = version.load(std::memory_order_acquire);
    }
    return v;
  }
  [[nodiscard]] bool StillAt(std::uint32_t noted) const { return version.load(std::memory_order_acquire) == noted; }

  // The writer calls these around every change except the two above.
  void BeginChange() {
    assert(version.load(std::memory_order_relaxed) % 2 == 0);
    version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void EndChange() {
    assert(version.load(std::memory_order_relaxed) % 2 == 1);
    version.store(version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Notes where the writer inserts, so that the next split can continue a run.
  void NoteInsert(unsigned slot) {
    constexpr int kEnough = 100;
    if (last_insert != kNoSlot && slot == last_insert + 1u) {
      run = static_cast<std::int8_t>(run < 0 ? 1 : run < kEnough ? run + 1 : kEnough);
    } else if (slot == last_insert) {
      run = static_cast<std::int8_t>(run > 0 ? -1 : run > -kEnough ? run - 1 : -kEnough);
    } else {
      run = 0;
    }
    last_insert = static_cast<std::uint8_t>(slot);
  }
  void ForgetInserts() {
    last_insert = kNoSlot;
    run = 0;
  }

  void SetSlot(unsigned slot, std::uint64_t head, Record record) {
    heads[slot].store(head, std::memory_order_release);
    records[slot].store(record.bytes(), std::memory_order_release);
  }
  void SetCount(unsigned n) {
    assert(n <= kNodeSlots);
    count.store(static_cast<std::uint16_t>(n), std::memory_order_release);
  }

  // Prefetches all 16 cache lines at once: the search would wait for three or four of them in sequence.
  void Prefetch() const {
    for (std::size_t line = 0; line < sizeof(Node); line += Arena::kCacheLine) {
      __builtin_prefetch(reinterpret_cast<const char*>(this) + line);
    }
  }
};

struct Branch : Node {
  std::atomic<Node*> children[kNodeSlots + 1];

  using Node::Node;
  [[nodiscard]] Node* ChildAt(unsigned i) const { return children[i].load(std::memory_order_acquire); }
  void SetChild(unsigned i, Node* child) { children[i].store(child, std::memory_order_release); }
};

static_assert(sizeof(Node) == 1024 && sizeof(Branch) == 1536, "as in the layout above: whole cache lines");

// Searches nodes in the order of the memtable's keys. If that order is not bytewise, all heads are 0.
class NodeSearch {
 public:
  explicit NodeSearch(const Comparator* comparator)
      : comparator_(comparator), bytewise_(comparator == BytewiseComparator()) {}

  [[nodiscard]] bool bytewise() const { return bytewise_; }
  [[nodiscard]] int Compare(Slice a, Slice b) const { return bytewise_ ? a.compare(b) : comparator_->Compare(a, b); }

  [[nodiscard]] std::uint64_t HeadOf(Slice key, std::size_t prefix_size) const {
    if (!bytewise_) return 0;
    // Shorter than the prefix: the node changed under the reader, which will notice it and read again.
    if (key.size() < prefix_size) return 0;
    key.remove_prefix(prefix_size);
    return BigEndianHead64(key);
  }

  // Returns the first slot whose key is >= `key`; *equal is set if it is equal. While the node changes, the result may
  // be wrong, but is in range.
  [[nodiscard]] unsigned LowerBound(const Node& node, Slice key, bool* equal) const {
    *equal = false;
    const unsigned count = node.Count();
    const std::uint64_t head = HeadOf(key, node.prefix_size.load(std::memory_order_acquire));
    unsigned low = FirstHead(node, count, head);
    if (low == count || node.HeadAt(low) != head) return low;
    // Compares the keys of the slots with the same head. Mostly there is one.
    unsigned high = low + 1;
    if (high < count && node.HeadAt(high) == head) {
      high = head == ~std::uint64_t{0} ? count : FirstHead(node, count, head + 1);
    }
    while (low < high) {
      const unsigned middle = low + (high - low) / 2;
      const int order = Compare(node.RecordAt(middle).key(), key);
      if (order == 0) {
        *equal = true;
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  // Returns which child of a branch holds `key`.
  [[nodiscard]] unsigned ChildOf(const Node& branch, Slice key) const {
    bool equal;
    const unsigned slot = LowerBound(branch, key, &equal);
    return equal ? slot + 1 : slot;
  }
  // Returns which child of a branch holds the keys right before `key`.
  [[nodiscard]] unsigned ChildBefore(const Node& branch, Slice key) const {
    bool equal;
    return LowerBound(branch, key, &equal);
  }

 private:
  // Returns the first slot whose head is >= `head`. Written without conditional jumps: half of them would be
  // mispredicted.
  static unsigned FirstHead(const Node& node, unsigned count, std::uint64_t head) {
    unsigned base = 0;
    unsigned length = count;
    while (length > 1) {
      const unsigned half = length / 2;
      base += node.HeadAt(base + half - 1) < head ? half : 0;
      length -= half;
    }
    return length == 0 ? base : base + (node.HeadAt(base) < head ? 1 : 0);
  }

  const Comparator* comparator_;
  bool bytewise_;
};

}  // namespace cambium
