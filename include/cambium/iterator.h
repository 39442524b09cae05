// Iterator: walks the keys of a database in order.
#pragma once

#include <cstdint>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

// Shows the state at its creation (or of ReadOptions::snapshot), whatever is written later. One thread at a time. It
// must be deleted before the database is closed. A new iterator is not positioned.
class Iterator {
 public:
  Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  virtual ~Iterator() = default;

  [[nodiscard]] virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice target) = 0;         // the first key >= target
  virtual void SeekForPrev(Slice target) = 0;  // the last key <= target
  virtual void Next() = 0;                     // requires Valid()
  virtual void Prev() = 0;                     // requires Valid()

  // Requires Valid(); lives until the iterator moves.
  [[nodiscard]] virtual Slice key() const = 0;
  // Requires Valid(). Fetched when first asked for; walking keys alone reads no value. If it cannot be read the slice
  // is empty, Valid() turns false and status() says why. Lives until the iterator moves.
  [[nodiscard]] virtual Slice value() const = 0;
  // Fetches the value now; false if it cannot be read, with Valid() and status() as above. Needed before value() with
  // ReadOptions::allow_unprepared_value.
  virtual bool PrepareValue() = 0;
  // Bytes of the value without fetching it, as far as the index knows: exact for inline and uncompressed values within
  // 0.8 %, what is stored of compressed ones. Requires Valid().
  [[nodiscard]] virtual std::uint64_t ValueSize() const = 0;

  // OK at the end of the range; else why the iterator is not valid. Cleared by the next Seek*.
  [[nodiscard]] virtual Status status() const = 0;
};

}  // namespace cambium
