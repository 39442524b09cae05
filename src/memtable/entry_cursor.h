// EntryCursor: walks the entries of a layer, or of several merged, in key order.
#pragma once

#include <cstddef>
#include <span>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "vlog/entry.h"

namespace cambium {

// Yields each key once, tombstones included. One thread at a time. A new cursor is not positioned.
// An error makes it invalid and stays until the next Seek*; status() tells an error from the end.
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
  // Both require Valid(); what they borrow lives until the cursor moves.
  [[nodiscard]] virtual Slice key() const = 0;
  [[nodiscard]] virtual Entry entry() const = 0;
  [[nodiscard]] virtual Status status() const = 0;

  // entry().kind, and a step and where it leads, in one call each: for those who walk over many entries.
  [[nodiscard]] virtual EntryKind kind() const { return entry().kind; }
  // Next or Prev; true, and the key, if there is an entry. If the cursor ChecksOrder, a key that is not strictly beyond the
  // one before it is its error, Corruption.
  virtual bool Advance(bool forward, Slice* key_there) {
    forward ? Next() : Prev();
    if (!Valid()) return false;
    *key_there = key();
    return true;
  }

  [[nodiscard]] virtual bool ChecksOrder() const { return false; }

  // Entries that may come next in this direction, nearest first, as far as they are at hand: a guess, so that their
  // values can be asked for early. Returns how many. Requires Valid(); what they borrow lives until the cursor moves.
  virtual std::size_t PeekAhead(bool /*forward*/, std::span<Entry> /*out*/) const { return 0; }
};

}  // namespace cambium
