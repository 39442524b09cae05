// Slice under RocksDB's name, and PinnableSlice with its constructor for a buffer of the caller's.
#pragma once

#include <string>
#include <utility>

#include "cambium/pinnable_slice.h"
#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"
#include "cambium/slice.h"

namespace rocksdb::inline on_cambium {

using cambium::Slice;
using cambium::SliceParts;

// The bytes of a value. With a buffer, each read puts the value into it, and the slice refers to the buffer; it is then
// never pinned. Move-only. One thread at a time.
class PinnableSlice : public Slice {
 public:
  PinnableSlice() = default;
  // `buffer` must outlive the slice. While the slice refers to it, change it only through the slice.
  explicit PinnableSlice(std::string* buffer) : buffer_(buffer) {}
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;
  PinnableSlice(PinnableSlice&& other) noexcept { *this = std::move(other); }
  PinnableSlice& operator=(PinnableSlice&& other) noexcept {
    if (this == &other) return *this;
    const bool shows_own = other.buffer_ == nullptr && !other.held_.IsPinned();
    const Slice shown = other;
    held_ = std::move(other.held_);
    buffer_ = std::exchange(other.buffer_, nullptr);
    Slice::operator=(shows_own ? static_cast<const Slice&>(held_) : shown);
    other.Slice::operator=(Slice());
    return *this;
  }

  // Borrows `bytes`; calls release(arg1, arg2) when done with them.
  void PinSlice(const Slice& bytes, void (*release)(void*, void*), void* arg1, void* arg2) {
    held_.PinSlice(bytes, [release, arg1, arg2] { release(arg1, arg2); });
    Slice::operator=(bytes);
  }
  // Keeps a copy of `bytes`.
  void PinSelf(const Slice& bytes) {
    const std::string copy = bytes.ToString();  // `bytes` may be a part of the replaced string
    held_.Reset();
    *GetSelf() = copy;
    PinSelf();
  }
  // Fill GetSelf(), then call PinSelf().
  [[nodiscard]] std::string* GetSelf() { return buffer_ != nullptr ? buffer_ : held_.GetSelf(); }
  void PinSelf() {
    held_.PinSelf();
    Slice::operator=(buffer_ != nullptr ? Slice(*buffer_) : static_cast<const Slice&>(held_));
  }
  void Reset() {
    held_.Reset();
    Slice::operator=(Slice());
  }
  [[nodiscard]] bool IsPinned() const { return held_.IsPinned(); }

  // If the bytes are not pinned, they are removed from the buffer too.
  void remove_prefix(std::size_t n) {
    assert(n <= size());
    Slice rest = *this;
    rest.remove_prefix(n);
    Keep(rest);
  }
  void remove_suffix(std::size_t n) {
    assert(n <= size());
    Slice rest = *this;
    rest.remove_suffix(n);
    Keep(rest);
  }

 private:
  friend struct Reading;

  void Keep(const Slice& rest) {
    if (IsPinned()) {
      Slice::operator=(rest);
    } else {
      PinSelf(rest);
    }
  }
  // Takes the value that a read has returned.
  void Take(cambium::PinnableSlice&& read) {
    if (buffer_ != nullptr) return PinSelf(read);
    held_ = std::move(read);
    Slice::operator=(held_);
  }

  cambium::PinnableSlice held_;  // pinned bytes; without a buffer, also bytes that are not pinned
  std::string* buffer_ = nullptr;
};

}  // namespace rocksdb::inline on_cambium
