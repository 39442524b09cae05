// StretchMap: gives each key a number, the same for all keys of a stretch. Immutable: a change makes a new map, which
// shares all but a few nodes with the old one, so readers may go on in the old one.
//
//   boundaries   a:9 ------- c:12 ------- f:0 ----- k:9 ------- m:0    from each boundary up to the next, its number;
//                                                                      0 before the first and after the last
//
// A B+-tree holds the boundaries. A branch has the first key of each child, and each node knows whether one of its
// boundaries has the number 0. So the nearest such boundary in either direction is found as fast as a key. A change
// copies the nodes on the way to the two ends of its stretch and drops what lies between them. Nodes that shrink are
// not joined. A node splits only when it is full, so the height is still logarithmic in the number of changes. After n
// changes, a change and each search take O(log n).
//
// Nodes and keys are in an arena, and live as long as it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/status.h"
#include "memtable/arena.h"

namespace cambium {

class StretchMap {
 public:
  StretchMap() = default;  // no boundaries

  // An interval around a key. From `from` (no bound if !has_from) to below `to`.
  struct Stretch {
    std::uint64_t number = 0;
    bool has_from = false;
    bool has_to = false;
    Slice from;
    Slice to;
  };

  // Compares the keys of the map.
  class Order {
   public:
    explicit Order(const Comparator* comparator)
        : comparator_(comparator), bytewise_(comparator == BytewiseComparator()) {}
    [[nodiscard]] int Compare(Slice a, Slice b) const { return bytewise_ ? a.compare(b) : comparator_->Compare(a, b); }
    [[nodiscard]] const Comparator* comparator() const { return comparator_; }

   private:
    const Comparator* comparator_;
    bool bytewise_;
  };

  // Returns the map in which all keys in [begin, end) have the number; begin < end. The keys are copied. `arena` must
  // have reserved BytesMax, and for each of the two keys its bytes and kKeyOverhead.
  static constexpr std::size_t kKeyOverhead = 4;
  [[nodiscard]] StretchMap With(const Order& order, Slice begin, Slice end, std::uint64_t number, Arena* arena) const;
  // Returns how many bytes `changes` calls of With, one after the other, take from the arena at most, without the keys.
  [[nodiscard]] std::size_t BytesMax(std::size_t changes) const;

  [[nodiscard]] std::uint64_t NumberOf(const Order& order, Slice key) const;
  // The largest interval around the key in which all keys have its number.
  [[nodiscard]] Stretch StretchOf(const Order& order, Slice key) const;
  // The largest interval around the key in which all keys have numbers, or all have 0. `number` is that of the key.
  [[nodiscard]] Stretch CoverOf(const Order& order, Slice key) const;
  // Calls emit(key, number) for each boundary, in order.
  template <typename Emit>
  void ForEach(Emit emit) const {
    if (root_ != nullptr) Visit(*root_, emit);
  }

  Status CheckInvariants(const Order& order) const;

 private:
  static constexpr unsigned kSlots = 11;
  static constexpr unsigned kHeightMax = 24;  // a node splits into halves of at least 6: over 10^17 changes
  struct Node;
  struct Pieces;
  struct Cut;
  class Place;

  // A leaf: a boundary and its number. A branch: a child and its first boundary.
  struct Slot {
    const char* key_bytes;
    union {
      std::uint64_t number;
      const Node* child;
    };
    [[nodiscard]] Slice key() const;
  };
  struct alignas(8) Node {
    std::uint16_t count;
    std::uint8_t level;  // 0: a leaf
    bool has_gap;        // a boundary of the subtree has the number 0
    // In memory `count` slots follow.
    [[nodiscard]] const Slot* slots() const { return reinterpret_cast<const Slot*>(this + 1); }
    [[nodiscard]] Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    [[nodiscard]] bool GapAt(unsigned i) const {
      return level == 0 ? slots()[i].number == 0 : slots()[i].child->has_gap;
    }
  };
  static_assert(sizeof(Slot) == 16 && sizeof(Node) == 8);

  explicit StretchMap(const Node* root) : root_(root) {}

  template <typename Emit>
  static void Visit(const Node& node, Emit& emit) {
    for (unsigned i = 0; i < node.count; ++i) {
      if (node.level == 0) {
        emit(node.slots()[i].key(), node.slots()[i].number);
      } else {
        Visit(*node.slots()[i].child, emit);
      }
    }
  }
  [[nodiscard]] static Pieces Replace(const Node& node, const Cut& cut);
  [[nodiscard]] static Pieces MakeNodes(unsigned level, const Slot* slots, unsigned count, Arena* arena);
  [[nodiscard]] static unsigned BegunBy(const Node& node, const Order& order, Slice key);
  static Status CheckNode(const Node& node, const Order& order);

  const Node* root_ = nullptr;
};

}  // namespace cambium
