// WriteBatchWithIndex: a write batch that can be read before it is written. See cambium/write_batch_with_index.h.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cambium/rocksdb_names/rocksdb/comparator.h"
#include "cambium/rocksdb_names/rocksdb/db.h"
#include "cambium/write_batch_with_index.h"

namespace rocksdb::inline on_cambium {

// kMergeRecord, kLogDataRecord, kXIDRecord, kPutEntityRecord: never returned.
enum WriteType : unsigned char {
  kPutRecord,
  kMergeRecord,
  kDeleteRecord,
  kSingleDeleteRecord,
  kDeleteRangeRecord,
  kLogDataRecord,
  kXIDRecord,
  kPutEntityRecord,
  kUnknownRecord,
};

struct WriteEntry {
  WriteType type = kUnknownRecord;
  Slice key;
  Slice value;
};

// Delete it before its batch.
class WBWIIterator {
 public:
  WBWIIterator(const WBWIIterator&) = delete;
  WBWIIterator& operator=(const WBWIIterator&) = delete;
  virtual ~WBWIIterator() = default;

  [[nodiscard]] bool Valid() const { return rep_->Valid(); }
  void SeekToFirst() { rep_->SeekToFirst(); }
  void SeekToLast() { rep_->SeekToLast(); }
  void Seek(const Slice& target) { rep_->Seek(target); }
  void SeekForPrev(const Slice& target) { rep_->SeekForPrev(target); }
  void Next() { rep_->Next(); }
  void Prev() { rep_->Prev(); }
  [[nodiscard]] WriteEntry Entry() const;
  [[nodiscard]] Status status() const { return rep_->status(); }

 private:
  friend class WriteBatchWithIndex;
  explicit WBWIIterator(std::unique_ptr<cambium::WBWIIterator> rep) : rep_(std::move(rep)) {}
  const std::unique_ptr<cambium::WBWIIterator> rep_;
};

// Unlike RocksDB's, it takes range deletes, which its reads take into account.
class WriteBatchWithIndex {
 public:
  // `protection_bytes_per_key` has no effect.
  explicit WriteBatchWithIndex(const Comparator* comparator = BytewiseComparator(), std::size_t reserved_bytes = 0,
                               bool overwrite_key = false, std::size_t max_bytes = 0,
                               std::size_t protection_bytes_per_key = 0);
  virtual ~WriteBatchWithIndex();
  WriteBatchWithIndex(WriteBatchWithIndex&&) noexcept;
  WriteBatchWithIndex& operator=(WriteBatchWithIndex&&) noexcept;

  // The batch with Cambium's names. Belongs to this object, or to the transaction.
  [[nodiscard]] cambium::WriteBatchWithIndex* OnCambium() const { return rep_; }

  Status Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value) { return rep_->Put(family, key, value); }
  Status Put(const Slice& key, const Slice& value) { return rep_->Put(key, value); }
  Status Delete(ColumnFamilyHandle* family, const Slice& key) { return rep_->Delete(family, key); }
  Status Delete(const Slice& key) { return rep_->Delete(key); }
  Status SingleDelete(ColumnFamilyHandle* family, const Slice& key) { return rep_->SingleDelete(family, key); }
  Status SingleDelete(const Slice& key) { return rep_->SingleDelete(key); }
  Status DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end) {
    return rep_->DeleteRange(family, begin, end);
  }
  Status DeleteRange(const Slice& begin, const Slice& end) { return rep_->DeleteRange(begin, end); }
  // Refused: the batch then cannot be written.
  Status Merge(ColumnFamilyHandle* /*family*/, const Slice& key, const Slice& operand) { return Merge(key, operand); }
  Status Merge(const Slice& key, const Slice& operand) { return rep_->Merge(key, operand); }
  void Clear() { rep_->Clear(); }

  // A copy of the batch as it is now, to be written, for example. Valid until the next call of this function, and until
  // this object is deleted.
  [[nodiscard]] WriteBatch* GetWriteBatch();
  [[nodiscard]] std::size_t GetDataSize() const { return rep_->GetDataSize(); }
  [[nodiscard]] bool GetOverwriteKey() const { return rep_->GetOverwriteKey(); }
  void SetMaxBytes(std::size_t max_bytes) { rep_->SetMaxBytes(max_bytes); }

  void SetSavePoint() { rep_->SetSavePoint(); }
  Status RollbackToSavePoint() { return rep_->RollbackToSavePoint(); }
  Status PopSavePoint() { return rep_->PopSavePoint(); }

  // The caller deletes the iterators, before this object.
  [[nodiscard]] WBWIIterator* NewIterator(ColumnFamilyHandle* family);
  [[nodiscard]] WBWIIterator* NewIterator() { return NewIterator(nullptr); }
  [[nodiscard]] Iterator* NewIteratorWithBase(ColumnFamilyHandle* family, Iterator* base,
                                              const ReadOptions* options = nullptr) {
    return rep_->NewIteratorWithBase(family, base, options);
  }
  [[nodiscard]] Iterator* NewIteratorWithBase(Iterator* base, const ReadOptions* options = nullptr) {
    return NewIteratorWithBase(nullptr, base, options);
  }

  Status GetFromBatch(ColumnFamilyHandle* family, const DBOptions& /*options*/, const Slice& key, std::string* value) {
    return rep_->GetFromBatch(family, cambium::DBOptions(), key, value);
  }
  Status GetFromBatch(const DBOptions& options, const Slice& key, std::string* value) {
    return GetFromBatch(nullptr, options, key, value);
  }
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                           std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                           PinnableSlice* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, const Slice& key, std::string* value) {
    return GetFromBatchAndDB(db, options, nullptr, key, value);
  }
  Status GetFromBatchAndDB(DB* db, const ReadOptions& options, const Slice& key, PinnableSlice* value) {
    return GetFromBatchAndDB(db, options, nullptr, key, value);
  }
  void MultiGetFromBatchAndDB(DB* db, const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count,
                              const Slice* keys, PinnableSlice* values, Status* statuses, bool sorted_input);

 private:
  friend class Transaction;
  // Shows the batch of a transaction.
  explicit WriteBatchWithIndex(cambium::WriteBatchWithIndex* of_transaction) : rep_(of_transaction) {}

  std::unique_ptr<cambium::WriteBatchWithIndex> own_;  // null: the batch belongs to a transaction
  cambium::WriteBatchWithIndex* rep_;
  std::unique_ptr<WriteBatch> copy_;  // the last result of GetWriteBatch
};

}  // namespace rocksdb::inline on_cambium
