// Databases whose transactions lock their keys. Calls that are not about transactions go to `txn_db->db` as for any
// other database; its writes lock their keys too.
#include "c/transactions.h"
#include "rocksdb_c/batch.h"
#include "rocksdb_c/functions.h"
#include "rocksdb_c/open.h"
#include "rocksdb_c/transactions.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyDescriptor;
using cambium::ColumnFamilyHandle;
using cambium::DB;
using cambium::DBOptions;
using cambium::Options;
using cambium::Status;
using cambium::Transaction;
using cambium::TransactionDB;
using cambium::TransactionDBOptions;

namespace {

// `make` opens txn_db->db by the options it is given.
template <typename Call>
rocksdb_transactiondb_t* OpenTransactions(const rocksdb_options_t* options,
                                          const rocksdb_transactiondb_options_t* transactions, const char* name,
                                          char** errptr, Call make) {
  return Opened<rocksdb_transactiondb_t>(errptr, [&](rocksdb_transactiondb_t* txn_db) -> Status {
    Given given{*options, name};
    TransactionDBOptions its;
    CAMBIUM_RETURN_IF_ERROR(transactions->To(&its, &given.hints));
    CAMBIUM_RETURN_IF_ERROR(make(its, std::move(given), &txn_db->db));
    txn_db->rep = static_cast<TransactionDB*>(txn_db->db.rep.get());
    return Status::OK();
  });
}

}  // namespace

extern "C" {

// ---- Opening and closing ----

rocksdb_transactiondb_t* rocksdb_transactiondb_open(const rocksdb_options_t* options,
                                                    const rocksdb_transactiondb_options_t* transactions,
                                                    const char* name, char** errptr) {
  const auto make = [](const TransactionDBOptions& its, Given given, rocksdb_t* db) {
    const Opens make_below = [&its](const Options& whole, const std::string& path, std::unique_ptr<DB>* made) {
      return OpenAs<TransactionDB>(made, [&](auto* opened) { return TransactionDB::Open(whole, its, path, opened); });
    };
    return Open(make_below, std::move(given), db);
  };
  return OpenTransactions(options, transactions, name, errptr, make);
}
rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t* options, const rocksdb_transactiondb_options_t* transactions, const char* name, int count,
    const char* const* names, const rocksdb_options_t* const* family_options, rocksdb_column_family_handle_t** handles,
    char** errptr) {
  const auto make = [&](const TransactionDBOptions& its, Given given, rocksdb_t* db) {
    const OpensFamilies make_below = [&its](const DBOptions& whole, const std::string& path,
                                            const std::vector<ColumnFamilyDescriptor>& families,
                                            std::vector<ColumnFamilyHandle*>* made_handles, std::unique_ptr<DB>* made) {
      return OpenAs<TransactionDB>(
          made, [&](auto* opened) { return TransactionDB::Open(whole, its, path, families, made_handles, opened); });
    };
    return Open(make_below, std::move(given), {count, names, family_options, handles}, db);
  };
  return OpenTransactions(options, transactions, name, errptr, make);
}
void rocksdb_transactiondb_close(rocksdb_transactiondb_t* txn_db) { delete txn_db; }

rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t* txn_db) {
  return NewBase(txn_db->db, txn_db->rep->GetBaseDB());
}
void rocksdb_transactiondb_close_base_db(rocksdb_t* base) { delete base; }

// ---- Transactions ----

rocksdb_transaction_t* rocksdb_transaction_begin(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* write,
                                                 const rocksdb_transaction_options_t* options,
                                                 rocksdb_transaction_t* old) {
  return BeginIn(txn_db->db, old, [&](Transaction* again) {
    return txn_db->rep->BeginTransaction(write->Rep(), options->Rep(), again);
  });
}
// Returns only transactions that were prepared before the database was opened: the program has the objects of the
// others.
rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(rocksdb_transactiondb_t* txn_db,
                                                                        size_t* count) {
  return cambium::c::TakeRecovered<rocksdb_transaction_t>(txn_db->rep, count, [&](std::unique_ptr<Transaction> each) {
    auto made = std::make_unique<rocksdb_transaction_t>();
    made->db = txn_db->db.rep;
    made->prefix_extractor = txn_db->db.prefix_extractor;
    made->rep = std::move(each);
    return made;
  });
}

// ---- What every database has ----

rocksdb_column_family_handle_t* rocksdb_transactiondb_create_column_family(rocksdb_transactiondb_t* txn_db,
                                                                           const rocksdb_options_t* options,
                                                                           const char* name, char** errptr) {
  return rocksdb_create_column_family(&txn_db->db, options, name, errptr);
}
const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t* txn_db) {
  return rocksdb_create_snapshot(&txn_db->db);
}
void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t* txn_db, const rocksdb_snapshot_t* snapshot) {
  rocksdb_release_snapshot(&txn_db->db, snapshot);
}
char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t* txn_db, const char* name) {
  return rocksdb_property_value(&txn_db->db, name);
}
int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t* txn_db, const char* name, uint64_t* value) {
  return rocksdb_property_int(&txn_db->db, name, value);
}
rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(rocksdb_transactiondb_t* txn_db, char** errptr) {
  return rocksdb_checkpoint_object_create(&txn_db->db, errptr);
}

char* rocksdb_transactiondb_get(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options, const char* key,
                                size_t key_length, size_t* value_length, char** errptr) {
  return rocksdb_get(&txn_db->db, options, key, key_length, value_length, errptr);
}
char* rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options,
                                   rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                                   size_t* value_length, char** errptr) {
  return rocksdb_get_cf(&txn_db->db, options, family, key, key_length, value_length, errptr);
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(rocksdb_transactiondb_t* txn_db,
                                                          const rocksdb_readoptions_t* options, const char* key,
                                                          size_t key_length, char** errptr) {
  return rocksdb_get_pinned(&txn_db->db, options, key, key_length, errptr);
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(rocksdb_transactiondb_t* txn_db,
                                                             const rocksdb_readoptions_t* options,
                                                             rocksdb_column_family_handle_t* family, const char* key,
                                                             size_t key_length, char** errptr) {
  return rocksdb_get_pinned_cf(&txn_db->db, options, family, key, key_length, errptr);
}
void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options,
                                     size_t count, const char* const* keys, const size_t* key_lengths, char** values,
                                     size_t* value_lengths, char** errors) {
  rocksdb_multi_get(&txn_db->db, options, count, keys, key_lengths, values, value_lengths, errors);
}
void rocksdb_transactiondb_multi_get_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_readoptions_t* options,
                                        const rocksdb_column_family_handle_t* const* families, size_t count,
                                        const char* const* keys, const size_t* key_lengths, char** values,
                                        size_t* value_lengths, char** errors) {
  rocksdb_multi_get_cf(&txn_db->db, options, families, count, keys, key_lengths, values, value_lengths, errors);
}
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t* txn_db,
                                                          const rocksdb_readoptions_t* options) {
  return rocksdb_create_iterator(&txn_db->db, options);
}
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(rocksdb_transactiondb_t* txn_db,
                                                             const rocksdb_readoptions_t* options,
                                                             rocksdb_column_family_handle_t* family) {
  return rocksdb_create_iterator_cf(&txn_db->db, options, family);
}

void rocksdb_transactiondb_put(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options, const char* key,
                               size_t key_length, const char* value, size_t value_length, char** errptr) {
  rocksdb_put(&txn_db->db, options, key, key_length, value, value_length, errptr);
}
void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                  rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                                  const char* value, size_t value_length, char** errptr) {
  if (family == nullptr) return cambium::c::SaveError(errptr, NullFamily());  // it would be the default family
  rocksdb_put_cf(&txn_db->db, options, family, key, key_length, value, value_length, errptr);
}
void rocksdb_transactiondb_delete(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                  const char* key, size_t key_length, char** errptr) {
  rocksdb_delete(&txn_db->db, options, key, key_length, errptr);
}
void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                     rocksdb_column_family_handle_t* family, const char* key, size_t key_length,
                                     char** errptr) {
  if (family == nullptr) return cambium::c::SaveError(errptr, NullFamily());
  rocksdb_delete_cf(&txn_db->db, options, family, key, key_length, errptr);
}
void rocksdb_transactiondb_merge(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                                 const char* /*key*/, size_t /*key_length*/, const char* /*value*/,
                                 size_t /*value_length*/, char** errptr) {
  Lack(errptr, "Merge");
}
void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                                    rocksdb_column_family_handle_t* /*family*/, const char* /*key*/,
                                    size_t /*key_length*/, const char* /*value*/, size_t /*value_length*/,
                                    char** errptr) {
  Lack(errptr, "Merge");
}
void rocksdb_transactiondb_write(rocksdb_transactiondb_t* txn_db, const rocksdb_writeoptions_t* options,
                                 rocksdb_writebatch_t* batch, char** errptr) {
  rocksdb_write(&txn_db->db, options, batch, errptr);
}

void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t* txn_db, unsigned char sync, char** errptr) {
  rocksdb_flush_wal(&txn_db->db, sync, errptr);
}
void rocksdb_transactiondb_flush_wal_with_options(rocksdb_transactiondb_t* txn_db,
                                                  const rocksdb_flushwaloptions_t* options, char** errptr) {
  rocksdb_flush_wal_with_options(&txn_db->db, options, errptr);
}
void rocksdb_transactiondb_flush(rocksdb_transactiondb_t* txn_db, const rocksdb_flushoptions_t* options,
                                 char** errptr) {
  rocksdb_flush(&txn_db->db, options, errptr);
}
void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t* txn_db, const rocksdb_flushoptions_t* options,
                                    rocksdb_column_family_handle_t* family, char** errptr) {
  rocksdb_flush_cf(&txn_db->db, options, family, errptr);
}
void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t* txn_db, const rocksdb_flushoptions_t* options,
                                     rocksdb_column_family_handle_t** families, int count, char** errptr) {
  rocksdb_flush_cfs(&txn_db->db, options, families, count, errptr);
}

}  // extern "C"
