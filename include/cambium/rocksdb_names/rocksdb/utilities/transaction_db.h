// TransactionDB: a database whose transactions lock the keys that they use. See cambium/transaction_db.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/db.h"
#include "cambium/rocksdb_names/rocksdb/utilities/transaction.h"
#include "cambium/transaction_db.h"

namespace rocksdb::inline on_cambium {

class LockManagerHandle;
class SecondaryIndex;
class TransactionDB;
class TransactionDBMutexFactory;

enum TxnDBWritePolicy : unsigned char { WRITE_COMMITTED = 0, WRITE_PREPARED, WRITE_UNPREPARED };

constexpr std::uint32_t kInitialMaxDeadlocks = 5;

struct TransactionDBOptions {
  std::int64_t max_num_locks = -1;
  std::uint32_t max_num_deadlocks = kInitialMaxDeadlocks;
  std::size_t num_stripes = 16;
  std::int64_t transaction_lock_timeout = 1000;  // milliseconds
  std::int64_t default_lock_timeout = 1000;      // milliseconds

  // ---- Open returns NotSupported if they differ from their defaults ----
  TxnDBWritePolicy write_policy = WRITE_COMMITTED;
  std::shared_ptr<TransactionDBMutexFactory> custom_mutex_factory;
  std::shared_ptr<LockManagerHandle> lock_mgr_handle;
  std::vector<std::shared_ptr<SecondaryIndex>> secondary_indices;

  // ---- Hints ----
  bool rollback_merge_operands = false;
  bool use_per_key_point_lock_mgr = false;
  bool skip_concurrency_control = false;
  std::int64_t default_write_batch_flush_threshold = 0;
  std::function<bool(TransactionDB*, ColumnFamilyHandle*, const Slice&)> rollback_deletion_type_callback;
  bool enable_udt_validation = true;
  std::uint32_t txn_commit_bypass_memtable_threshold = std::numeric_limits<std::uint32_t>::max();
};

struct TransactionOptions {
  bool set_snapshot = false;
  bool deadlock_detect = false;
  std::int64_t lock_timeout = -1;  // milliseconds; negative: TransactionDBOptions::transaction_lock_timeout
  std::int64_t expiration = -1;    // milliseconds; negative: never
  std::int64_t deadlock_detect_depth = 50;
  std::size_t max_write_batch_size = 0;  // bytes; 0: no limit
  bool skip_prepare = true;

  // ---- Without effect ----
  bool use_only_the_last_commit_time_batch_for_recovery = false;
  std::int64_t deadlock_timeout_us = 500;
  bool skip_concurrency_control = false;  // keys are always locked
  std::int64_t write_batch_flush_threshold = -1;
  bool write_batch_track_timestamp_size = false;
  bool commit_bypass_memtable = false;
  std::uint32_t large_txn_commit_optimize_threshold = 0;
  std::uint64_t large_txn_commit_optimize_byte_threshold = 0;
};

struct KeyLockInfo {
  std::string key;
  std::vector<TransactionID> ids;
  bool exclusive = false;
};

struct DeadlockInfo {
  TransactionID m_txn_id = 0;
  std::uint32_t m_cf_id = 0;
  bool m_exclusive = false;
  std::string m_waiting_key;
};
struct DeadlockPath {
  std::vector<DeadlockInfo> path;
  bool limit_exceeded = false;
  std::int64_t deadlock_time = 0;  // seconds since 1970
  [[nodiscard]] bool empty() const { return path.empty() && !limit_exceeded; }
};

// Errors, threads and lifetimes are those of cambium::TransactionDB. Delete transactions before their database.
class TransactionDB : public DB {
 public:
  static Status Open(const Options& options, const TransactionDBOptions& transactions, const std::string& path,
                     TransactionDB** db);
  static Status Open(const DBOptions& options, const TransactionDBOptions& transactions, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     TransactionDB** db);
  ~TransactionDB() override;

  // The database without locks: what is written to it is not seen by transactions without a snapshot. Belongs to this
  // object. Its Close closes this one.
  [[nodiscard]] DB* GetBaseDB() const { return base_.get(); }

  // The caller deletes the transaction. `old`, a transaction of this database that is no longer needed, begins again,
  // and is returned. Null if the database is closed.
  [[nodiscard]] Transaction* BeginTransaction(const WriteOptions& options, const TransactionOptions& transaction = {},
                                              Transaction* old = nullptr);
  // See cambium::TransactionDB: a transaction that was prepared before the database was opened is the caller's, who
  // commits it or rolls it back, and deletes it, once one of these functions has returned it.
  [[nodiscard]] Transaction* GetTransactionByName(const TransactionName& name);
  void GetAllPreparedTransactions(std::vector<Transaction*>* transactions);
  [[nodiscard]] std::unordered_multimap<std::uint32_t, KeyLockInfo> GetLockStatusData();
  [[nodiscard]] std::vector<DeadlockPath> GetDeadlockInfoBuffer();
  void SetDeadlockInfoBufferSize(std::uint32_t count);

 private:
  TransactionDB();
  [[nodiscard]] cambium::TransactionDB* OnCambiumHere() const {
    return static_cast<cambium::TransactionDB*>(OnCambium());
  }

  const std::shared_ptr<TransactionObjects> objects_;
  std::unique_ptr<DB> base_;
};

}  // namespace rocksdb::inline on_cambium
