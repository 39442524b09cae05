// TransactionDB: a database whose transactions lock the keys that they use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/conditional_write.h"
#include "cambium/stackable_db.h"
#include "cambium/transaction.h"

namespace cambium {

struct TransactionDBOptions {
  // The most keys and ranges that may be locked at a time in each family; a call that would lock more returns Busy
  // (IsLockLimit()). Negative: no limit.
  std::int64_t max_num_locks = -1;
  // How many deadlocks GetDeadlockInfoBuffer remembers.
  std::uint32_t max_num_deadlocks = 5;
  // All locks are in this many tables, each with a mutex; 0 is taken as 1.
  std::size_t num_stripes = 16;
  // How long a transaction waits for a lock, in milliseconds; negative: without limit; 0: not at all.
  std::int64_t transaction_lock_timeout = 1000;
  // The same for Put, Delete, SingleDelete, DeleteRange and Write of the database itself.
  std::int64_t default_lock_timeout = 1000;
};

struct TransactionOptions {
  bool set_snapshot = false;  // the transaction begins with a snapshot
  // As in OptimisticTransactionOptions.
  bool read_at_snapshot = true;
  // Before a wait, looks whether transactions wait for each other in a circle, and then returns Busy (IsDeadlock()) in
  // place of waiting. Costs a lookup for each transaction on the way, at most deadlock_detect_depth.
  bool deadlock_detect = false;
  std::int64_t deadlock_detect_depth = 50;
  // In milliseconds; negative: TransactionDBOptions::transaction_lock_timeout.
  std::int64_t lock_timeout = -1;
  // After so many milliseconds others may take its locks, and Commit returns Expired. Negative: never.
  std::int64_t expiration = -1;
  // The most bytes of its batch; a write that would exceed it returns Aborted. 0: no limit.
  std::size_t max_write_batch_size = 0;
  // If false, Commit returns InvalidArgument unless the transaction is prepared.
  bool skip_prepare = true;
};

struct KeyLockInfo {
  std::string key;
  std::vector<TransactionID> ids;  // the transactions that have the lock
  bool exclusive = false;
};

// A range that a transaction has locked: the keys from begin to end.
struct RangeLockInfo {
  std::optional<std::string> begin;  // nullopt: from the first key on
  std::optional<std::string> end;    // nullopt: to the last key
  bool has_end = false;              // whether the key `end` belongs to it
  std::vector<TransactionID> ids;    // one; two transactions with shared locks have two entries
  bool exclusive = false;
};

struct DeadlockInfo {
  TransactionID txn_id = 0;
  std::uint32_t family_id = 0;
  bool exclusive = false;
  std::string waiting_key;  // the key that it waits for; of a range that others have locked, the begin
};
// A circle: each transaction waits for the next, the last for the first.
struct DeadlockPath {
  std::vector<DeadlockInfo> path;
  bool limit_exceeded = false;     // the search was given up at deadlock_detect_depth
  std::int64_t deadlock_time = 0;  // seconds since 1970
  [[nodiscard]] bool empty() const { return path.empty() && !limit_exceeded; }
};

// Any thread may call any function. Put, Delete, SingleDelete, DeleteRange and Write lock their keys and ranges, like a
// transaction of one batch. All writes must go through this object: what is written to the database below is not seen
// by transactions without a snapshot. Keys that a comparator takes for equal, but whose bytes differ, are different
// locks; a range has all of them.
//
// The column family "cambium.prepared" belongs to the prepared transactions (Transaction::Prepare). It need not be
// named to Open. Through this object it can be read, but not written or dropped.
class TransactionDB : public StackableDB {
 public:
  static Status Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                     std::unique_ptr<TransactionDB>* db);
  static Status Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                     TransactionDB** db);
  static Status Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     std::unique_ptr<TransactionDB>* db);
  static Status Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     TransactionDB** db);

  // The caller deletes the transaction. `old` is as in OptimisticTransactionDB, and of this database. Null if the
  // database is closed or open for reading only; `old` is then unchanged.
  virtual Transaction* BeginTransaction(const WriteOptions& options, const TransactionOptions& transaction = {},
                                        Transaction* old = nullptr) = 0;
  // The transaction of that name that has not ended. Null: there is none, or it is prepared and its object was deleted,
  // so that only the next Open finds it again.
  virtual Transaction* GetTransactionByName(const TransactionName& name) = 0;
  // Sets *transactions to those that are prepared and have an object, in the order of their names. Among them are
  // those that were prepared before the database was opened: Open locks their keys again, and their WriteOptions have
  // `sync` set. Once this function or GetTransactionByName has returned such a transaction, it is the caller's, who
  // commits it or rolls it back, and deletes it; before, it belongs to the database.
  virtual void GetAllPreparedTransactions(std::vector<Transaction*>* transactions) = 0;
  // Returns those that were prepared before the database was opened, and that none of these functions has returned yet.
  virtual std::vector<std::unique_ptr<Transaction>> TakeRecoveredTransactions() = 0;
  // By the family's id.
  virtual std::unordered_multimap<std::uint32_t, KeyLockInfo> GetLockStatusData() = 0;
  virtual std::unordered_multimap<std::uint32_t, RangeLockInfo> GetRangeLockStatusData() = 0;
  // The newest deadlocks, the newest first.
  virtual std::vector<DeadlockPath> GetDeadlockInfoBuffer() = 0;
  virtual void SetDeadlockInfoBufferSize(std::uint32_t count) = 0;

  // See conditional_write.h, whose functions call this one.
  virtual Status WriteIf(const WriteOptions& options, const WriteConditions& conditions, WriteBatch* batch,
                         bool* written) = 0;

 protected:
  using StackableDB::StackableDB;
};

// A transaction that is prepared, as it is recorded in the database.
struct PreparedTransaction {
  TransactionName name;
  std::uint32_t operations = 0;
  std::uint64_t locks = 0;  // of keys and ranges
  std::uint64_t bytes = 0;  // the size of its record
};
// Sets *prepared to the prepared transactions of any open database, in the order of their names. Corruption if a record
// is damaged or malformed. Any thread.
Status ListPreparedTransactions(DB* db, std::vector<PreparedTransaction>* prepared);

}  // namespace cambium
