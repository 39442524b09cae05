// OptimisticTransactionDB: a database whose transactions lock nothing, and look for conflicts when they commit. See
// cambium/optimistic_transaction_db.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/optimistic_transaction_db.h"
#include "cambium/rocksdb_names/rocksdb/comparator.h"
#include "cambium/rocksdb_names/rocksdb/db.h"
#include "cambium/rocksdb_names/rocksdb/utilities/transaction.h"

namespace rocksdb::inline on_cambium {

struct OptimisticTransactionOptions {
  bool set_snapshot = false;
  const Comparator* cmp = BytewiseComparator();  // without effect: a family's handle knows its comparator
};

enum class OccValidationPolicy : unsigned char { kValidateSerial = 0, kValidateParallel = 1 };

// RocksDB's mutexes of the commits of several databases. Commits need none of these here.
class OccLockBuckets {
 public:
  [[nodiscard]] std::size_t ApproximateMemoryUsage() const { return sizeof(*this); }
};
[[nodiscard]] inline std::shared_ptr<OccLockBuckets> MakeSharedOccLockBuckets(std::size_t /*bucket_count*/,
                                                                              bool /*cache_aligned*/ = false) {
  return std::make_shared<OccLockBuckets>();
}

// Hints.
struct OptimisticTransactionDBOptions {
  OccValidationPolicy validate_policy = OccValidationPolicy::kValidateParallel;
  std::uint32_t occ_lock_buckets = 1u << 20;
  std::shared_ptr<OccLockBuckets> shared_lock_buckets;
};

// Errors, threads and lifetimes are those of cambium::OptimisticTransactionDB. Delete transactions before their
// database.
class OptimisticTransactionDB : public DB {
 public:
  static Status Open(const Options& options, const std::string& path, OptimisticTransactionDB** db);
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     OptimisticTransactionDB** db);
  static Status Open(const DBOptions& options, const OptimisticTransactionDBOptions& transactions,
                     const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** db);

  // The database, for reads and writes that do not belong to a transaction. Its writes conflict with transactions that
  // track their keys, as those of this object do. Belongs to this object. Its Close closes this one.
  [[nodiscard]] DB* GetBaseDB() const { return base_.get(); }

  // As TransactionDB::BeginTransaction.
  [[nodiscard]] Transaction* BeginTransaction(const WriteOptions& options,
                                              const OptimisticTransactionOptions& transaction = {},
                                              Transaction* old = nullptr);

 private:
  OptimisticTransactionDB() = default;

  std::unique_ptr<DB> base_;
};

}  // namespace rocksdb::inline on_cambium
