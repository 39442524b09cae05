// Writes that take effect only if keys have the values that the caller expects: compare and set, without a transaction.
//
//   // Raises a counter that any number of threads raise:
//   for (bool written = false; s.ok() && !written;) {
//     s = db->Get({}, "counter", &old);
//     if (s.ok()) s = CompareAndSet(db, {}, "counter", old, Next(old), &written);
//   }
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cambium/db.h"

namespace cambium {

// The conditions under which a batch is written. One thread at a time. Copies the keys and values. Keeps the handles:
// they must exist until the last use. A null handle is the default family.
class WriteConditions {
 public:
  // The key does not exist.
  WriteConditions& IsAbsent(ColumnFamilyHandle* family, Slice key);
  WriteConditions& IsAbsent(Slice key) { return IsAbsent(nullptr, key); }
  // The key exists, with this value.
  WriteConditions& HasValue(ColumnFamilyHandle* family, Slice key, Slice value);
  WriteConditions& HasValue(Slice key, Slice value) { return HasValue(nullptr, key, value); }

  [[nodiscard]] std::size_t Count() const { return all_.size(); }
  void Clear() { all_.clear(); }

 private:
  friend class ConditionalWrite;
  struct One {
    ColumnFamilyHandle* family;
    std::string key;
    bool is_absent;
    std::string value;  // if it is not absent
  };
  std::vector<One> all_;
};

// Writes the batch if all conditions hold at the moment when it is written: no other write comes in between. `db` is
// any open database, a TransactionDB included. Any thread.
//
//   OK, *written true     the batch was written
//   OK, *written false    a condition does not hold, and nothing was written
//   others                as from DB::Write, and as from DB::Get for the keys of the conditions; *written is false.
//                         After a failed sync the batch may still be visible: see db.h
//
// Reads the keys of the conditions again, as often as another thread has written one of them meanwhile. The values are
// read whole. In a TransactionDB it also locks the keys of the batch and of the conditions, in the order of their
// bytes, and waits for them as TransactionDB::Write does: TimedOut after TransactionDBOptions::default_lock_timeout.
// WriteOptions::sync applies to the batch. What a compaction filter changes counts as no write.
Status WriteIf(DB* db, const WriteOptions& options, const WriteConditions& conditions, WriteBatch* batch,
               bool* written);

// WriteIf for one key, and a condition on the same key. The forms without a family are for the default family.
//
// Puts the value if the key does not exist.
Status PutIfAbsent(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value,
                   bool* written);
Status PutIfAbsent(DB* db, const WriteOptions& options, Slice key, Slice value, bool* written);
// Puts the value if the key has the value `expected`.
Status CompareAndSet(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice expected,
                     Slice value, bool* written);
Status CompareAndSet(DB* db, const WriteOptions& options, Slice key, Slice expected, Slice value, bool* written);
// Deletes the key if it has the value `expected`.
Status CompareAndDelete(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice expected,
                        bool* written);
Status CompareAndDelete(DB* db, const WriteOptions& options, Slice key, Slice expected, bool* written);

}  // namespace cambium
