#include "memtable/stretch_map.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>

#include "util/coding.h"
#include "util/result.h"

namespace cambium {
namespace {

// Keys are in the arena: 4 bytes of length, then the key.
const char* CopyKey(Slice key, Arena* arena) {
  char* bytes = arena->TakeBytes(StretchMap::kKeyOverhead + key.size());
  EncodeFixed<std::uint32_t>(bytes, static_cast<std::uint32_t>(key.size()));
  if (!key.empty()) std::memcpy(bytes + StretchMap::kKeyOverhead, key.data(), key.size());
  return bytes;
}

}  // namespace

Slice StretchMap::Slot::key() const { return {key_bytes + kKeyOverhead, DecodeFixed<std::uint32_t>(key_bytes)}; }

// The nodes that a change puts in the place of one: none if nothing of it is left, two if it has split.
struct StretchMap::Pieces {
  const Node* nodes[2] = {};
  unsigned count = 0;
};

// A change of a subtree: the boundaries of `put` replace those from `begin` on and before `end`.
struct StretchMap::Cut {
  const Order& order;
  Arena* arena;
  const Slice* begin;  // null: before all keys
  const Slice* end;    // null: after all keys
  bool takes_end;      // a boundary at `end` goes, too
  const Slot* put;
  unsigned put_count;
};

// A boundary, and the way to it from the root.
class StretchMap::Place {
 public:
  // The last boundary at or before the key; none if !found().
  Place(const Node* root, const Order& order, Slice key) {
    for (const Node* node = root; node != nullptr;) {
      const unsigned begun = BegunBy(*node, order, key);
      if (begun == 0) return;  // only in the root: a branch knows the first keys of its children
      Push(node, begun - 1);
      node = node->level == 0 ? nullptr : node->slots()[begun - 1].child;
    }
  }
  [[nodiscard]] bool found() const { return height_ > 0; }
  [[nodiscard]] const Slot& slot() const {
    const Step& last = steps_[height_ - 1];
    return last.node->slots()[last.slot];
  }
  // These move to another boundary. False: there is none.
  bool ToNext() {
    return Climb(true, [](const Node&, unsigned) { return true; });
  }
  bool ToPrevious() {
    return Climb(false, [](const Node&, unsigned) { return true; });
  }
  bool ToNextGap() {
    return Climb(true, [](const Node& node, unsigned i) { return node.GapAt(i); });
  }
  bool ToLastGap() {
    return Climb(false, [](const Node& node, unsigned i) { return node.GapAt(i); });
  }

 private:
  struct Step {
    const Node* node;
    unsigned slot;
  };
  void Push(const Node* node, unsigned slot) {
    assert(height_ < kHeightMax);
    steps_[height_++] = {node, slot};
  }
  // Moves to the nearest boundary in the direction that is in a wanted slot of each node on the way.
  template <typename IsWanted>
  bool Climb(bool forward, IsWanted is_wanted) {
    while (height_ > 0) {
      const Step from = steps_[--height_];
      for (unsigned i = from.slot; forward ? ++i < from.node->count : i-- > 0;) {
        if (!is_wanted(*from.node, i)) continue;
        Push(from.node, i);
        Descend(forward, is_wanted);
        return true;
      }
    }
    return false;
  }
  template <typename IsWanted>
  void Descend(bool forward, IsWanted is_wanted) {
    while (steps_[height_ - 1].node->level > 0) {
      const Node* child = slot().child;
      unsigned i = forward ? 0 : child->count - 1u;
      while (!is_wanted(*child, i)) i += forward ? 1 : -1;
      Push(child, i);
    }
  }

  Step steps_[kHeightMax];
  unsigned height_ = 0;
};

// The number of slots whose key is at or before the key.
unsigned StretchMap::BegunBy(const Node& node, const Order& order, Slice key) {
  unsigned low = 0;
  unsigned high = node.count;
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (order.Compare(node.slots()[middle].key(), key) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---- Searching ----

std::uint64_t StretchMap::NumberOf(const Order& order, Slice key) const {
  const Place place(root_, order, key);
  return place.found() ? place.slot().number : 0;
}

StretchMap::Stretch StretchMap::StretchOf(const Order& order, Slice key) const {
  Stretch stretch;
  Place place(root_, order, key);
  if (place.found()) {
    stretch.number = place.slot().number;
    stretch.has_from = true;
    stretch.from = place.slot().key();
    stretch.has_to = place.ToNext();
    if (stretch.has_to) stretch.to = place.slot().key();
  } else if (root_ != nullptr) {
    stretch.has_to = true;
    stretch.to = root_->slots()[0].key();
  }
  return stretch;
}

StretchMap::Stretch StretchMap::CoverOf(const Order& order, Slice key) const {
  Stretch stretch = StretchOf(order, key);
  if (stretch.number == 0) return stretch;
  Place end(root_, order, key);
  const bool has_end = end.ToNextGap();
  assert(has_end && "the last boundary has the number 0");
  stretch.has_to = has_end;
  if (has_end) stretch.to = end.slot().key();
  // The boundary after the last gap, or the first of all.
  Place gap(root_, order, key);
  const bool begins_after_gap = gap.ToLastGap() && gap.ToNext();
  stretch.from = begins_after_gap ? gap.slot().key() : root_->slots()[0].key();
  return stretch;
}

// ---- Changing ----

StretchMap::Pieces StretchMap::MakeNodes(unsigned level, const Slot* slots, unsigned count, Arena* arena) {
  Pieces pieces;
  if (count == 0) return pieces;
  const unsigned nodes = count > kSlots ? 2 : 1;
  for (unsigned first = 0; pieces.count < nodes;) {
    const unsigned n = pieces.count + 1 == nodes ? count - first : count / 2;
    auto* node = new (arena->TakeLines(Arena::LinesOf(sizeof(Node) + n * sizeof(Slot))))
        Node{static_cast<std::uint16_t>(n), static_cast<std::uint8_t>(level), false};
    std::copy_n(slots + first, n, node->slots());
    for (unsigned i = 0; i < n; ++i) node->has_gap = node->has_gap || node->GapAt(i);
    pieces.nodes[pieces.count++] = node;
    first += n;
  }
  return pieces;
}

StretchMap::Pieces StretchMap::Replace(const Node& node, const Cut& cut) {
  Slot slots[kSlots + 2];
  unsigned count = 0;
  const auto keep = [&](unsigned from, unsigned to) {
    for (unsigned i = from; i < to; ++i) slots[count++] = node.slots()[i];
  };
  if (node.level == 0) {
    const auto before = [&](const Slice* bound, bool or_at, unsigned at_null) {
      unsigned i = 0;
      if (bound == nullptr) return at_null;
      while (i < node.count && cut.order.Compare(node.slots()[i].key(), *bound) < (or_at ? 1 : 0)) ++i;
      return i;
    };
    keep(0, before(cut.begin, false, 0));
    for (unsigned i = 0; i < cut.put_count; ++i) slots[count++] = cut.put[i];
    keep(before(cut.end, cut.takes_end, node.count), node.count);
    return MakeNodes(0, slots, count, cut.arena);
  }
  const auto add = [&](const Pieces& pieces) {
    for (unsigned i = 0; i < pieces.count; ++i) {
      slots[count].key_bytes = pieces.nodes[i]->slots()[0].key_bytes;
      slots[count++].child = pieces.nodes[i];
    }
  };
  const auto child_of = [&](Slice key) { return std::max(BegunBy(node, cut.order, key), 1u) - 1; };
  const auto child = [&](unsigned i) -> const Node& { return *node.slots()[i].child; };
  // Null bounds: the children from 0, or up to the last one, go as a whole.
  const unsigned first = cut.begin == nullptr ? 0 : child_of(*cut.begin);
  const unsigned last = cut.end == nullptr ? node.count - 1u : child_of(*cut.end);
  keep(0, first);
  if (cut.begin != nullptr && cut.end != nullptr && first == last) {
    add(Replace(child(first), cut));
  } else {
    if (cut.begin != nullptr) {
      add(Replace(child(first), {cut.order, cut.arena, cut.begin, nullptr, false, cut.put, cut.put_count}));
    }
    if (cut.end != nullptr) {
      add(Replace(child(last), {cut.order, cut.arena, nullptr, cut.end, cut.takes_end, nullptr, 0}));
    }
  }
  keep(last + 1, node.count);
  return MakeNodes(node.level, slots, count, cut.arena);
}

StretchMap StretchMap::With(const Order& order, Slice begin, Slice end, std::uint64_t number, Arena* arena) const {
  assert(order.Compare(begin, end) < 0);
  // Neighbouring stretches never have the same number.
  const Place at_end(root_, order, end);
  const std::uint64_t after = at_end.found() ? at_end.slot().number : 0;
  const bool has_boundary = at_end.found() && order.Compare(at_end.slot().key(), end) == 0;
  const Place at_begin(root_, order, begin);
  bool continues = number == 0 && !at_begin.found();
  if (at_begin.found()) {
    Place before = at_begin;
    const bool is_beyond = order.Compare(at_begin.slot().key(), begin) < 0;
    const bool has_before = is_beyond || before.ToPrevious();
    continues = (has_before ? before.slot().number : 0) == number;
  }
  Slot put[2];
  unsigned put_count = 0;
  const auto add = [&](Slice key, std::uint64_t its_number) {
    put[put_count].key_bytes = CopyKey(key, arena);
    put[put_count++].number = its_number;
  };
  if (!continues) add(begin, number);
  if (after != number && !has_boundary) add(end, after);
  if (root_ == nullptr) return StretchMap(MakeNodes(0, put, put_count, arena).nodes[0]);

  const Pieces pieces = Replace(*root_, {order, arena, &begin, &end, after == number, put, put_count});
  const Node* root = pieces.nodes[0];
  if (pieces.count == 2) {
    Slot halves[2];
    for (unsigned i = 0; i < 2; ++i) {
      halves[i].key_bytes = pieces.nodes[i]->slots()[0].key_bytes;
      halves[i].child = pieces.nodes[i];
    }
    root = MakeNodes(root_->level + 1u, halves, 2, arena).nodes[0];
  }
  while (root != nullptr && root->level > 0 && root->count == 1) root = root->slots()[0].child;
  return StretchMap(root);
}

// On each level a change makes at most two nodes on the way to its begin, and one on the way to its end. Each change
// splits at most one node of a level. A node that a split leaves has at least six children, so with g levels more there
// were more than 4^(g-1) changes.
std::size_t StretchMap::BytesMax(std::size_t changes) const {
  const std::size_t levels_more = (static_cast<std::size_t>(std::bit_width(changes)) + 1) / 2 + 1;
  const std::size_t height = (root_ == nullptr ? 0 : root_->level + 1u) + levels_more;
  return changes * 3 * (height + 1) * Arena::LinesOf(sizeof(Node) + kSlots * sizeof(Slot));
}

// ---- Tests ----

Status StretchMap::CheckInvariants(const Order& order) const {
  if (root_ == nullptr) return {};
  const auto wrong = [](const char* what) { return Status::Corruption(std::string("stretches: ") + what); };
  if (root_->level > 0 && root_->count < 2) return wrong("a root with one child");
  CAMBIUM_RETURN_IF_ERROR(CheckNode(*root_, order));
  std::uint64_t last_number = 0;
  Slice last_key;
  bool is_first = true;
  Status status;
  ForEach([&](Slice key, std::uint64_t number) {
    if (!is_first && order.Compare(last_key, key) >= 0) status = wrong("boundaries out of order");
    if (last_number == number) status = wrong("two stretches of the same number in a row");
    is_first = false;
    last_key = key;
    last_number = number;
  });
  if (status.ok() && last_number != 0) status = wrong("no end");
  return status;
}

Status StretchMap::CheckNode(const Node& node, const Order& order) {
  const auto wrong = [](const char* what) { return Status::Corruption(std::string("stretches: ") + what); };
  if (node.count == 0 || node.count > kSlots) return wrong("impossible count");
  bool has_gap = false;
  for (unsigned i = 0; i < node.count; ++i) {
    has_gap = has_gap || node.GapAt(i);
    if (node.level == 0) continue;
    const Node& child = *node.slots()[i].child;
    if (child.level + 1u != node.level) return wrong("a child of another level");
    if (order.Compare(child.slots()[0].key(), node.slots()[i].key()) != 0) return wrong("another first key");
    CAMBIUM_RETURN_IF_ERROR(CheckNode(child, order));
  }
  return has_gap == node.has_gap ? Status::OK() : wrong("a node that is wrong about gaps");
}

}  // namespace cambium
