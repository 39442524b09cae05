/* Calls the functions of c.h that make objects for options: comparators, filters, loggers, listeners, statistics; and
   those that read options from text. Built as C99 against the shared library. */
#include "test_program.h"

/* ---- Comparators and filters ---- */

static int destroyed = 0;
static void destructor(void* state) {
  CHECK(strcmp((const char*)state, "state") == 0);
  ++destroyed;
}
static char state[] = "state";
static const char* my_name(void* its_state) {
  CHECK(its_state == state);
  return "mine";
}

static int compare_backwards(void* its_state, const char* a, size_t a_length, const char* b, size_t b_length) {
  const size_t least = a_length < b_length ? a_length : b_length;
  const int order = least == 0 ? 0 : memcmp(b, a, least);
  CHECK(its_state == state);
  if (order != 0) return order;
  return a_length < b_length ? 1 : a_length > b_length ? -1 : 0;
}

static void test_comparators(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_comparator_t* const mine = cambium_comparator_create(state, destructor, compare_backwards, my_name);
  cambium_comparator_t* const bytewise = cambium_comparator_create_bytewise();
  cambium_comparator_t* const reverse = cambium_comparator_create_reverse_bytewise();
  cambium_comparator_t* const all[3] = {mine, reverse, bytewise};
  const cambium_comparator_t* const known[1] = {mine};
  int i;
  destroyed = 0;
  cambium_comparator_set_equal_means_same_bytes(mine, 0);
  for (i = 0; i < 3; ++i) {
    cambium_t* db;
    cambium_iterator_t* it;
    cambium_destroy_db(with, path, &error);
    CHECK_OK(error);
    cambium_options_set_comparator(with, all[i]);
    db = cambium_open(with, path, &error);
    CHECK_OK(error);
    put(db, "a", "1");
    put(db, "b", "2");
    it = cambium_create_iterator(db, roptions);
    cambium_iter_seek_to_first(it);
    if (i == 2) {
      check_iter(it, "a", "1");
    } else {
      check_iter(it, "b", "2");
    }
    cambium_iter_destroy(it);
    cambium_close(db);
    if (i == 0) { /* The stored options name a comparator that the library does not have. */
      cambium_options_t* db_options;
      cambium_options_t** family_options;
      cambium_column_family_handle_t* handle;
      char** names;
      size_t count;
      CHECK(cambium_open(options, path, &error) == NULL);
      CHECK_ERROR(error, "mine");
      cambium_load_latest_options(path, 0, NULL, 0, &db_options, &count, &names, &family_options, &error);
      CHECK_ERROR(error, "mine");
      CHECK(db_options == NULL && count == 0 && names == NULL && family_options == NULL);
      cambium_load_latest_options(path, 1, known, 1, &db_options, &count, &names, &family_options, &error);
      CHECK_OK(error);
      CHECK(count == 1 && strcmp(names[0], "default") == 0);
      db = cambium_open_column_families(db_options, path, 1, (const char* const*)names,
                                        (const cambium_options_t* const*)family_options, &handle, &error);
      CHECK_OK(error);
      check_get_cf(db, handle, "a", "1");
      cambium_column_family_handle_destroy(handle);
      cambium_close(db);
      db = cambium_open(db_options, path, &error);
      CHECK_OK(error);
      check_get(db, roptions, "a", "1");
      cambium_close(db);
      cambium_load_latest_options_destroy(db_options, names, family_options, count);
    }
  }
  CHECK(destroyed == 0);
  for (i = 0; i < 3; ++i) cambium_comparator_destroy(all[i]);
  cambium_comparator_destroy(NULL);
  CHECK(destroyed == 1);
  cambium_options_destroy(with);
}

static unsigned char filter(void* its_state, int level, const char* key, size_t key_length, const char* value,
                            size_t value_length, char** new_value, size_t* new_value_length,
                            unsigned char* value_changed) {
  static char changed[] = "changed";
  CHECK(its_state == state && level >= 0 && value != NULL && (value_length == 1 || value_length == strlen(changed)));
  if (key_length == 1 && key[0] == 'b') {
    *new_value = changed;
    *new_value_length = strlen(changed);
    *value_changed = 1;
  }
  return key_length == 1 && key[0] == 'a';
}

static int by_key(void* its_state, int level, const char* key, size_t key_length,
                  cambium_compactionfilteranswer_t* answer) {
  CHECK(its_state == state && level >= 0 && answer != NULL);
  return key_length == 1 && key[0] == 'f' ? cambium_filter_remove : cambium_filter_undetermined;
}
static int by_value(void* its_state, int level, const char* key, size_t key_length, const char* value,
                    size_t value_length, cambium_compactionfilteranswer_t* answer) {
  CHECK(its_state == state && level >= 0 && value != NULL && value_length > 0 && key_length == 1);
  switch (key[0]) {
    case 'a': return cambium_filter_remove;
    case 'b': cambium_compactionfilteranswer_set_value(answer, "changed", 7); return cambium_filter_change_value;
    case 'c': cambium_compactionfilteranswer_skip_until(answer, "e", 1); return cambium_filter_remove_and_skip_until;
    default: return cambium_filter_keep;
  }
}
static int no_decision(void* its_state, int level, const char* key, size_t key_length, const char* value,
                       size_t value_length, cambium_compactionfilteranswer_t* answer) {
  (void)its_state, (void)level, (void)key, (void)key_length, (void)value, (void)value_length, (void)answer;
  return 257; /* must not become the 1 of its low byte */
}

static int contexts_seen = 0;
static cambium_compactionfilter_t* make_filter(void* its_state, cambium_compactionfiltercontext_t* context) {
  CHECK(its_state == state);
  if (cambium_compactionfiltercontext_is_manual_compaction(context) == 1 &&
      cambium_compactionfiltercontext_column_family_id(context) == 0 &&
      cambium_compactionfiltercontext_is_full_compaction(context) <= 1) {
    ++contexts_seen;
  }
  return cambium_compactionfilter_create_v2(state, NULL, NULL, by_value, my_name);
}
static cambium_compactionfilter_t* make_none(void* its_state, cambium_compactionfiltercontext_t* context) {
  (void)its_state, (void)context;
  return NULL;
}

/* Has keys a to f and z; f has a separated value. */
static cambium_t* open_filled(cambium_options_t* with) {
  static char large[5000];
  const char* const keys = "abcdez";
  cambium_t* db;
  int i;
  cambium_destroy_db(with, path, &error);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  for (i = 0; keys[i] != 0; ++i) {
    cambium_put(db, woptions, keys + i, 1, "v", 1, &error);
    CHECK_OK(error);
  }
  cambium_put(db, woptions, "f", 1, large, sizeof large, &error);
  CHECK_OK(error);
  return db;
}
static unsigned char has(cambium_t* db, const char* key) {
  size_t length;
  char* const value = cambium_get(db, roptions, key, strlen(key), &length, &error);
  const unsigned char is_there = value != NULL;
  CHECK_OK(error);
  cambium_free(value);
  return is_there;
}

static void compact_all(cambium_t* db) {
  cambium_compactoptions_t* const compact = cambium_compactoptions_create();
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  cambium_compactoptions_destroy(compact);
}

static void test_simple_filters(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_compactionfilter_t* const simple = cambium_compactionfilter_create(state, destructor, filter, my_name);
  cambium_t* db;
  destroyed = 0;
  cambium_options_set_compaction_filter(with, simple);
  cambium_destroy_db(with, path, &error);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  put(db, "a", "v");
  put(db, "b", "v");
  put(db, "c", "v");
  compact_all(db);
  CHECK_OK(error);
  check_get(db, roptions, "a", NULL);
  check_get(db, roptions, "b", "changed");
  check_get(db, roptions, "c", "v");
  cambium_close(db);
  cambium_compactionfilter_set_ignore_snapshots(simple, 0);
  db = open_filled(with);
  compact_all(db);
  CHECK_ERROR(error, "Not implemented");
  cambium_close(db);
  CHECK(destroyed == 0);
  cambium_compactionfilter_destroy(simple);
  CHECK(destroyed == 1);
  cambium_options_destroy(with);
}

static void test_filters_by_key_and_value(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_compactionfilter_t* const whole =
      cambium_compactionfilter_create_v2(state, destructor, by_key, by_value, my_name);
  cambium_compactionfilter_t* const bad = cambium_compactionfilter_create_v2(state, NULL, NULL, no_decision, my_name);
  cambium_t* db;
  destroyed = 0;
  cambium_options_set_compaction_filter(with, whole);
  db = open_filled(with);
  compact_all(db);
  CHECK_OK(error);
  CHECK(!has(db, "a") && has(db, "b") && !has(db, "c") && !has(db, "d") && has(db, "e") && !has(db, "f") &&
        has(db, "z"));
  check_get(db, roptions, "b", "changed");
  cambium_close(db);
  cambium_options_set_compaction_filter(with, bad);
  db = open_filled(with);
  compact_all(db);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(has(db, "a"));
  cambium_close(db);
  cambium_options_set_compaction_filter(with, NULL);
  cambium_compactionfilter_destroy(whole);
  cambium_compactionfilter_destroy(bad);
  cambium_compactionfilter_destroy(NULL);
  CHECK(destroyed == 1);
  cambium_options_destroy(with);
}

static void test_factories_of_filters(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_t* db;
  destroyed = 0;
  cambium_options_set_compaction_filter_factory(
      with, cambium_compactionfilterfactory_create(state, destructor, make_filter, my_name));
  db = open_filled(with);
  compact_all(db);
  CHECK_OK(error);
  CHECK(contexts_seen > 0);
  CHECK(!has(db, "a") && has(db, "b") && !has(db, "d") && has(db, "f"));
  cambium_close(db);
  CHECK(destroyed == 0);
  cambium_options_set_compaction_filter_factory(
      with, cambium_compactionfilterfactory_create(state, NULL, make_none, my_name));
  CHECK(destroyed == 1);
  db = open_filled(with);
  compact_all(db);
  CHECK_OK(error);
  CHECK(has(db, "a"));
  cambium_close(db);
  cambium_options_set_compaction_filter_factory(with, NULL);
  cambium_compactionfilterfactory_destroy(
      cambium_compactionfilterfactory_create(state, destructor, make_none, my_name));
  cambium_compactionfilterfactory_destroy(NULL);
  CHECK(destroyed == 2);
  cambium_options_destroy(with);
}

/* ---- Objects of options ---- */

static int lines = 0;
static void log_line(void* its_state, int level, const char* line, size_t length) {
  CHECK(its_state == state && level >= cambium_log_info && line != NULL && length > 0);
  ++lines;
}

static void test_surroundings(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_env_t* const env = cambium_create_default_env();
  cambium_logger_t* const logger = cambium_logger_create_callback_logger(cambium_log_info, log_line, state);
  cambium_logger_t* const nothing = cambium_logger_create_null_logger();
  cambium_ratelimiter_t* const limiter = cambium_ratelimiter_create(1 << 20, 100000, 10);
  cambium_ratelimiter_t* const bad = cambium_ratelimiter_create(1, 100000, 10);
  cambium_write_buffer_manager_t* const manager = cambium_write_buffer_manager_create(1 << 20, 0);
  char* const directory = cambium_env_get_test_directory(env);
  cambium_t* db;
  CHECK(directory != NULL && directory[0] == '/');
  cambium_free(directory);
  cambium_destroy_db(with, path, &error);
  CHECK_OK(error);
  cambium_options_set_env(with, env);
  cambium_options_set_info_log(with, logger);
  cambium_options_set_ratelimiter(with, limiter);
  cambium_ratelimiter_set_bytes_per_second(limiter, 2 << 20, &error);
  CHECK_OK(error);
  CHECK(cambium_ratelimiter_get_bytes_per_second(limiter) == 2 << 20);
  cambium_ratelimiter_set_bytes_per_second(limiter, -1, &error);
  CHECK_ERROR(error, "-1");
  cambium_options_set_write_buffer_manager(with, manager);
  CHECK(cambium_write_buffer_manager_enabled(manager) == 1);
  CHECK(cambium_write_buffer_manager_buffer_size(manager) == 1 << 20);
  CHECK(cambium_write_buffer_manager_memory_usage(manager) == 0);
  cambium_write_buffer_manager_set_allow_stall(manager, 1);
  /* Their creator may destroy them now. */
  cambium_env_destroy(env);
  cambium_logger_destroy(logger);
  cambium_ratelimiter_destroy(limiter);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  put(db, "k", "v");
  CHECK(cambium_write_buffer_manager_memory_usage(manager) > 0);
  CHECK(cambium_write_buffer_manager_mutable_memtable_memory_usage(manager) > 0);
  cambium_write_buffer_manager_set_buffer_size(manager, 0);
  CHECK(cambium_write_buffer_manager_enabled(manager) == 0);
  cambium_options_set_write_buffer_manager(with, NULL);
  cambium_write_buffer_manager_destroy(manager); /* the database keeps what it needs */
  cambium_close(db);
  CHECK(lines > 0);
  lines = 0;
  cambium_options_set_info_log(with, nothing);
  cambium_options_set_ratelimiter(with, bad);
  CHECK(cambium_open(with, path, &error) == NULL);
  CHECK_ERROR(error, "rate");
  cambium_options_set_ratelimiter(with, NULL);
  cambium_options_set_env(with, NULL);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  cambium_close(db);
  CHECK(lines == 0);
  cambium_options_set_info_log(with, NULL);
  cambium_logger_destroy(nothing);
  cambium_ratelimiter_destroy(bad);
  cambium_options_destroy(with);
}

/* ---- Event listeners ---- */

struct events {
  int flushes_begun;
  int flushes;
  int compactions;
  int tables_sealed;
  int table_files;
  int blob_files;
  int destroyed;
};

/* The callback can read the database. */
static void on_flush_begin(void* state, cambium_t* db, const cambium_flushjobinfo_t* info) {
  size_t length;
  const char* const name = cambium_flushjobinfo_cf_name(info, &length);
  CHECK_BYTES(name, length, "default");
  CHECK(cambium_flushjobinfo_flush_reason(info) == cambium_flush_reason_manual_flush);
  check_get(db, roptions, "a", "1");
  ++((struct events*)state)->flushes_begun;
}
static void on_flush_completed(void* state, cambium_t* db, const cambium_flushjobinfo_t* info) {
  size_t length;
  char* failed = NULL;
  const char* const name = cambium_flushjobinfo_db_name(info, &length);
  CHECK_BYTES(name, length, path);
  cambium_flushjobinfo_status(info, &failed);
  CHECK_OK(failed);
  CHECK(cambium_flushjobinfo_num_entries(info) == 1 && cambium_flushjobinfo_output_files_count(info) == 1);
  CHECK(strstr(cambium_flushjobinfo_output_file_at(info, 0, &length), path) != NULL);
  check_get(db, roptions, "a", "1");
  ++((struct events*)state)->flushes;
}
static void on_compaction(void* state, cambium_t* db, const cambium_compactionjobinfo_t* info) {
  (void)db;
  CHECK(cambium_compactionjobinfo_job_id(info) > 0);
  ++((struct events*)state)->compactions;
}
static void on_sealed(void* state, const cambium_memtableinfo_t* info) {
  CHECK(cambium_memtableinfo_num_entries(info) >= 1);
  ++((struct events*)state)->tables_sealed;
}
static void on_table_file(void* state, const cambium_tablefilecreationinfo_t* info) {
  CHECK(cambium_tablefilecreationinfo_file_number(info) > 0);
  ++((struct events*)state)->table_files;
}
static void on_blob_file(void* state, const cambium_blobfilecreationinfo_t* info) {
  CHECK(cambium_blobfilecreationinfo_reason(info) == cambium_blob_file_reason_log);
  ++((struct events*)state)->blob_files;
}
static void on_end(void* state) { ++((struct events*)state)->destroyed; }

static void test_listeners(void) {
  struct events events = {0, 0, 0, 0, 0, 0, 0};
  cambium_options_t* const listened = cambium_options_create_copy(options);
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_eventlistener_t* const listener = cambium_eventlistener_create(
      &events, on_end, on_flush_begin, on_flush_completed, on_compaction, on_compaction, NULL, NULL, on_sealed);
  cambium_t* db;
  cambium_eventlistener_set_on_log_gc_completed(listener, NULL);
  cambium_eventlistener_set_on_table_files(listener, on_table_file, on_table_file, NULL);
  cambium_eventlistener_set_on_blob_files(listener, on_blob_file, on_blob_file, NULL);
  cambium_options_add_eventlistener(listened, listener);
  cambium_eventlistener_destroy(listener);
  cambium_destroy_db(listened, path, &error);
  db = cambium_open(listened, path, &error);
  CHECK_OK(error);
  cambium_options_destroy(listened);
  put(db, "a", "1");
  cambium_flush(db, flush, &error);
  CHECK_OK(error);
  CHECK(events.flushes_begun == 1 && events.flushes == 1 && events.tables_sealed == 1);
  CHECK(events.table_files >= 2 && events.blob_files >= 2 && events.destroyed == 0);
  cambium_close_with_status(db, &error);
  CHECK_OK(error);
  CHECK(events.destroyed == 1);
  cambium_flushoptions_destroy(flush);
}

static void test_statistics(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_statistics_histogram_data_t* const data = cambium_statistics_histogram_data_create();
  const uint32_t keys_written = cambium_statistics_ticker("rocksdb.number.keys.written");
  const uint32_t per_write = cambium_statistics_histogram("rocksdb.bytes.per.write");
  cambium_t* db;
  char* text;
  CHECK(keys_written != UINT32_MAX && per_write != UINT32_MAX);
  CHECK(cambium_statistics_ticker("rocksdb.no.such.thing") == UINT32_MAX);
  CHECK(cambium_statistics_histogram("rocksdb.no.such.thing") == UINT32_MAX);
  CHECK(cambium_options_statistics_get_string(with) == NULL);
  CHECK(cambium_options_statistics_get_ticker_count(with, keys_written) == 0);
  CHECK(cambium_options_get_statistics_level(with) == 0);
  cambium_options_set_statistics_level(with, 5); /* no statistics yet */
  cambium_options_enable_statistics(with);
  cambium_options_set_statistics_level(with, 5);
  CHECK(cambium_options_get_statistics_level(with) == 5);
  cambium_destroy_db(with, path, &error);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  put(db, "key", "value");
  put(db, "key", "value");
  CHECK(cambium_options_statistics_get_ticker_count(with, keys_written) == 2);
  cambium_options_statistics_get_histogram_data(with, per_write, data);
  CHECK(cambium_statistics_histogram_data_get_count(data) == 2);
  CHECK(cambium_statistics_histogram_data_get_sum(data) == 16);
  CHECK(cambium_statistics_histogram_data_get_min(data) == 8 && cambium_statistics_histogram_data_get_max(data) == 8);
  CHECK(cambium_statistics_histogram_data_get_average(data) == 8);
  CHECK(cambium_statistics_histogram_data_get_std_dev(data) == 0);
  CHECK(cambium_statistics_histogram_data_get_median(data) > 7 && cambium_statistics_histogram_data_get_p95(data) > 7 &&
        cambium_statistics_histogram_data_get_p99(data) > 7);
  text = cambium_options_statistics_get_string(with);
  CHECK(strstr(text, "rocksdb.number.keys.written COUNT : 2") != NULL);
  cambium_free(text);
  cambium_close(db);
  cambium_statistics_histogram_data_destroy(data);
  cambium_options_destroy(with);
}

/* ---- LevelDB's names ---- */

static int filter_destroyed = 0;
static void filter_destructor(void* its_state) {
  CHECK(its_state == state);
  ++filter_destroyed;
}
static char* create_filter(void* its_state, const char* const* keys, const size_t* key_lengths, int num_keys,
                           size_t* filter_length) {
  (void)its_state, (void)keys, (void)key_lengths, (void)num_keys, (void)filter_length;
  return NULL;
}
static unsigned char key_may_match(void* its_state, const char* key, size_t length, const char* bytes, size_t size) {
  (void)its_state, (void)key, (void)length, (void)bytes, (void)size;
  return 0;
}
static int log_has(const char* line) {
  char name[sizeof(path) + 8];
  static char text[1 << 20];
  FILE* log;
  size_t length;
  snprintf(name, sizeof(name), "%s/LOG", path);
  log = fopen(name, "rb");
  CHECK(log != NULL);
  length = fread(text, 1, sizeof(text) - 1, log);
  fclose(log);
  text[length] = 0;
  return strstr(text, line) != NULL;
}

static void test_leveldb_names(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_cache_t* const cache = cambium_cache_create_lru(1 << 20);
  cambium_filterpolicy_t* const bloom = cambium_filterpolicy_create_bloom(7);
  cambium_filterpolicy_t* const own =
      cambium_filterpolicy_create(state, filter_destructor, create_filter, key_may_match, my_name);
  const size_t page_cache = cambium_options_get_page_cache_size(with);
  cambium_t* db;
  cambium_options_set_block_size(with, 8192);
  CHECK(cambium_options_get_page_size(with) == 8192);
  cambium_options_set_max_file_size(with, 1 << 20);
  CHECK(cambium_options_get_target_file_size_base(with) == 1 << 20);
  cambium_options_set_paranoid_checks(with, 0);
  CHECK(cambium_options_get_wal_recovery_mode(with) == cambium_point_in_time_recovery);
  cambium_options_set_paranoid_checks(with, 1);
  CHECK(cambium_options_get_wal_recovery_mode(with) == cambium_tolerate_corrupted_tail_records_recovery);
  cambium_options_set_cache(with, cache);
  CHECK(cambium_options_get_page_cache_size(with) == 1 << 20);
  cambium_options_set_cache(with, NULL);
  CHECK(cambium_options_get_page_cache_size(with) == page_cache);
  cambium_options_set_filter_policy(with, bloom);
  CHECK(cambium_options_get_filter_bits_per_key(with) == 7);
  cambium_options_set_filter_policy(with, NULL);
  CHECK(cambium_options_get_filter_bits_per_key(with) == 0);
  cambium_options_set_max_open_files(with, 1000);
  CHECK(cambium_options_get_max_open_files(with) == 1000);
  cambium_options_set_block_restart_interval(with, 1);
  cambium_destroy_db(with, path, &error);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  cambium_close(db);
  cambium_options_set_max_open_files(with, -2);
  CHECK(cambium_open(with, path, &error) == NULL);
  CHECK_ERROR(error, "max_open_files is -2");
  cambium_options_set_max_open_files(with, -1);
  CHECK(!log_has("has no effect here"));
  cambium_options_set_block_restart_interval(with, 16);
  cambium_options_set_filter_policy(with, own);
  CHECK(cambium_options_get_filter_bits_per_key(with) == 10);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  CHECK(log_has("the option block_restart_interval has no effect here"));
  CHECK(log_has("the option filter_policy has no effect here"));
  put(db, "key", "value");
  cambium_compact_range(db, NULL, 0, NULL, 0);
  check_get(db, roptions, "key", "value");
  cambium_close(db);
  cambium_options_set_block_restart_interval(with, 1);
  cambium_options_set_filter_policy(with, bloom);
  cambium_destroy_db(with, path, &error);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  CHECK(!log_has("has no effect here"));
  cambium_close(db);
  cambium_filterpolicy_destroy(own);
  cambium_filterpolicy_destroy(bloom);
  cambium_filterpolicy_destroy(NULL);
  CHECK(filter_destroyed == 1);
  cambium_cache_destroy(cache);
  cambium_cache_destroy(NULL);
  cambium_options_destroy(with);
}

/* ---- Options as text ---- */

static void test_options_as_text(void) {
  cambium_options_t* const base = cambium_options_create();
  cambium_options_t* const other = cambium_options_create();
  char* text;
  cambium_get_options_from_string(base, "min_blob_size=4K; create_if_missing=true", other, &error);
  CHECK_OK(error);
  CHECK(cambium_options_get_min_blob_size(other) == 4096 && cambium_options_get_create_if_missing(other) == 1);
  cambium_get_options_from_string(other, "min_blob_size=8K", other, &error);
  CHECK_OK(error);
  CHECK(cambium_options_get_min_blob_size(other) == 8192 && cambium_options_get_create_if_missing(other) == 1);
  cambium_get_options_from_string(base, "no_such_option=1", other, &error);
  CHECK_ERROR(error, "no_such_option");
  text = cambium_options_to_string(other, &error);
  CHECK_OK(error);
  CHECK(strstr(text, "min_blob_size=8192") != NULL && strstr(text, "create_if_missing=true") != NULL);
  cambium_get_options_from_string(base, text, base, &error);
  CHECK_OK(error);
  CHECK(cambium_options_get_min_blob_size(base) == 8192);
  cambium_free(text);
  cambium_options_set_page_size(other, 1000);
  CHECK(cambium_options_to_string(other, &error) == NULL);
  CHECK_ERROR(error, "page_size");
  cambium_options_optimize_for_rocksdb_compatibility(base);
  CHECK(cambium_options_get_enable_blob_files(base) == 0);
  cambium_options_destroy(base);
  cambium_options_destroy(other);
  cambium_options_destroy(NULL);
}

/* ---- Comparators of a closed database ---- */

static void test_own_comparators_of_the_library_need_no_name(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_comparator_t* const reverse = cambium_comparator_create_reverse_bytewise();
  char** problems = NULL;
  size_t num_problems = 9;
  cambium_t* db;
  destroy();
  cambium_options_set_comparator(with, reverse);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  put(db, "a", "1");
  put(db, "b", "2");
  cambium_close(db);
  cambium_verify_db(options, path, 1, &problems, &num_problems, &error);
  CHECK_OK(error);
  CHECK(problems != NULL && num_problems == 0);
  cambium_string_list_destroy(problems, num_problems);
  destroy();
  cambium_options_destroy(with);
  cambium_comparator_destroy(reverse);
}

static const char* const names_of_two[2] = {"default", "x"};

/* Makes a database whose family x has the comparator of `with`. */
static void make_two_orders(const cambium_options_t* with) {
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const x = cambium_create_column_family(db, with, "x", &error);
  CHECK_OK(error);
  cambium_put_cf(db, woptions, x, "a", 1, "1", 1, &error);
  cambium_put_cf(db, woptions, x, "b", 1, "2", 1, &error);
  CHECK_OK(error);
  cambium_flush_cf(db, flush, x, &error);
  CHECK_OK(error);
  cambium_flushoptions_destroy(flush);
  cambium_column_family_handle_destroy(x);
  cambium_close(db);
}

static void check_verify(const cambium_options_t* const* both) {
  char** problems = NULL;
  size_t num_problems = 9;
  cambium_verify_db(options, path, 1, &problems, &num_problems, &error);
  CHECK_ERROR(error, "mine");
  CHECK(problems == NULL && num_problems == 0);
  cambium_verify_db_column_families(options, path, 2, names_of_two, both, 1, &problems, &num_problems, &error);
  CHECK_OK(error);
  CHECK(problems != NULL && num_problems == 0);
  cambium_string_list_destroy(problems, num_problems);
  cambium_verify_db_column_families(options, path, -1, names_of_two, both, 1, &problems, &num_problems, &error);
  CHECK_ERROR(error, "-1");
}

static void check_salvage(const cambium_options_t* const* both) {
  cambium_column_family_handle_t* handles[2];
  char salvaged[sizeof path];
  uint64_t lost = 9;
  uint64_t unproven = 9;
  cambium_t* db;
  CHECK(snprintf(salvaged, sizeof salvaged, "%s.salvaged", path) < (int)sizeof salvaged);
  cambium_destroy_db(options, salvaged, &error);
  CHECK_OK(error);
  cambium_salvage_db(options, path, salvaged, 0, &lost, &unproven, &error);
  CHECK_ERROR(error, "mine");
  cambium_salvage_db_column_families(options, path, 2, names_of_two, both, salvaged, 0, &lost, &unproven, &error);
  CHECK_OK(error);
  CHECK(lost == 0 && unproven == 0);
  db = cambium_open_column_families(options, salvaged, 2, names_of_two, both, handles, &error);
  CHECK_OK(error);
  check_get_cf(db, handles[1], "a", "1");
  check_get_cf(db, handles[1], "b", "2");
  cambium_column_family_handle_destroy(handles[0]);
  cambium_column_family_handle_destroy(handles[1]);
  cambium_close(db);
  cambium_destroy_db(options, salvaged, &error);
  CHECK_OK(error);
}

/* Comparators of the caller's own are given by family. */
static void test_orders_of_families(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_comparator_t* const mine = cambium_comparator_create(state, destructor, compare_backwards, my_name);
  const cambium_options_t* both[2];
  both[0] = options;
  both[1] = with;
  cambium_options_set_comparator(with, mine);
  make_two_orders(with);
  check_verify(both);
  check_salvage(both);
  destroy();
  cambium_options_destroy(with);
  cambium_comparator_destroy(mine);
}

int main(int argc, char** argv) {
  if (!begin_program(argc, argv)) return 2;
  test_comparators();
  test_simple_filters();
  test_filters_by_key_and_value();
  test_factories_of_filters();
  test_surroundings();
  test_listeners();
  test_statistics();
  test_leveldb_names();
  test_options_as_text();
  test_own_comparators_of_the_library_need_no_name();
  test_orders_of_families();
  return end_program();
}
