// Databases for transactions, and their transactions, as RocksDB's C interface has them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction.h"
#include "cambium/transaction_db.h"
#include "rocksdb_c/objects.h"

// `db` has the same database as `rep`, so that functions of a rocksdb_t also serve these databases.
struct rocksdb_transactiondb_t {
  rocksdb_t db;
  cambium::TransactionDB* rep = nullptr;
};
struct rocksdb_optimistictransactiondb_t {
  rocksdb_t db;
  cambium::OptimisticTransactionDB* rep = nullptr;
};

struct rocksdb_transactiondb_options_t {
  CAMBIUM_ROCKSDB_TRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, transactiondb_options)

  // NotSupported if a property of the transactions would be lost. Adds the names of options that have no effect.
  cambium::Status To(cambium::TransactionDBOptions* to, std::vector<std::string>* hints) const;
};
struct rocksdb_transaction_options_t {
  CAMBIUM_ROCKSDB_TRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, transaction_options)

  [[nodiscard]] cambium::TransactionOptions Rep() const;
};
struct rocksdb_optimistictransactiondb_options_t {
  CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, optimistictransactiondb_options)
  bool has_shared_lock_buckets = false;

  [[nodiscard]] std::vector<std::string> Hints() const;
};
struct rocksdb_optimistictransaction_options_t {
  CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, optimistictransaction_options)

  [[nodiscard]] cambium::OptimisticTransactionOptions Rep() const;
};

struct rocksdb_transaction_t {
  std::shared_ptr<cambium::DB> db;                      // stays open as long as the transaction exists
  std::shared_ptr<const RocksPrefix> prefix_extractor;  // the default family's option
  std::unique_ptr<cambium::Transaction> rep;
  // Why it cannot be prepared or committed: a function without an errptr was asked for a feature that does not exist.
  cambium::Status refusal;
  std::string data;  // the result of the last rocksdb_writebatch_wi_data of its batch
};

namespace cambium::rocks {

// Calls `make`, which opens a database for transactions, and sets *db to that database.
template <typename Database, typename Make>
Status OpenAs(std::unique_ptr<DB>* db, Make make) {
  std::unique_ptr<Database> made;
  Status opened = make(&made);
  *db = std::move(made);
  return opened;
}

// Makes an object for the database below one for transactions: with it, a program reads or writes without transactions.
// The database stays open as long as one of the objects exists.
inline rocksdb_t* NewBase(const rocksdb_t& db, DB* base) {
  return new rocksdb_t{std::shared_ptr<DB>(db.rep, base), db.prefix_extractor, db.manual_compactions_disabled};
}

// `begin` begins a transaction. It gets the old transaction, which it may use again, or null. Returns `old` if it is
// not null, otherwise a new object; null if no transaction could begin.
template <typename Begin>
rocksdb_transaction_t* BeginIn(const rocksdb_t& db, rocksdb_transaction_t* old, Begin begin) {
  std::unique_ptr<rocksdb_transaction_t> made;
  if (old == nullptr) {
    made = std::make_unique<rocksdb_transaction_t>();
    old = made.get();
  }
  Transaction* const begun = begin(old->rep.get());
  if (begun == nullptr) return nullptr;
  if (begun != old->rep.get()) old->rep.reset(begun);
  old->db = db.rep;
  old->prefix_extractor = db.prefix_extractor;
  old->refusal = Status::OK();
  static_cast<void>(made.release());
  return old;
}

}  // namespace cambium::rocks
