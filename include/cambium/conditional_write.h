// Writes that take effect only if keys have the values, or the versions, that the caller expects: compare and set,
// without a transaction.
//
//   // Raises a counter that any number of threads raise:
//   for (bool written = false; s.ok() && !written;) {
//     s = db->Get({}, "counter", &old);
//     if (s.ok()) s = CompareAndSet(db, {}, "counter", old, Next(old), &written);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
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
  // The key was not written since GetWithVersion returned this version. 0: the key does not exist.
  WriteConditions& IsUnchanged(ColumnFamilyHandle* family, Slice key, SequenceNumber version);
  WriteConditions& IsUnchanged(Slice key, SequenceNumber version) { return IsUnchanged(nullptr, key, version); }

  [[nodiscard]] std::size_t Count() const { return all_.size(); }
  void Clear() { all_.clear(); }

 private:
  friend class ConditionalWrite;
  enum class Kind : unsigned char { kIsAbsent, kHasValue, kIsUnchanged };
  struct One {
    ColumnFamilyHandle* family;
    std::string key;
    Kind kind;
    std::string value;       // of kHasValue
    SequenceNumber version;  // of kIsUnchanged
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
// WriteOptions::sync applies to the batch. What a compaction filter changes counts as no write, except that a value in
// the log gets another version.
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


// ---- Versions ----
//
// The version of a value is the sequence number of its write: each put gives the key another one, even if the value is
// the same. So a key that was changed and changed back has another version.
//
//   s = GetWithVersion(db, {}, nullptr, "config", &value, &version);
//   if (s.ok()) s = PutIfUnchanged(db, {}, "config", version, Edit(value), &written);   // false: read it again

// As DB::Get, and sets *version to the version of the value; to 0 if the key does not exist (NotFound), and after an
// error. `db` is any open database, a TransactionDB included; a null family is the default one. Any thread.
//
// A column family keeps versions from the first call on that finds a value in it, as long as it exists: values that are
// stored in its index (below ColumnFamilyOptions::min_blob_size) then take 8 bytes more. From then on, releases of
// Cambium that do not know this, such as 0.1, refuse to open the database. A value in the index that was flushed before
// that call has as its version the number of the last operation that was flushed then.
//
//   TryAgain       the value is flushed, and ReadOptions::snapshot is older than the versions that the family keeps
//   NotSupported   the value has a file of its own (above large_value_size); or it is stored in the index, the family
//                  does not keep versions yet, and the database is open for reading only
//   others         as from DB::Get; and errors of writing the MANIFEST, from the first such call
//
// A version remains valid after a reopen, in checkpoints and in backups, but not after a salvage or an import, which
// write all values again. If a power cut takes writes that were not synced, others get their numbers: a program that
// stores versions elsewhere reads them with ReadOptions::durable_only.
Status GetWithVersion(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value,
                      SequenceNumber* version);

// WriteIf for one key with the condition IsUnchanged: puts the value, or deletes the key, if the key was not written
// since GetWithVersion returned `version`. 0: if the key does not exist.
//
// Besides the results of WriteIf: TryAgain if that is not known, because the version was read at a snapshot, or in a
// database open for reading only, from before the family kept versions. Then read it again.
Status PutIfUnchanged(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key,
                      SequenceNumber version, Slice value, bool* written);
Status PutIfUnchanged(DB* db, const WriteOptions& options, Slice key, SequenceNumber version, Slice value,
                      bool* written);
Status DeleteIfUnchanged(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, Slice key,
                         SequenceNumber version, bool* written);
Status DeleteIfUnchanged(DB* db, const WriteOptions& options, Slice key, SequenceNumber version, bool* written);

}  // namespace cambium
