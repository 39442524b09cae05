// Iterator: walks the keys of a database in order.
#pragma once

#include <cstdint>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

// Shows the state at its creation (or of ReadOptions::snapshot), whatever is written later. One thread at a time.
// Delete it before closing the database. A new iterator is not positioned.
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

  // Requires Valid(). Valid until the iterator moves.
  [[nodiscard]] virtual Slice key() const = 0;
  // Requires Valid(). The first call fetches the value; iterating over keys alone reads no values. If the value cannot
  // be read, the slice is empty, Valid() becomes false and status() says why. Valid until the iterator moves.
  [[nodiscard]] virtual Slice value() const = 0;
  // Fetches the value now. Returns false if it cannot be read; Valid() and status() are then as above. Must precede
  // value() if ReadOptions::allow_unprepared_value is set.
  virtual bool PrepareValue() = 0;
  // The size of the value in bytes, as far as the index knows it, without fetching the value: exact for inline values,
  // within 0.8 % for uncompressed separated ones, the stored size for compressed ones. Requires Valid().
  [[nodiscard]] virtual std::uint64_t ValueSize() const = 0;

  // OK at the end of the range; otherwise why the iterator is not valid. The next Seek* clears it.
  [[nodiscard]] virtual Status status() const = 0;
};

}  // namespace cambium
