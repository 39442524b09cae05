// Transaction: RocksDB's class over a transaction of Cambium. See cambium/transaction.h, and docs/TRANSACTIONS.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/comparator.h"
#include "cambium/rocksdb_names/rocksdb/db.h"
#include "cambium/rocksdb_names/rocksdb/utilities/write_batch_with_index.h"
#include "cambium/transaction.h"

namespace rocksdb::inline on_cambium {

using cambium::Endpoint;
using cambium::TransactionID;
using cambium::TransactionName;
using cambium::TransactionNotifier;

class TransactionObjects;

// Errors, threads and lifetimes are those of cambium::Transaction. As in RocksDB, a read without a snapshot in its
// options sees the newest state, even if the transaction has a snapshot. Calls with an option of ReadOptions that is
// refused return NotSupported.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  virtual ~Transaction();

  // The transaction with Cambium's names. Belongs to this object.
  [[nodiscard]] cambium::Transaction* OnCambium() const { return rep_.get(); }

  // ---- Snapshots ----
  void SetSnapshot() { rep_->SetSnapshot(); }
  void SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier = nullptr) {
    rep_->SetSnapshotOnNextOperation(std::move(notifier));
  }
  [[nodiscard]] const Snapshot* GetSnapshot() const { return rep_->GetSnapshot(); }
  void ClearSnapshot() { rep_->ClearSnapshot(); }

  // ---- The end ----
  Status Prepare();
  Status Commit();
  Status Rollback();
  void SetSavePoint() { rep_->SetSavePoint(); }
  Status RollbackToSavePoint() { return rep_->RollbackToSavePoint(); }
  Status PopSavePoint() { return rep_->PopSavePoint(); }

  // ---- Reading ----
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value);
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value);
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) {
    return Get(options, nullptr, key, value);
  }
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
    return Get(options, nullptr, key, value);
  }
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, std::size_t count, const Slice* keys,
                PinnableSlice* values, Status* statuses, bool sorted_input = false);
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, std::string* value,
                      bool exclusive = true, bool do_validate = true);
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key, PinnableSlice* value,
                      bool exclusive = true, bool do_validate = true);
  Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value, bool exclusive = true,
                      bool do_validate = true) {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  Status GetForUpdate(const ReadOptions& options, const Slice& key, PinnableSlice* value, bool exclusive = true,
                      bool do_validate = true) {
    return GetForUpdate(options, nullptr, key, value, exclusive, do_validate);
  }
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                                        const std::vector<Slice>& keys, std::vector<std::string>* values);
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const std::vector<Slice>& keys,
                                        std::vector<std::string>* values);
  // Never null. With an option that is refused, its status() is NotSupported.
  Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family);
  Iterator* GetIterator(const ReadOptions& options) { return GetIterator(options, nullptr); }

  // ---- Writing ----
  Status Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value, bool assume_tracked = false) {
    return rep_->Put(family, key, value, assume_tracked);
  }
  Status Put(const Slice& key, const Slice& value) { return rep_->Put(key, value); }
  Status Put(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value, bool assume_tracked = false);
  Status Put(const SliceParts& key, const SliceParts& value) { return Put(nullptr, key, value); }
  Status Delete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked = false) {
    return rep_->Delete(family, key, assume_tracked);
  }
  Status Delete(const Slice& key) { return rep_->Delete(key); }
  Status Delete(ColumnFamilyHandle* family, const SliceParts& key, bool assume_tracked = false);
  Status Delete(const SliceParts& key) { return Delete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked = false) {
    return rep_->SingleDelete(family, key, assume_tracked);
  }
  Status SingleDelete(const Slice& key) { return rep_->SingleDelete(key); }
  Status SingleDelete(ColumnFamilyHandle* family, const SliceParts& key, bool assume_tracked = false);
  Status SingleDelete(const SliceParts& key) { return SingleDelete(nullptr, key); }
  // NotSupported.
  Status Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand, bool assume_tracked = false);
  Status Merge(const Slice& key, const Slice& operand) { return Merge(nullptr, key, operand); }

  Status PutUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& value) {
    return rep_->PutUntracked(family, key, value);
  }
  Status PutUntracked(const Slice& key, const Slice& value) { return rep_->PutUntracked(key, value); }
  Status PutUntracked(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value);
  Status PutUntracked(const SliceParts& key, const SliceParts& value) { return PutUntracked(nullptr, key, value); }
  Status DeleteUntracked(ColumnFamilyHandle* family, const Slice& key) { return rep_->DeleteUntracked(family, key); }
  Status DeleteUntracked(const Slice& key) { return rep_->DeleteUntracked(key); }
  Status DeleteUntracked(ColumnFamilyHandle* family, const SliceParts& key);
  Status DeleteUntracked(const SliceParts& key) { return DeleteUntracked(nullptr, key); }
  Status SingleDeleteUntracked(ColumnFamilyHandle* family, const Slice& key) {
    return rep_->SingleDeleteUntracked(family, key);
  }
  Status SingleDeleteUntracked(const Slice& key) { return rep_->SingleDeleteUntracked(key); }
  // NotSupported.
  Status MergeUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& operand) {
    return Merge(family, key, operand);
  }
  Status MergeUntracked(const Slice& key, const Slice& operand) { return Merge(key, operand); }

  Status RebuildFromWriteBatch(WriteBatch* batch) { return rep_->RebuildFromWriteBatch(batch); }
  // In each TransactionDB, without a RangeLockManagerHandle.
  Status GetRangeLock(ColumnFamilyHandle* family, const Endpoint& start, const Endpoint& end) {
    return rep_->GetRangeLock(family, start, end);
  }
  void UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) { rep_->UndoGetForUpdate(family, key); }
  void UndoGetForUpdate(const Slice& key) { rep_->UndoGetForUpdate(key); }
  void DisableIndexing() { rep_->DisableIndexing(); }
  void EnableIndexing() { rep_->EnableIndexing(); }

  // ---- Figures and settings ----
  [[nodiscard]] std::uint64_t GetNumKeys() const { return rep_->GetNumKeys(); }
  [[nodiscard]] std::uint64_t GetNumPuts() const { return rep_->GetNumPuts(); }
  [[nodiscard]] std::uint64_t GetNumDeletes() const { return rep_->GetNumDeletes(); }
  [[nodiscard]] std::uint64_t GetNumMerges() const { return 0; }
  [[nodiscard]] std::uint64_t GetElapsedTime() const { return rep_->GetElapsedTime(); }
  // Valid until this object is deleted, or begins another transaction.
  WriteBatchWithIndex* GetWriteBatch();
  // Prepare, Commit and Rollback write with these.
  [[nodiscard]] WriteOptions* GetWriteOptions() { return &write_options_; }
  void SetWriteOptions(const WriteOptions& options) { write_options_ = options; }
  void SetLockTimeout(std::int64_t milliseconds) { rep_->SetLockTimeout(milliseconds); }
  // No effect: whether transactions wait in a circle is looked up before each wait.
  void SetDeadlockTimeout(std::int64_t /*microseconds*/) {}

  Status SetName(const TransactionName& name) { return rep_->SetName(name); }
  [[nodiscard]] TransactionName GetName() const { return rep_->GetName(); }
  [[nodiscard]] TransactionID GetID() const { return rep_->GetID(); }
  [[nodiscard]] TransactionID GetId() const { return rep_->GetID(); }
  [[nodiscard]] bool IsDeadlockDetect() const { return rep_->IsDeadlockDetect(); }
  [[nodiscard]] std::vector<TransactionID> GetWaitingTxns(std::uint32_t* family, std::string* key) const {
    return rep_->GetWaitingTxns(family, key);
  }
  enum TransactionState : unsigned char {
    STARTED = 0,
    AWAITING_PREPARE = 1,
    PREPARED = 2,
    AWAITING_COMMIT = 3,
    COMMITTED = 4,
    COMMITED = COMMITTED,
    AWAITING_ROLLBACK = 5,
    ROLLEDBACK = 6,
    LOCKS_STOLEN = 7,
  };
  [[nodiscard]] TransactionState GetState() const { return static_cast<TransactionState>(rep_->GetState()); }

 private:
  friend class OptimisticTransactionDB;
  friend class TransactionDB;
  friend class TransactionObjects;

  Transaction(std::unique_ptr<cambium::Transaction> rep, const WriteOptions& options,
              std::shared_ptr<TransactionObjects> objects);

  const std::shared_ptr<TransactionObjects> objects_;  // has this one; null: optimistic
  std::unique_ptr<cambium::Transaction> rep_;
  WriteOptions write_options_;
  std::unique_ptr<WriteBatchWithIndex> batch_;  // made by the first GetWriteBatch
};

}  // namespace rocksdb::inline on_cambium
