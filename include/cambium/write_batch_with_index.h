// WriteBatchWithIndex: a write batch that can be read before it is written. The names and meanings are RocksDB's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cambium/comparator.h"
#include "cambium/iterator.h"
#include "cambium/options.h"
#include "cambium/pinnable_slice.h"
#include "cambium/slice.h"
#include "cambium/status.h"
#include "cambium/write_batch.h"

namespace cambium {

class ColumnFamilyHandle;
class DB;

// The numbers are RocksDB's.
enum class WriteType : unsigned char {
  kPutRecord = 0,
  kDeleteRecord = 2,
  kSingleDeleteRecord = 3,
  kDeleteRangeRecord = 4,
};

// An operation of a batch. The slices are valid until the batch changes.
struct WriteEntry {
  WriteType type = WriteType::kPutRecord;
  Slice key;
  Slice value;  // the value of a put, or the end of a range delete
};

// Walks the operations of one family on single keys, in the order of the keys. Operations on one key come in the order
// in which they were added. With overwrite_key each key has its newest operation only. Range deletes are not shown, and
// hide nothing.
//
// The batch may change: an iterator then continues at the first key that is not before its own. Delete it before the
// batch. One thread at a time, the batch included.
class WBWIIterator {
 public:
  WBWIIterator() = default;
  WBWIIterator(const WBWIIterator&) = delete;
  WBWIIterator& operator=(const WBWIIterator&) = delete;
  virtual ~WBWIIterator() = default;

  [[nodiscard]] virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(Slice target) = 0;         // the first operation of the first key >= target
  virtual void SeekForPrev(Slice target) = 0;  // the last operation of the last key <= target
  // If Valid() is false, these do nothing.
  virtual void Next() = 0;
  virtual void Prev() = 0;
  // Requires Valid(), and that the batch has not changed since the last move.
  [[nodiscard]] virtual WriteEntry Entry() const = 0;
  // Always OK.
  [[nodiscard]] virtual Status status() const = 0;
};

// One thread at a time. Takes the memory of its batch, and about 60 bytes for each operation.
//
// The operations, limits and errors are those of WriteBatch. An operation that the batch refuses is not in the index.
// A family's keys have the order of its handle's comparator; those of operations without a handle have the order of
// `comparator`, which must be that of the default family.
class WriteBatchWithIndex {
 public:
  // With `overwrite_key`, the index has only the newest operation of each key; the batch still has all of them.
  // `max_bytes`: an operation that would make the serialised batch larger returns Aborted and is left out; the rest of
  // the batch can be written. 0: no limit.
  explicit WriteBatchWithIndex(const Comparator* comparator = BytewiseComparator(), std::size_t reserved_bytes = 0,
                               bool overwrite_key = false, std::size_t max_bytes = 0);
  ~WriteBatchWithIndex();
  WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept;
  WriteBatchWithIndex& operator=(WriteBatchWithIndex&&) noexcept;

  Status Put(ColumnFamilyHandle* family, Slice key, Slice value);
  Status Put(Slice key, Slice value) { return Put(nullptr, key, value); }
  Status Delete(ColumnFamilyHandle* family, Slice key);
  Status Delete(Slice key) { return Delete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* family, Slice key);
  Status SingleDelete(Slice key) { return SingleDelete(nullptr, key); }
  // Deletes the keys in [begin, end) as they are at this point of the batch. Reads of the batch take it into account.
  // InvalidArgument if begin is greater than end.
  Status DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end);
  Status DeleteRange(Slice begin, Slice end) { return DeleteRange(nullptr, begin, end); }
  // Returns NotSupported: the operation is refused.
  Status Merge(Slice key, Slice operand);
  void Clear();

  // The batch, for DB::Write. It must not be changed through this pointer.
  [[nodiscard]] WriteBatch* GetWriteBatch();
  [[nodiscard]] std::size_t GetDataSize() const;
  [[nodiscard]] bool GetOverwriteKey() const;
  // Changes max_bytes, as in the constructor, for the operations that follow.
  void SetMaxBytes(std::size_t max_bytes);

  // A rollback removes what was added since the newest save point, which it also removes. The next read of the batch
  // then takes as long as adding the remaining operations again. NotFound without a save point.
  void SetSavePoint();
  Status RollbackToSavePoint();
  Status PopSavePoint();

  // ---- Reading ----
  // The value that a Get would find if only this batch were written. NotFound if the batch says nothing about the key,
  // or deletes it.
  Status GetFromBatch(ColumnFamilyHandle* family, const DBOptions& options, Slice key, std::string* value);
  Status GetFromBatch(const DBOptions& options, Slice key, std::string* value) {
    return GetFromBatch(nullptr, options, key, value);
  }
  // The value that a Get would find if this batch were written to what `options` read.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                           std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, Slice key,
                           PinnableSlice* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, Slice key, std::string* value) {
    return GetFromBatchAndDB(db, options, nullptr, key, value);
  }
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, Slice key, PinnableSlice* value) {
    return GetFromBatchAndDB(db, options, nullptr, key, value);
  }
  // The same for many keys of one family. Keys that the batch does not decide are read together.
  void MultiGetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count,
                              const Slice* keys, PinnableSlice* values, Status* statuses);

  // The caller deletes the iterators, before the batch.
  [[nodiscard]] WBWIIterator* NewIterator(ColumnFamilyHandle* family);
  [[nodiscard]] WBWIIterator* NewIterator() { return NewIterator(nullptr); }
  // An iterator over what `base` shows with this batch applied. It owns `base`, which must be an iterator over the same
  // family. `options` are those of `base`: its bounds also apply to keys of the batch. Null: no bounds. The batch may
  // change: moves then see the changed batch. Until the next move, a change may invalidate key() and value().
  [[nodiscard]] Iterator* NewIteratorWithBase(ColumnFamilyHandle* family, Iterator* base,
                                              const ReadOptions* options = nullptr);
  [[nodiscard]] Iterator* NewIteratorWithBase(Iterator* base, const ReadOptions* options = nullptr) {
    return NewIteratorWithBase(nullptr, base, options);
  }

 private:
  friend class TransactionBase;

  // While it is off, operations are added to the batch but not to the index.
  void SetIndexing(bool is_on);

  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
