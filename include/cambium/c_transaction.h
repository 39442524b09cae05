/* Transactions in C. cambium/c.h includes this header, and its rules hold here too. Names are RocksDB's, with the
   prefix cambium_. The meaning is that of transaction.h, transaction_db.h, optimistic_transaction_db.h and
   write_batch_with_index.h. docs/TRANSACTIONS.md says which kind of transaction suits what.

   Errors     A commit that fails has written nothing, unless a sync has failed, and its transaction can be rolled back.
              cambium_error_code says of a failed call:
                cambium_code_busy       others have written a key that the transaction tracks; or it would wait for a
                                        lock in a circle with others (cambium_subcode_deadlock), or too many keys are
                                        locked (cambium_subcode_lock_limit). A new transaction may succeed
                cambium_code_try_again  whether a key was written is not known any more: as above
                cambium_code_timed_out  the lock of a key was not free in time
                cambium_code_expired    the transaction took longer than its expiration
   NULL       Functions of a transaction accept NULL for it, because a begin may return NULL. Those with an errptr then
              report "Invalid argument"; the others do nothing, and return 0 or NULL.
   Lifetimes  Destroy a transaction before its database is closed, and its iterators before it ends: before a commit, a
              rollback, or its destruction. cambium_close_with_status leaves a database open that has transactions.
              A transaction keeps its own copy of the options.
   Threads    One thread at a time may use a transaction. A second one that reads, writes or commits meanwhile gets
              "Invalid argument"; all other calls are not checked.
              Any thread may use a database for transactions. */
#ifndef CAMBIUM_C_TRANSACTION_H_
#define CAMBIUM_C_TRANSACTION_H_

#include "c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---- */
typedef struct cambium_optimistictransaction_options_t cambium_optimistictransaction_options_t;
typedef struct cambium_optimistictransactiondb_t cambium_optimistictransactiondb_t;
typedef struct cambium_transaction_options_t cambium_transaction_options_t;
typedef struct cambium_transaction_t cambium_transaction_t;
typedef struct cambium_transactiondb_options_t cambium_transactiondb_options_t;
typedef struct cambium_transactiondb_t cambium_transactiondb_t;
typedef struct cambium_writebatch_wi_t cambium_writebatch_wi_t;
typedef struct cambium_writeconditions_t cambium_writeconditions_t;

/* ---- Beginning and ending transactions ---- */
/* An optimistic transaction over any database that takes writes, except one of cambium_transactiondb_open. NULL after
   an error. */
cambium_transaction_t* cambium_begin_optimistic_transaction(cambium_t* db, const cambium_writeoptions_t* write_options,
                                                            const cambium_optimistictransaction_options_t* options,
                                                            char** errptr);
/* `old` NULL: a new transaction. Otherwise a transaction of this database that is not needed any more: it is rolled
   back, unless it is prepared, begins again, and is returned. NULL if the database takes no writes; `old` is then
   unchanged. */
cambium_transaction_t* cambium_optimistictransaction_begin(cambium_optimistictransactiondb_t* otxn_db,
                                                           const cambium_writeoptions_t* write_options,
                                                           const cambium_optimistictransaction_options_t* options,
                                                           cambium_transaction_t* old);
cambium_transaction_t* cambium_transaction_begin(cambium_transactiondb_t* txn_db,
                                                 const cambium_writeoptions_t* write_options,
                                                 const cambium_transaction_options_t* options,
                                                 cambium_transaction_t* old);
/* Rolls a transaction back that was not committed, unless it is prepared. */
void cambium_transaction_destroy(cambium_transaction_t* txn);
/* After a success, every other call but cambium_transaction_destroy is an error, or does nothing. */
void cambium_transaction_commit(cambium_transaction_t* txn, char** errptr);
/* The first of two phases, for pessimistic transactions that have a name: records the writes and locks in the database,
   durably if the write options of the begin say sync. From then on the transaction can only be read, committed or
   rolled back, and remains prepared until then, also if it is destroyed or the database is closed:
   cambium_transactiondb_get_prepared_transactions. */
void cambium_transaction_prepare(cambium_transaction_t* txn, char** errptr);
/* Afterwards the transaction can be used again. It keeps its snapshot. */
void cambium_transaction_rollback(cambium_transaction_t* txn, char** errptr);
/* Without a save point, the last two report "NotFound". */
void cambium_transaction_set_savepoint(cambium_transaction_t* txn);
void cambium_transaction_rollback_to_savepoint(cambium_transaction_t* txn, char** errptr);
void cambium_transaction_pop_savepoint(cambium_transaction_t* txn, char** errptr);

/* ---- Reading in a transaction ---- */
/* As cambium_get and its relatives; they also see the transaction's own writes. */
char* cambium_transaction_get(cambium_transaction_t* txn, const cambium_readoptions_t* options, const char* key,
                              size_t key_length, size_t* value_length, char** errptr);
char* cambium_transaction_get_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                 cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                 size_t* value_length, char** errptr);
cambium_pinnableslice_t* cambium_transaction_get_pinned(cambium_transaction_t* txn,
                                                        const cambium_readoptions_t* options, const char* key,
                                                        size_t key_length, char** errptr);
cambium_pinnableslice_t* cambium_transaction_get_pinned_cf(cambium_transaction_t* txn,
                                                           const cambium_readoptions_t* options,
                                                           cambium_column_family_handle_t* family, const char* key,
                                                           size_t key_length, char** errptr);
void cambium_transaction_multi_get(cambium_transaction_t* txn, const cambium_readoptions_t* options, size_t num_keys,
                                   const char* const* keys, const size_t* key_lengths, char** values,
                                   size_t* value_lengths, char** errors);
void cambium_transaction_multi_get_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                      const cambium_column_family_handle_t* const* families, size_t num_keys,
                                      const char* const* keys, const size_t* key_lengths, char** values,
                                      size_t* value_lengths, char** errors);
/* These track the key. Pessimistic transactions: no other writer can write the key until the transaction has ended;
   without `exclusive`, others may read it for update too, also without `exclusive`. Optimistic transactions: the commit
   fails if another writer has written the key. */
char* cambium_transaction_get_for_update(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                         const char* key, size_t key_length, size_t* value_length,
                                         unsigned char exclusive, char** errptr);
char* cambium_transaction_get_for_update_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                            cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                            size_t* value_length, unsigned char exclusive, char** errptr);
cambium_pinnableslice_t* cambium_transaction_get_pinned_for_update(cambium_transaction_t* txn,
                                                                   const cambium_readoptions_t* options,
                                                                   const char* key, size_t key_length,
                                                                   unsigned char exclusive, char** errptr);
cambium_pinnableslice_t* cambium_transaction_get_pinned_for_update_cf(cambium_transaction_t* txn,
                                                                      const cambium_readoptions_t* options,
                                                                      cambium_column_family_handle_t* family,
                                                                      const char* key, size_t key_length,
                                                                      unsigned char exclusive, char** errptr);
/* Exclusive. */
void cambium_transaction_multi_get_for_update(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                              size_t num_keys, const char* const* keys, const size_t* key_lengths,
                                              char** values, size_t* value_lengths, char** errors);
void cambium_transaction_multi_get_for_update_cf(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                                                 const cambium_column_family_handle_t* const* families,
                                                 size_t num_keys, const char* const* keys, const size_t* key_lengths,
                                                 char** values, size_t* value_lengths, char** errors);
/* A key that only get_for_update tracks is not tracked any more, as often as it was called. */
void cambium_transaction_undo_get_for_update(cambium_transaction_t* txn, const char* key, size_t key_length);
void cambium_transaction_undo_get_for_update_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                                const char* key, size_t key_length);
/* Tracks the keys from `begin` on and before `end`, those that do not exist included, so that what a scan of the range
   shows is the same when the transaction commits: see transaction.h. NULL: no bound on this side. Pessimistic
   transactions: no other writer can write in the range until the transaction has ended. Optimistic transactions: the
   commit fails if another writer has. */
void cambium_transaction_track_range(cambium_transaction_t* txn, const char* begin, size_t begin_length,
                                     const char* end, size_t end_length, char** errptr);
void cambium_transaction_track_range_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                        const char* begin, size_t begin_length, const char* end, size_t end_length,
                                        char** errptr);
/* Locks the keys from `start` to `end`, both included, exclusively. With inf_suffix, an end is the place behind all
   keys that begin with its bytes; if it has none, the place behind the last key. An error in an optimistic
   transaction. */
void cambium_transaction_get_range_lock(cambium_transaction_t* txn, const char* start, size_t start_length,
                                        unsigned char start_inf_suffix, const char* end, size_t end_length,
                                        unsigned char end_inf_suffix, char** errptr);
void cambium_transaction_get_range_lock_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                           const char* start, size_t start_length, unsigned char start_inf_suffix,
                                           const char* end, size_t end_length, unsigned char end_inf_suffix,
                                           char** errptr);
/* Never NULL, as cambium_create_iterator. The keys that it shows are not tracked, unless
   cambium_transaction_track_range has tracked their range. */
cambium_iterator_t* cambium_transaction_create_iterator(cambium_transaction_t* txn,
                                                        const cambium_readoptions_t* options);
cambium_iterator_t* cambium_transaction_create_iterator_cf(cambium_transaction_t* txn,
                                                           const cambium_readoptions_t* options,
                                                           cambium_column_family_handle_t* family);

/* ---- Writing in a transaction ---- */
/* These track their keys too. */
void cambium_transaction_put(cambium_transaction_t* txn, const char* key, size_t key_length, const char* value,
                             size_t value_length, char** errptr);
void cambium_transaction_put_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                                size_t key_length, const char* value, size_t value_length, char** errptr);
void cambium_transaction_delete(cambium_transaction_t* txn, const char* key, size_t key_length, char** errptr);
void cambium_transaction_delete_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                                   size_t key_length, char** errptr);
void cambium_transaction_singledelete(cambium_transaction_t* txn, const char* key, size_t key_length, char** errptr);
void cambium_transaction_singledelete_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                         const char* key, size_t key_length, char** errptr);
/* Deletes the keys from `begin` on and before `end`. Tracks the range. */
void cambium_transaction_delete_range(cambium_transaction_t* txn, const char* begin, size_t begin_length,
                                      const char* end, size_t end_length, char** errptr);
void cambium_transaction_delete_range_cf(cambium_transaction_t* txn, cambium_column_family_handle_t* family,
                                         const char* begin, size_t begin_length, const char* end, size_t end_length,
                                         char** errptr);
/* Add the operations of a batch as if they were made one by one. */
void cambium_transaction_rebuild_from_writebatch(cambium_transaction_t* txn, cambium_writebatch_t* batch,
                                                 char** errptr);
void cambium_transaction_rebuild_from_writebatch_wi(cambium_transaction_t* txn, cambium_writebatch_wi_t* batch,
                                                    char** errptr);
/* The writes so far. Release it with cambium_free, before the transaction ends. Operations that are added to it are
   committed, but not tracked. Use it for lookups, puts and deletes only: its save points are the transaction's. */
cambium_writebatch_wi_t* cambium_transaction_get_writebatch_wi(cambium_transaction_t* txn);

/* ---- Snapshots, settings and figures of a transaction ---- */
/* Takes a snapshot now: from now on, a key conflicts if it was written after it. */
void cambium_transaction_set_snapshot(cambium_transaction_t* txn);
void cambium_transaction_clear_snapshot(cambium_transaction_t* txn);
/* The transaction's own: do not release it. NULL: it has none. Valid until it is replaced or cleared, or the
   transaction ends. (In RocksDB, rocksdb_transaction_get_snapshot returns an object that is to be freed.) */
const cambium_snapshot_t* cambium_transaction_snapshot(const cambium_transaction_t* txn);
/* Milliseconds that a call waits for a lock; negative: without limit. No effect on optimistic transactions. */
void cambium_transaction_set_lock_timeout(cambium_transaction_t* txn, int64_t milliseconds);
/* Pessimistic transactions only: a name of 1 to 511 bytes that no other transaction has. */
void cambium_transaction_set_name(cambium_transaction_t* txn, const char* name, size_t name_length, char** errptr);
/* The name is the caller's, and ends with a zero. */
char* cambium_transaction_get_name(const cambium_transaction_t* txn, size_t* name_length);
uint64_t cambium_transaction_get_id(const cambium_transaction_t* txn);
enum {
  cambium_transaction_started = 0,
  cambium_transaction_awaiting_prepare = 1,
  cambium_transaction_prepared = 2,
  cambium_transaction_awaiting_commit = 3,
  cambium_transaction_committed = 4,
  cambium_transaction_awaiting_rollback = 5,
  cambium_transaction_rolledback = 6,
  cambium_transaction_locks_stolen = 7
};
int cambium_transaction_get_state(const cambium_transaction_t* txn);
/* Tracked keys, puts, deletes. */
uint64_t cambium_transaction_get_num_keys(const cambium_transaction_t* txn);
uint64_t cambium_transaction_get_num_puts(const cambium_transaction_t* txn);
uint64_t cambium_transaction_get_num_deletes(const cambium_transaction_t* txn);
/* Milliseconds since it began. */
uint64_t cambium_transaction_get_elapsed_time(const cambium_transaction_t* txn);

/* ---- Databases for optimistic transactions ---- */
cambium_optimistictransactiondb_t* cambium_optimistictransactiondb_open(const cambium_options_t* options,
                                                                        const char* name, char** errptr);
/* As cambium_open_column_families. */
cambium_optimistictransactiondb_t* cambium_optimistictransactiondb_open_column_families(
    const cambium_options_t* options, const char* name, int num_column_families, const char* const* column_family_names,
    const cambium_options_t* const* column_family_options, cambium_column_family_handle_t** column_family_handles,
    char** errptr);
/* As cambium_close. */
void cambium_optimistictransactiondb_close(cambium_optimistictransactiondb_t* otxn_db);
/* The same database as an object for all functions of c.h. It is closed once: by this pointer or by the other. */
cambium_t* cambium_optimistictransactiondb_as_db(cambium_optimistictransactiondb_t* otxn_db);
/* The database below, for programs that RocksDB's names were written for. Release it with
   cambium_optimistictransactiondb_close_base_db and nothing else, before the database is closed. */
cambium_t* cambium_optimistictransactiondb_get_base_db(cambium_optimistictransactiondb_t* otxn_db);
void cambium_optimistictransactiondb_close_base_db(cambium_t* base_db);
/* As the functions of c.h without the prefix. */
void cambium_optimistictransactiondb_write(cambium_optimistictransactiondb_t* otxn_db,
                                           const cambium_writeoptions_t* options, cambium_writebatch_t* batch,
                                           char** errptr);
char* cambium_optimistictransactiondb_property_value(cambium_optimistictransactiondb_t* otxn_db,
                                                     const char* property_name);
int cambium_optimistictransactiondb_property_int(cambium_optimistictransactiondb_t* otxn_db, const char* property_name,
                                                 uint64_t* value);
cambium_checkpoint_t* cambium_optimistictransactiondb_checkpoint_object_create(
    cambium_optimistictransactiondb_t* otxn_db, char** errptr);

/* ---- Databases whose transactions lock their keys ---- */
cambium_transactiondb_t* cambium_transactiondb_open(const cambium_options_t* options,
                                                    const cambium_transactiondb_options_t* txn_db_options,
                                                    const char* name, char** errptr);
cambium_transactiondb_t* cambium_transactiondb_open_column_families(
    const cambium_options_t* options, const cambium_transactiondb_options_t* txn_db_options, const char* name,
    int num_column_families, const char* const* column_family_names,
    const cambium_options_t* const* column_family_options, cambium_column_family_handle_t** column_family_handles,
    char** errptr);
void cambium_transactiondb_close(cambium_transactiondb_t* txn_db);
/* The transactions that were prepared before the database was opened, and that no earlier call has returned, in the
   order of their names; their ends are synced. NULL if there are none. The array is released with cambium_free, and
   each transaction is destroyed, after it was committed or rolled back. */
cambium_transaction_t** cambium_transactiondb_get_prepared_transactions(cambium_transactiondb_t* txn_db,
                                                                        size_t* count, char** errptr);
/* The same database as an object for all functions of c.h, whose writes lock their keys and ranges. It
   is closed once: by this pointer or by the other. */
cambium_t* cambium_transactiondb_as_db(cambium_transactiondb_t* txn_db);
/* The database below: its writes lock nothing, and transactions without a snapshot do not notice them. Release it with
   cambium_transactiondb_close_base_db and nothing else, before the database is closed. */
cambium_t* cambium_transactiondb_get_base_db(cambium_transactiondb_t* txn_db);
void cambium_transactiondb_close_base_db(cambium_t* base_db);
/* As the functions of c.h without the prefix. Writes lock their keys, for as long as they take. */
cambium_column_family_handle_t* cambium_transactiondb_create_column_family(cambium_transactiondb_t* txn_db,
                                                                           const cambium_options_t* options,
                                                                           const char* name, char** errptr);
const cambium_snapshot_t* cambium_transactiondb_create_snapshot(cambium_transactiondb_t* txn_db);
void cambium_transactiondb_release_snapshot(cambium_transactiondb_t* txn_db, const cambium_snapshot_t* snapshot);
char* cambium_transactiondb_property_value(cambium_transactiondb_t* txn_db, const char* property_name);
int cambium_transactiondb_property_int(cambium_transactiondb_t* txn_db, const char* property_name, uint64_t* value);
cambium_checkpoint_t* cambium_transactiondb_checkpoint_object_create(cambium_transactiondb_t* txn_db, char** errptr);
void cambium_transactiondb_put(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options, const char* key,
                               size_t key_length, const char* value, size_t value_length, char** errptr);
void cambium_transactiondb_put_cf(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                  cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                  const char* value, size_t value_length, char** errptr);
void cambium_transactiondb_delete(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                  const char* key, size_t key_length, char** errptr);
void cambium_transactiondb_delete_cf(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                     cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                     char** errptr);
void cambium_transactiondb_write(cambium_transactiondb_t* txn_db, const cambium_writeoptions_t* options,
                                 cambium_writebatch_t* batch, char** errptr);
char* cambium_transactiondb_get(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options, const char* key,
                                size_t key_length, size_t* value_length, char** errptr);
char* cambium_transactiondb_get_cf(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options,
                                   cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                   size_t* value_length, char** errptr);
cambium_pinnableslice_t* cambium_transactiondb_get_pinned(cambium_transactiondb_t* txn_db,
                                                          const cambium_readoptions_t* options, const char* key,
                                                          size_t key_length, char** errptr);
cambium_pinnableslice_t* cambium_transactiondb_get_pinned_cf(cambium_transactiondb_t* txn_db,
                                                             const cambium_readoptions_t* options,
                                                             cambium_column_family_handle_t* family, const char* key,
                                                             size_t key_length, char** errptr);
void cambium_transactiondb_multi_get(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options,
                                     size_t num_keys, const char* const* keys, const size_t* key_lengths,
                                     char** values, size_t* value_lengths, char** errors);
void cambium_transactiondb_multi_get_cf(cambium_transactiondb_t* txn_db, const cambium_readoptions_t* options,
                                        const cambium_column_family_handle_t* const* families, size_t num_keys,
                                        const char* const* keys, const size_t* key_lengths, char** values,
                                        size_t* value_lengths, char** errors);
cambium_iterator_t* cambium_transactiondb_create_iterator(cambium_transactiondb_t* txn_db,
                                                          const cambium_readoptions_t* options);
cambium_iterator_t* cambium_transactiondb_create_iterator_cf(cambium_transactiondb_t* txn_db,
                                                             const cambium_readoptions_t* options,
                                                             cambium_column_family_handle_t* family);
void cambium_transactiondb_flush(cambium_transactiondb_t* txn_db, const cambium_flushoptions_t* options,
                                 char** errptr);
void cambium_transactiondb_flush_cf(cambium_transactiondb_t* txn_db, const cambium_flushoptions_t* options,
                                    cambium_column_family_handle_t* family, char** errptr);
void cambium_transactiondb_flush_wal(cambium_transactiondb_t* txn_db, unsigned char sync, char** errptr);

/* ---- Options of transactions. Defaults are those of the C++ structs ---- */
cambium_optimistictransaction_options_t* cambium_optimistictransaction_options_create(void);
void cambium_optimistictransaction_options_destroy(cambium_optimistictransaction_options_t* options);
/* True by default; in RocksDB false. */
void cambium_optimistictransaction_options_set_set_snapshot(cambium_optimistictransaction_options_t* options,
                                                            unsigned char value);
unsigned char cambium_optimistictransaction_options_get_set_snapshot(
    const cambium_optimistictransaction_options_t* options);
/* True by default. False: reads see the newest state, as in RocksDB. */
void cambium_optimistictransaction_options_set_read_at_snapshot(cambium_optimistictransaction_options_t* options,
                                                                unsigned char value);
unsigned char cambium_optimistictransaction_options_get_read_at_snapshot(
    const cambium_optimistictransaction_options_t* options);

cambium_transaction_options_t* cambium_transaction_options_create(void);
void cambium_transaction_options_destroy(cambium_transaction_options_t* options);
void cambium_transaction_options_set_set_snapshot(cambium_transaction_options_t* options, unsigned char value);
unsigned char cambium_transaction_options_get_set_snapshot(const cambium_transaction_options_t* options);
void cambium_transaction_options_set_read_at_snapshot(cambium_transaction_options_t* options, unsigned char value);
unsigned char cambium_transaction_options_get_read_at_snapshot(const cambium_transaction_options_t* options);
void cambium_transaction_options_set_deadlock_detect(cambium_transaction_options_t* options, unsigned char value);
unsigned char cambium_transaction_options_get_deadlock_detect(const cambium_transaction_options_t* options);
void cambium_transaction_options_set_deadlock_detect_depth(cambium_transaction_options_t* options, int64_t value);
int64_t cambium_transaction_options_get_deadlock_detect_depth(const cambium_transaction_options_t* options);
/* Milliseconds; negative: the transaction_lock_timeout of the database. */
void cambium_transaction_options_set_lock_timeout(cambium_transaction_options_t* options, int64_t value);
int64_t cambium_transaction_options_get_lock_timeout(const cambium_transaction_options_t* options);
/* Milliseconds; negative: none. */
void cambium_transaction_options_set_expiration(cambium_transaction_options_t* options, int64_t value);
int64_t cambium_transaction_options_get_expiration(const cambium_transaction_options_t* options);
void cambium_transaction_options_set_max_write_batch_size(cambium_transaction_options_t* options, size_t value);
size_t cambium_transaction_options_get_max_write_batch_size(const cambium_transaction_options_t* options);
/* 0: a commit is an error unless the transaction is prepared. */
void cambium_transaction_options_set_skip_prepare(cambium_transaction_options_t* options, unsigned char value);
unsigned char cambium_transaction_options_get_skip_prepare(const cambium_transaction_options_t* options);

cambium_transactiondb_options_t* cambium_transactiondb_options_create(void);
void cambium_transactiondb_options_destroy(cambium_transactiondb_options_t* options);
void cambium_transactiondb_options_set_max_num_locks(cambium_transactiondb_options_t* options, int64_t value);
int64_t cambium_transactiondb_options_get_max_num_locks(const cambium_transactiondb_options_t* options);
void cambium_transactiondb_options_set_max_num_deadlocks(cambium_transactiondb_options_t* options, uint32_t value);
uint32_t cambium_transactiondb_options_get_max_num_deadlocks(const cambium_transactiondb_options_t* options);
void cambium_transactiondb_options_set_num_stripes(cambium_transactiondb_options_t* options, size_t value);
size_t cambium_transactiondb_options_get_num_stripes(const cambium_transactiondb_options_t* options);
void cambium_transactiondb_options_set_transaction_lock_timeout(cambium_transactiondb_options_t* options,
                                                                int64_t value);
int64_t cambium_transactiondb_options_get_transaction_lock_timeout(const cambium_transactiondb_options_t* options);
void cambium_transactiondb_options_set_default_lock_timeout(cambium_transactiondb_options_t* options, int64_t value);
int64_t cambium_transactiondb_options_get_default_lock_timeout(const cambium_transactiondb_options_t* options);

/* ---- Batches with an index ----

   A write batch that can be read before it is written. One thread at a time. If an operation is not taken (the reasons
   are those of c.h, or the batch would have more than `max_bytes`), lookups and the write fail with the reason, until
   the batch is cleared, or rolled back to a save point before that operation. */
cambium_writebatch_wi_t* cambium_writebatch_wi_create(size_t reserved_bytes, unsigned char overwrite_key);
/* `comparator` must be that of the default family, and is borrowed; NULL: bytes are compared. `max_bytes` 0: no
   limit. */
cambium_writebatch_wi_t* cambium_writebatch_wi_create_with_params(const cambium_comparator_t* comparator,
                                                                  size_t reserved_bytes, unsigned char overwrite_key,
                                                                  size_t max_bytes);
/* Not for the result of cambium_transaction_get_writebatch_wi. */
void cambium_writebatch_wi_destroy(cambium_writebatch_wi_t* batch);
void cambium_writebatch_wi_clear(cambium_writebatch_wi_t* batch);
int cambium_writebatch_wi_count(const cambium_writebatch_wi_t* batch);
void cambium_writebatch_wi_put(cambium_writebatch_wi_t* batch, const char* key, size_t key_length, const char* value,
                               size_t value_length);
void cambium_writebatch_wi_put_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                  const char* key, size_t key_length, const char* value, size_t value_length);
void cambium_writebatch_wi_delete(cambium_writebatch_wi_t* batch, const char* key, size_t key_length);
void cambium_writebatch_wi_delete_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                     const char* key, size_t key_length);
void cambium_writebatch_wi_singledelete(cambium_writebatch_wi_t* batch, const char* key, size_t key_length);
void cambium_writebatch_wi_singledelete_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                           const char* key, size_t key_length);
void cambium_writebatch_wi_delete_range(cambium_writebatch_wi_t* batch, const char* start, size_t start_length,
                                        const char* end, size_t end_length);
void cambium_writebatch_wi_delete_range_cf(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* family,
                                           const char* start, size_t start_length, const char* end,
                                           size_t end_length);
/* As cambium_writebatch_data; the bytes are valid until the batch changes. */
const char* cambium_writebatch_wi_data(const cambium_writebatch_wi_t* batch, size_t* size);
void cambium_writebatch_wi_set_save_point(cambium_writebatch_wi_t* batch);
void cambium_writebatch_wi_rollback_to_save_point(cambium_writebatch_wi_t* batch, char** errptr);
void cambium_writebatch_wi_pop_save_point(cambium_writebatch_wi_t* batch, char** errptr);
/* As cambium_writebatch_iterate. */
void cambium_writebatch_wi_iterate(const cambium_writebatch_wi_t* batch, void* state,
                                   void (*put)(void* state, const char* key, size_t key_length, const char* value,
                                               size_t value_length),
                                   void (*deleted)(void* state, const char* key, size_t key_length));
void cambium_write_writebatch_wi(cambium_t* db, const cambium_writeoptions_t* options, cambium_writebatch_wi_t* batch,
                                 char** errptr);
/* The value that the batch alone gives the key; NULL, without an error, if it says nothing about it, or deletes it.
   `options` is there as in RocksDB and not used; it may be NULL. */
char* cambium_writebatch_wi_get_from_batch(cambium_writebatch_wi_t* batch, const cambium_options_t* options,
                                           const char* key, size_t key_length, size_t* value_length, char** errptr);
char* cambium_writebatch_wi_get_from_batch_cf(cambium_writebatch_wi_t* batch, const cambium_options_t* options,
                                              cambium_column_family_handle_t* family, const char* key,
                                              size_t key_length, size_t* value_length, char** errptr);
/* The value that a get would find if the batch were written to `db`. */
char* cambium_writebatch_wi_get_from_batch_and_db(cambium_writebatch_wi_t* batch, cambium_t* db,
                                                  const cambium_readoptions_t* options, const char* key,
                                                  size_t key_length, size_t* value_length, char** errptr);
char* cambium_writebatch_wi_get_from_batch_and_db_cf(cambium_writebatch_wi_t* batch, cambium_t* db,
                                                     const cambium_readoptions_t* options,
                                                     cambium_column_family_handle_t* family, const char* key,
                                                     size_t key_length, size_t* value_length, char** errptr);
cambium_pinnableslice_t* cambium_writebatch_wi_get_pinned_from_batch_and_db(cambium_writebatch_wi_t* batch,
                                                                            cambium_t* db,
                                                                            const cambium_readoptions_t* options,
                                                                            const char* key, size_t key_length,
                                                                            char** errptr);
cambium_pinnableslice_t* cambium_writebatch_wi_get_pinned_from_batch_and_db_cf(
    cambium_writebatch_wi_t* batch, cambium_t* db, const cambium_readoptions_t* options,
    cambium_column_family_handle_t* family, const char* key, size_t key_length, char** errptr);
/* An iterator over what `base` shows with the batch applied. It takes `base` over, which must be an iterator over the
   same family. `options` are those of `base`: their bounds also hold for keys of the batch. Destroy it before the
   batch. */
cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base(cambium_writebatch_wi_t* batch,
                                                                    cambium_iterator_t* base_iterator);
cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base_readopts(cambium_writebatch_wi_t* batch,
                                                                             cambium_iterator_t* base_iterator,
                                                                             const cambium_readoptions_t* options);
cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base_cf(cambium_writebatch_wi_t* batch,
                                                                       cambium_iterator_t* base_iterator,
                                                                       cambium_column_family_handle_t* family);
cambium_iterator_t* cambium_writebatch_wi_create_iterator_with_base_cf_readopts(cambium_writebatch_wi_t* batch,
                                                                                cambium_iterator_t* base_iterator,
                                                                                cambium_column_family_handle_t* family,
                                                                                const cambium_readoptions_t* options);

/* ---- Conditional writes ---- */
/* Writes that take effect only if keys are as expected, without a transaction: those of conditional_write.h. They return
   1 if they have written. 0 without an error: a condition did not hold, and nothing was written. 0 after an error. For a
   database that locks keys, pass that of cambium_transactiondb_as_db: they lock the keys too. */
/* Puts the value if the key does not exist. */
unsigned char cambium_put_if_absent(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                    size_t key_length, const char* value, size_t value_length, char** errptr);
unsigned char cambium_put_if_absent_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                       cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                       const char* value, size_t value_length, char** errptr);
/* Puts the value if the key has the value `expected`. */
unsigned char cambium_compare_and_set(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                      size_t key_length, const char* expected, size_t expected_length,
                                      const char* value, size_t value_length, char** errptr);
unsigned char cambium_compare_and_set_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                         cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                         const char* expected, size_t expected_length, const char* value,
                                         size_t value_length, char** errptr);
/* Deletes the key if it has the value `expected`. */
unsigned char cambium_compare_and_delete(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                         size_t key_length, const char* expected, size_t expected_length,
                                         char** errptr);
unsigned char cambium_compare_and_delete_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                            cambium_column_family_handle_t* family, const char* key,
                                            size_t key_length, const char* expected, size_t expected_length,
                                            char** errptr);
/* The version of a value is the sequence number of its write. cambium_get_with_version is cambium_get, and sets *version
   to that of the value; to 0 if the key does not exist, and after an error. From the first such call on that finds a
   value, the column family keeps versions, and releases that do not know this refuse to open the database: see
   conditional_write.h. */
char* cambium_get_with_version(cambium_t* db, const cambium_readoptions_t* options, const char* key, size_t key_length,
                               size_t* value_length, uint64_t* version, char** errptr);
char* cambium_get_with_version_cf(cambium_t* db, const cambium_readoptions_t* options,
                                  cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                  size_t* value_length, uint64_t* version, char** errptr);
/* Puts the value, or deletes the key, if the key was not written since cambium_get_with_version returned `version`. 0: if
   the key does not exist. */
unsigned char cambium_put_if_unchanged(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                       size_t key_length, uint64_t version, const char* value, size_t value_length,
                                       char** errptr);
unsigned char cambium_put_if_unchanged_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                          cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                          uint64_t version, const char* value, size_t value_length, char** errptr);
unsigned char cambium_delete_if_unchanged(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                          size_t key_length, uint64_t version, char** errptr);
unsigned char cambium_delete_if_unchanged_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                             cambium_column_family_handle_t* family, const char* key,
                                             size_t key_length, uint64_t version, char** errptr);
/* Writes the batch if all conditions hold. The conditions copy keys and values, and use the family handles: keep these
   until the last call. One thread at a time. */
cambium_writeconditions_t* cambium_writeconditions_create(void);
void cambium_writeconditions_destroy(cambium_writeconditions_t* conditions);
void cambium_writeconditions_clear(cambium_writeconditions_t* conditions);
void cambium_writeconditions_is_absent(cambium_writeconditions_t* conditions, const char* key, size_t key_length);
void cambium_writeconditions_is_absent_cf(cambium_writeconditions_t* conditions,
                                          cambium_column_family_handle_t* family, const char* key, size_t key_length);
void cambium_writeconditions_has_value(cambium_writeconditions_t* conditions, const char* key, size_t key_length,
                                       const char* value, size_t value_length);
void cambium_writeconditions_has_value_cf(cambium_writeconditions_t* conditions,
                                          cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                          const char* value, size_t value_length);
void cambium_writeconditions_is_unchanged(cambium_writeconditions_t* conditions, const char* key, size_t key_length,
                                          uint64_t version);
void cambium_writeconditions_is_unchanged_cf(cambium_writeconditions_t* conditions,
                                             cambium_column_family_handle_t* family, const char* key,
                                             size_t key_length, uint64_t version);
unsigned char cambium_write_if(cambium_t* db, const cambium_writeoptions_t* options,
                               const cambium_writeconditions_t* conditions, cambium_writebatch_t* batch,
                               char** errptr);

#ifdef __cplusplus
}
#endif

#endif /* CAMBIUM_C_TRANSACTION_H_ */
