// PessimisticTransaction: locks each key that it tracks, until it ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/transaction_db.h"
#include "transactions/key_locks.h"
#include "transactions/transaction_base.h"

namespace cambium {

class PessimisticTransaction;

// The names of open transactions, and those that may expire. Any thread.
class OpenTransactions final : public KeyLocks::Owners {
 public:
  void AddExpiring(PessimisticTransaction* transaction);
  // InvalidArgument if another transaction has the name.
  Status AddName(const TransactionName& name, PessimisticTransaction* transaction);
  void Remove(PessimisticTransaction* transaction, const TransactionName& name);
  [[nodiscard]] PessimisticTransaction* Find(const TransactionName& name) const;
  bool StealFrom(TransactionID id) override;

 private:
  mutable Mutex mutex_;
  std::unordered_map<TransactionID, PessimisticTransaction*> expiring_ CAMBIUM_GUARDED_BY(mutex_);
  std::unordered_map<TransactionName, PessimisticTransaction*> names_ CAMBIUM_GUARDED_BY(mutex_);
};

// What the transactions of one database share.
struct LockContext {
  LockContext(const TransactionDBOptions& its_options, Clock* clock)
      : options(its_options),
        locks(options.num_stripes, options.max_num_locks, options.max_num_deadlocks, clock, &open) {}
  const TransactionDBOptions options;
  OpenTransactions open;
  KeyLocks locks;
};

class PessimisticTransaction final : public TransactionBase {
 public:
  PessimisticTransaction(DbInside* inside, LockContext* context, const WriteOptions& options,
                         const TransactionOptions& transaction);
  ~PessimisticTransaction() override;

  // Rolls back, and begins again.
  void BeginAgain(const WriteOptions& options, const TransactionOptions& transaction);

  void SetLockTimeout(std::int64_t milliseconds) override { lock_timeout_ = milliseconds; }
  Status SetName(const TransactionName& name) override;
  [[nodiscard]] TransactionName GetName() const override { return name_; }
  [[nodiscard]] bool IsDeadlockDetect() const override { return owner_.deadlock_depth > 0; }
  [[nodiscard]] std::vector<TransactionID> GetWaitingTxns(std::uint32_t* family, std::string* key) const override;

  // Locks the key as a write of this transaction does, but adds no operation.
  Status LockForWrite(const std::shared_ptr<Family>& family, const std::string& key) {
    return Track(family, key, {.writes = true, .validates = false});
  }
  // Others may take its locks. False if it is committing.
  bool BeStolenFrom();

 private:
  Status Track(const std::shared_ptr<Family>& family, const std::string& key, const KeyUse& use) override;
  void Untrack(const Family& family, const std::string& key) override;
  Status CommitBatch() override;
  void UntrackAll() override;
  void Start(const WriteOptions& options, const TransactionOptions& transaction);
  void Leave();
  [[nodiscard]] Status CheckAlive() const override;

  LockContext& context_;
  LockOwner owner_;
  std::int64_t lock_timeout_ = 0;  // milliseconds
  TransactionName name_;
};

}  // namespace cambium
