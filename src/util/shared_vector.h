// SharedVector: an immutable vector that copies share.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace cambium {

// Any number of threads may read a SharedVector and copy it; assigning needs exclusive access to this copy.
template <typename T>
class SharedVector {
 public:
  using const_iterator = typename std::vector<T>::const_iterator;
  using value_type = T;

  SharedVector() = default;
  // Not explicit, so that code can assign a std::vector.
  SharedVector(std::vector<T> items)  // NOLINT(google-explicit-constructor)
      : items_(items.empty() ? nullptr : std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedVector(std::initializer_list<T> items) : SharedVector(std::vector<T>(items)) {}

  // Valid as long as a copy lives.
  [[nodiscard]] const std::vector<T>& get() const {
    static const std::vector<T> kNone;
    return items_ == nullptr ? kNone : *items_;
  }
  operator const std::vector<T>&() const { return get(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const_iterator begin() const { return get().begin(); }
  [[nodiscard]] const_iterator end() const { return get().end(); }
  [[nodiscard]] std::size_t size() const { return get().size(); }
  [[nodiscard]] bool empty() const { return items_ == nullptr; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return get()[i]; }
  [[nodiscard]] const T& front() const { return get().front(); }
  [[nodiscard]] const T& back() const { return get().back(); }

  friend bool operator==(const SharedVector& a, const SharedVector& b) {
    return a.items_ == b.items_ || a.get() == b.get();
  }

 private:
  std::shared_ptr<const std::vector<T>> items_;  // null: no items
};

}  // namespace cambium
