// EntryCursor: walks the entries of a layer, or of several merged, in key order.
#pragma once

#include <cstddef>
#include <span>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "vlog/entry.h"

namespace cambium {

// Yields each key once, tombstones included. One thread at a time. A new cursor is not positioned.
// After an error the cursor is invalid until the next Seek*; status() tells an error from the end.
class EntryCursor {
 public:
  EntryCursor() = default;
  EntryCursor(const EntryCursor&) = delete;
  EntryCursor& operator=(const EntryCursor&) = delete;
  virtual ~EntryCursor() = default;

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice target) = 0;         // the first key >= target
  virtual void SeekForPrev(Slice target) = 0;  // the last key <= target
  virtual void Next() = 0;                     // requires Valid()
  virtual void Prev() = 0;                     // requires Valid()

  [[nodiscard]] virtual bool Valid() const = 0;
  // Both require Valid(). Their results are valid until the cursor moves.
  [[nodiscard]] virtual Slice key() const = 0;
  [[nodiscard]] virtual Entry entry() const = 0;
  [[nodiscard]] virtual Status status() const = 0;

  // As entry().kind, but cheaper for a walk over many entries.
  [[nodiscard]] virtual EntryKind kind() const { return entry().kind; }
  // Next or Prev, then Valid; if true, sets *key_there to the key. One call, for walks over many entries. If
  // ChecksOrder(), a key that is not strictly beyond the one before it makes the cursor fail with Corruption.
  virtual bool Advance(bool forward, Slice* key_there) {
    forward ? Next() : Prev();
    if (!Valid()) return false;
    *key_there = key();
    return true;
  }

  [[nodiscard]] virtual bool ChecksOrder() const { return false; }

  // Sets `out` to the entries likely to come next in this direction, nearest first, as far as they are in memory, so
  // that their values can be prefetched. Returns how many. Requires Valid(); the entries are valid until the cursor
  // moves.
  virtual std::size_t PeekAhead(bool /*forward*/, std::span<Entry> /*out*/) const { return 0; }
};

}  // namespace cambium
