// The options of transactions and of their databases.
#include "rocksdb_c/transactions.h"

using namespace cambium::rocks;
using cambium::OptimisticTransactionOptions;
using cambium::Status;
using cambium::TransactionDBOptions;
using cambium::TransactionOptions;

struct rocksdb_optimistictransactiondb_lock_buckets_t {};

// RocksDB's default, and the only policy here: a transaction's writes are in its batch until it commits.
constexpr int kWriteCommitted = 0;

Status rocksdb_transactiondb_options_t::To(TransactionDBOptions* to, std::vector<std::string>* hints) const {
  if (write_policy != kWriteCommitted) return Lacks("a write policy of transactions other than WRITE_COMMITTED");
  to->max_num_locks = max_num_locks;
  to->max_num_deadlocks = max_num_deadlocks;
  to->num_stripes = num_stripes;
  to->transaction_lock_timeout = transaction_lock_timeout;
  to->default_lock_timeout = default_lock_timeout;
  const rocksdb_transactiondb_options_t initial;
#define CAMBIUM_ROCKSDB_HINT(name) \
  if (name != initial.name) hints->emplace_back(#name);
  CAMBIUM_ROCKSDB_HINT(default_write_batch_flush_threshold)
  CAMBIUM_ROCKSDB_HINT(enable_udt_validation)
  CAMBIUM_ROCKSDB_HINT(rollback_merge_operands)
  CAMBIUM_ROCKSDB_HINT(skip_concurrency_control)
  CAMBIUM_ROCKSDB_HINT(txn_commit_bypass_memtable_threshold)
  CAMBIUM_ROCKSDB_HINT(use_per_key_point_lock_mgr)
#undef CAMBIUM_ROCKSDB_HINT
  return Status::OK();
}

// RocksDB's transactions read the newest state, also if they have a snapshot.
TransactionOptions rocksdb_transaction_options_t::Rep() const {
  TransactionOptions rep;
  rep.set_snapshot = set_snapshot != 0;
  rep.read_at_snapshot = false;
  rep.deadlock_detect = deadlock_detect != 0;
  rep.deadlock_detect_depth = deadlock_detect_depth;
  rep.lock_timeout = lock_timeout;
  rep.expiration = expiration;
  rep.max_write_batch_size = max_write_batch_size;
  rep.skip_prepare = skip_prepare != 0;
  return rep;
}
OptimisticTransactionOptions rocksdb_optimistictransaction_options_t::Rep() const {
  OptimisticTransactionOptions rep;
  rep.set_snapshot = set_snapshot != 0;
  rep.read_at_snapshot = false;
  return rep;
}

// These options have no effect here: they say how RocksDB divides the check of a commit among threads.
std::vector<std::string> rocksdb_optimistictransactiondb_options_t::Hints() const {
  const rocksdb_optimistictransactiondb_options_t initial;
  std::vector<std::string> hints;
  if (validate_policy != initial.validate_policy) hints.emplace_back("validate_policy");
  if (occ_lock_buckets != initial.occ_lock_buckets) hints.emplace_back("occ_lock_buckets");
  if (has_shared_lock_buckets) hints.emplace_back("shared_lock_buckets");
  return hints;
}

extern "C" {

#define CAMBIUM_ROCKSDB_LIFE(object)                                                     \
  rocksdb_##object##_t* rocksdb_##object##_create() { return new rocksdb_##object##_t; } \
  void rocksdb_##object##_destroy(rocksdb_##object##_t* options) { delete options; }

CAMBIUM_ROCKSDB_LIFE(transactiondb_options)
CAMBIUM_ROCKSDB_TRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, transactiondb_options)
CAMBIUM_ROCKSDB_LIFE(transaction_options)
CAMBIUM_ROCKSDB_TRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, transaction_options)
CAMBIUM_ROCKSDB_LIFE(optimistictransactiondb_options)
CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, optimistictransactiondb_options)
CAMBIUM_ROCKSDB_LIFE(optimistictransaction_options)
CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, optimistictransaction_options)

#undef CAMBIUM_ROCKSDB_LIFE

// Databases of RocksDB may share the mutexes of their commits. Here commits need none of these.
rocksdb_optimistictransactiondb_lock_buckets_t* rocksdb_optimistictransactiondb_lock_buckets_create(
    size_t /*count*/, unsigned char /*cache_aligned*/) {
  return new rocksdb_optimistictransactiondb_lock_buckets_t;
}
size_t rocksdb_optimistictransactiondb_lock_buckets_approximate_memory_usage(
    rocksdb_optimistictransactiondb_lock_buckets_t* /*buckets*/) {
  return sizeof(rocksdb_optimistictransactiondb_lock_buckets_t);
}
void rocksdb_optimistictransactiondb_lock_buckets_destroy(rocksdb_optimistictransactiondb_lock_buckets_t* buckets) {
  delete buckets;
}
void rocksdb_optimistictransactiondb_options_set_shared_lock_buckets(
    rocksdb_optimistictransactiondb_options_t* options, rocksdb_optimistictransactiondb_lock_buckets_t* buckets) {
  options->has_shared_lock_buckets = buckets != nullptr;
}

}  // extern "C"
