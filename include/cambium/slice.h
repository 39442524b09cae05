// Slice: a borrowed range of bytes.
#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace cambium {

// A pointer and a length, passed by value. It owns nothing: the bytes must outlive every use of the slice. Bytes are
// compared as unsigned, and may include zeros. Any thread may read a slice while its bytes do not change.
class Slice {
 public:
  constexpr Slice() = default;
  constexpr Slice(const char* data, std::size_t size) : data_(data), size_(size) {}
  Slice(const std::string& s) : data_(s.data()), size_(s.size()) {}                 // NOLINT: implicit, as users expect
  constexpr Slice(std::string_view s) : data_(s.data()), size_(s.size()) {}         // NOLINT
  Slice(const char* s) : data_(s), size_(s == nullptr ? 0 : std::strlen(s)) {}      // NOLINT

  [[nodiscard]] constexpr const char* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr const char* begin() const { return data_; }
  [[nodiscard]] constexpr const char* end() const { return data_ + size_; }

  char operator[](std::size_t i) const {
    assert(i < size_);
    return data_[i];
  }

  void clear() { *this = Slice(); }
  void remove_prefix(std::size_t n) {
    assert(n <= size_);
    data_ += n;
    size_ -= n;
  }
  void remove_suffix(std::size_t n) {
    assert(n <= size_);
    size_ -= n;
  }
  [[nodiscard]] Slice substr(std::size_t from, std::size_t n) const {
    assert(from <= size_ && n <= size_ - from);
    return {data_ + from, n};
  }

  [[nodiscard]] std::string ToString() const { return {data_, size_}; }
  // If `hex`, two lower-case hexadecimal digits per byte; otherwise the bytes themselves.
  [[nodiscard]] std::string ToString(bool hex) const;
  [[nodiscard]] constexpr std::string_view ToStringView() const { return {data_, size_}; }

  // < 0, 0 or > 0: unsigned byte order; a prefix is less than the longer slices that begin with it.
  [[nodiscard]] int compare(Slice other) const {
    const std::size_t n = size_ < other.size_ ? size_ : other.size_;
    const int order = n == 0 ? 0 : std::memcmp(data_, other.data_, n);
    if (order != 0) return order;
    return size_ < other.size_ ? -1 : size_ > other.size_ ? 1 : 0;
  }
  [[nodiscard]] bool starts_with(Slice prefix) const {
    return size_ >= prefix.size_ && (prefix.size_ == 0 || std::memcmp(data_, prefix.data_, prefix.size_) == 0);
  }
  [[nodiscard]] bool ends_with(Slice suffix) const {
    return size_ >= suffix.size_ &&
           (suffix.size_ == 0 || std::memcmp(data_ + size_ - suffix.size_, suffix.data_, suffix.size_) == 0);
  }

  friend bool operator==(Slice a, Slice b) {
    return a.size_ == b.size_ && (a.size_ == 0 || std::memcmp(a.data_, b.data_, a.size_) == 0);
  }
  friend std::strong_ordering operator<=>(Slice a, Slice b) { return a.compare(b) <=> 0; }

 private:
  const char* data_ = "";
  std::size_t size_ = 0;
};

// A key or a value that lies in several pieces of memory, one after another. The pieces must exist during the call.
struct SliceParts {
  SliceParts() = default;
  SliceParts(const Slice* its_parts, int count) : parts(its_parts), num_parts(count) {}
  const Slice* parts = nullptr;
  int num_parts = 0;  // none, or negative: empty
};

}  // namespace cambium
