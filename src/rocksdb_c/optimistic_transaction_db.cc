// Databases whose transactions look for conflicts when they commit.
#include "rocksdb_c/functions.h"
#include "rocksdb_c/open.h"
#include "rocksdb_c/transactions.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyDescriptor;
using cambium::ColumnFamilyHandle;
using cambium::DB;
using cambium::DBOptions;
using cambium::OptimisticTransactionDB;
using cambium::Options;
using cambium::Status;
using cambium::Transaction;

extern "C" {

// ---- Opening and closing ----

rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_with_otxn_db_options(
    const rocksdb_options_t* options, const rocksdb_optimistictransactiondb_options_t* transactions, const char* name,
    char** errptr) {
  return Opened<rocksdb_optimistictransactiondb_t>(errptr, [&](rocksdb_optimistictransactiondb_t* txn_db) -> Status {
    Given given{*options, name};
    if (transactions != nullptr) given.hints = transactions->Hints();
    const Opens make = [](const Options& whole, const std::string& path, std::unique_ptr<DB>* made) {
      return OpenAs<OptimisticTransactionDB>(
          made, [&](auto* opened) { return OptimisticTransactionDB::Open(whole, path, opened); });
    };
    CAMBIUM_RETURN_IF_ERROR(Open(make, std::move(given), &txn_db->db));
    txn_db->rep = static_cast<OptimisticTransactionDB*>(txn_db->db.rep.get());
    return Status::OK();
  });
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(const rocksdb_options_t* options,
                                                                        const char* name, char** errptr) {
  return rocksdb_optimistictransactiondb_open_with_otxn_db_options(options, nullptr, name, errptr);
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options(
    const rocksdb_options_t* options, const rocksdb_optimistictransactiondb_options_t* transactions, const char* name,
    int count, const char* const* names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, char** errptr) {
  return Opened<rocksdb_optimistictransactiondb_t>(errptr, [&](rocksdb_optimistictransactiondb_t* txn_db) -> Status {
    Given given{*options, name};
    if (transactions != nullptr) given.hints = transactions->Hints();
    const OpensFamilies make = [](const DBOptions& whole, const std::string& path,
                                  const std::vector<ColumnFamilyDescriptor>& families,
                                  std::vector<ColumnFamilyHandle*>* made_handles, std::unique_ptr<DB>* made) {
      return OpenAs<OptimisticTransactionDB>(made, [&](auto* opened) {
        return OptimisticTransactionDB::Open(whole, path, families, made_handles, opened);
      });
    };
    CAMBIUM_RETURN_IF_ERROR(Open(make, std::move(given), {count, names, family_options, handles}, &txn_db->db));
    txn_db->rep = static_cast<OptimisticTransactionDB*>(txn_db->db.rep.get());
    return Status::OK();
  });
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t* options, const char* name, int count, const char* const* names,
    const rocksdb_options_t* const* family_options, rocksdb_column_family_handle_t** handles, char** errptr) {
  return rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options(options, nullptr, name, count, names,
                                                                                   family_options, handles, errptr);
}
void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t* txn_db) { delete txn_db; }

rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t* txn_db) {
  return NewBase(txn_db->db, txn_db->rep->GetBaseDB());
}
void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t* base) { delete base; }

// ---- Transactions, and what every database has ----

rocksdb_transaction_t* rocksdb_optimistictransaction_begin(rocksdb_optimistictransactiondb_t* txn_db,
                                                           const rocksdb_writeoptions_t* write,
                                                           const rocksdb_optimistictransaction_options_t* options,
                                                           rocksdb_transaction_t* old) {
  return BeginIn(txn_db->db, old, [&](Transaction* again) {
    return txn_db->rep->BeginTransaction(write->Rep(), options->Rep(), again);
  });
}
void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t* txn_db,
                                           const rocksdb_writeoptions_t* options, rocksdb_writebatch_t* batch,
                                           char** errptr) {
  rocksdb_write(&txn_db->db, options, batch, errptr);
}
rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t* txn_db, char** errptr) {
  return rocksdb_checkpoint_object_create(&txn_db->db, errptr);
}
char* rocksdb_optimistictransactiondb_property_value(rocksdb_optimistictransactiondb_t* txn_db, const char* name) {
  return rocksdb_property_value(&txn_db->db, name);
}
int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t* txn_db, const char* name,
                                                 uint64_t* value) {
  return rocksdb_property_int(&txn_db->db, name, value);
}

}  // extern "C"
