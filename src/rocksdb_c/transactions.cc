// Transactions are not in this version: opening a database for them fails, and says so.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

struct rocksdb_transactiondb_t {};
struct rocksdb_transactiondb_options_t {
  CAMBIUM_ROCKSDB_TRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, transactiondb_options)
};
struct rocksdb_transaction_t {};
struct rocksdb_transaction_options_t {
  CAMBIUM_ROCKSDB_TRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, transaction_options)
};
struct rocksdb_optimistictransactiondb_t {};
struct rocksdb_optimistictransactiondb_options_t {
  CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, optimistictransactiondb_options)
};
struct rocksdb_optimistictransaction_options_t {
  CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, optimistictransaction_options)
};
struct rocksdb_optimistictransactiondb_lock_buckets_t {};

namespace {

constexpr const char* kTransactions = "transactions";

}  // namespace

extern "C" {

CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, optimistictransactiondb_options)
CAMBIUM_ROCKSDB_OPTIMISTICTRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, optimistictransaction_options)
CAMBIUM_ROCKSDB_TRANSACTIONDB_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, transactiondb_options)
CAMBIUM_ROCKSDB_TRANSACTION_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, transaction_options)

rocksdb_column_family_handle_t* rocksdb_transactiondb_create_column_family(
    rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_options_t* /*column_family_options*/,
    const char* /*column_family_name*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_transactiondb_t* rocksdb_transactiondb_open(const rocksdb_options_t* /*options*/,
                                                    const rocksdb_transactiondb_options_t* /*txn_db_options*/,
                                                    const char* /*name*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_transactiondb_t* rocksdb_transactiondb_open_column_families(
    const rocksdb_options_t* /*options*/, const rocksdb_transactiondb_options_t* /*txn_db_options*/,
    const char* /*name*/, int /*num_column_families*/, const char* const* /*column_family_names*/,
    const rocksdb_options_t* const* /*column_family_options*/,
    rocksdb_column_family_handle_t** /*column_family_handles*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
const rocksdb_snapshot_t* rocksdb_transactiondb_create_snapshot(rocksdb_transactiondb_t* /*txn_db*/) { return nullptr; }
void rocksdb_transactiondb_release_snapshot(rocksdb_transactiondb_t* /*txn_db*/,
                                            const rocksdb_snapshot_t* /*snapshot*/) {}
char* rocksdb_transactiondb_property_value(rocksdb_transactiondb_t* /*db*/, const char* /*propname*/) {
  return nullptr;
}
int rocksdb_transactiondb_property_int(rocksdb_transactiondb_t* /*db*/, const char* /*propname*/,
                                       uint64_t* /*out_val*/) {
  return 0;
}
rocksdb_t* rocksdb_transactiondb_get_base_db(rocksdb_transactiondb_t* /*txn_db*/) { return nullptr; }
void rocksdb_transactiondb_close_base_db(rocksdb_t* /*base_db*/) {}
rocksdb_transaction_t* rocksdb_transaction_begin(rocksdb_transactiondb_t* /*txn_db*/,
                                                 const rocksdb_writeoptions_t* /*write_options*/,
                                                 const rocksdb_transaction_options_t* /*txn_options*/,
                                                 rocksdb_transaction_t* /*old_txn*/) {
  return nullptr;
}
rocksdb_transaction_t** rocksdb_transactiondb_get_prepared_transactions(rocksdb_transactiondb_t* /*txn_db*/,
                                                                        size_t* cnt) {
  *cnt = 0;
  return nullptr;
}
void rocksdb_transaction_set_name(rocksdb_transaction_t* /*txn*/, const char* /*name*/, size_t /*name_len*/,
                                  char** errptr) {
  Lack(errptr, kTransactions);
}
char* rocksdb_transaction_get_name(rocksdb_transaction_t* /*txn*/, size_t* name_len) {
  *name_len = 0;
  return nullptr;
}
void rocksdb_transaction_prepare(rocksdb_transaction_t* /*txn*/, char** errptr) { Lack(errptr, kTransactions); }
void rocksdb_transaction_put(rocksdb_transaction_t* /*txn*/, const char* /*key*/, size_t /*klen*/, const char* /*val*/,
                             size_t /*vlen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_put_cf(rocksdb_transaction_t* /*txn*/, rocksdb_column_family_handle_t* /*column_family*/,
                                const char* /*key*/, size_t /*klen*/, const char* /*val*/, size_t /*vlen*/,
                                char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_merge(rocksdb_transaction_t* /*txn*/, const char* /*key*/, size_t /*klen*/,
                               const char* /*val*/, size_t /*vlen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_merge_cf(rocksdb_transaction_t* /*txn*/, rocksdb_column_family_handle_t* /*column_family*/,
                                  const char* /*key*/, size_t /*klen*/, const char* /*val*/, size_t /*vlen*/,
                                  char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_delete(rocksdb_transaction_t* /*txn*/, const char* /*key*/, size_t /*klen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_delete_cf(rocksdb_transaction_t* /*txn*/, rocksdb_column_family_handle_t* /*column_family*/,
                                   const char* /*key*/, size_t /*klen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_commit(rocksdb_transaction_t* /*txn*/, char** errptr) { Lack(errptr, kTransactions); }
void rocksdb_transaction_rollback(rocksdb_transaction_t* /*txn*/, char** errptr) { Lack(errptr, kTransactions); }
void rocksdb_transaction_put_log_data(rocksdb_transaction_t* /*txn*/, const char* /*blob*/, size_t /*len*/) {}
void rocksdb_transaction_set_savepoint(rocksdb_transaction_t* /*txn*/) {}
void rocksdb_transaction_rollback_to_savepoint(rocksdb_transaction_t* /*txn*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_destroy(rocksdb_transaction_t* txn) { delete txn; }
rocksdb_writebatch_wi_t* rocksdb_transaction_get_writebatch_wi(rocksdb_transaction_t* /*txn*/) { return nullptr; }
void rocksdb_transaction_rebuild_from_writebatch(rocksdb_transaction_t* /*txn*/, rocksdb_writebatch_t* /*writebatch*/,
                                                 char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_rebuild_from_writebatch_wi(rocksdb_transaction_t* /*txn*/, rocksdb_writebatch_wi_t* /*wi*/,
                                                    char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transaction_set_commit_timestamp(rocksdb_transaction_t* /*txn*/, uint64_t /*commit_timestamp*/) {}
void rocksdb_transaction_set_read_timestamp_for_validation(rocksdb_transaction_t* /*txn*/,
                                                           uint64_t /*read_timestamp*/) {}
const rocksdb_snapshot_t* rocksdb_transaction_get_snapshot(rocksdb_transaction_t* /*txn*/) { return nullptr; }
char* rocksdb_transaction_get(rocksdb_transaction_t* /*txn*/, const rocksdb_readoptions_t* /*options*/,
                              const char* /*key*/, size_t /*klen*/, size_t* /*vlen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned(rocksdb_transaction_t* /*txn*/,
                                                        const rocksdb_readoptions_t* /*options*/, const char* /*key*/,
                                                        size_t /*klen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
char* rocksdb_transaction_get_cf(rocksdb_transaction_t* /*txn*/, const rocksdb_readoptions_t* /*options*/,
                                 rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                 size_t /*klen*/, size_t* /*vlen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_cf(rocksdb_transaction_t* /*txn*/,
                                                           const rocksdb_readoptions_t* /*options*/,
                                                           rocksdb_column_family_handle_t* /*column_family*/,
                                                           const char* /*key*/, size_t /*klen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
char* rocksdb_transaction_get_for_update(rocksdb_transaction_t* /*txn*/, const rocksdb_readoptions_t* /*options*/,
                                         const char* /*key*/, size_t /*klen*/, size_t* /*vlen*/,
                                         unsigned char /*exclusive*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update(rocksdb_transaction_t* /*txn*/,
                                                                   const rocksdb_readoptions_t* /*options*/,
                                                                   const char* /*key*/, size_t /*klen*/,
                                                                   unsigned char /*exclusive*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
char* rocksdb_transaction_get_for_update_cf(rocksdb_transaction_t* /*txn*/, const rocksdb_readoptions_t* /*options*/,
                                            rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                            size_t /*klen*/, size_t* /*vlen*/, unsigned char /*exclusive*/,
                                            char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_pinnableslice_t* rocksdb_transaction_get_pinned_for_update_cf(rocksdb_transaction_t* /*txn*/,
                                                                      const rocksdb_readoptions_t* /*options*/,
                                                                      rocksdb_column_family_handle_t* /*column_family*/,
                                                                      const char* /*key*/, size_t /*klen*/,
                                                                      unsigned char /*exclusive*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
void rocksdb_transaction_multi_get(rocksdb_transaction_t* /*txn*/, const rocksdb_readoptions_t* /*options*/,
                                   size_t num_keys, const char* const* /*keys_list*/, const size_t* /*keys_list_sizes*/,
                                   char** /*values_list*/, size_t* /*values_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTransactions);
}
void rocksdb_transaction_multi_get_for_update(rocksdb_transaction_t* /*txn*/, const rocksdb_readoptions_t* /*options*/,
                                              size_t num_keys, const char* const* /*keys_list*/,
                                              const size_t* /*keys_list_sizes*/, char** /*values_list*/,
                                              size_t* /*values_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTransactions);
}
void rocksdb_transaction_multi_get_cf(rocksdb_transaction_t* /*txn*/, const rocksdb_readoptions_t* /*options*/,
                                      const rocksdb_column_family_handle_t* const* /*column_families*/, size_t num_keys,
                                      const char* const* /*keys_list*/, const size_t* /*keys_list_sizes*/,
                                      char** /*values_list*/, size_t* /*values_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTransactions);
}
void rocksdb_transaction_multi_get_for_update_cf(rocksdb_transaction_t* /*txn*/,
                                                 const rocksdb_readoptions_t* /*options*/,
                                                 const rocksdb_column_family_handle_t* const* /*column_families*/,
                                                 size_t num_keys, const char* const* /*keys_list*/,
                                                 const size_t* /*keys_list_sizes*/, char** /*values_list*/,
                                                 size_t* /*values_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTransactions);
}
char* rocksdb_transactiondb_get(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_readoptions_t* /*options*/,
                                const char* /*key*/, size_t /*klen*/, size_t* /*vlen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned(rocksdb_transactiondb_t* /*txn_db*/,
                                                          const rocksdb_readoptions_t* /*options*/, const char* /*key*/,
                                                          size_t /*klen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
char* rocksdb_transactiondb_get_cf(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_readoptions_t* /*options*/,
                                   rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                   size_t /*keylen*/, size_t* /*vallen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_pinnableslice_t* rocksdb_transactiondb_get_pinned_cf(rocksdb_transactiondb_t* /*txn_db*/,
                                                             const rocksdb_readoptions_t* /*options*/,
                                                             rocksdb_column_family_handle_t* /*column_family*/,
                                                             const char* /*key*/, size_t /*keylen*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_multi_get(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_readoptions_t* /*options*/,
                                     size_t num_keys, const char* const* /*keys_list*/,
                                     const size_t* /*keys_list_sizes*/, char** /*values_list*/,
                                     size_t* /*values_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTransactions);
}
void rocksdb_transactiondb_multi_get_cf(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_readoptions_t* /*options*/,
                                        const rocksdb_column_family_handle_t* const* /*column_families*/,
                                        size_t num_keys, const char* const* /*keys_list*/,
                                        const size_t* /*keys_list_sizes*/, char** /*values_list*/,
                                        size_t* /*values_list_sizes*/, char** errs) {
  for (std::size_t i = 0; i < num_keys; ++i) Lack(&errs[i], kTransactions);
}
void rocksdb_transactiondb_put(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                               const char* /*key*/, size_t /*klen*/, const char* /*val*/, size_t /*vlen*/,
                               char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_put_cf(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                                  rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                  size_t /*keylen*/, const char* /*val*/, size_t /*vallen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_write(rocksdb_transactiondb_t* /*db*/, const rocksdb_writeoptions_t* /*options*/,
                                 rocksdb_writebatch_t* /*batch*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_merge(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                                 const char* /*key*/, size_t /*klen*/, const char* /*val*/, size_t /*vlen*/,
                                 char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_merge_cf(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                                    rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                    size_t /*klen*/, const char* /*val*/, size_t /*vlen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_delete(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                                  const char* /*key*/, size_t /*klen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_delete_cf(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_writeoptions_t* /*options*/,
                                     rocksdb_column_family_handle_t* /*column_family*/, const char* /*key*/,
                                     size_t /*keylen*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_flush_wal(rocksdb_transactiondb_t* /*txn_db*/, unsigned char /*sync*/, char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_flush(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_flushoptions_t* /*options*/,
                                 char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_flush_cf(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_flushoptions_t* /*options*/,
                                    rocksdb_column_family_handle_t* /*column_family*/, char** errptr) {
  Lack(errptr, kTransactions);
}
rocksdb_iterator_t* rocksdb_transaction_create_iterator(rocksdb_transaction_t* /*txn*/,
                                                        const rocksdb_readoptions_t* /*options*/) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_transaction_create_iterator_cf(rocksdb_transaction_t* /*txn*/,
                                                           const rocksdb_readoptions_t* /*options*/,
                                                           rocksdb_column_family_handle_t* /*column_family*/) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator(rocksdb_transactiondb_t* /*txn_db*/,
                                                          const rocksdb_readoptions_t* /*options*/) {
  return nullptr;
}
rocksdb_iterator_t* rocksdb_transactiondb_create_iterator_cf(rocksdb_transactiondb_t* /*txn_db*/,
                                                             const rocksdb_readoptions_t* /*options*/,
                                                             rocksdb_column_family_handle_t* /*column_family*/) {
  return nullptr;
}
void rocksdb_transactiondb_close(rocksdb_transactiondb_t* txn_db) { delete txn_db; }
void rocksdb_transactiondb_flush_cfs(rocksdb_transactiondb_t* /*txn_db*/, const rocksdb_flushoptions_t* /*options*/,
                                     rocksdb_column_family_handle_t** /*column_families*/, int /*num_column_families*/,
                                     char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_transactiondb_flush_wal_with_options(rocksdb_transactiondb_t* /*txn_db*/,
                                                  const rocksdb_flushwaloptions_t* /*options*/, char** errptr) {
  Lack(errptr, kTransactions);
}
rocksdb_checkpoint_t* rocksdb_transactiondb_checkpoint_object_create(rocksdb_transactiondb_t* /*txn_db*/,
                                                                     char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open(const rocksdb_options_t* /*options*/,
                                                                        const char* /*name*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_with_otxn_db_options(
    const rocksdb_options_t* /*options*/, const rocksdb_optimistictransactiondb_options_t* /*otxn_db_options*/,
    const char* /*name*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families(
    const rocksdb_options_t* /*options*/, const char* /*name*/, int /*num_column_families*/,
    const char* const* /*column_family_names*/, const rocksdb_options_t* const* /*column_family_options*/,
    rocksdb_column_family_handle_t** /*column_family_handles*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_optimistictransactiondb_t* rocksdb_optimistictransactiondb_open_column_families_with_otxn_db_options(
    const rocksdb_options_t* /*options*/, const rocksdb_optimistictransactiondb_options_t* /*otxn_db_options*/,
    const char* /*name*/, int /*num_column_families*/, const char* const* /*column_family_names*/,
    const rocksdb_options_t* const* /*column_family_options*/,
    rocksdb_column_family_handle_t** /*column_family_handles*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_t* rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t* /*otxn_db*/) {
  return nullptr;
}
void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t* /*base_db*/) {}
rocksdb_transaction_t* rocksdb_optimistictransaction_begin(
    rocksdb_optimistictransactiondb_t* /*otxn_db*/, const rocksdb_writeoptions_t* /*write_options*/,
    const rocksdb_optimistictransaction_options_t* /*otxn_options*/, rocksdb_transaction_t* /*old_txn*/) {
  return nullptr;
}
void rocksdb_optimistictransactiondb_write(rocksdb_optimistictransactiondb_t* /*otxn_db*/,
                                           const rocksdb_writeoptions_t* /*options*/, rocksdb_writebatch_t* /*batch*/,
                                           char** errptr) {
  Lack(errptr, kTransactions);
}
void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t* otxn_db) { delete otxn_db; }
rocksdb_checkpoint_t* rocksdb_optimistictransactiondb_checkpoint_object_create(
    rocksdb_optimistictransactiondb_t* /*otxn_db*/, char** errptr) {
  return Lack(errptr, kTransactions);
}
rocksdb_transactiondb_options_t* rocksdb_transactiondb_options_create() {
  return new rocksdb_transactiondb_options_t{};
}
void rocksdb_transactiondb_options_destroy(rocksdb_transactiondb_options_t* opt) { delete opt; }
rocksdb_transaction_options_t* rocksdb_transaction_options_create() { return new rocksdb_transaction_options_t{}; }
void rocksdb_transaction_options_destroy(rocksdb_transaction_options_t* opt) { delete opt; }
rocksdb_optimistictransaction_options_t* rocksdb_optimistictransaction_options_create() {
  return new rocksdb_optimistictransaction_options_t{};
}
rocksdb_optimistictransactiondb_lock_buckets_t* rocksdb_optimistictransactiondb_lock_buckets_create(
    size_t /*bucket_count*/, unsigned char /*cache_aligned*/) {
  return new rocksdb_optimistictransactiondb_lock_buckets_t{};
}
size_t rocksdb_optimistictransactiondb_lock_buckets_approximate_memory_usage(
    rocksdb_optimistictransactiondb_lock_buckets_t* /*lock_buckets*/) {
  return 0;
}
void rocksdb_optimistictransactiondb_lock_buckets_destroy(
    rocksdb_optimistictransactiondb_lock_buckets_t* lock_buckets) {
  delete lock_buckets;
}
rocksdb_optimistictransactiondb_options_t* rocksdb_optimistictransactiondb_options_create() {
  return new rocksdb_optimistictransactiondb_options_t{};
}
void rocksdb_optimistictransactiondb_options_destroy(rocksdb_optimistictransactiondb_options_t* opt) { delete opt; }
void rocksdb_optimistictransactiondb_options_set_shared_lock_buckets(
    rocksdb_optimistictransactiondb_options_t* /*opt*/,
    rocksdb_optimistictransactiondb_lock_buckets_t* /*lock_buckets*/) {}
void rocksdb_optimistictransaction_options_destroy(rocksdb_optimistictransaction_options_t* opt) { delete opt; }
char* rocksdb_optimistictransactiondb_property_value(rocksdb_optimistictransactiondb_t* /*db*/,
                                                     const char* /*propname*/) {
  return nullptr;
}
int rocksdb_optimistictransactiondb_property_int(rocksdb_optimistictransactiondb_t* /*db*/, const char* /*propname*/,
                                                 uint64_t* /*out_val*/) {
  return 0;
}

}  // extern "C"
