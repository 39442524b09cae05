// SharedTable: rows in the order of their keys. A copy shares the rows with its origin, and a change copies only a few
// of them:
//
//   parts_ ─▶ [first key, rows] [first key, rows] ...     each with at most kRowsMax rows; shared between copies
//
// So a table of n rows is copied and changed in O(n / kRowsMax + kRowsMax), while readers of other copies go on.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

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

 private:
  static constexpr std::size_t kRowsMax = 64;
  using Rows = std::vector<Row>;
  struct Part {
    Key first;                   // of rows->front()
    std::shared_ptr<Rows> rows;  // not empty; changed only while no other table has it
  };

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
    reference operator*() const { return (*(*parts_)[part_].rows)[row_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      if (++row_ == (*parts_)[part_].rows->size()) {
        ++part_;
        row_ = 0;
      }
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
    Iterator(const SharedTable* table, std::size_t part, std::size_t row)
        : parts_(&table->parts_), part_(part), row_(row) {}
    const std::vector<Part>* parts_ = nullptr;
    std::size_t part_ = 0;
    std::size_t row_ = 0;
  };
  using const_iterator = Iterator;
  using value_type = Row;

  [[nodiscard]] Iterator begin() const { return {this, 0, 0}; }
  [[nodiscard]] Iterator end() const { return {this, parts_.size(), 0}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // The row with the least key. The table is not empty.
  [[nodiscard]] const Row& front() const {
    assert(!empty());
    return parts_.front().rows->front();
  }

  [[nodiscard]] Iterator find(const Key& key) const {
    const Place place = PlaceOf(key);
    return place.is_there ? Iterator(this, place.part, place.row) : end();
  }
  [[nodiscard]] bool contains(const Key& key) const { return PlaceOf(key).is_there; }

  // Adds the row, or replaces the row that has its key.
  void Set(Row row) {
    const Place place = PlaceOf(KeyOf{}(row));
    if (parts_.empty()) return Insert(0, std::make_shared<Rows>(1, std::move(row)));
    if (place.is_there) {
      auto changed = std::make_shared<Rows>(*parts_[place.part].rows);
      (*changed)[place.row] = std::move(row);
      parts_[place.part].rows = std::move(changed);
      return;
    }
    const Rows& rows = *parts_[place.part].rows;
    if (rows.size() == kRowsMax && place.part + 1 == parts_.size() && place.row == kRowsMax) {
      return Insert(parts_.size(), std::make_shared<Rows>(1, std::move(row)));  // keys that ascend fill the parts
    }
    Rows changed;
    changed.reserve(rows.size() + 1);
    changed.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(place.row));
    changed.push_back(std::move(row));
    changed.insert(changed.end(), rows.begin() + static_cast<std::ptrdiff_t>(place.row), rows.end());
    SetRows(place.part, std::move(changed));
  }

  // Returns the row, for a change that does not change its key; null if there is none. The pointer is valid until the
  // table is changed or copied.
  [[nodiscard]] Row* Mutable(const Key& key) {
    const Place place = PlaceOf(key);
    if (!place.is_there) return nullptr;
    parts_[place.part].rows = std::make_shared<Rows>(*parts_[place.part].rows);
    return &(*parts_[place.part].rows)[place.row];
  }

  // Returns the number of rows removed, 0 or 1.
  std::size_t erase(const Key& key) {
    const Place place = PlaceOf(key);
    if (!place.is_there) return 0;
    Rows rows = *parts_[place.part].rows;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(place.row));
    std::size_t part = place.part;
    // Small neighbours are joined, so that a table that shrinks does not end in many parts with one row each.
    const std::size_t other = part + 1 < parts_.size() ? part + 1 : part - 1;
    if (parts_.size() > 1 && rows.size() + parts_[other].rows->size() <= kRowsMax / 2) {
      const Rows& its = *parts_[other].rows;
      rows.insert(other > part ? rows.end() : rows.begin(), its.begin(), its.end());
      auto joined = std::make_shared<Rows>(std::move(rows));
      part = std::min(part, other);
      Put(part, nullptr);
      Put(part, std::move(joined));
    } else {
      Put(part, rows.empty() ? nullptr : std::make_shared<Rows>(std::move(rows)));
    }
    assert(size_ > 0);
    --size_;
    return 1;
  }

  friend bool operator==(const SharedTable& a, const SharedTable& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  struct Place {
    std::size_t part = 0;
    std::size_t row = 0;  // where the key is, or would be
    bool is_there = false;
  };

  // The part is the last one whose first key is not above `key`; if all are above, the first one.
  [[nodiscard]] Place PlaceOf(const Key& key) const {
    Place place;
    if (parts_.empty()) return place;
    const auto above = std::ranges::upper_bound(parts_, key, std::less<>(), &Part::first);
    if (above != parts_.begin()) place.part = static_cast<std::size_t>(above - parts_.begin()) - 1;
    const Rows& rows = *parts_[place.part].rows;
    const auto row = std::ranges::lower_bound(rows, key, std::less<>(), KeyOf());
    place.row = static_cast<std::size_t>(row - rows.begin());
    place.is_there = row != rows.end() && !(key < KeyOf{}(*row));
    return place;
  }

  void Insert(std::size_t part, std::shared_ptr<Rows> rows) {
    assert(part <= parts_.size() && !rows->empty());
    Key first = KeyOf{}(rows->front());
    parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(part), Part{std::move(first), std::move(rows)});
    ++size_;
  }

  // Replaces the rows of a part by `rows`, which has one row more. Splits them if they are too many.
  void SetRows(std::size_t part, Rows rows) {
    if (rows.size() <= kRowsMax) {
      Put(part, std::make_shared<Rows>(std::move(rows)));
      ++size_;
      return;
    }
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
    auto upper = std::make_shared<Rows>(middle, rows.end());
    auto lower = std::make_shared<Rows>(rows.begin(), middle);
    Insert(part + 1, std::move(upper));
    Put(part, std::move(lower));
  }

  // Replaces the rows of a part; null removes it. Allocates nothing.
  void Put(std::size_t part, std::shared_ptr<Rows> rows) {
    assert(part < parts_.size() && (rows == nullptr || !rows->empty()));
    if (rows == nullptr) {
      parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(part));
      return;
    }
    parts_[part].first = KeyOf{}(rows->front());
    parts_[part].rows = std::move(rows);
  }

  std::vector<Part> parts_;
  std::size_t size_ = 0;
};

}  // namespace cambium
