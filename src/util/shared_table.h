// SharedTable: rows in the order of their keys. A copy shares the rows with its origin, and a change copies only a few
// of them:
//
//   groups_ ─▶ [first key, parts] [first key, parts] ...
//                          └─▶ [first key, rows] [first key, rows] ...
//                                          └─▶ row row row ...           parts and rows are shared between copies
//
// Parts and rows lie in nodes of at most kItemsMax. So a table of n rows is copied in O(n / kItemsMax^2): with 64 in a
// node, 40,000 rows lie in about ten groups. A change copies the nodes that lead to it, while readers of other copies
// go on. Several changes at once (Apply) copy each node once.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "util/mutant.h"

namespace cambium {

// The key of a row that is a pair of key and value.
struct FirstOfPair {
  template <typename Row>
  const auto& operator()(const Row& row) const {
    return row.first;
  }
};

// `KeyOf` returns the key of a row. Keys have operator<. Any number of threads may read a table and copy it; a change
// needs exclusive access to this copy. A change that throws leaves the table as it was.
template <typename Row, typename KeyOf = FirstOfPair>
class SharedTable {
 public:
  using Key = std::remove_cvref_t<std::invoke_result_t<KeyOf, const Row&>>;

  // Sets the row of `key`. Without a row, removes the row of `key`, if there is one.
  struct Change {
    Key key;
    std::optional<Row> row;
  };

 private:
  static constexpr std::size_t kItemsMax = 64;
  template <typename Item>
  struct Node {
    Key first;                                 // key of the first row
    std::shared_ptr<std::vector<Item>> items;  // not empty; constant, except rows copied by Mutable
  };
  using Rows = std::vector<Row>;
  using Part = Node<Row>;
  using Group = Node<Part>;
  using Changes = std::span<Change>;

 public:
  class Iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::forward_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using pointer = const Row*;
    using reference = const Row&;

    Iterator() = default;
    reference operator*() const { return rows()[row_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      if (++row_ < rows().size()) return *this;
      row_ = 0;
      if (++part_ < (*groups_)[group_].items->size()) return *this;
      part_ = 0;
      ++group_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class SharedTable;
    Iterator(const SharedTable* table, std::size_t group, std::size_t part, std::size_t row)
        : groups_(&table->groups_), group_(group), part_(part), row_(row) {}
    [[nodiscard]] const Rows& rows() const { return *(*(*groups_)[group_].items)[part_].items; }

    const std::vector<Group>* groups_ = nullptr;
    std::size_t group_ = 0;
    std::size_t part_ = 0;
    std::size_t row_ = 0;
  };
  using const_iterator = Iterator;
  using value_type = Row;

  [[nodiscard]] Iterator begin() const { return {this, 0, 0, 0}; }
  [[nodiscard]] Iterator end() const { return {this, groups_.size(), 0, 0}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // The row with the least key. The table is not empty.
  [[nodiscard]] const Row& front() const {
    assert(!empty());
    return groups_.front().items->front().items->front();
  }
  // The row with the largest key. The table is not empty.
  [[nodiscard]] const Row& back() const {
    assert(!empty());
    return groups_.back().items->back().items->back();
  }

  [[nodiscard]] Iterator find(const Key& key) const {
    if (groups_.empty()) return end();
    const std::size_t group = NodeOf(groups_, key);
    const std::vector<Part>& parts = *groups_[group].items;
    const std::size_t part = NodeOf(parts, key);
    const Rows& rows = *parts[part].items;
    const auto row = std::ranges::lower_bound(rows, key, std::less<>(), KeyOf());
    if (row == rows.end() || key < KeyOf{}(*row)) return end();
    return {this, group, part, static_cast<std::size_t>(row - rows.begin())};
  }
  [[nodiscard]] bool contains(const Key& key) const { return find(key) != end(); }

  // Makes all changes or, if one throws, none. Their keys ascend.
  void Apply(std::vector<Change> changes) {
    assert(std::ranges::adjacent_find(changes, [](const Change& a, const Change& b) { return !(a.key < b.key); }) ==
           changes.end());
    if (changes.empty()) return;
    std::size_t size = size_;
    std::vector<Group> changed = Changed(groups_, changes, /*is_last=*/true, &size);
    groups_ = std::move(changed);
    size_ = size;
  }

  // Adds the row, or replaces the row that has its key.
  void Set(Row row) {
    std::vector<Change> change;
    Key key = KeyOf{}(row);
    change.push_back({std::move(key), std::move(row)});
    Apply(std::move(change));
  }

  // Returns the row, for a change that does not change its key; null if there is none. The pointer is valid until the
  // table is changed or copied.
  [[nodiscard]] Row* Mutable(const Key& key) {
    const Iterator found = find(key);
    if (found == end()) return nullptr;
    auto rows = std::make_shared<Rows>(found.rows());
    auto parts = std::make_shared<std::vector<Part>>(*groups_[found.group_].items);
    (*parts)[found.part_].items = rows;
    groups_[found.group_].items = std::move(parts);
    return &(*rows)[found.row_];
  }

  // Returns the number of rows removed, 0 or 1.
  std::size_t erase(const Key& key) {
    if (!contains(key)) return 0;
    std::vector<Change> change;
    change.push_back({key, std::nullopt});
    Apply(std::move(change));
    return 1;
  }

  friend bool operator==(const SharedTable& a, const SharedTable& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  static Key FirstKey(const Row& row) { return KeyOf{}(row); }
  template <typename Item>
  static const Key& FirstKey(const Node<Item>& node) {
    return node.first;
  }

  // The last node whose first key is not above `key`; if all are above, the first one. There is one.
  template <typename Item>
  [[nodiscard]] static std::size_t NodeOf(const std::vector<Node<Item>>& nodes, const Key& key) {
    const auto above = std::ranges::upper_bound(nodes, key, std::less<>(), &Node<Item>::first);
    return above == nodes.begin() ? 0 : static_cast<std::size_t>(above - nodes.begin()) - 1;
  }

  // Returns the rows as the changes make them, and moves the rows out of `changes`. Adds to *size the growth of their
  // number.
  static Rows Changed(const Rows& rows, Changes changes, bool /*is_last*/, std::size_t* size) {
    Rows changed;
    changed.reserve(rows.size() + changes.size());
    auto row = rows.begin();
    for (Change& change : changes) {
      while (row != rows.end() && KeyOf{}(*row) < change.key) changed.push_back(*row++);
      if (row != rows.end() && !(change.key < KeyOf{}(*row))) ++row;
      if (change.row.has_value()) changed.push_back(*std::move(change.row));
    }
    changed.insert(changed.end(), row, rows.end());
    *size += changed.size() - rows.size();  // unsigned: if rows are fewer, both results wrap
    return changed;
  }

  // The same for nodes. `is_last`: they are the last ones of the table.
  template <typename Item>
  static std::vector<Node<Item>> Changed(const std::vector<Node<Item>>& nodes, Changes changes, bool is_last,
                                         std::size_t* size) {
    std::vector<Node<Item>> changed;
    changed.reserve(nodes.size() + 1);
    if (nodes.empty()) {
      Append(Changed(std::vector<Item>(), changes, is_last, size), is_last, &changed);
      return changed;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const bool is_last_node = i + 1 == nodes.size();
      auto end = changes.end();
      if (!is_last_node) end = std::ranges::lower_bound(changes, nodes[i + 1].first, std::less<>(), &Change::key);
      const Changes its(changes.begin(), end);
      changes = Changes(end, changes.end());
      if (its.empty()) {
        AppendNode(nodes[i], &changed);
      } else {
        Append(Changed(*nodes[i].items, its, is_last && is_last_node, size), is_last && is_last_node, &changed);
      }
    }
    return changed;
  }

  // Appends nodes with the items. If there are too many items for one node, divides them evenly. But items at the end
  // of the table fill their nodes, because most new keys are larger than all others.
  template <typename Item>
  static void Append(std::vector<Item> items, bool is_last, std::vector<Node<Item>>* nodes) {
    const bool is_flat = std::is_same_v<Item, Part> && MutantIs(Mutant::kGroupsOfOnePart);
    const std::size_t items_max = is_flat ? 1 : kItemsMax;
    const std::size_t count = (items.size() + items_max - 1) / items_max;
    if (count == 1) return AppendNode(NodeWith(std::move(items)), nodes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = is_last ? i * items_max : items.size() * i / count;
      const std::size_t end = is_last ? std::min(items.size(), begin + items_max) : items.size() * (i + 1) / count;
      const auto first = std::make_move_iterator(items.begin());
      AppendNode(NodeWith(std::vector<Item>(first + static_cast<std::ptrdiff_t>(begin),
                                            first + static_cast<std::ptrdiff_t>(end))),
                 nodes);
    }
  }

  template <typename Item>
  static Node<Item> NodeWith(std::vector<Item> items) {
    Key first = FirstKey(items.front());
    return {std::move(first), std::make_shared<std::vector<Item>>(std::move(items))};
  }

  // Small neighbours are joined, so that a table that shrinks does not end in many nodes with one item each.
  template <typename Item>
  static void AppendNode(Node<Item> node, std::vector<Node<Item>>* nodes) {
    const bool is_flat = std::is_same_v<Item, Part> && MutantIs(Mutant::kGroupsOfOnePart);
    if (nodes->empty() || nodes->back().items->size() + node.items->size() > kItemsMax / 2 || is_flat) {
      return nodes->push_back(std::move(node));
    }
    std::vector<Item> joined;
    joined.reserve(nodes->back().items->size() + node.items->size());
    joined.insert(joined.end(), nodes->back().items->begin(), nodes->back().items->end());
    joined.insert(joined.end(), node.items->begin(), node.items->end());
    nodes->back().items = std::make_shared<std::vector<Item>>(std::move(joined));
  }

  std::vector<Group> groups_;
  std::size_t size_ = 0;
};

}  // namespace cambium
