// Iterator: walks the keys of a database in order.
#pragma once

#include <cstdint>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

// Shows the state at its creation (or of ReadOptions::snapshot), whatever is written later. One thread at a time.
// Delete it before closing the database. A new iterator is not positioned.
//
// If Valid(), the iterator is at an entry, and has its key and its value: each Seek*, Next and Prev reads the value of
// the entry that it finds. (With ReadOptions::allow_unprepared_value only PrepareValue reads values. Set it to iterate
// over keys alone.) If a key or a value cannot be read, for example because it is damaged, Valid() is false and
// status() returns the error, until the next Seek*. So this loop sees every entry, or ends with an error:
//
//   for (it->SeekToFirst(); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...
//
// If a call throws std::bad_alloc, status() is then Aborted, until the next Seek*.
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
  // If Valid() is false, these do nothing.
  virtual void Next() = 0;
  virtual void Prev() = 0;

  // Requires Valid(). Valid until the iterator moves.
  [[nodiscard]] virtual Slice key() const = 0;
  // Requires Valid(). Valid until the iterator moves.
  [[nodiscard]] virtual Slice value() const = 0;
  // With ReadOptions::allow_unprepared_value, must precede value(), which is otherwise empty for a separated value:
  // reads the value. Returns false if it cannot be read: then Valid() is false and status() returns the error. Without
  // the option, returns Valid().
  virtual bool PrepareValue() = 0;
  // The size of the value in bytes. If the value has not been read, the index gives the size: exact for inline values,
  // within 0.8 % for uncompressed separated ones, and the compressed size for compressed ones. Requires Valid().
  [[nodiscard]] virtual std::uint64_t ValueSize() const = 0;

  // OK at the end of the range and before the first Seek*; otherwise why the iterator is not valid.
  [[nodiscard]] virtual Status status() const = 0;
};

}  // namespace cambium
