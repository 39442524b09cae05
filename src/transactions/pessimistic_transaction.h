// PessimisticTransaction: locks each key and range that it tracks, until it ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cambium/transaction_db.h"
#include "transactions/key_locks.h"
#include "transactions/prepared_store.h"
#include "transactions/transaction_base.h"

namespace cambium {

class PessimisticTransaction;

// The names of transactions that have not ended, and those that may expire. Any thread.
//
// A prepared transaction that is deleted has not ended: its name, its locks and its record remain until the database is
// opened again. Its entries then have a null pointer.
class OpenTransactions final : public KeyLocks::Owners {
 public:
  void AddExpiring(PessimisticTransaction* transaction);
  // InvalidArgument if another transaction has the name.
  Status AddName(const TransactionName& name, PessimisticTransaction* transaction);
  void Remove(PessimisticTransaction* transaction, const TransactionName& name);
  // The transaction is deleted, but remains prepared. Takes no memory.
  void Abandon(PessimisticTransaction* transaction, const TransactionName& name);
  [[nodiscard]] PessimisticTransaction* Find(const TransactionName& name) const;
  // Adds those that are prepared, in the order of their names.
  void ListPrepared(std::vector<Transaction*>* transactions) const;
  bool StealFrom(TransactionID id) override;

 private:
  mutable Mutex mutex_;
  std::unordered_map<TransactionID, PessimisticTransaction*> expiring_ CAMBIUM_GUARDED_BY(mutex_);
  std::map<TransactionName, PessimisticTransaction*> names_ CAMBIUM_GUARDED_BY(mutex_);
};

// What the transactions of one database share.
struct LockContext {
  LockContext(const TransactionDBOptions& its_options, DbInside* inside)
      : options(its_options),
        locks(options.num_stripes, options.max_num_locks, options.max_num_deadlocks, inside->GetClock(), &open),
        prepared(inside) {}
  const TransactionDBOptions options;
  OpenTransactions open;
  KeyLocks locks;
  PreparedStore prepared;
};

class PessimisticTransaction final : public TransactionBase {
 public:
  PessimisticTransaction(DbInside* inside, LockContext* context, const WriteOptions& options,
                         const TransactionOptions& transaction);
  ~PessimisticTransaction() override;

  // Makes a new transaction the one that was prepared under this name: locks its keys, and adds its operations. The
  // result of Commit is an error if a family that it writes was dropped meanwhile. Without success it must be deleted.
  Status Recover(const TransactionName& name, const PreparedRecord& record);

  // Rolls back, unless it is prepared, and begins again.
  void BeginAgain(const WriteOptions& options, const TransactionOptions& transaction);

  void SetLockTimeout(std::int64_t milliseconds) override { lock_timeout_ = milliseconds; }
  [[nodiscard]] bool IsOf(const LockContext* context) const { return &context_ == context; }
  [[nodiscard]] TransactionName GetName() const override { return name_; }
  [[nodiscard]] bool IsDeadlockDetect() const override { return owner_.deadlock_depth > 0; }
  [[nodiscard]] std::vector<TransactionID> GetWaitingTxns(std::uint32_t* family, std::string* key) const override;

  // Locks the key as a write of this transaction does, but adds no operation.
  Status LockForWrite(const std::shared_ptr<Family>& family, const std::string& key) {
    return Track(family, key, {.writes = true, .validates = false});
  }
  // The same for the range of a range delete.
  Status LockForWrite(const std::shared_ptr<Family>& family, KeyRange range) {
    return AddRange(family, std::move(range), /*exclusive=*/true);
  }
  // Others may take its locks. False if it is committing.
  bool BeStolenFrom();

 private:
  class AddOps;
  Status Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) override;
  void Untrack(const Family& family, const std::string& key) override;
  Status TrackNew(TrackedRange* range) override;
  void Untrack(const TrackedRange& range) override;
  [[nodiscard]] bool LocksRanges() const override { return true; }
  Status CommitBatch() override;
  Status PrepareBatch() override;
  Status Withdraw() override;
  Status SetNameTo(const TransactionName& name) override;
  void UntrackAll() override;
  // Changes the state, unless another transaction has taken the locks.
  Status Enter(TransactionState from, TransactionState to);
  // Writes the batch, together with the removal of the record if the transaction is prepared.
  Status WriteBatchOf(TransactionState from);
  [[nodiscard]] PreparedRecord::Locks LocksForRecord() const;
  // OK if no key in the range was written after `since`.
  [[nodiscard]] Status CheckUnchanged(const Family& family, const KeyRange& range, SequenceNumber since) const;
  // The transaction is prepared, with a record of this many bytes.
  void NotePrepared(std::size_t record_bytes);
  // Locks the ranges of the record.
  Status RecoverRanges(const PreparedRecord& record);
  // Ends the use of this object for its transaction: unlocks the keys, unless it is prepared.
  void Start(const WriteOptions& options, const TransactionOptions& transaction);
  void Leave();
  [[nodiscard]] Status CheckAlive() const override;

  LockContext& context_;
  LockOwner owner_;
  std::int64_t lock_timeout_ = 0;  // milliseconds
  TransactionName name_;
  bool skip_prepare_ = true;
  // Set by Prepare: size and count of the batch, which must not change until the commit, and the size of the record.
  std::size_t prepared_size_ = 0;
  std::uint32_t prepared_count_ = 0;
  std::size_t record_bytes_ = 0;
  Status cannot_commit_;  // set by Recover
};

}  // namespace cambium
