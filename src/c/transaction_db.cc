// Databases for transactions. They are a cambium_t under another name, so that every function of c.h serves them.
#include <utility>

#include "api/db_inside.h"
#include "c/open.h"
#include "c/transactions.h"

using cambium::ColumnFamilyDescriptor;
using cambium::ColumnFamilyHandle;
using cambium::DB;
using cambium::DbInside;
using cambium::DBOptions;
using cambium::OptimisticTransactionDB;
using cambium::Options;
using cambium::Status;
using cambium::Transaction;
using cambium::TransactionDB;
using cambium::c::Guarded;
using cambium::c::OpenBy;
using cambium::c::OpenFamiliesBy;
using cambium::c::TakeRecovered;

namespace {

cambium_t* AsDb(cambium_transactiondb_t* db) { return reinterpret_cast<cambium_t*>(db); }
cambium_t* AsDb(cambium_optimistictransactiondb_t* db) { return reinterpret_cast<cambium_t*>(db); }

// Sets *db to a database for transactions that was opened.
template <typename Database>
Status Take(Status opened, std::unique_ptr<Database> made, std::unique_ptr<DB>* db) {
  *db = std::move(made);
  return opened;
}

// Makes an object for the database below `db`; the object does not own that database.
cambium_t* NewBase(cambium_t* db) {
  DB* const below = static_cast<cambium::StackableDB&>(*db->rep).GetBaseDB();
  return new cambium_t{std::make_unique<cambium::StackableDB>(below)};
}

}  // namespace

// ---- Optimistic ----

cambium_optimistictransactiondb_t* cambium_optimistictransactiondb_open(const cambium_options_t* options,
                                                                        const char* name, char** errptr) {
  const auto open = [](const Options& its, const std::string& path, std::unique_ptr<DB>* db) {
    std::unique_ptr<OptimisticTransactionDB> made;
    Status opened = OptimisticTransactionDB::Open(its, path, &made);
    return Take(std::move(opened), std::move(made), db);
  };
  return reinterpret_cast<cambium_optimistictransactiondb_t*>(OpenBy(open, options, name, errptr));
}
cambium_optimistictransactiondb_t* cambium_optimistictransactiondb_open_column_families(
    const cambium_options_t* options, const char* name, int num_column_families, const char* const* column_family_names,
    const cambium_options_t* const* column_family_options, cambium_column_family_handle_t** column_family_handles,
    char** errptr) {
  const auto open = [](const DBOptions& its, const std::string& path,
                       const std::vector<ColumnFamilyDescriptor>& families, std::vector<ColumnFamilyHandle*>* handles,
                       std::unique_ptr<DB>* db) {
    std::unique_ptr<OptimisticTransactionDB> made;
    Status opened = OptimisticTransactionDB::Open(its, path, families, handles, &made);
    return Take(std::move(opened), std::move(made), db);
  };
  return reinterpret_cast<cambium_optimistictransactiondb_t*>(
      OpenFamiliesBy(open, options, name, num_column_families, column_family_names, column_family_options,
                     column_family_handles, errptr));
}
void cambium_optimistictransactiondb_close(cambium_optimistictransactiondb_t* otxn_db) { cambium_close(AsDb(otxn_db)); }
cambium_t* cambium_optimistictransactiondb_as_db(cambium_optimistictransactiondb_t* otxn_db) { return AsDb(otxn_db); }
cambium_t* cambium_optimistictransactiondb_get_base_db(cambium_optimistictransactiondb_t* otxn_db) {
  return NewBase(AsDb(otxn_db));
}
void cambium_optimistictransactiondb_close_base_db(cambium_t* base_db) { delete base_db; }

void cambium_optimistictransactiondb_write(cambium_optimistictransactiondb_t* otxn_db,
                                           const cambium_writeoptions_t* options, cambium_writebatch_t* batch,
                                           char** errptr) {
  cambium_write(AsDb(otxn_db), options, batch, errptr);
}
char* cambium_optimistictransactiondb_property_value(cambium_optimistictransactiondb_t* otxn_db,
                                                     const char* property_name) {
  return cambium_property_value(AsDb(otxn_db), property_name);
}
int cambium_optimistictransactiondb_property_int(cambium_optimistictransactiondb_t* otxn_db, const char* property_name,
                                                 uint64_t* value) {
  return cambium_property_int(AsDb(otxn_db), property_name, value);
}
cambium_checkpoint_t* cambium_optimistictransactiondb_checkpoint_object_create(
    cambium_optimistictransactiondb_t* otxn_db, char** errptr) {
  return cambium_checkpoint_object_create(AsDb(otxn_db), errptr);
}

// ---- With locks ----

cambium_transactiondb_t* cambium_transactiondb_open(const cambium_options_t* options,
                                                    const cambium_transactiondb_options_t* txn_db_options,
                                                    const char* name, char** errptr) {
  const auto open = [&](const Options& its, const std::string& path, std::unique_ptr<DB>* db) {
    std::unique_ptr<TransactionDB> made;
    Status opened = TransactionDB::Open(its, txn_db_options->rep, path, &made);
    return Take(std::move(opened), std::move(made), db);
  };
  return reinterpret_cast<cambium_transactiondb_t*>(OpenBy(open, options, name, errptr));
}
cambium_transactiondb_t* cambium_transactiondb_open_column_families(
    const cambium_options_t* options, const cambium_transactiondb_options_t* txn_db_options, const char* name,
    int num_column_families, const char* const* column_family_names,
    const cambium_options_t* const* column_family_options, cambium_column_family_handle_t** column_family_handles,
    char** errptr) {
  const auto open = [&](const DBOptions& its, const std::string& path,
                        const std::vector<ColumnFamilyDescriptor>& families,
                        std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
    std::unique_ptr<TransactionDB> made;
    Status opened = TransactionDB::Open(its, txn_db_options->rep, path, families, handles, &made);
    return Take(std::move(opened), std::move(made), db);
  };
  return reinterpret_cast<cambium_transactiondb_t*>(OpenFamiliesBy(open, options, name, num_column_families,
                                                                   column_family_names, column_family_options,
                                                                   column_family_handles, errptr));
}
cambium_transaction_t** cambium_transactiondb_get_prepared_transactions(cambium_transactiondb_t* txn_db,
                                                                        size_t* count, char** errptr) {
  *count = 0;
  cambium_transaction_t** all = nullptr;
  Guarded(errptr, [&]() -> Status {
    auto* const db = static_cast<TransactionDB*>(AsDb(txn_db)->rep.get());
    if (Status status = DbInside::Of(db)->CheckUsable(); !status.ok()) return status;  // in a forked child
    all = TakeRecovered<cambium_transaction_t>(db, count, [](std::unique_ptr<Transaction> each) {
      return std::unique_ptr<cambium_transaction_t>(new cambium_transaction_t{std::move(each)});
    });
    return Status::OK();
  });
  return all;
}
void cambium_transactiondb_close(cambium_transactiondb_t* txn_db) { cambium_close(AsDb(txn_db)); }
cambium_t* cambium_transactiondb_as_db(cambium_transactiondb_t* txn_db) { return AsDb(txn_db); }
cambium_t* cambium_transactiondb_get_base_db(cambium_transactiondb_t* txn_db) { return NewBase(AsDb(txn_db)); }
void cambium_transactiondb_close_base_db(cambium_t* base_db) { delete base_db; }

cambium_column_family_handle_t* cambium_transactiondb_create_column_family(cambium_transactiondb_t* txn_db,
                                                                           const cambium_options_t* options,
                                                                           const char* name, char** errptr) {
  return cambium_create_column_family(AsDb(txn_db), options, name, errptr);
}
const cambium_snapshot_t* cambium_transactiondb_create_snapshot(cambium_transactiondb_t* txn_db) {
  return cambium_create_snapshot(AsDb(txn_db));
}
void cambium_transactiondb_release_snapshot(cambium_transactiondb_t* txn_db, const cambium_snapshot_t* snapshot) {
  cambium_release_snapshot(AsDb(txn_db), snapshot);
}
char* cambium_transactiondb_property_value(cambium_transactiondb_t* txn_db, const char* property_name) {
  return cambium_property_value(AsDb(txn_db), property_name);
}
int cambium_transactiondb_property_int(cambium_transactiondb_t* txn_db, const char* property_name, uint64_t* value) {
  return cambium_property_int(AsDb(txn_db), property_name, value);
}
cambium_checkpoint_t* cambium_transactiondb_checkpoint_object_create(cambium_transactiondb_t* txn_db, char** errptr) {
  return cambium_checkpoint_object_create(AsDb(txn_db), errptr);
}

void cambium_transactiondb_put(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options, const char* key,
                               size_t key_length, const char* value, size_t value_length, char** errptr) {
  cambium_put(AsDb(txn_db), options, key, key_length, value, value_length, errptr);
}
void cambium_transactiondb_put_cf(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                  cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                  const char* value, size_t value_length, char** errptr) {
  cambium_put_cf(AsDb(txn_db), options, family, key, key_length, value, value_length, errptr);
}
void cambium_transactiondb_delete(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                  const char* key, size_t key_length, char** errptr) {
  cambium_delete(AsDb(txn_db), options, key, key_length, errptr);
}
void cambium_transactiondb_delete_cf(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                     cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                     char** errptr) {
  cambium_delete_cf(AsDb(txn_db), options, family, key, key_length, errptr);
}
void cambium_transactiondb_write(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                 cambium_writebatch_t* batch, char** errptr) {
  cambium_write(AsDb(txn_db), options, batch, errptr);
}

char* cambium_transactiondb_get(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options, const char* key,
                                size_t key_length, size_t* value_length, char** errptr) {
  return cambium_get(AsDb(txn_db), options, key, key_length, value_length, errptr);
}
char* cambium_transactiondb_get_cf(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options,
                                   cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                   size_t* value_length, char** errptr) {
  return cambium_get_cf(AsDb(txn_db), options, family, key, key_length, value_length, errptr);
}
cambium_pinnableslice_t* cambium_transactiondb_get_pinned(cambium_transactiondb_t* txn_db,
                                                          const cambium_readoptions_t* options, const char* key,
                                                          size_t key_length, char** errptr) {
  return cambium_get_pinned(AsDb(txn_db), options, key, key_length, errptr);
}
cambium_pinnableslice_t* cambium_transactiondb_get_pinned_cf(cambium_transactiondb_t* txn_db,
                                                             const cambium_readoptions_t* options,
                                                             cambium_column_family_handle_t* family, const char* key,
                                                             size_t key_length, char** errptr) {
  return cambium_get_pinned_cf(AsDb(txn_db), options, family, key, key_length, errptr);
}
void cambium_transactiondb_multi_get(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options,
                                     size_t num_keys, const char* const* keys, const size_t* key_lengths,
                                     char** values, size_t* value_lengths, char** errors) {
  cambium_multi_get(AsDb(txn_db), options, num_keys, keys, key_lengths, values, value_lengths, errors);
}
void cambium_transactiondb_multi_get_cf(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options,
                                        const cambium_column_family_handle_t* const* families, size_t num_keys,
                                        const char* const* keys, const size_t* key_lengths, char** values,
                                        size_t* value_lengths, char** errors) {
  cambium_multi_get_cf(AsDb(txn_db), options, families, num_keys, keys, key_lengths, values, value_lengths, errors);
}
cambium_iterator_t* cambium_transactiondb_create_iterator(cambium_transactiondb_t* txn_db,
                                                          const cambium_readoptions_t* options) {
  return cambium_create_iterator(AsDb(txn_db), options);
}
cambium_iterator_t* cambium_transactiondb_create_iterator_cf(cambium_transactiondb_t* txn_db,
                                                             const cambium_readoptions_t* options,
                                                             cambium_column_family_handle_t* family) {
  return cambium_create_iterator_cf(AsDb(txn_db), options, family);
}

void cambium_transactiondb_flush(cambium_transactiondb_t* txn_db, const cambium_flushoptions_t* options,
                                 char** errptr) {
  cambium_flush(AsDb(txn_db), options, errptr);
}
void cambium_transactiondb_flush_cf(cambium_transactiondb_t* txn_db, const cambium_flushoptions_t* options,
                                    cambium_column_family_handle_t* family, char** errptr) {
  cambium_flush_cf(AsDb(txn_db), options, family, errptr);
}
void cambium_transactiondb_flush_wal(cambium_transactiondb_t* txn_db, unsigned char sync, char** errptr) {
  cambium_flush_wal(AsDb(txn_db), sync, errptr);
}
