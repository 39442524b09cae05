/* Calls the functions of c.h that maintain a database, or make one from another: flushes and compactions, properties,
   changed options, checkpoints, traces, backups, repair. Built as C99 against the shared library. */
#include "test_program.h"

/* ---- Flushing, compacting, properties, options of an open database ---- */

static void test_flushes_and_compactions(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_compactoptions_t* const compact = cambium_compactoptions_create();
  uint64_t number = 0;
  put(db, "a", "1");
  put(db, "b", "2");
  CHECK(cambium_property_int(db, "rocksdb.num-entries-active-mem-table", &number) == 0 && number == 2);
  cambium_flush(db, flush, &error);
  CHECK_OK(error);
  CHECK(cambium_property_int_cf(db, family, "rocksdb.num-entries-active-mem-table", &number) == 0 && number == 0);
  put(db, "a", "3");
  cambium_flush_cf(db, flush, family, &error);
  cambium_flush_wal(db, 0, &error);
  cambium_flush_wal(db, 1, &error);
  CHECK_OK(error);
  cambium_compact_range(db, NULL, 0, NULL, 0);
  cambium_compact_range_cf(db, family, "a", 1, "b", 1);
  cambium_compactoptions_set_cluster_values(compact, 1);
  cambium_compact_range_opt(db, compact, NULL, 0, "b", 1, &error);
  cambium_compact_range_cf_opt(db, family, compact, "a", 1, NULL, 0, &error);
  CHECK_OK(error);
  cambium_compactoptions_set_blob_garbage_collection_policy(compact, 256); /* illegal; must not become 0 */
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_wait_for_compact(db, &error);
  CHECK_OK(error);
  cambium_verify_checksum(db, roptions, &error);
  CHECK_OK(error);
  check_get(db, roptions, "a", "3");
  cambium_compactoptions_destroy(compact);
  cambium_flushoptions_destroy(flush);
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

static void test_properties(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  size_t identity_length = 9;
  uint64_t number = 0;
  char* text;
  put(db, "a", "1");
  put(db, "b", "2");
  put(db, "a", "3");
  cambium_compact_range(db, NULL, 0, NULL, 0);
  CHECK(cambium_property_int(db, "rocksdb.no-such-thing", &number) == -1);
  text = cambium_property_value(db, "rocksdb.estimate-num-keys");
  CHECK(text != NULL && strcmp(text, "2") == 0);
  cambium_free(text);
  text = cambium_property_value_cf(db, family, "cambium.space");
  CHECK(text != NULL && strlen(text) > 10);
  cambium_free(text);
  CHECK(cambium_property_value(db, "rocksdb.no-such-thing") == NULL);
  text = cambium_get_db_identity(db, &identity_length);
  CHECK(text != NULL && identity_length == 32 && strlen(text) == 32);
  CHECK(strspn(text, "0123456789abcdef") == 32);
  cambium_free(text);
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

static void test_changed_options(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  const char* const keys[1] = {"min_blob_size"};
  const char* values[1] = {"100"};
  const char* const db_keys[1] = {"max_space_amplification"};
  const char* const db_values[1] = {"2.5"};
  cambium_options_t* in_force;
  cambium_set_options(db, 1, keys, values, &error);
  CHECK_OK(error);
  in_force = cambium_get_options(db);
  CHECK(cambium_options_get_min_blob_size(in_force) == 100);
  cambium_options_destroy(in_force);
  values[0] = "200";
  cambium_set_options_cf(db, family, 1, keys, values, &error);
  cambium_set_db_options(db, 1, db_keys, db_values, &error);
  CHECK_OK(error);
  in_force = cambium_get_options_cf(db, family);
  CHECK(cambium_options_get_min_blob_size(in_force) == 200);
  CHECK(cambium_options_get_max_space_amplification(in_force) == 2.5);
  cambium_options_destroy(in_force);
  values[0] = "many";
  cambium_set_options(db, 1, keys, values, &error);
  CHECK_ERROR(error, "min_blob_size");
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

static void test_approximate_sizes(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  const char* const starts[2] = {"b", "a"};
  const char* const limits[2] = {"c", "z"};
  const size_t lengths[2] = {1, 1};
  const unsigned char both =
      cambium_size_approximation_include_memtables + cambium_size_approximation_include_files;
  uint64_t sizes[2] = {9, 9};
  uint64_t in_memory[2];
  char value[1000];
  int i;
  memset(value, 'v', sizeof value);
  for (i = 0; i < 26; ++i) {
    const char key = (char)('a' + i);
    cambium_put(db, woptions, &key, 1, value, sizeof value, &error);
    CHECK_OK(error);
  }
  cambium_approximate_sizes(db, 2, starts, lengths, limits, lengths, sizes);
  CHECK(sizes[0] == 0 && sizes[1] == 0);
  cambium_approximate_sizes_cf_with_flags(db, family, 2, starts, lengths, limits, lengths, both, in_memory, &error);
  CHECK_OK(error);
  CHECK(in_memory[0] >= 1000 && in_memory[0] < 2000 && in_memory[1] >= 25000 && in_memory[1] < 50000);
  cambium_flush(db, flush, &error);
  CHECK_OK(error);
  cambium_approximate_sizes(db, 2, starts, lengths, limits, lengths, sizes);
  CHECK(sizes[0] >= 1000 && sizes[0] < 2000 && sizes[1] >= 25000 && sizes[1] < 50000);
  cambium_approximate_sizes_cf(db, family, 2, limits, lengths, starts, lengths, sizes, &error);
  CHECK_OK(error);
  CHECK(sizes[0] == 0 && sizes[1] == 0);
  sizes[0] = 9;
  cambium_approximate_sizes_cf_with_flags(db, family, 1, starts, lengths, limits, lengths, 0, sizes, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(sizes[0] == 0);
  cambium_flushoptions_destroy(flush);
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

/* ---- Checkpoints and traces ---- */

static void test_checkpoints(void) {
  cambium_t* db = open_new();
  cambium_t* copy;
  cambium_checkpoint_t* checkpoint = cambium_checkpoint_object_create(db, &error);
  char original[sizeof path];
  char copy_path[sizeof path];
  int round;
  CHECK_OK(error);
  snprintf(original, sizeof original, "%s", path);
  CHECK(snprintf(copy_path, sizeof copy_path, "%s.copy", path) < (int)sizeof copy_path);
  put(db, "k", "old");
  for (round = 0; round < 2; ++round) {
    cambium_destroy_db(options, copy_path, &error);
    if (round == 0) {
      cambium_checkpoint_create(checkpoint, copy_path, 0, &error);
      CHECK_OK(error);
      cambium_checkpoint_create(checkpoint, copy_path, 0, &error);
      CHECK_ERROR(error, copy_path);
      put(db, "k", "new");
    } else {
      cambium_checkpoint_offline(options, original, copy_path, &error);
      CHECK_ERROR(error, "lock");
      cambium_checkpoint_object_destroy(checkpoint);
      cambium_close(db);
      cambium_checkpoint_offline(options, original, copy_path, &error);
      CHECK_OK(error);
    }
    copy = cambium_open(options, copy_path, &error);
    CHECK_OK(error);
    check_get(copy, roptions, "k", round == 0 ? "old" : "new");
    cambium_close(copy);
  }
  cambium_destroy_db(options, copy_path, &error);
  CHECK_OK(error);
  cambium_checkpoint_object_destroy(NULL);
  db = cambium_open_for_read_only(options, path, &error);
  CHECK_OK(error);
  checkpoint = cambium_checkpoint_object_create(db, &error);
  if (error == NULL) cambium_checkpoint_create(checkpoint, copy_path, 0, &error);
  CHECK_ERROR(error, "read");
  cambium_checkpoint_object_destroy(checkpoint);
  cambium_close(db);
}

static void test_traces(void) {
  cambium_t* const db = open_new();
  cambium_traceoptions_t* const trace = cambium_traceoptions_create();
  char file[sizeof path];
  char magic[8] = "";
  FILE* written;
  CHECK(snprintf(file, sizeof file, "%s.trace", path) < (int)sizeof file);
  remove(file);
  cambium_end_trace(db, &error);
  CHECK_ERROR(error, "no trace");
  cambium_traceoptions_set_sampling_frequency(trace, 0);
  cambium_start_trace(db, trace, file, &error);
  CHECK_ERROR(error, "sampling_frequency");
  cambium_traceoptions_set_sampling_frequency(trace, 1);
  cambium_start_trace(db, trace, file, &error);
  CHECK_OK(error);
  put(db, "k", "v");
  check_get(db, roptions, "k", "v");
  cambium_end_trace(db, &error);
  CHECK_OK(error);
  cambium_start_trace(db, trace, file, &error);
  CHECK_ERROR(error, "exist");
  cambium_close(db);
  written = fopen(file, "rb");
  CHECK(written != NULL && fread(magic, 1, sizeof magic, written) == sizeof magic);
  CHECK(memcmp(magic, "CAMTRACE", sizeof magic) == 0 && fseek(written, 0, SEEK_END) == 0 && ftell(written) > 100);
  fclose(written);
  remove(file);
  cambium_traceoptions_destroy(trace);
  cambium_traceoptions_destroy(NULL);
}

/* ---- Backups ---- */

static char restored[sizeof path + 16]; /* a directory */

/* Opens the directory of backups, and removes those of an earlier run. */
static cambium_backup_engine_t* open_backups(const char* backups) {
  cambium_backup_engine_t* const engine = cambium_backup_engine_open(options, backups, &error);
  CHECK_OK(error);
  cambium_backup_engine_purge_old_backups(engine, 0, &error);
  CHECK_OK(error);
  return engine;
}

/* Makes backups of k = 1, 2 and 3. The last one is of the closed database. */
static void make_three_backups(cambium_backup_engine_t* engine) {
  cambium_t* const db = open_new();
  put(db, "k", "1");
  cambium_backup_engine_create_new_backup(engine, db, &error);
  put(db, "k", "2");
  cambium_backup_engine_create_new_backup_flush(engine, db, 1, &error);
  put(db, "k", "3");
  CHECK_OK(error);
  cambium_backup_engine_create_new_backup_offline(engine, path, &error);
  CHECK_ERROR(error, "lock");
  cambium_close(db);
  cambium_backup_engine_create_new_backup_offline(engine, path, &error);
  CHECK_OK(error);
}

static void check_backups(cambium_backup_engine_t* engine) {
  const cambium_backup_engine_info_t* const info = cambium_backup_engine_get_backup_info(engine);
  CHECK(cambium_backup_engine_info_count(info) == 3);
  CHECK(cambium_backup_engine_info_backup_id(info, 1) == 2);
  CHECK(cambium_backup_engine_info_timestamp(info, 1) > 1600000000);
  CHECK(cambium_backup_engine_info_size(info, 1) > 100 && cambium_backup_engine_info_number_files(info, 1) >= 2);
  CHECK(cambium_backup_engine_info_sequence_number(info, 1) == 2);
  CHECK(cambium_backup_engine_info_is_checked(info, 1) == 1 && cambium_backup_engine_info_is_checked(info, 9) == 0);
  cambium_backup_engine_info_destroy(info);
  cambium_backup_engine_verify_backup(engine, 1, 1, &error);
  CHECK_OK(error);
  cambium_backup_engine_verify_backup(engine, 7, 1, &error);
  CHECK_ERROR(error, "no such backup");
}

static void check_restored(const char* expected) {
  cambium_t* const copy = cambium_open(options, restored, &error);
  CHECK_OK(error);
  check_get(copy, roptions, "k", expected);
  cambium_close(copy);
}

static void check_restores(cambium_backup_engine_t* engine) {
  cambium_backup_engine_restore_db_from_backup(engine, restored, 1, &error);
  CHECK_OK(error);
  check_restored("1");
  cambium_backup_engine_restore_db_from_latest_backup(engine, restored, &error);
  CHECK_ERROR(error, "exists");
  cambium_destroy_db(options, restored, &error);
  cambium_backup_engine_restore_db_from_latest_backup(engine, restored, &error);
  CHECK_OK(error);
  check_restored("3");
  cambium_destroy_db(options, restored, &error);
  CHECK_OK(error);
}

static void test_backups(void) {
  char backups[sizeof path];
  cambium_backup_engine_t* engine;
  uint32_t* corrupted;
  size_t count = 9;
  CHECK(snprintf(backups, sizeof backups, "%s.backups", path) < (int)sizeof backups);
  CHECK(snprintf(restored, sizeof restored, "%s.restored", path) < (int)sizeof restored);
  cambium_destroy_db(options, restored, &error);
  CHECK_OK(error);
  engine = open_backups(backups);
  CHECK(cambium_backup_engine_open(options, backups, &error) == NULL);
  CHECK_ERROR(error, "lock");
  make_three_backups(engine);
  check_backups(engine);
  check_restores(engine);
  cambium_backup_engine_delete_backup(engine, 2, &error);
  cambium_backup_engine_garbage_collect(engine, &error);
  CHECK_OK(error);
  corrupted = cambium_backup_engine_get_corrupted_backups(engine, &count);
  CHECK(count == 0);
  cambium_free(corrupted);
  cambium_backup_engine_close(engine);
  engine = cambium_backup_engine_open_for_read_only(options, backups, &error);
  CHECK_OK(error);
  cambium_backup_engine_purge_old_backups(engine, 0, &error);
  CHECK_ERROR(error, "reading");
  cambium_backup_engine_close(engine);
  cambium_backup_engine_close(NULL);
}

static void test_backups_that_are_not_checked_or_not_made(void) {
  char backups[sizeof path];
  const cambium_backup_engine_info_t* info;
  cambium_backup_engine_t* engine;
  cambium_t* const db = open_new();
  put(db, "k", "1");
  cambium_close(db);
  CHECK(snprintf(backups, sizeof backups, "%s.backups", path) < (int)sizeof backups);
  engine = open_backups(backups);
  cambium_backup_engine_set_verify_checksums(engine, 0);
  cambium_backup_engine_create_new_backup_offline(engine, path, &error);
  CHECK_OK(error);
  info = cambium_backup_engine_get_backup_info(engine);
  CHECK(cambium_backup_engine_info_count(info) == 1 && cambium_backup_engine_info_is_checked(info, 0) == 0);
  cambium_backup_engine_info_destroy(info);
  cambium_backup_engine_purge_old_backups(engine, 0, &error);
  CHECK_OK(error);
  cambium_backup_engine_stop_backup(engine);
  cambium_backup_engine_create_new_backup_offline(engine, path, &error);
  CHECK_ERROR(error, "StopBackup");
  cambium_backup_engine_close(engine);
}

/* ---- Repair ---- */

static void test_repair(void) {
  cambium_t* db = open_new();
  char salvaged[sizeof path];
  uint64_t lost = 9;
  uint64_t unproven = 9;
  CHECK(snprintf(salvaged, sizeof salvaged, "%s.salvaged", path) < (int)sizeof salvaged);
  cambium_destroy_db(options, salvaged, &error);
  CHECK_OK(error);
  put(db, "k", "1");
  cambium_salvage_db(options, path, salvaged, 0, &lost, &unproven, &error);
  CHECK_ERROR(error, "held by");
  cambium_close(db);
  cambium_salvage_db(options, path, salvaged, 0, &lost, &unproven, &error);
  CHECK_OK(error);
  CHECK(lost == 0 && unproven == 0);
  db = cambium_open(options, salvaged, &error);
  CHECK_OK(error);
  check_get(db, roptions, "k", "1");
  cambium_close(db);
  cambium_salvage_db(options, path, salvaged, 1, &lost, &unproven, &error);
  CHECK_ERROR(error, "exists");
  cambium_repair_db(options, path, &error);
  CHECK_OK(error);
  db = cambium_open(options, path, &error);
  CHECK_OK(error);
  check_get(db, roptions, "k", "1");
  cambium_close(db);
  cambium_destroy_db(options, salvaged, &error);
  CHECK_OK(error);
  cambium_repair_db(options, salvaged, &error);
  CHECK_ERROR(error, "does not exist");
}

int main(int argc, char** argv) {
  if (!begin_program(argc, argv)) return 2;
  test_flushes_and_compactions();
  test_properties();
  test_changed_options();
  test_approximate_sizes();
  test_checkpoints();
  test_traces();
  test_backups();
  test_backups_that_are_not_checked_or_not_made();
  test_repair();
  return end_program();
}
