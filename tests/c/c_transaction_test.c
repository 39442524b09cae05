/* Calls every function of c_transaction.h; exports_script.sh checks that none is missing. Built as C99 against the
   shared library. Argument: a directory for databases. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>

#include "test_program.h"

static char copy_path[5000];

static void check_pinned(cambium_pinnableslice_t* slice, const char* expected) {
  size_t length = 99;
  const char* const value = cambium_pinnableslice_value(slice, &length);
  CHECK_OK(error);
  if (expected == NULL) {
    CHECK(slice == NULL);
  } else {
    CHECK_BYTES(value, length, expected);
  }
  cambium_pinnableslice_destroy(slice);
}
static void check_db(cambium_t* db, const char* key, const char* expected) { check_get(db, roptions, key, expected); }
static void check_txn(cambium_transaction_t* txn, const char* key, const char* expected) {
  size_t length = 99;
  char* const value = cambium_transaction_get(txn, roptions, key, strlen(key), &length, &error);
  check_value(value, &length, expected);
}
static void check_for_update(cambium_transaction_t* txn, const char* key, const char* expected) {
  size_t length = 99;
  char* const value = cambium_transaction_get_for_update(txn, roptions, key, strlen(key), &length, 1, &error);
  check_value(value, &length, expected);
}
static void txn_put(cambium_transaction_t* txn, const char* key, const char* value) {
  cambium_transaction_put(txn, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}
static void commit(cambium_transaction_t* txn) {
  cambium_transaction_commit(txn, &error);
  CHECK_OK(error);
}

static cambium_transaction_t* begin_over(cambium_t* db) {
  cambium_optimistictransaction_options_t* const how = cambium_optimistictransaction_options_create();
  cambium_transaction_t* const txn = cambium_begin_optimistic_transaction(db, woptions, how, &error);
  cambium_optimistictransaction_options_destroy(how); /* it was copied */
  CHECK_OK(error);
  CHECK(txn != NULL);
  return txn;
}

/* Expects the keys that an iterator shows, as one text, and destroys it. */
static void check_keys(cambium_iterator_t* iterator, const char* expected) {
  char found[100] = "";
  for (cambium_iter_seek_to_first(iterator); cambium_iter_valid(iterator); cambium_iter_next(iterator)) {
    size_t length = 0;
    const char* const key = cambium_iter_key(iterator, &length);
    strncat(found, key, length);
  }
  cambium_iter_get_error(iterator, &error);
  CHECK_OK(error);
  if (strcmp(found, expected) != 0) {
    fprintf(stderr, "the iterator shows %s, expected %s\n", found, expected);
    exit(1);
  }
  cambium_iter_destroy(iterator);
}

/* ---- Any database ---- */

static void test_conflicts(cambium_t* db) {
  cambium_transaction_t* first = begin_over(db);
  cambium_transaction_t* const second = begin_over(db);
  put(db, "outside", "1");
  check_txn(first, "outside", NULL); /* it has a snapshot */
  check_for_update(first, "a", NULL);
  txn_put(first, "a", "first");
  check_txn(first, "a", "first");
  check_db(db, "a", NULL);
  txn_put(second, "a", "second");
  CHECK(cambium_transaction_get_num_keys(first) == 1 && cambium_transaction_get_num_puts(first) == 1);
  CHECK(cambium_transaction_get_num_deletes(first) == 0);
  CHECK(cambium_transaction_get_id(first) != cambium_transaction_get_id(second));
  CHECK(cambium_transaction_get_elapsed_time(first) < 1000 * 1000);
  CHECK(cambium_transaction_get_state(first) == cambium_transaction_started);
  commit(first);
  CHECK(cambium_transaction_get_state(first) == cambium_transaction_committed);
  check_db(db, "a", "first");

  cambium_transaction_commit(second, &error);
  CHECK(error != NULL && strncmp(error, "Resource busy", 13) == 0);
  CHECK_ERROR(error, "key 61"); /* "a" */
  check_db(db, "a", "first");
  cambium_transaction_rollback(second, &error);
  CHECK_OK(error);
  check_txn(second, "a", NULL); /* the snapshot is still there */
  cambium_transaction_clear_snapshot(second);
  check_txn(second, "a", "first");
  txn_put(second, "a", "again");
  commit(second);
  check_db(db, "a", "again");
  cambium_transaction_destroy(second);

  /* After the commit. */
  cambium_transaction_put(first, "b", 1, "x", 1, &error);
  CHECK_ERROR(error, "Invalid argument: the transaction has been committed");
  cambium_transaction_commit(first, &error);
  CHECK_ERROR(error, "committed");
  cambium_transaction_rollback(first, &error);
  CHECK_ERROR(error, "committed");
  cambium_transaction_set_savepoint(first);
  cambium_transaction_undo_get_for_update(first, "a", 1);
  check_db(db, "b", NULL);
  cambium_transaction_destroy(first);

  /* A transaction that is destroyed leaves nothing. */
  first = begin_over(db);
  txn_put(first, "left", "over");
  cambium_transaction_destroy(first);
  check_db(db, "left", NULL);
  cambium_transaction_destroy(NULL);
}

static void test_snapshots_and_save_points(cambium_t* db) {
  cambium_transaction_t* const txn = begin_over(db);
  const cambium_snapshot_t* snapshot = cambium_transaction_snapshot(txn);
  const uint64_t began = cambium_snapshot_get_sequence_number(snapshot);
  put(db, "a", "1");
  cambium_transaction_set_snapshot(txn);
  CHECK(cambium_snapshot_get_sequence_number(cambium_transaction_snapshot(txn)) > began);
  cambium_readoptions_set_snapshot(roptions, cambium_transaction_snapshot(txn));
  check_txn(txn, "a", "1");
  cambium_readoptions_set_snapshot(roptions, NULL);

  cambium_transaction_set_savepoint(txn);
  txn_put(txn, "b", "1");
  cambium_transaction_set_savepoint(txn);
  cambium_transaction_delete(txn, "a", 1, &error);
  CHECK_OK(error);
  cambium_transaction_singledelete(txn, "c", 1, &error);
  CHECK_OK(error);
  CHECK(cambium_transaction_get_num_deletes(txn) == 2);
  cambium_transaction_rollback_to_savepoint(txn, &error);
  CHECK_OK(error);
  check_txn(txn, "a", "1");
  cambium_transaction_pop_savepoint(txn, &error);
  CHECK_OK(error);
  check_txn(txn, "b", "1");
  cambium_transaction_rollback_to_savepoint(txn, &error);
  CHECK_ERROR(error, "NotFound");
  cambium_transaction_pop_savepoint(txn, &error);
  CHECK_ERROR(error, "NotFound");

  cambium_transaction_clear_snapshot(txn);
  CHECK(cambium_transaction_snapshot(txn) == NULL);
  CHECK(cambium_transaction_get_num_keys(txn) == 1);
  check_for_update(txn, "z", NULL);
  CHECK(cambium_transaction_get_num_keys(txn) == 2);
  cambium_transaction_undo_get_for_update(txn, "z", 1);
  CHECK(cambium_transaction_get_num_keys(txn) == 1);
  put(db, "z", "others");
  commit(txn);
  cambium_transaction_destroy(txn);
  check_db(db, "b", "1");
}

/* Too much is written while a transaction is open. */
static void test_try_again(cambium_t* db) {
  static char value[100];
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_transaction_t* txn;
  int i;
  cambium_put(db, woptions, "wanted", 6, "0", 1, &error);
  CHECK_OK(error);
  txn = begin_over(db);
  txn_put(txn, "wanted", "1");
  for (i = 0; i < 10000; ++i) {
    char key[20];
    snprintf(key, sizeof key, "many%d", i);
    cambium_writebatch_put(batch, key, strlen(key), value, sizeof value);
    if (i % 200 != 199) continue;
    cambium_write(db, woptions, batch, &error);
    CHECK_OK(error);
    cambium_writebatch_clear(batch);
  }
  cambium_flush(db, flush, &error);
  CHECK_OK(error);
  cambium_transaction_commit(txn, &error);
  CHECK(error != NULL && strncmp(error, "Operation failed. Try again.", 28) == 0);
  CHECK_ERROR(error, "key 77616e746564"); /* "wanted" */
  cambium_transaction_destroy(txn);
  cambium_writebatch_destroy(batch);
  cambium_flushoptions_destroy(flush);
  cambium_delete_range(db, woptions, "many", 4, "manz", 4, &error);
  cambium_delete(db, woptions, "wanted", 6, &error);
  CHECK_OK(error);
}

/* Reads and writes of family x. */
static void check_family(cambium_transaction_t* txn, cambium_column_family_handle_t* x) {
  size_t length;
  cambium_transaction_put_cf(txn, x, "a", 1, "in x", 4, &error);
  CHECK_OK(error);
  cambium_transaction_put_cf(txn, x, "d", 1, "gone", 4, &error);
  CHECK_OK(error);
  cambium_transaction_delete_cf(txn, x, "d", 1, &error);
  CHECK_OK(error);
  cambium_transaction_singledelete_cf(txn, x, "e", 1, &error);
  CHECK_OK(error);
  check_value(cambium_transaction_get_cf(txn, roptions, x, "a", 1, &length, &error), &length, "in x");
  check_pinned(cambium_transaction_get_pinned_cf(txn, roptions, x, "a", 1, &error), "in x");
  check_pinned(cambium_transaction_get_pinned_cf(txn, roptions, x, "d", 1, &error), NULL);
  check_value(cambium_transaction_get_for_update_cf(txn, roptions, x, "b", 1, &length, 0, &error), &length, NULL);
  check_pinned(cambium_transaction_get_pinned_for_update_cf(txn, roptions, x, "a", 1, 1, &error), "in x");
  cambium_transaction_undo_get_for_update_cf(txn, x, "b", 1);
}

static void check_multi_get_of_families(cambium_transaction_t* txn, const cambium_column_family_handle_t* x) {
  const cambium_column_family_handle_t* const families[] = {x, x, NULL};
  const char* const keys[] = {"a", "b", "a"};
  const size_t key_lengths[] = {1, 1, 1};
  char* values[3];
  size_t lengths[3];
  char* errors[3];
  cambium_transaction_multi_get_cf(txn, roptions, families, 3, keys, key_lengths, values, lengths, errors);
  CHECK_BYTES(values[0], lengths[0], "in x");
  cambium_free(values[0]);
  CHECK(values[1] == NULL && errors[0] == NULL && errors[1] == NULL && values[2] == NULL);
  CHECK_ERROR(errors[2], "Invalid argument");
  cambium_transaction_multi_get_for_update_cf(txn, roptions, families, 3, keys, key_lengths, values, lengths, errors);
  CHECK_BYTES(values[0], lengths[0], "in x");
  cambium_free(values[0]);
  CHECK(values[1] == NULL && errors[0] == NULL && errors[1] == NULL);
  CHECK_ERROR(errors[2], "Invalid argument");
}

/* Iterators see the transaction's writes, within the bounds. */
static void check_iterators(cambium_t* db, cambium_transaction_t* txn, cambium_column_family_handle_t* x) {
  cambium_iterator_t* none;
  put(db, "a", "1");
  cambium_transaction_set_snapshot(txn);
  txn_put(txn, "aa", "2");
  cambium_readoptions_set_iterate_upper_bound(roptions, "b", 1);
  check_keys(cambium_transaction_create_iterator(txn, roptions), "aaa");
  check_keys(cambium_transaction_create_iterator_cf(txn, roptions, x), "a");
  cambium_readoptions_set_iterate_upper_bound(roptions, NULL, 0);
  none = cambium_transaction_create_iterator_cf(txn, roptions, NULL);
  cambium_iter_seek_to_first(none);
  CHECK(!cambium_iter_valid(none));
  cambium_iter_get_error(none, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_iter_destroy(none);
}

/* A family that was not created. */
static void check_null_family(cambium_transaction_t* txn) {
  size_t length;
  cambium_transaction_put_cf(txn, NULL, "a", 1, "b", 1, &error);
  CHECK_ERROR(error, "Invalid argument: the column family handle is null");
  cambium_transaction_delete_cf(txn, NULL, "a", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_singledelete_cf(txn, NULL, "a", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_cf(txn, roptions, NULL, "a", 1, &length, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_pinned_cf(txn, roptions, NULL, "a", 1, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_for_update_cf(txn, roptions, NULL, "a", 1, &length, 1, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_undo_get_for_update_cf(txn, NULL, "a", 1);
}

static void test_families_and_iterators(cambium_t* db) {
  cambium_column_family_handle_t* const x = cambium_create_column_family(db, options, "x", &error);
  cambium_transaction_t* const txn = begin_over(db);
  size_t length;
  CHECK_OK(error);
  check_family(txn, x);
  check_multi_get_of_families(txn, x);
  check_iterators(db, txn, x);
  check_null_family(txn);
  commit(txn);
  cambium_transaction_destroy(txn);
  check_value(cambium_get_cf(db, roptions, x, "a", 1, &length, &error), &length, "in x");
  check_db(db, "aa", "2");
  cambium_column_family_handle_destroy(x);
}

static void test_batches_of_transactions(cambium_t* db) {
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_writebatch_wi_t* const indexed = cambium_writebatch_wi_create(0, 1);
  cambium_transaction_t* const txn = begin_over(db);
  cambium_writebatch_wi_t* writes;
  const char* const keys[] = {"m1", "m2"};
  const size_t key_lengths[] = {2, 2};
  char* values[2];
  size_t lengths[2];
  char* errors[2];
  cambium_writebatch_put(batch, "m1", 2, "1", 1);
  cambium_transaction_rebuild_from_writebatch(txn, batch, &error);
  CHECK_OK(error);
  cambium_writebatch_wi_put(indexed, "m2", 2, "2", 1);
  cambium_transaction_rebuild_from_writebatch_wi(txn, indexed, &error);
  CHECK_OK(error);
  cambium_writebatch_delete_range(batch, "m", 1, "n", 1);
  cambium_transaction_rebuild_from_writebatch(txn, batch, &error);
  CHECK_OK(error);
  check_txn(txn, "m1", NULL);
  txn_put(txn, "m1", "1");
  txn_put(txn, "m2", "2");
  cambium_transaction_rebuild_from_writebatch(txn, NULL, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_rebuild_from_writebatch_wi(txn, NULL, &error);
  CHECK_ERROR(error, "Invalid argument");

  cambium_transaction_multi_get(txn, roptions, 2, keys, key_lengths, values, lengths, errors);
  CHECK_BYTES(values[0], lengths[0], "1");
  CHECK_BYTES(values[1], lengths[1], "2");
  cambium_free(values[0]);
  cambium_free(values[1]);
  CHECK(errors[0] == NULL && errors[1] == NULL);
  cambium_transaction_multi_get_for_update(txn, roptions, 2, keys, key_lengths, values, lengths, errors);
  CHECK_BYTES(values[1], lengths[1], "2");
  cambium_free(values[0]);
  cambium_free(values[1]);
  check_pinned(cambium_transaction_get_pinned(txn, roptions, "m1", 2, &error), "1");
  check_pinned(cambium_transaction_get_pinned_for_update(txn, roptions, "m2", 2, 1, &error), "2");

  writes = cambium_transaction_get_writebatch_wi(txn);
  cambium_writebatch_wi_put(writes, "m3", 2, "untracked", 9);
  CHECK(cambium_writebatch_wi_count(writes) >= 3);
  cambium_free(writes);
  commit(txn);
  check_db(db, "m2", "2");
  check_db(db, "m3", "untracked");
  cambium_transaction_destroy(txn);
  cambium_writebatch_wi_destroy(indexed);
  cambium_writebatch_destroy(batch);
}

/* A phantom makes the commit fail. */
static void test_tracked_ranges(cambium_t* db) {
  cambium_transaction_t* const txn = begin_over(db);
  cambium_transaction_track_range(txn, "t1", 2, "t3", 2, &error);
  CHECK_OK(error);
  cambium_transaction_get_range_lock(txn, "t1", 2, 0, "t3", 2, 0, &error);
  CHECK_ERROR(error, "Not implemented");
  txn_put(txn, "t9", "1");
  put(db, "t2", "phantom");
  cambium_transaction_commit(txn, &error);
  CHECK_ERROR(error, "key 7432 in range [7431, 7433)");
  cambium_transaction_destroy(txn);
  cambium_delete(db, woptions, "t2", 2, &error);
  CHECK_OK(error);
}

/* The functions of a transaction that did not begin. */
static void test_null(void) {
  const char* const keys[] = {"a"};
  const size_t key_lengths[] = {1};
  char* values[1];
  size_t lengths[1];
  char* errors[1];
  cambium_iterator_t* iterator;
  size_t length = 9;
  cambium_transaction_commit(NULL, &error);
  CHECK_ERROR(error, "Invalid argument: the transaction is NULL");
  cambium_transaction_prepare(NULL, &error);
  CHECK_ERROR(error, "Invalid argument: the transaction is NULL");
  cambium_transaction_rollback(NULL, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_set_savepoint(NULL);
  cambium_transaction_rollback_to_savepoint(NULL, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_pop_savepoint(NULL, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get(NULL, roptions, "a", 1, &length, &error) == NULL && length == 0);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_pinned(NULL, roptions, "a", 1, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_for_update(NULL, roptions, "a", 1, &length, 1, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_pinned_for_update(NULL, roptions, "a", 1, 1, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_multi_get(NULL, roptions, 1, keys, key_lengths, values, lengths, errors);
  CHECK_ERROR(errors[0], "Invalid argument");
  cambium_transaction_multi_get_for_update(NULL, roptions, 1, keys, key_lengths, values, lengths, errors);
  CHECK_ERROR(errors[0], "Invalid argument");
  cambium_transaction_undo_get_for_update(NULL, "a", 1);
  iterator = cambium_transaction_create_iterator(NULL, roptions);
  cambium_iter_seek_to_first(iterator);
  CHECK(!cambium_iter_valid(iterator));
  cambium_iter_get_error(iterator, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_iter_destroy(iterator);
  cambium_transaction_put(NULL, "a", 1, "b", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_delete(NULL, "a", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_singledelete(NULL, "a", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_track_range(NULL, "a", 1, "b", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_get_range_lock(NULL, "a", 1, 0, "b", 1, 0, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transaction_delete_range(NULL, "a", 1, "b", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_writebatch_wi(NULL) == NULL);
  cambium_transaction_set_snapshot(NULL);
  cambium_transaction_clear_snapshot(NULL);
  CHECK(cambium_transaction_snapshot(NULL) == NULL);
  cambium_transaction_set_lock_timeout(NULL, 1);
  cambium_transaction_set_name(NULL, "a", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_transaction_get_name(NULL, &length) == NULL && length == 0);
  CHECK(cambium_transaction_get_id(NULL) == 0 && cambium_transaction_get_state(NULL) == 0);
  CHECK(cambium_transaction_get_num_keys(NULL) == 0 && cambium_transaction_get_num_puts(NULL) == 0);
  CHECK(cambium_transaction_get_num_deletes(NULL) == 0 && cambium_transaction_get_elapsed_time(NULL) == 0);
}

static void test_any_database(void) {
  cambium_options_t* const small = cambium_options_create_copy(options);
  cambium_optimistictransaction_options_t* const how = cambium_optimistictransaction_options_create();
  cambium_transaction_t* txn;
  cambium_t* db;
  cambium_options_set_write_buffer_size(small, 64 << 10);
  destroy();
  db = cambium_open(small, path, &error);
  CHECK_OK(error);
  test_conflicts(db);
  test_snapshots_and_save_points(db);
  test_try_again(db);
  test_tracked_ranges(db);
  test_batches_of_transactions(db);
  test_families_and_iterators(db);
  test_null();

  /* A database that has transactions stays open. */
  txn = begin_over(db);
  cambium_close_with_status(db, &error);
  CHECK_ERROR(error, "1 transactions");
  txn_put(txn, "open", "still");
  commit(txn);
  cambium_transaction_destroy(txn);
  cambium_close_with_status(db, &error);
  CHECK_OK(error);

  /* A read-only database has no transactions. */
  db = cambium_open_for_read_only(small, path, &error);
  CHECK_OK(error);
  check_db(db, "open", "still");
  CHECK(cambium_begin_optimistic_transaction(db, woptions, how, &error) == NULL);
  CHECK_ERROR(error, "Not implemented");
  cambium_close(db);
  cambium_optimistictransaction_options_destroy(how);
  cambium_options_destroy(small);
}

/* ---- Databases for optimistic transactions ---- */

/* Without a snapshot. */
static cambium_optimistictransaction_options_t* optimistic_options(void) {
  cambium_optimistictransaction_options_t* const how = cambium_optimistictransaction_options_create();
  CHECK(cambium_optimistictransaction_options_get_set_snapshot(how));
  CHECK(cambium_optimistictransaction_options_get_read_at_snapshot(how));
  cambium_optimistictransaction_options_set_set_snapshot(how, 0);
  cambium_optimistictransaction_options_set_read_at_snapshot(how, 0);
  CHECK(!cambium_optimistictransaction_options_get_set_snapshot(how));
  CHECK(!cambium_optimistictransaction_options_get_read_at_snapshot(how));
  return how;
}

/* Writes a, b and c. */
static void check_optimistic_transactions(cambium_optimistictransactiondb_t* db,
                                          const cambium_optimistictransaction_options_t* how) {
  cambium_transaction_t* txn = cambium_optimistictransaction_begin(db, woptions, how, NULL);
  CHECK(cambium_transaction_snapshot(txn) == NULL);
  txn_put(txn, "a", "1");
  commit(txn);
  CHECK(cambium_optimistictransaction_begin(db, woptions, how, txn) == txn);
  txn_put(txn, "b", "2");
  cambium_transaction_set_name(txn, "name", 4, &error);
  CHECK_ERROR(error, "Not implemented");
  cambium_transaction_prepare(txn, &error);
  CHECK_ERROR(error, "Invalid argument: an optimistic transaction cannot be prepared");
  CHECK(cambium_transaction_get_state(txn) == cambium_transaction_started);
  commit(txn);
  cambium_transaction_destroy(txn);
  txn = begin_over(cambium_optimistictransactiondb_as_db(db));
  txn_put(txn, "c", "3");
  commit(txn);
  cambium_transaction_destroy(txn);
}

/* What every database has, under the names of this one. */
static void check_optimistic_names_of_c_h(cambium_optimistictransactiondb_t* db) {
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_checkpoint_t* checkpoint;
  char* text;
  uint64_t number = 99;
  cambium_t* const base = cambium_optimistictransactiondb_get_base_db(db);
  check_db(base, "a", "1");
  put(base, "d", "4");
  cambium_optimistictransactiondb_close_base_db(base);
  cambium_writebatch_put(batch, "e", 1, "5", 1);
  cambium_optimistictransactiondb_write(db, woptions, batch, &error);
  CHECK_OK(error);
  check_keys(cambium_create_iterator(cambium_optimistictransactiondb_as_db(db), roptions), "abcde");
  text = cambium_optimistictransactiondb_property_value(db, "rocksdb.stats");
  CHECK(text != NULL);
  cambium_free(text);
  CHECK(cambium_optimistictransactiondb_property_int(db, "rocksdb.num-snapshots", &number) == 0 && number == 0);
  CHECK(cambium_optimistictransactiondb_property_int(db, "nonsense", &number) == -1);
  cambium_destroy_db(options, copy_path, &error);
  CHECK_OK(error);
  checkpoint = cambium_optimistictransactiondb_checkpoint_object_create(db, &error);
  CHECK_OK(error);
  cambium_checkpoint_create(checkpoint, copy_path, 0, &error);
  CHECK_OK(error);
  cambium_checkpoint_object_destroy(checkpoint);
  cambium_destroy_db(options, copy_path, &error);
  CHECK_OK(error);
  cambium_writebatch_destroy(batch);
}

/* The closed database has a family x. */
static void check_families_of_an_optimistic_database(const cambium_optimistictransaction_options_t* how) {
  const char* const names[] = {"default", "x"};
  const cambium_options_t* const both[] = {options, options};
  cambium_column_family_handle_t* handles[2];
  cambium_transaction_t* txn;
  cambium_optimistictransactiondb_t* const db =
      cambium_optimistictransactiondb_open_column_families(options, path, 2, names, both, handles, &error);
  CHECK_OK(error);
  txn = cambium_optimistictransaction_begin(db, woptions, how, NULL);
  cambium_transaction_put_cf(txn, handles[1], "a", 1, "1", 1, &error);
  CHECK_OK(error);
  commit(txn);
  cambium_transaction_destroy(txn);
  cambium_column_family_handle_destroy(handles[0]);
  cambium_column_family_handle_destroy(handles[1]);
  cambium_close_with_status(cambium_optimistictransactiondb_as_db(db), &error);
  CHECK_OK(error);
  CHECK(cambium_optimistictransactiondb_open_column_families(options, path, -1, names, both, handles, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
}

static void test_optimistic_database(void) {
  cambium_optimistictransaction_options_t* const how = optimistic_options();
  cambium_optimistictransactiondb_t* db;
  cambium_column_family_handle_t* x;
  destroy();
  db = cambium_optimistictransactiondb_open(options, path, &error);
  CHECK_OK(error);
  CHECK(cambium_optimistictransactiondb_open(options, path, &error) == NULL);
  CHECK_ERROR(error, "IO error (locked)");
  check_optimistic_transactions(db, how);
  check_optimistic_names_of_c_h(db);
  x = cambium_create_column_family(cambium_optimistictransactiondb_as_db(db), options, "x", &error);
  CHECK_OK(error);
  cambium_column_family_handle_destroy(x);
  cambium_optimistictransactiondb_close(db);
  cambium_optimistictransactiondb_close(NULL);
  check_families_of_an_optimistic_database(how);
  cambium_optimistictransaction_options_destroy(how);
}

/* ---- Databases with locks ---- */

/* Expects nothing, or the error of a deadlock. Returns 1 for the error, which it frees. */
static int is_deadlock(char* failed) {
  if (failed == NULL) return 0;
  CHECK(strncmp(failed, "Resource busy", 13) == 0);
  CHECK_ERROR(failed, "would not end");
  return 1;
}

static void* want_a(void* txn) {
  char* failed = NULL;
  cambium_transaction_put(txn, "a", 1, "2", 1, &failed);
  if (failed != NULL) cambium_transaction_rollback(txn, &error);
  return failed;
}

/* Two transactions want what the other one has. The one that asks last gets the error, and lets go. */
static void test_deadlock(cambium_transactiondb_t* db) {
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transaction_t* first;
  cambium_transaction_t* second;
  pthread_t thread;
  void* failed;
  int deadlocks;
  cambium_transaction_options_set_deadlock_detect(how, 1);
  cambium_transaction_options_set_deadlock_detect_depth(how, 10);
  cambium_transaction_options_set_lock_timeout(how, 60 * 1000);
  first = cambium_transaction_begin(db, woptions, how, NULL);
  second = cambium_transaction_begin(db, woptions, how, NULL);
  txn_put(first, "b", "1");
  txn_put(second, "a", "1");
  CHECK(pthread_create(&thread, NULL, want_a, first) == 0);
  cambium_transaction_put(second, "b", 1, "2", 1, &error);
  deadlocks = is_deadlock(error);
  error = NULL;
  cambium_transaction_destroy(second);
  CHECK(pthread_join(thread, &failed) == 0);
  deadlocks += is_deadlock(failed);
  CHECK_OK(error);
  CHECK(deadlocks == 1);
  cambium_transaction_destroy(first);
  cambium_transaction_options_destroy(how);
}

static void test_locks(cambium_transactiondb_t* db) {
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transaction_t* first;
  cambium_transaction_t* second;
  size_t length = 0;
  char* name;
  cambium_transaction_options_set_set_snapshot(how, 1);
  first = cambium_transaction_begin(db, woptions, how, NULL);
  CHECK(cambium_transaction_snapshot(first) != NULL);
  cambium_transaction_options_set_set_snapshot(how, 0);
  second = cambium_transaction_begin(db, woptions, how, NULL);
  cambium_transaction_set_name(first, "first", 5, &error);
  CHECK_OK(error);
  name = cambium_transaction_get_name(first, &length);
  CHECK_BYTES(name, length, "first");
  cambium_free(name);
  cambium_transaction_set_name(second, "first", 5, &error);
  CHECK_ERROR(error, "Invalid argument");

  txn_put(first, "a", "1");
  cambium_transaction_set_lock_timeout(second, 1);
  cambium_transaction_put(second, "a", 1, "2", 1, &error);
  CHECK(error != NULL && strncmp(error, "Operation timed out", 19) == 0);
  CHECK_ERROR(error, "key 61"); /* "a" */
  /* So does a write of the database itself. */
  cambium_transactiondb_put(db, woptions, "a", 1, "3", 1, &error);
  CHECK_ERROR(error, "Operation timed out");
  cambium_put(cambium_transactiondb_as_db(db), woptions, "a", 1, "3", 1, &error);
  CHECK_ERROR(error, "Operation timed out");
  commit(first);
  cambium_transaction_put(second, "a", 1, "2", 1, &error);
  CHECK_OK(error);
  commit(second);

  /* Shared locks. */
  CHECK(cambium_transaction_begin(db, woptions, how, first) == first);
  CHECK(cambium_transaction_begin(db, woptions, how, second) == second);
  cambium_transaction_set_lock_timeout(second, 1);
  check_value(cambium_transaction_get_for_update(first, roptions, "a", 1, &length, 0, &error), &length, "2");
  check_value(cambium_transaction_get_for_update(second, roptions, "a", 1, &length, 0, &error), &length, "2");
  CHECK(cambium_transaction_get_for_update(second, roptions, "a", 1, &length, 1, &error) == NULL);
  CHECK_ERROR(error, "Operation timed out");
  cambium_transaction_destroy(second);

  /* A snapshot that is older than the newest write. */
  cambium_transaction_set_snapshot(first);
  cambium_transactiondb_put(db, woptions, "b", 1, "new", 3, &error);
  CHECK_OK(error);
  cambium_transaction_put(first, "b", 1, "old", 3, &error);
  CHECK_ERROR(error, "Resource busy");
  cambium_transaction_destroy(first);
  cambium_transaction_options_destroy(how);
}

/* Ranges of the default family and of x. */
static void test_ranges(cambium_transactiondb_t* db, cambium_column_family_handle_t* x) {
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transaction_t* const first = cambium_transaction_begin(db, woptions, how, NULL);
  cambium_transaction_t* const second = cambium_transaction_begin(db, woptions, how, NULL);
  cambium_transaction_set_lock_timeout(second, 1);
  cambium_transaction_track_range(first, "r1", 2, "r3", 2, &error);
  CHECK_OK(error);
  cambium_transaction_track_range_cf(first, x, "s", 1, NULL, 0, &error);
  CHECK_OK(error);
  cambium_transaction_put(second, "r2", 2, "2", 1, &error);
  CHECK_ERROR(error, "Operation timed out");
  cambium_transaction_put_cf(second, x, "zz", 2, "2", 1, &error);
  CHECK_ERROR(error, "Operation timed out");
  cambium_transaction_put(second, "r3", 2, "2", 1, &error);
  CHECK_OK(error);
  cambium_transaction_get_range_lock(first, "r4", 2, 0, "r5", 2, 1, &error);
  CHECK_OK(error);
  cambium_transaction_get_range_lock_cf(first, x, "a", 1, 0, "b", 1, 0, &error);
  CHECK_OK(error);
  cambium_transaction_track_range(second, "r55", 3, "r6", 2, &error); /* begins with r5 */
  CHECK_ERROR(error, "Operation timed out");
  cambium_transaction_track_range_cf(second, x, NULL, 0, "a", 1, &error);
  CHECK_OK(error);
  cambium_transaction_get_range_lock(first, "b", 1, 0, "a", 1, 0, &error);
  CHECK_ERROR(error, "Invalid argument");
  txn_put(first, "r2", "1");
  cambium_transaction_delete_range(first, "r2", 2, "r3", 2, &error);
  CHECK_OK(error);
  cambium_transaction_delete_range_cf(first, x, "s", 1, "t", 1, &error);
  CHECK_OK(error);
  check_txn(first, "r2", NULL);
  commit(first);
  commit(second);
  check_db(cambium_transactiondb_as_db(db), "r2", NULL);
  cambium_delete_range(cambium_transactiondb_as_db(db), woptions, "r", 1, "s", 1, &error);
  CHECK_OK(error);
  check_db(cambium_transactiondb_as_db(db), "r3", NULL);
  cambium_transaction_destroy(first);
  cambium_transaction_destroy(second);
  cambium_transaction_options_destroy(how);
}

static void test_expiration(cambium_transactiondb_t* db) {
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transaction_t* txn;
  cambium_transaction_options_set_expiration(how, 1);
  txn = cambium_transaction_begin(db, woptions, how, NULL);
  cambium_transaction_put(txn, "a", 1, "5", 1, &error);
  cambium_free(error);
  error = NULL;
  while (cambium_transaction_get_elapsed_time(txn) < 5) sched_yield();
  cambium_transaction_commit(txn, &error);
  CHECK(error != NULL && strncmp(error, "Operation expired", 17) == 0);
  CHECK_ERROR(error, "expiration");
  cambium_transaction_destroy(txn);
  cambium_transaction_options_destroy(how);
}

/* The writes of a transaction may have 20 bytes. */
static void test_write_batch_size(cambium_transactiondb_t* db) {
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transaction_t* txn;
  cambium_transaction_options_set_max_write_batch_size(how, 20);
  txn = cambium_transaction_begin(db, woptions, how, NULL);
  cambium_transaction_put(txn, "a", 1, "01234567890123456789", 20, &error);
  CHECK_ERROR(error, "Operation aborted");
  cambium_transaction_destroy(txn);
  cambium_transaction_options_destroy(how);
}

static void test_options_of_transactions(void) {
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transactiondb_options_t* const of_db = cambium_transactiondb_options_create();
  CHECK(!cambium_transaction_options_get_set_snapshot(how) && cambium_transaction_options_get_read_at_snapshot(how));
  CHECK(!cambium_transaction_options_get_deadlock_detect(how));
  CHECK(cambium_transaction_options_get_deadlock_detect_depth(how) == 50);
  CHECK(cambium_transaction_options_get_lock_timeout(how) == -1);
  CHECK(cambium_transaction_options_get_expiration(how) == -1);
  CHECK(cambium_transaction_options_get_max_write_batch_size(how) == 0);
  CHECK(cambium_transaction_options_get_skip_prepare(how) == 1);
  cambium_transaction_options_set_set_snapshot(how, 2);
  cambium_transaction_options_set_read_at_snapshot(how, 0);
  cambium_transaction_options_set_deadlock_detect(how, 1);
  cambium_transaction_options_set_deadlock_detect_depth(how, 5);
  cambium_transaction_options_set_lock_timeout(how, 6);
  cambium_transaction_options_set_expiration(how, 7);
  cambium_transaction_options_set_max_write_batch_size(how, 8);
  cambium_transaction_options_set_skip_prepare(how, 0);
  CHECK(cambium_transaction_options_get_set_snapshot(how) == 1);
  CHECK(!cambium_transaction_options_get_read_at_snapshot(how));
  CHECK(cambium_transaction_options_get_deadlock_detect(how));
  CHECK(cambium_transaction_options_get_deadlock_detect_depth(how) == 5);
  CHECK(cambium_transaction_options_get_lock_timeout(how) == 6);
  CHECK(cambium_transaction_options_get_expiration(how) == 7);
  CHECK(cambium_transaction_options_get_max_write_batch_size(how) == 8);
  CHECK(cambium_transaction_options_get_skip_prepare(how) == 0);
  cambium_transaction_options_destroy(how);
  cambium_transaction_options_destroy(NULL);

  CHECK(cambium_transactiondb_options_get_max_num_locks(of_db) == -1);
  CHECK(cambium_transactiondb_options_get_max_num_deadlocks(of_db) == 5);
  CHECK(cambium_transactiondb_options_get_num_stripes(of_db) == 16);
  CHECK(cambium_transactiondb_options_get_transaction_lock_timeout(of_db) == 1000);
  CHECK(cambium_transactiondb_options_get_default_lock_timeout(of_db) == 1000);
  cambium_transactiondb_options_set_max_num_deadlocks(of_db, 2);
  cambium_transactiondb_options_set_num_stripes(of_db, 3);
  cambium_transactiondb_options_set_transaction_lock_timeout(of_db, 4);
  CHECK(cambium_transactiondb_options_get_max_num_deadlocks(of_db) == 2);
  CHECK(cambium_transactiondb_options_get_num_stripes(of_db) == 3);
  CHECK(cambium_transactiondb_options_get_transaction_lock_timeout(of_db) == 4);
  cambium_transactiondb_options_destroy(of_db);
  cambium_transactiondb_options_destroy(NULL);
  cambium_optimistictransaction_options_destroy(NULL);
}

/* ---- Two phases ---- */

static void check_state(const cambium_transaction_t* txn, int expected) {
  const int state = cambium_transaction_get_state(txn);
  if (state != expected) {
    fprintf(stderr, "the state is %d, expected %d\n", state, expected);
    exit(1);
  }
}

static cambium_transaction_t* begin_named(cambium_transactiondb_t* db, const cambium_transaction_options_t* how,
                                          const char* name) {
  cambium_transaction_t* const txn = cambium_transaction_begin(db, woptions, how, NULL);
  cambium_transaction_set_name(txn, name, strlen(name), &error);
  CHECK_OK(error);
  return txn;
}

static void prepare(cambium_transaction_t* txn) {
  cambium_transaction_prepare(txn, &error);
  CHECK_OK(error);
  check_state(txn, cambium_transaction_prepared);
}

/* A prepared transaction can be read, committed and rolled back, and nothing else. */
static void test_prepare(cambium_transactiondb_t* db) {
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transaction_t* txn = cambium_transaction_begin(db, woptions, how, NULL);
  size_t count = 99;
  txn_put(txn, "a", "1");
  cambium_transaction_prepare(txn, &error);
  CHECK_ERROR(error, "Invalid argument: a transaction needs a name");
  check_state(txn, cambium_transaction_started);
  cambium_transaction_set_name(txn, "t", 1, &error);
  CHECK_OK(error);
  prepare(txn);

  check_db(cambium_transactiondb_as_db(db), "a", NULL);
  check_txn(txn, "a", "1");
  check_keys(cambium_transaction_create_iterator(txn, roptions), "a");
  cambium_transaction_put(txn, "b", 1, "1", 1, &error);
  CHECK_ERROR(error, "Invalid argument: the transaction is prepared");
  cambium_transaction_delete(txn, "a", 1, &error);
  CHECK_ERROR(error, "the transaction is prepared");
  cambium_transaction_rollback_to_savepoint(txn, &error);
  CHECK_ERROR(error, "the transaction is prepared");
  cambium_transaction_prepare(txn, &error);
  CHECK_ERROR(error, "the transaction is prepared");
  cambium_transactiondb_put(db, woptions, "a", 1, "3", 1, &error);
  CHECK_ERROR(error, "Operation timed out");
  CHECK(cambium_transactiondb_get_prepared_transactions(db, &count, &error) == NULL && count == 0);
  CHECK_OK(error); /* the program has its object */
  cambium_close_with_status(cambium_transactiondb_as_db(db), &error);
  CHECK_ERROR(error, "1 transactions");
  commit(txn);
  check_state(txn, cambium_transaction_committed);
  check_db(cambium_transactiondb_as_db(db), "a", "1");
  cambium_transaction_prepare(txn, &error);
  CHECK_ERROR(error, "Invalid argument: the transaction has been committed");
  cambium_transaction_destroy(txn);

  /* After a rollback it can be used again, and still has its name. */
  txn = begin_named(db, how, "t");
  txn_put(txn, "a", "2");
  prepare(txn);
  cambium_transaction_rollback(txn, &error);
  CHECK_OK(error);
  check_state(txn, cambium_transaction_started);
  check_txn(txn, "a", "1");
  cambium_transactiondb_delete(db, woptions, "a", 1, &error);
  CHECK_OK(error);
  cambium_transaction_destroy(txn);

  /* A transaction that must be prepared. */
  cambium_transaction_options_set_skip_prepare(how, 0);
  txn = begin_named(db, how, "must be prepared");
  txn_put(txn, "a", "3");
  cambium_transaction_commit(txn, &error);
  CHECK_ERROR(error, "Invalid argument: the transaction is not prepared");
  prepare(txn);
  commit(txn);
  check_db(cambium_transactiondb_as_db(db), "a", "3");
  cambium_transaction_destroy(txn);
  cambium_transactiondb_delete(db, woptions, "a", 1, &error);
  CHECK_OK(error);
  cambium_transaction_options_destroy(how);
}

static void check_name(const cambium_transaction_t* txn, const char* expected) {
  size_t length = 0;
  char* const name = cambium_transaction_get_name(txn, &length);
  CHECK_BYTES(name, length, expected);
  cambium_free(name);
}

/* A transaction that puts its name, which is prepared and left so. */
static void leave_prepared(cambium_transactiondb_t* db, const cambium_transaction_options_t* how, const char* name) {
  cambium_transaction_t* const txn = begin_named(db, how, name);
  txn_put(txn, name, "1");
  prepare(txn);
  cambium_transaction_destroy(txn);
}

/* Opens a database with the prepared transactions a, b and c: they come in the order of their names, and once. Commits
   a, rolls b back, and leaves c as it is. */
static void end_two_of_three(const cambium_transactiondb_options_t* of_db) {
  cambium_transaction_t** all;
  size_t count = 99;
  cambium_transactiondb_t* const db = cambium_transactiondb_open(options, of_db, path, &error);
  CHECK_OK(error);
  all = cambium_transactiondb_get_prepared_transactions(db, &count, &error);
  CHECK_OK(error);
  CHECK(all != NULL && count == 3);
  check_name(all[0], "a");
  check_name(all[1], "b");
  check_name(all[2], "c");
  check_state(all[0], cambium_transaction_prepared);
  CHECK(cambium_transaction_get_num_keys(all[0]) == 1 && cambium_transaction_get_num_puts(all[0]) == 1);
  check_txn(all[0], "a", "1");
  check_db(cambium_transactiondb_as_db(db), "a", NULL);
  cambium_transactiondb_put(db, woptions, "a", 1, "others", 6, &error);
  CHECK_ERROR(error, "Operation timed out");
  commit(all[0]);
  check_db(cambium_transactiondb_as_db(db), "a", "1");
  cambium_transaction_rollback(all[1], &error);
  CHECK_OK(error);
  cambium_transactiondb_put(db, woptions, "b", 1, "others", 6, &error);
  CHECK_OK(error);
  count = 99;
  CHECK(cambium_transactiondb_get_prepared_transactions(db, &count, &error) == NULL && count == 0);
  CHECK_OK(error);
  cambium_transaction_destroy(all[0]);
  cambium_transaction_destroy(all[1]);
  cambium_transaction_destroy(all[2]);
  cambium_free(all);
  cambium_close_with_status(cambium_transactiondb_as_db(db), &error);
  CHECK_OK(error);
}

/* A transaction that is destroyed while it is prepared keeps its locks, and is there after the next open. */
static void test_prepared_transactions(void) {
  cambium_transactiondb_options_t* const of_db = cambium_transactiondb_options_create();
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transaction_t** all;
  cambium_transactiondb_t* db;
  size_t count = 99;
  cambium_transactiondb_options_set_default_lock_timeout(of_db, 1);
  destroy();
  db = cambium_transactiondb_open(options, of_db, path, &error);
  CHECK_OK(error);
  CHECK(cambium_transactiondb_get_prepared_transactions(db, &count, &error) == NULL && count == 0);
  CHECK_OK(error);
  leave_prepared(db, how, "c");
  leave_prepared(db, how, "a");
  leave_prepared(db, how, "b");
  cambium_transactiondb_put(db, woptions, "a", 1, "others", 6, &error);
  CHECK_ERROR(error, "Operation timed out");
  cambium_close_with_status(cambium_transactiondb_as_db(db), &error);
  CHECK_OK(error);
  end_two_of_three(of_db);

  /* Those that nobody has asked for do not keep the database open. */
  db = cambium_transactiondb_open(options, of_db, path, &error);
  CHECK_OK(error);
  cambium_close_with_status(cambium_transactiondb_as_db(db), &error);
  CHECK_OK(error);
  db = cambium_transactiondb_open(options, of_db, path, &error);
  CHECK_OK(error);
  all = cambium_transactiondb_get_prepared_transactions(db, &count, &error);
  CHECK_OK(error);
  CHECK(all != NULL && count == 1);
  check_name(all[0], "c");
  commit(all[0]);
  cambium_transaction_destroy(all[0]);
  cambium_free(all);
  check_keys(cambium_transactiondb_create_iterator(db, roptions), "abc");
  check_db(cambium_transactiondb_as_db(db), "b", "others");
  cambium_transactiondb_close(db);
  cambium_transaction_options_destroy(how);
  cambium_transactiondb_options_destroy(of_db);
}

/* What every database has, under the names of this one. */
static void test_names_of_c_h(cambium_transactiondb_t* db, cambium_column_family_handle_t* x) {
  const cambium_column_family_handle_t* const families[] = {x, x};
  const char* const keys[] = {"k", "none"};
  const size_t key_lengths[] = {1, 4};
  char* values[2];
  size_t lengths[2];
  char* errors[2];
  const cambium_snapshot_t* snapshot;
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_checkpoint_t* checkpoint;
  cambium_t* base;
  char* text;
  uint64_t number = 99;
  cambium_transactiondb_put(db, woptions, "k", 1, "v", 1, &error);
  CHECK_OK(error);
  cambium_transactiondb_put_cf(db, woptions, x, "k", 1, "in x", 4, &error);
  CHECK_OK(error);
  cambium_transactiondb_put_cf(db, woptions, NULL, "k", 1, "in x", 4, &error);
  CHECK_ERROR(error, "Invalid argument");
  snapshot = cambium_transactiondb_create_snapshot(db);
  CHECK(cambium_transactiondb_property_int(db, "rocksdb.num-snapshots", &number) == 0 && number == 1);
  text = cambium_transactiondb_property_value(db, "rocksdb.num-snapshots");
  CHECK(text != NULL && strcmp(text, "1") == 0);
  cambium_free(text);
  cambium_transactiondb_release_snapshot(db, snapshot);
  check_value(cambium_transactiondb_get(db, roptions, "k", 1, &lengths[0], &error), &lengths[0], "v");
  check_value(cambium_transactiondb_get_cf(db, roptions, x, "k", 1, &lengths[0], &error), &lengths[0], "in x");
  check_pinned(cambium_transactiondb_get_pinned(db, roptions, "k", 1, &error), "v");
  check_pinned(cambium_transactiondb_get_pinned_cf(db, roptions, x, "k", 1, &error), "in x");
  cambium_transactiondb_multi_get(db, roptions, 2, keys, key_lengths, values, lengths, errors);
  CHECK_BYTES(values[0], lengths[0], "v");
  CHECK(values[1] == NULL);
  cambium_free(values[0]);
  cambium_transactiondb_multi_get_cf(db, roptions, families, 2, keys, key_lengths, values, lengths, errors);
  CHECK_BYTES(values[0], lengths[0], "in x");
  cambium_free(values[0]);
  check_keys(cambium_transactiondb_create_iterator_cf(db, roptions, x), "k");
  cambium_transactiondb_delete_cf(db, woptions, x, "k", 1, &error);
  CHECK_OK(error);
  check_keys(cambium_transactiondb_create_iterator_cf(db, roptions, x), "");
  cambium_transactiondb_delete(db, woptions, "k", 1, &error);
  CHECK_OK(error);
  cambium_writebatch_put(batch, "w", 1, "1", 1);
  cambium_transactiondb_write(db, woptions, batch, &error);
  CHECK_OK(error);
  cambium_writebatch_delete_range(batch, "a", 1, "z", 1);
  cambium_transactiondb_write(db, woptions, batch, &error);
  CHECK_OK(error);
  check_db(cambium_transactiondb_as_db(db), "w", NULL);
  put(cambium_transactiondb_as_db(db), "w", "1");
  cambium_delete_range(cambium_transactiondb_as_db(db), woptions, "z", 1, "a", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  base = cambium_transactiondb_get_base_db(db);
  cambium_delete_range(base, woptions, "a", 1, "c", 1, &error);
  CHECK_OK(error);
  cambium_transactiondb_close_base_db(base);
  check_keys(cambium_transactiondb_create_iterator(db, roptions), "w");
  cambium_transactiondb_flush(db, flush, &error);
  CHECK_OK(error);
  cambium_transactiondb_flush_cf(db, flush, x, &error);
  CHECK_OK(error);
  cambium_transactiondb_flush_wal(db, 1, &error);
  CHECK_OK(error);
  checkpoint = cambium_transactiondb_checkpoint_object_create(db, &error);
  CHECK_OK(error);
  cambium_checkpoint_object_destroy(checkpoint);
  cambium_flushoptions_destroy(flush);
  cambium_writebatch_destroy(batch);
}

static void test_database_with_locks(void) {
  const char* const names[] = {"default", "x"};
  const cambium_options_t* const both[] = {options, options};
  cambium_column_family_handle_t* handles[2];
  cambium_transactiondb_options_t* const of_db = cambium_transactiondb_options_create();
  cambium_optimistictransaction_options_t* const optimistic = cambium_optimistictransaction_options_create();
  cambium_transaction_options_t* const how = cambium_transaction_options_create();
  cambium_transactiondb_t* db;
  cambium_column_family_handle_t* x;
  cambium_transaction_t* txn;
  cambium_transactiondb_options_set_default_lock_timeout(of_db, 1);
  CHECK(cambium_transactiondb_options_get_default_lock_timeout(of_db) == 1);
  destroy();
  db = cambium_transactiondb_open(options, of_db, path, &error);
  CHECK_OK(error);
  CHECK(cambium_transactiondb_open(options, of_db, path, &error) == NULL);
  CHECK_ERROR(error, "IO error (locked)");
  x = cambium_transactiondb_create_column_family(db, options, "x", &error);
  CHECK_OK(error);
  test_locks(db);
  test_expiration(db);
  test_write_batch_size(db);
  test_deadlock(db);
  test_names_of_c_h(db, x);
  test_ranges(db, x);
  cambium_transactiondb_delete(db, woptions, "w", 1, &error);
  CHECK_OK(error);
  test_prepare(db);
  CHECK(cambium_begin_optimistic_transaction(cambium_transactiondb_as_db(db), woptions, optimistic, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  cambium_column_family_handle_destroy(x);
  txn = cambium_transaction_begin(db, woptions, how, NULL);
  cambium_close_with_status(cambium_transactiondb_as_db(db), &error);
  CHECK_ERROR(error, "1 transactions");
  cambium_transaction_destroy(txn);
  cambium_transactiondb_close(db);
  cambium_transactiondb_close(NULL);

  /* Too many locks. */
  cambium_transactiondb_options_set_max_num_locks(of_db, 1);
  CHECK(cambium_transactiondb_options_get_max_num_locks(of_db) == 1);
  db = cambium_transactiondb_open_column_families(options, of_db, path, 2, names, both, handles, &error);
  CHECK_OK(error);
  txn = cambium_transaction_begin(db, woptions, how, NULL);
  txn_put(txn, "a", "1");
  cambium_transaction_put(txn, "b", 1, "1", 1, &error);
  CHECK(error != NULL && strncmp(error, "Resource busy", 13) == 0);
  CHECK_ERROR(error, "max_num_locks");
  cambium_transaction_put_cf(txn, handles[1], "b", 1, "1", 1, &error);
  CHECK_OK(error);
  commit(txn);
  cambium_transaction_destroy(txn);
  cambium_column_family_handle_destroy(handles[0]);
  cambium_column_family_handle_destroy(handles[1]);
  cambium_transactiondb_close(db);
  CHECK(cambium_transactiondb_open_column_families(options, of_db, path, -1, names, both, handles, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  cambium_transactiondb_options_destroy(of_db);
  cambium_optimistictransaction_options_destroy(optimistic);
  cambium_transaction_options_destroy(how);
}

/* ---- Batches with an index ---- */

static void note_put(void* text, const char* key, size_t key_length, const char* value, size_t value_length) {
  strcat(text, "+");
  strncat(text, key, key_length);
  strncat(text, value, value_length);
}
static void note_delete(void* text, const char* key, size_t key_length) {
  strcat(text, "-");
  strncat(text, key, key_length);
}

static void check_batch(cambium_writebatch_wi_t* batch, const char* key, const char* expected) {
  size_t length = 99;
  char* const value = cambium_writebatch_wi_get_from_batch(batch, options, key, strlen(key), &length, &error);
  check_value(value, &length, expected);
}

/* Puts a and b, deletes c and d; and the like in x. The database has a, c and e. */
static void check_reads_of_a_batch(cambium_writebatch_wi_t* batch, cambium_t* db, cambium_column_family_handle_t* x) {
  char text[100] = "";
  size_t length = 0;
  cambium_writebatch_wi_put(batch, "a", 1, "1", 1);
  cambium_writebatch_wi_put(batch, "b", 1, "2", 1);
  cambium_writebatch_wi_delete(batch, "c", 1);
  cambium_writebatch_wi_singledelete(batch, "d", 1);
  cambium_writebatch_wi_iterate(batch, text, note_put, note_delete);
  CHECK(strcmp(text, "+a1+b2-c-d") == 0);
  cambium_writebatch_wi_put_cf(batch, x, "k", 1, "in x", 4);
  cambium_writebatch_wi_delete_cf(batch, x, "l", 1);
  cambium_writebatch_wi_singledelete_cf(batch, x, "m", 1);
  CHECK(cambium_writebatch_wi_count(batch) == 7);
  check_batch(batch, "a", "1");
  check_batch(batch, "c", NULL);
  check_batch(batch, "e", NULL);
  check_value(cambium_writebatch_wi_get_from_batch_cf(batch, NULL, x, "k", 1, &length, &error), &length, "in x");
  check_value(cambium_writebatch_wi_get_from_batch_and_db(batch, db, roptions, "e", 1, &length, &error), &length,
              "old");
  check_value(cambium_writebatch_wi_get_from_batch_and_db(batch, db, roptions, "c", 1, &length, &error), &length,
              NULL);
  check_value(cambium_writebatch_wi_get_from_batch_and_db_cf(batch, db, roptions, x, "k", 1, &length, &error), &length,
              "in x");
  check_pinned(cambium_writebatch_wi_get_pinned_from_batch_and_db(batch, db, roptions, "a", 1, &error), "1");
  check_pinned(cambium_writebatch_wi_get_pinned_from_batch_and_db_cf(batch, db, roptions, x, "l", 1, &error), NULL);
}

static void check_iterators_with_base(cambium_writebatch_wi_t* batch, cambium_t* db,
                                      cambium_column_family_handle_t* x) {
  cambium_iterator_t* iterator = cambium_create_iterator(db, roptions);
  check_keys(cambium_writebatch_wi_create_iterator_with_base(batch, iterator), "abe");
  iterator = cambium_create_iterator_cf(db, roptions, x);
  check_keys(cambium_writebatch_wi_create_iterator_with_base_cf(batch, iterator, x), "k");
  cambium_readoptions_set_iterate_upper_bound(roptions, "b", 1);
  iterator = cambium_create_iterator(db, roptions);
  check_keys(cambium_writebatch_wi_create_iterator_with_base_readopts(batch, iterator, roptions), "a");
  iterator = cambium_create_iterator_cf(db, roptions, x);
  check_keys(cambium_writebatch_wi_create_iterator_with_base_cf_readopts(batch, iterator, x, roptions), "");
  cambium_readoptions_set_iterate_upper_bound(roptions, NULL, 0);
  iterator = cambium_writebatch_wi_create_iterator_with_base_cf(batch, cambium_create_iterator(db, roptions), NULL);
  cambium_iter_seek_to_first(iterator);
  CHECK(!cambium_iter_valid(iterator));
  cambium_iter_get_error(iterator, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_iter_destroy(iterator);
}

static void check_save_points(cambium_writebatch_wi_t* batch, cambium_column_family_handle_t* x) {
  cambium_writebatch_wi_set_save_point(batch);
  cambium_writebatch_wi_set_save_point(batch);
  cambium_writebatch_wi_delete_range(batch, "a", 1, "c", 1);
  cambium_writebatch_wi_delete_range_cf(batch, x, "k", 1, "l", 1);
  check_batch(batch, "a", NULL);
  cambium_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  check_batch(batch, "a", "1");
  cambium_writebatch_wi_pop_save_point(batch, &error);
  CHECK_OK(error);
  cambium_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound");
  cambium_writebatch_wi_pop_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound");
}

static void check_write(cambium_writebatch_wi_t* batch, cambium_t* db) {
  size_t length = 0;
  /* A plain batch of the same bytes. */
  const char* const data = cambium_writebatch_wi_data(batch, &length);
  cambium_writebatch_t* const plain = cambium_writebatch_create_from(data, length);
  CHECK(plain != NULL && cambium_writebatch_count(plain) == 7);
  cambium_writebatch_destroy(plain);
  cambium_write_writebatch_wi(db, woptions, batch, &error);
  CHECK_OK(error);
  check_db(db, "b", "2");
  check_db(db, "c", NULL);
}

/* A batch that has refused an operation. */
static void check_refused_operation(cambium_writebatch_wi_t* batch, cambium_t* db) {
  cambium_iterator_t* iterator;
  size_t length = 0;
  cambium_writebatch_wi_put_cf(batch, NULL, "a", 1, "b", 1);
  cambium_write_writebatch_wi(db, woptions, batch, &error);
  CHECK_ERROR(error, "Invalid argument: the column family handle is null");
  CHECK(cambium_writebatch_wi_get_from_batch(batch, options, "a", 1, &length, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_writebatch_wi_get_from_batch_and_db(batch, db, roptions, "a", 1, &length, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  iterator = cambium_writebatch_wi_create_iterator_with_base(batch, cambium_create_iterator(db, roptions));
  cambium_iter_get_error(iterator, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_iter_destroy(iterator);
  cambium_writebatch_wi_clear(batch);
  cambium_write_writebatch_wi(db, woptions, batch, &error);
  CHECK_OK(error);
  CHECK(cambium_writebatch_wi_get_from_batch_cf(batch, NULL, NULL, "a", 1, &length, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  cambium_write_writebatch_wi(db, woptions, NULL, &error);
  CHECK_ERROR(error, "Invalid argument");
}

static void test_batches_with_an_index(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const x = cambium_create_column_family(db, options, "x", &error);
  cambium_writebatch_wi_t* const batch = cambium_writebatch_wi_create(100, 0);
  CHECK_OK(error);
  put(db, "a", "old");
  put(db, "c", "old");
  put(db, "e", "old");
  check_reads_of_a_batch(batch, db, x);
  check_iterators_with_base(batch, db, x);
  check_save_points(batch, x);
  check_write(batch, db);
  check_refused_operation(batch, db);
  cambium_writebatch_wi_destroy(batch);
  cambium_writebatch_wi_destroy(NULL);
  cambium_column_family_handle_destroy(x);
  cambium_close(db);
}

/* A batch with a limit of bytes, and one with a comparator. */
static void test_parameters_of_batches_with_an_index(void) {
  cambium_t* const db = open_new();
  cambium_comparator_t* const reverse = cambium_comparator_create_reverse_bytewise();
  cambium_writebatch_wi_t* small = cambium_writebatch_wi_create_with_params(NULL, 0, 1, 20);
  cambium_writebatch_wi_put(small, "a", 1, "01234567890123456789", 20);
  cambium_write_writebatch_wi(db, woptions, small, &error);
  CHECK_ERROR(error, "max_bytes");
  cambium_writebatch_wi_destroy(small);
  small = cambium_writebatch_wi_create_with_params(reverse, 0, 1, 0);
  cambium_writebatch_wi_put(small, "a", 1, "1", 1);
  check_batch(small, "a", "1");
  cambium_writebatch_wi_destroy(small);
  cambium_close(db);
  cambium_comparator_destroy(reverse);
}

/* ---- Conditional writes ---- */

/* A batch with a condition for the default family and one for x. */
static void test_write_if(cambium_t* db, cambium_column_family_handle_t* x) {
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_writeconditions_t* const conditions = cambium_writeconditions_create();
  cambium_writebatch_put(batch, "a", 1, "2", 1);
  cambium_writebatch_put_cf(batch, x, "a", 1, "2", 1);
  cambium_writeconditions_has_value(conditions, "a", 1, "1", 1);
  cambium_writeconditions_has_value_cf(conditions, x, "a", 1, "other", 5);
  CHECK(cambium_write_if(db, woptions, conditions, batch, &error) == 0);
  CHECK_OK(error);
  check_db(db, "a", "1");
  cambium_writeconditions_clear(conditions);
  cambium_writeconditions_has_value_cf(conditions, x, "a", 1, "1", 1);
  cambium_writeconditions_is_absent(conditions, "b", 1);
  cambium_writeconditions_is_absent_cf(conditions, x, "b", 1);
  CHECK(cambium_write_if(db, woptions, conditions, batch, &error) == 1);
  CHECK_OK(error);
  check_db(db, "a", "2");
  /* Bad input. */
  CHECK(cambium_write_if(db, woptions, NULL, batch, &error) == 0);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_write_if(db, woptions, conditions, NULL, &error) == 0);
  CHECK_ERROR(error, "Invalid argument");
  cambium_writeconditions_clear(conditions);
  cambium_writeconditions_is_absent_cf(conditions, NULL, "b", 1);
  CHECK(cambium_write_if(db, woptions, conditions, batch, &error) == 0);
  CHECK_ERROR(error, "Invalid argument");
  cambium_writeconditions_clear(conditions);
  CHECK(cambium_write_if(db, woptions, conditions, batch, &error) == 1);
  CHECK_OK(error);
  cambium_writeconditions_destroy(conditions);
  cambium_writebatch_destroy(batch);
}

static uint64_t version_of(cambium_t* db, cambium_column_family_handle_t* family, const char* expected) {
  size_t length = 99;
  uint64_t version = 99;
  char* const value = family == NULL ? cambium_get_with_version(db, roptions, "v", 1, &length, &version, &error)
                                     : cambium_get_with_version_cf(db, roptions, family, "v", 1, &length, &version, &error);
  CHECK_OK(error);
  CHECK((value == NULL) == (expected == NULL));
  CHECK((value == NULL) == (version == 0));
  if (value == NULL) return 0;
  CHECK(length == strlen(expected) && memcmp(value, expected, length) == 0);
  cambium_free(value);
  return version;
}

static void test_versions(cambium_t* db, cambium_column_family_handle_t* x) {
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_writeconditions_t* const conditions = cambium_writeconditions_create();
  size_t length = 99;
  uint64_t first;
  uint64_t second;
  CHECK(version_of(db, NULL, NULL) == 0);
  CHECK(version_of(db, x, NULL) == 0);
  CHECK(cambium_put_if_unchanged(db, woptions, "v", 1, 0, "1", 1, &error) == 1);
  CHECK(cambium_put_if_unchanged_cf(db, woptions, x, "v", 1, 0, "1", 1, &error) == 1);
  CHECK_OK(error);
  first = version_of(db, NULL, "1");
  second = version_of(db, x, "1");
  CHECK(second == first + 1);
  CHECK(cambium_put_if_unchanged(db, woptions, "v", 1, second, "2", 1, &error) == 0);
  CHECK(cambium_put_if_unchanged(db, woptions, "v", 1, first, "2", 1, &error) == 1);
  CHECK(cambium_put_if_unchanged_cf(db, woptions, x, "v", 1, second, "2", 1, &error) == 1);
  CHECK(cambium_put_if_unchanged_cf(db, woptions, x, "v", 1, second, "3", 1, &error) == 0);
  CHECK_OK(error);
  first = version_of(db, NULL, "2");
  second = version_of(db, x, "2");
  cambium_writebatch_put(batch, "v", 1, "3", 1);
  cambium_writebatch_put_cf(batch, x, "v", 1, "3", 1);
  cambium_writeconditions_is_unchanged(conditions, "v", 1, first);
  cambium_writeconditions_is_unchanged_cf(conditions, x, "v", 1, second);
  CHECK(cambium_write_if(db, woptions, conditions, batch, &error) == 1);
  CHECK(cambium_write_if(db, woptions, conditions, batch, &error) == 0);
  CHECK(cambium_delete_if_unchanged(db, woptions, "v", 1, first, &error) == 0);
  CHECK(cambium_delete_if_unchanged(db, woptions, "v", 1, version_of(db, NULL, "3"), &error) == 1);
  CHECK(cambium_delete_if_unchanged_cf(db, woptions, x, "v", 1, version_of(db, x, "3"), &error) == 1);
  CHECK_OK(error);
  CHECK(version_of(db, NULL, NULL) == 0);
  CHECK(version_of(db, x, NULL) == 0);
  /* Bad input. */
  CHECK(cambium_get_with_version_cf(db, roptions, NULL, "v", 1, &length, &first, &error) == NULL);
  CHECK(length == 0 && first == 0);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_put_if_unchanged_cf(db, woptions, NULL, "v", 1, 0, "1", 1, &error) == 0);
  CHECK_ERROR(error, "Invalid argument");
  cambium_writeconditions_destroy(conditions);
  cambium_writebatch_destroy(batch);
}

static void test_conditional_writes_of(cambium_t* db) {
  cambium_column_family_handle_t* const x = cambium_create_column_family(db, options, "x", &error);
  CHECK_OK(error);
  CHECK(cambium_compare_and_set(db, woptions, "a", 1, "", 0, "1", 1, &error) == 0);
  CHECK_OK(error);
  CHECK(cambium_put_if_absent(db, woptions, "a", 1, "0", 1, &error) == 1);
  CHECK(cambium_put_if_absent(db, woptions, "a", 1, "9", 1, &error) == 0);
  CHECK(cambium_put_if_absent_cf(db, woptions, x, "a", 1, "0", 1, &error) == 1);
  CHECK(cambium_compare_and_set(db, woptions, "a", 1, "9", 1, "1", 1, &error) == 0);
  CHECK(cambium_compare_and_set(db, woptions, "a", 1, "0", 1, "1", 1, &error) == 1);
  CHECK(cambium_compare_and_set_cf(db, woptions, x, "a", 1, "0", 1, "1", 1, &error) == 1);
  CHECK_OK(error);
  check_db(db, "a", "1");
  CHECK(cambium_put_if_absent_cf(db, woptions, NULL, "a", 1, "0", 1, &error) == 0);
  CHECK_ERROR(error, "Invalid argument");
  test_write_if(db, x);
  CHECK(cambium_compare_and_delete(db, woptions, "a", 1, "9", 1, &error) == 0);
  CHECK(cambium_compare_and_delete(db, woptions, "a", 1, "2", 1, &error) == 1);
  CHECK(cambium_compare_and_delete_cf(db, woptions, x, "a", 1, "2", 1, &error) == 1);
  CHECK_OK(error);
  check_db(db, "a", NULL);
  test_versions(db, x);
  cambium_column_family_handle_destroy(x);
}

static void test_conditional_writes(void) {
  cambium_transactiondb_options_t* const locking = cambium_transactiondb_options_create();
  cambium_transactiondb_t* txn_db;
  cambium_t* const db = open_new();
  test_conditional_writes_of(db);
  cambium_close(db);
  destroy();
  txn_db = cambium_transactiondb_open(options, locking, path, &error);
  CHECK_OK(error);
  test_conditional_writes_of(cambium_transactiondb_as_db(txn_db));
  cambium_transactiondb_close(txn_db);
  cambium_transactiondb_options_destroy(locking);
}

int main(int argc, char** argv) {
  if (!begin_program(argc, argv)) return 2;
  snprintf(copy_path, sizeof copy_path, "%s.copy", path);
  test_any_database();
  test_optimistic_database();
  test_options_of_transactions();
  test_database_with_locks();
  test_prepared_transactions();
  test_batches_with_an_index();
  test_parameters_of_batches_with_an_index();
  test_conditional_writes();
  return end_program();
}
