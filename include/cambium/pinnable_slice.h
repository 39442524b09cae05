// PinnableSlice: the bytes of a value, either owned, or borrowed until the slice is changed or destroyed. A database
// returns owned bytes, and uses their memory again from one Get to the next. With ReadOptions::pin_mapped_values it may
// return bytes of a mapped file: change or destroy such a slice before you close the database.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "cambium/slice.h"

namespace cambium {

// Move-only. One thread at a time.
class PinnableSlice : public Slice {
 public:
  PinnableSlice() = default;
  ~PinnableSlice() { Unpin(); }
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;
  PinnableSlice(PinnableSlice&& other) noexcept { *this = std::move(other); }
  PinnableSlice& operator=(PinnableSlice&& other) noexcept {
    if (this == &other) return *this;
    Unpin();
    release_ = std::exchange(other.release_, nullptr);
    const std::less_equal<> is_not_after;  // also orders pointers into different objects
    if (is_not_after(other.self_.data(), other.data()) &&
        is_not_after(other.data(), other.self_.data() + other.self_.size())) {
      const auto offset = static_cast<std::size_t>(other.data() - other.self_.data());
      const std::size_t part_size = other.size();
      self_ = std::move(other.self_);
      Slice::operator=(Slice(self_.data() + offset, part_size));
    } else {
      Slice::operator=(static_cast<const Slice&>(other));
    }
    other.Slice::operator=(Slice());
    return *this;
  }

  // Borrows `bytes`; calls `release` when done with them.
  void PinSlice(Slice bytes, std::function<void()> release) {
    Unpin();
    release_ = std::move(release);
    Slice::operator=(bytes);
  }
  // Owns a copy of `bytes`.
  void PinSelf(Slice bytes) {
    Unpin();
    self_.assign(bytes.data(), bytes.size());
    Slice::operator=(Slice(self_));
  }
  // Fill GetSelf(), then call PinSelf().
  [[nodiscard]] std::string* GetSelf() { return &self_; }
  void PinSelf() {
    Unpin();
    Slice::operator=(Slice(self_));
  }
  // Like PinSelf(), with `part`, which must lie in GetSelf().
  void PinSelfPart(Slice part) {
    Unpin();
    Slice::operator=(part);
  }
  void Reset() {
    Unpin();
    Slice::operator=(Slice());
  }
  [[nodiscard]] bool IsPinned() const { return release_ != nullptr; }

 private:
  void Unpin() {
    if (release_ != nullptr) std::exchange(release_, nullptr)();
  }
  std::string self_;
  std::function<void()> release_;
};

}  // namespace cambium
