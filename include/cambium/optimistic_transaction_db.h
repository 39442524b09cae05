// OptimisticTransactionDB: a database whose transactions lock nothing, and look for conflicts when they commit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/stackable_db.h"
#include "cambium/transaction.h"

namespace cambium {

struct OptimisticTransactionOptions {
  // The transaction begins with a snapshot. (RocksDB's default is false.)
  bool set_snapshot = true;
  // Reads without ReadOptions::snapshot read at the transaction's snapshot, if it has one. With set_snapshot, this is
  // snapshot isolation: all reads see one moment, and a commit succeeds only if no key that it writes was written
  // since. If false, they read the newest state, as in RocksDB.
  bool read_at_snapshot = true;
};

// Any thread may call any function. Writes that do not belong to a transaction go straight to the database, and
// conflict with open transactions that track their keys.
//
// Commit compares sequence numbers, so it finds a conflict exactly if a tracked key was written, also with an equal
// value, by a range delete that covers the key, or if it was written and deleted again. The memtables that show this
// are kept until no open transaction is older; docs/LIMITS.md says how much memory they may take. Once they exceed
// that, a commit of an older transaction reads the record of each key that it tracks, which tells when it was written.
// If a key has no record in the log (its value is in the index or in a file of its own, or it does not exist), the
// commit returns TryAgain.
class OptimisticTransactionDB : public StackableDB {
 public:
  static Status Open(const Options& options, const std::string& path, std::unique_ptr<OptimisticTransactionDB>* db);
  static Status Open(const Options& options, const std::string& path, OptimisticTransactionDB** db);
  // As DB::Open with column families.
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     std::unique_ptr<OptimisticTransactionDB>* db);
  static Status Open(const DBOptions& options, const std::string& path,
                     const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                     OptimisticTransactionDB** db);

  // The caller deletes the transaction. `old` may be a transaction of this database that is no longer needed: it is
  // rolled back, begins again, and is returned. Null if the database is closed or open for reading only; `old` is then
  // unchanged.
  virtual Transaction* BeginTransaction(const WriteOptions& options,
                                        const OptimisticTransactionOptions& transaction = {},
                                        Transaction* old = nullptr) = 0;

 protected:
  using StackableDB::StackableDB;
};

// Begins an optimistic transaction on a database that was opened by DB::Open (or on a StackableDB above one). Null if
// it is closed or open for reading only.
[[nodiscard]] Transaction* BeginOptimisticTransaction(DB* db, const WriteOptions& options,
                                                      const OptimisticTransactionOptions& transaction = {});

}  // namespace cambium
