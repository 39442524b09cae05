/* Calls every function of the C interface except those of single options, which c_options_test calls; exports_script.sh
   checks that none is missing. Built as C99 against the shared library. Argument: a directory for databases. */
#include <dirent.h>
#include <stdint.h>

#include "cambium/c.h"
#include "check.h"

static char path[4096];
static char* error = NULL;
static cambium_options_t* options;
static cambium_readoptions_t* roptions;
static cambium_writeoptions_t* woptions;

static cambium_t* open_new(void) {
  cambium_t* db;
  cambium_destroy_db(options, path, &error);
  CHECK_OK(error);
  db = cambium_open(options, path, &error);
  CHECK_OK(error);
  CHECK(db != NULL);
  return db;
}

static void put(cambium_t* db, const char* key, const char* value) {
  cambium_put(db, woptions, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

/* Changes a byte of the value that begins with `text`, in a log file of the closed database. */
static void damage_value(const char* text) {
  DIR* const directory = opendir(path);
  const struct dirent* entry;
  int damaged = 0;
  CHECK(directory != NULL);
  while ((entry = readdir(directory)) != NULL) {
    static char bytes[1 << 16];
    char name[5000];
    FILE* file;
    size_t length;
    size_t at;
    if (strstr(entry->d_name, ".log") == NULL) continue;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    file = fopen(name, "r+b");
    CHECK(file != NULL);
    length = fread(bytes, 1, sizeof bytes, file);
    for (at = 0; at + strlen(text) <= length && memcmp(bytes + at, text, strlen(text)) != 0; ++at) {
    }
    if (at + strlen(text) <= length) {
      CHECK(fseek(file, (long)(at + strlen(text)), SEEK_SET) == 0 && fputc('!', file) == '!');
      ++damaged;
    }
    fclose(file);
  }
  closedir(directory);
  CHECK(damaged == 1);
}

/* Expects the value of `key`; `expected` NULL: no such key. */
static void check_get(cambium_t* db, const cambium_readoptions_t* how, const char* key, const char* expected) {
  size_t length = 99;
  char* const value = cambium_get(db, how, key, strlen(key), &length, &error);
  CHECK_OK(error);
  if (expected == NULL) {
    CHECK(value == NULL && length == 0);
  } else {
    CHECK_BYTES(value, length, expected);
  }
  cambium_free(value);
}

static void check_get_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* key, const char* expected) {
  size_t length = 99;
  char* const value = cambium_get_cf(db, roptions, family, key, strlen(key), &length, &error);
  CHECK_OK(error);
  if (expected == NULL) {
    CHECK(value == NULL && length == 0);
  } else {
    CHECK_BYTES(value, length, expected);
  }
  cambium_free(value);
}

static void check_iter(const cambium_iterator_t* it, const char* key, const char* value) {
  size_t length;
  const char* bytes;
  CHECK(cambium_iter_valid(it) == 1);
  bytes = cambium_iter_key(it, &length);
  CHECK_BYTES(bytes, length, key);
  bytes = cambium_iter_value(it, &length);
  CHECK_BYTES(bytes, length, value);
}

/* ---- Versions, errors, open ---- */

static void test_versions(void) {
  CHECK(cambium_abi_version() == CAMBIUM_ABI_VERSION);
  CHECK(cambium_major_version() >= 0 && cambium_minor_version() >= 0 && cambium_patch_version() >= 0);
  CHECK(cambium_major_version() + cambium_minor_version() + cambium_patch_version() > 0);
}

/* What programs decide by the kind of an error. The texts that this library gives are read back by status_test. */
static void test_error_codes(void) {
  static const char* const strange[] = {"", "OK", "something else", "IO error (unheard of): x", "Corruption? No."};
  const char* const locked = "IO error (locked): lock /db/LOCK: it is open";
  const char* const fatal = "IO error (no space) (fatal until reopened): write /db/000001.log";
  const char* const waited = "Operation timed out (lock): the lock of key a";
  char copy[128];
  size_t i;
  CHECK(cambium_error_code(NULL) == cambium_code_ok && cambium_error_subcode(NULL) == cambium_subcode_none);
  CHECK(cambium_error_severity(NULL) == cambium_severity_none && cambium_error_message(NULL) == NULL);
  CHECK(cambium_error_code(locked) == cambium_code_io_error && cambium_error_subcode(locked) == cambium_subcode_locked);
  CHECK(cambium_error_severity(locked) == cambium_severity_none);
  CHECK(strcmp(cambium_error_message(locked), "lock /db/LOCK: it is open") == 0);
  snprintf(copy, sizeof copy, "%s", fatal);
  CHECK(cambium_error_code(copy) == cambium_code_io_error && cambium_error_subcode(copy) == cambium_subcode_no_space);
  CHECK(cambium_error_severity(copy) == cambium_severity_fatal);
  CHECK(cambium_error_message(copy) == strstr(copy, "write"));
  CHECK(cambium_error_code(waited) == cambium_code_timed_out);
  CHECK(cambium_error_subcode(waited) == cambium_subcode_lock_timeout);
  CHECK(cambium_error_code("NotFound") == cambium_code_not_found && *cambium_error_message("NotFound") == '\0');
  CHECK(cambium_error_code("Operation failed. Try again.: x") == cambium_code_try_again);
  CHECK(cambium_error_code("Operation expired") == cambium_code_expired);
  for (i = 0; i < sizeof strange / sizeof strange[0]; ++i) {
    CHECK(cambium_error_code(strange[i]) == cambium_code_unknown);
    CHECK(cambium_error_subcode(strange[i]) == cambium_subcode_none);
    CHECK(cambium_error_severity(strange[i]) == cambium_severity_none);
    CHECK(cambium_error_message(strange[i]) == strange[i]);
  }
}

static void test_open_and_errors(void) {
  cambium_t* db;
  cambium_t* second;
  char** problems;
  size_t num_problems = 9;
  cambium_destroy_db(options, path, &error);
  CHECK_OK(error);
  cambium_options_set_create_if_missing(options, 0);
  CHECK(cambium_open(options, path, &error) == NULL);
  /* The next error replaces the earlier one, which is freed. */
  CHECK(cambium_open(options, path, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_open(options, path, NULL) == NULL); /* no error wanted */
  CHECK(cambium_open_for_read_only(options, path, &error) == NULL);
  CHECK_ERROR(error, "");
  cambium_options_set_create_if_missing(options, 1);
  db = open_new();
  put(db, "key", "value");
  second = cambium_open(options, path, &error);
  CHECK(second == NULL);
  CHECK(cambium_error_code(error) == cambium_code_io_error && cambium_error_subcode(error) == cambium_subcode_locked);
  CHECK_ERROR(error, "IO error");
  CHECK(cambium_close_with_status(db, &error) == 1);
  CHECK_OK(error);
  db = cambium_open_for_read_only(options, path, &error);
  CHECK_OK(error);
  check_get(db, roptions, "key", "value");
  cambium_put(db, woptions, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "");
  cambium_close(db);
  cambium_close(NULL);
  cambium_verify_db(options, path, 1, &problems, &num_problems, &error);
  CHECK_OK(error);
  CHECK(num_problems == 0);
  cambium_string_list_destroy(problems, num_problems);
  cambium_verify_db(options, "/nowhere/at/all", 0, &problems, &num_problems, &error);
  CHECK_ERROR(error, "/nowhere/at/all");
  CHECK(problems == NULL);
}

static void test_close_with_an_iterator(void) {
  cambium_t* const db = open_new();
  cambium_iterator_t* const it = cambium_create_iterator(db, roptions);
  CHECK(cambium_close_with_status(db, &error) == 0);
  CHECK(cambium_error_code(error) == cambium_code_aborted && cambium_error_subcode(error) == cambium_subcode_none);
  CHECK_ERROR(error, "aborted");
  CHECK(cambium_close_with_status(db, NULL) == 0); /* no error wanted */
  put(db, "still", "open");
  check_get(db, roptions, "still", "open");
  cambium_iter_destroy(it);
  CHECK(cambium_close_with_status(db, &error) == 1);
  CHECK_OK(error);
}

/* ---- Writing and reading ---- */

static void test_writes_and_gets(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  char large[20000];
  size_t length = 0;
  cambium_pinnableslice_t* pinned;
  char* value;
  memset(large, 'x', sizeof large);
  put(db, "a", "1");
  put(db, "empty", "");
  cambium_put_cf(db, woptions, family, "b", 1, "2", 1, &error);
  cambium_put(db, woptions, "large", 5, large, sizeof large, &error);
  cambium_put(db, woptions, NULL, 0, "of no bytes", 11, &error);
  CHECK_OK(error);
  check_get(db, roptions, "a", "1");
  check_get(db, roptions, "b", "2");
  check_get(db, roptions, "empty", "");
  check_get(db, roptions, "", "of no bytes");
  check_get(db, roptions, "absent", NULL);
  value = cambium_get_cf(db, roptions, family, "large", 5, &length, &error);
  CHECK(length == sizeof large && memcmp(value, large, length) == 0);
  cambium_free(value);
  { /* The buffer is large enough, too small, and none. */
    static char buffer[sizeof large];
    unsigned char found = 0;
    CHECK(cambium_get_into_buffer(db, roptions, "large", 5, buffer, sizeof buffer, &length, &found, &error) == 1);
    CHECK(found == 1 && length == sizeof large && memcmp(buffer, large, length) == 0);
    CHECK(cambium_get_into_buffer_cf(db, roptions, family, "a", 1, buffer, 2, &length, &found, &error) == 1);
    CHECK(found == 1 && length == 1 && memcmp(buffer, "1x", 2) == 0);
    CHECK(cambium_get_into_buffer(db, roptions, "large", 5, buffer, 19999, &length, &found, &error) == 0);
    CHECK(found == 1 && length == sizeof large && memcmp(buffer, "1x", 2) == 0);
    CHECK(cambium_get_into_buffer(db, roptions, "large", 5, NULL, 0, &length, &found, &error) == 0);
    CHECK(found == 1 && length == sizeof large);
    CHECK(cambium_get_into_buffer(db, roptions, "empty", 5, NULL, 0, &length, &found, &error) == 1);
    CHECK(found == 1 && length == 0);
    CHECK(cambium_get_into_buffer(db, roptions, "absent", 6, buffer, 9, &length, &found, &error) == 0);
    CHECK(found == 0 && length == 0);
    CHECK_OK(error);
    CHECK(cambium_get_into_buffer_cf(db, roptions, NULL, "a", 1, buffer, 9, &length, &found, &error) == 0);
    CHECK(found == 0 && length == 0 && cambium_error_code(error) == cambium_code_invalid_argument);
    CHECK_ERROR(error, "Invalid argument");
  }
  pinned = cambium_get_pinned(db, roptions, "large", 5, &error);
  CHECK_OK(error);
  CHECK(memcmp(cambium_pinnableslice_value(pinned, &length), large, sizeof large) == 0 && length == sizeof large);
  cambium_pinnableslice_destroy(pinned);
  pinned = cambium_get_pinned_cf(db, roptions, family, "b", 1, &error);
  CHECK_BYTES(cambium_pinnableslice_value(pinned, &length), length, "2");
  cambium_pinnableslice_destroy(pinned);
  CHECK(cambium_get_pinned(db, roptions, "absent", 6, &error) == NULL && error == NULL);
  cambium_pinnableslice_destroy(NULL);

  cambium_delete(db, woptions, "a", 1, &error);
  cambium_delete_cf(db, woptions, family, "b", 1, &error);
  CHECK_OK(error);
  check_get(db, roptions, "a", NULL);
  check_get(db, roptions, "b", NULL);
  put(db, "c", "3");
  put(db, "d", "4");
  put(db, "e", "5");
  put(db, "f", "6");
  put(db, "g", "7");
  cambium_singledelete(db, woptions, "c", 1, &error);
  cambium_singledelete_cf(db, woptions, family, "d", 1, &error);
  cambium_delete_range(db, woptions, "e", 1, "f", 1, &error);
  cambium_delete_range_cf(db, woptions, family, "f", 1, "g", 1, &error);
  CHECK_OK(error);
  check_get(db, roptions, "c", NULL);
  check_get(db, roptions, "d", NULL);
  check_get(db, roptions, "e", NULL);
  check_get(db, roptions, "f", NULL);
  check_get(db, roptions, "g", "7");
  cambium_delete_range(db, woptions, "z", 1, "y", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

/* What a callback has received. */
typedef struct {
  int calls;
  char value[16];
  char error[80];
} answer_t;

static void take_answer(void* state, const char* value, size_t value_length, const char* text) {
  answer_t* const answer = state;
  ++answer->calls;
  if (value == NULL) value_length = 4;
  snprintf(answer->value, sizeof answer->value, "%.*s", (int)value_length, value == NULL ? "none" : value);
  snprintf(answer->error, sizeof answer->error, "%s", text == NULL ? "" : text);
}

static void take_answers(void* state, size_t num_keys, const char* const* values, const size_t* lengths,
                         const char* const* errors) {
  int* const calls = state;
  ++*calls;
  CHECK(num_keys == 3);
  CHECK_BYTES(values[0], lengths[0], "1");
  CHECK(values[1] == NULL && lengths[1] == 0 && errors[0] == NULL && errors[1] == NULL);
  CHECK(values[2] == NULL && errors[2] != NULL && strstr(errors[2], "Invalid argument") != NULL);
}

/* A callback that begins a read. */
typedef struct {
  cambium_asyncreader_t* reader;
  int calls;
  unsigned char has_begun;
  char* error;
} beginner_t;

static void begin_another(void* state, const char* value, size_t value_length, const char* text) {
  beginner_t* const beginner = state;
  (void)value, (void)value_length, (void)text;
  if (++beginner->calls > 1) return;
  beginner->has_begun =
      cambium_asyncreader_get(beginner->reader, roptions, "one", 3, begin_another, state, &beginner->error);
}

static void test_asynchronous_reads(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  const cambium_column_family_handle_t* const families[3] = {family, family, NULL};
  const char* const keys[3] = {"one", "none", "two"};
  const size_t key_lengths[3] = {3, 4, 3};
  cambium_asyncreader_t* reader;
  answer_t answers[3];
  beginner_t beginner;
  int calls = 0;
  memset(answers, 0, sizeof answers);
  put(db, "one", "1");
  put(db, "two", "");
  CHECK(cambium_asyncreader_create(db, 0, 1, 1, &error) == NULL);
  CHECK_ERROR(error, "depth");
  reader = cambium_asyncreader_create(db, 3, 1 << 20, 1, &error);
  CHECK_OK(error);
  CHECK(cambium_asyncreader_get(reader, roptions, "one", 3, take_answer, &answers[0], &error));
  CHECK(cambium_asyncreader_get_cf(reader, roptions, family, "none", 4, take_answer, &answers[1], &error));
  CHECK(!cambium_asyncreader_get_cf(reader, roptions, NULL, "two", 3, take_answer, &answers[2], &error));
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_asyncreader_get(reader, roptions, "two", 3, take_answer, &answers[2], &error));
  CHECK(!cambium_asyncreader_get(reader, roptions, "one", 3, take_answer, &answers[0], &error));
  CHECK_OK(error); /* no room */
  CHECK(cambium_asyncreader_in_flight(reader) == 3 && answers[0].calls == 0);
  cambium_asyncreader_submit(reader);
  CHECK(cambium_asyncreader_poll(reader, 3, UINT64_MAX) == 3);
  CHECK(cambium_asyncreader_in_flight(reader) == 0);
  CHECK(answers[0].calls == 1 && strcmp(answers[0].value, "1") == 0 && strcmp(answers[0].error, "") == 0);
  CHECK(answers[1].calls == 1 && strcmp(answers[1].value, "none") == 0 && strcmp(answers[1].error, "") == 0);
  CHECK(answers[2].calls == 1 && strcmp(answers[2].value, "") == 0 && strcmp(answers[2].error, "") == 0);
  CHECK(cambium_asyncreader_multi_get_cf(reader, roptions, families, 3, keys, key_lengths, take_answers, &calls,
                                         &error));
  CHECK_OK(error);
  CHECK(cambium_asyncreader_event_fd(reader, &error) >= 0);
  CHECK_OK(error);
  CHECK(cambium_asyncreader_poll(reader, 0, 0) == 1 && calls == 1);
  cambium_close_with_status(db, &error);
  CHECK_ERROR(error, "asynchronous readers");
  CHECK(!cambium_asyncreader_get(reader, roptions, "one", 3, NULL, NULL, &error));
  CHECK_ERROR(error, "callback");
  CHECK(!cambium_asyncreader_multi_get_cf(reader, roptions, families, 3, keys, key_lengths, NULL, NULL, &error));
  CHECK_ERROR(error, "callback");
  memset(&beginner, 0, sizeof beginner);
  beginner.reader = reader;
  CHECK(cambium_asyncreader_get(reader, roptions, "one", 3, begin_another, &beginner, &error));
  CHECK_OK(error);
  cambium_asyncreader_destroy(reader);
  CHECK(beginner.calls == 1 && !beginner.has_begun);
  CHECK_ERROR(beginner.error, "destroyed");
  cambium_asyncreader_destroy(NULL);
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

static void test_multi_get(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  const cambium_column_family_handle_t* const families[3] = {family, family, family};
  const char* const keys[3] = {"one", "none", "two"};
  const size_t key_lengths[3] = {3, 4, 3};
  char* values[3];
  size_t lengths[3];
  char* errors[3];
  cambium_pinnableslice_t* pinned[3];
  size_t length;
  int round;
  put(db, "one", "1");
  put(db, "two", "");
  for (round = 0; round < 2; ++round) {
    memset(values, 1, sizeof values);
    memset(errors, 1, sizeof errors);
    if (round == 0) {
      cambium_multi_get(db, roptions, 3, keys, key_lengths, values, lengths, errors);
    } else {
      cambium_multi_get_cf(db, roptions, families, 3, keys, key_lengths, values, lengths, errors);
    }
    CHECK(errors[0] == NULL && errors[1] == NULL && errors[2] == NULL);
    CHECK_BYTES(values[0], lengths[0], "1");
    CHECK(values[1] == NULL && lengths[1] == 0);
    CHECK_BYTES(values[2], lengths[2], "");
    cambium_free(values[0]);
    cambium_free(values[2]);
  }
  cambium_batched_multi_get_cf(db, roptions, family, 3, keys, key_lengths, pinned, errors, 0);
  CHECK_BYTES(cambium_pinnableslice_value(pinned[0], &length), length, "1");
  CHECK(pinned[1] == NULL);
  CHECK_BYTES(cambium_pinnableslice_value(pinned[2], &length), length, "");
  cambium_pinnableslice_destroy(pinned[0]);
  cambium_pinnableslice_destroy(pinned[2]);
  { /* An error is set for each of them. */
    cambium_readoptions_t* const bad = cambium_readoptions_create();
    const cambium_snapshot_t* const snapshot = cambium_create_snapshot(db);
    int i;
    cambium_readoptions_set_durable_only(bad, 1);
    cambium_readoptions_set_snapshot(bad, snapshot);
    cambium_multi_get(db, bad, 3, keys, key_lengths, values, lengths, errors);
    for (i = 0; i < 3; ++i) {
      CHECK(values[i] == NULL);
      CHECK_ERROR(errors[i], "Invalid argument");
    }
    cambium_release_snapshot(db, snapshot);
    cambium_readoptions_destroy(bad);
  }
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

static void test_iterators(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  cambium_column_family_handle_t* families[2];
  cambium_iterator_t* both[2];
  cambium_readoptions_t* const bounded = cambium_readoptions_create();
  cambium_iterator_t* it;
  put(db, "a", "1");
  put(db, "b", "22");
  put(db, "c", "333");
  it = cambium_create_iterator(db, roptions);
  CHECK(cambium_iter_valid(it) == 0);
  cambium_iter_seek_to_first(it);
  check_iter(it, "a", "1");
  cambium_iter_next(it);
  check_iter(it, "b", "22");
  CHECK(cambium_iter_prepare_value(it) == 1);
  CHECK(cambium_iter_value_size(it) == 2);
  cambium_iter_prev(it);
  check_iter(it, "a", "1");
  cambium_iter_seek_to_last(it);
  check_iter(it, "c", "333");
  cambium_iter_seek(it, "aa", 2);
  check_iter(it, "b", "22");
  cambium_iter_seek_for_prev(it, "bb", 2);
  check_iter(it, "b", "22");
  cambium_iter_seek(it, "d", 1);
  CHECK(cambium_iter_valid(it) == 0);
  cambium_iter_get_error(it, &error);
  CHECK_OK(error);
  cambium_iter_destroy(it);
  cambium_iter_destroy(NULL);

  { /* Bounds are copied. */
    char lower[2] = "b";
    char upper[2] = "c";
    cambium_readoptions_set_iterate_lower_bound(bounded, lower, 1);
    cambium_readoptions_set_iterate_upper_bound(bounded, upper, 1);
    lower[0] = upper[0] = 'z';
  }
  cambium_readoptions_set_allow_unprepared_value(bounded, 1);
  it = cambium_create_iterator_cf(db, bounded, family);
  cambium_iter_seek_to_first(it);
  CHECK(cambium_iter_prepare_value(it) == 1);
  check_iter(it, "b", "22");
  cambium_iter_next(it);
  CHECK(cambium_iter_valid(it) == 0);
  cambium_iter_destroy(it);
  cambium_readoptions_set_iterate_upper_bound(bounded, NULL, 0);
  it = cambium_create_iterator(db, bounded);
  cambium_iter_seek_to_last(it);
  CHECK(cambium_iter_prepare_value(it) == 1);
  check_iter(it, "c", "333");
  cambium_iter_destroy(it);
  cambium_readoptions_destroy(bounded);

  families[0] = families[1] = family;
  cambium_create_iterators(db, roptions, families, both, 2, &error);
  CHECK_OK(error);
  put(db, "a", "later");
  cambium_iter_seek_to_first(both[0]);
  cambium_iter_seek_to_first(both[1]);
  check_iter(both[0], "a", "1");
  check_iter(both[1], "a", "1");
  cambium_iter_destroy(both[0]);
  cambium_iter_destroy(both[1]);
  { /* The error of an iterator that could not be created. */
    cambium_readoptions_t* const bad = cambium_readoptions_create();
    const cambium_snapshot_t* const snapshot = cambium_create_snapshot(db);
    cambium_readoptions_set_durable_only(bad, 1);
    cambium_readoptions_set_snapshot(bad, snapshot);
    it = cambium_create_iterator(db, bad);
    cambium_iter_seek_to_first(it);
    CHECK(cambium_iter_valid(it) == 0);
    cambium_iter_get_error(it, &error);
    CHECK_ERROR(error, "Invalid argument");
    cambium_iter_destroy(it);
    both[0] = NULL;
    cambium_create_iterators(db, bad, families, both, 2, &error);
    CHECK_ERROR(error, "Invalid argument");
    CHECK(both[0] == NULL);
    cambium_release_snapshot(db, snapshot);
    cambium_readoptions_destroy(bad);
  }
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

/* The loop of a scan ends with an error at a value that cannot be read, and the error stays until the next seek. */
static void test_scan_of_a_damaged_value(void) {
  cambium_t* db = open_new();
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_iterator_t* it;
  char key[16];
  char value[1001];
  size_t length;
  int seen = 0;
  int i;
  value[1000] = 0;
  for (i = 0; i < 20; ++i) {
    memset(value, 'v', 1000);
    sprintf(key, "key%02d", i);
    memcpy(value, key, 5);
    value[5] = '=';
    put(db, key, value);
  }
  cambium_flush(db, flush, &error); /* recovery would otherwise read the value, and report it */
  CHECK_OK(error);
  cambium_flushoptions_destroy(flush);
  cambium_close(db);
  damage_value("key10=vvv");
  db = cambium_open(options, path, &error);
  CHECK_OK(error);
  it = cambium_create_iterator(db, roptions);
  for (cambium_iter_seek_to_first(it); cambium_iter_valid(it); cambium_iter_next(it)) {
    (void)cambium_iter_value(it, &length);
    CHECK(length == 1000);
    ++seen;
  }
  CHECK(seen == 10);
  for (i = 0; i < 3; ++i) {
    CHECK(cambium_iter_valid(it) == 0);
    cambium_iter_get_error(it, &error);
    CHECK_ERROR(error, "Corruption");
    i == 0 ? cambium_iter_next(it) : cambium_iter_prev(it);
  }
  for (cambium_iter_seek_to_last(it); cambium_iter_valid(it); cambium_iter_prev(it)) ++seen;
  CHECK(seen == 19);
  cambium_iter_get_error(it, &error);
  CHECK_ERROR(error, "Corruption");
  cambium_iter_seek(it, "key11", 5);
  CHECK(cambium_iter_valid(it) == 1);
  cambium_iter_destroy(it);
  cambium_close(db);
}

/* NULL and objects of another database are errors. */
static void test_bad_objects(void) {
  cambium_t* const db = open_new();
  cambium_t* other;
  char other_path[5000];
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_readoptions_t* const at = cambium_readoptions_create();
  const cambium_snapshot_t* foreign;
  const char* keys[] = {"a"};
  const size_t lengths[] = {1};
  const cambium_column_family_handle_t* families[] = {NULL};
  char* values[1];
  char* errors[1];
  size_t length = 99;
  cambium_iterator_t* it;
  snprintf(other_path, sizeof other_path, "%s.other", path);
  cambium_destroy_db(options, other_path, &error);
  CHECK_OK(error);
  other = cambium_open(options, other_path, &error);
  CHECK_OK(error);
  put(db, "a", "1");

  CHECK(cambium_pinnableslice_value(NULL, &length) == NULL && length == 0);
  cambium_write(db, woptions, NULL, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_put_cf(db, woptions, NULL, "a", 1, "2", 1, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(cambium_get_cf(db, roptions, NULL, "a", 1, &length, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  cambium_multi_get_cf(db, roptions, families, 1, keys, lengths, values, &length, errors);
  CHECK_ERROR(errors[0], "Invalid argument");
  it = cambium_create_iterator_cf(db, roptions, NULL);
  cambium_iter_get_error(it, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_iter_destroy(it);
  cambium_writebatch_put(batch, "b", 1, "2", 1);
  cambium_writebatch_put_cf(batch, NULL, "a", 1, "2", 1);
  cambium_write(db, woptions, batch, &error);
  CHECK_ERROR(error, "Invalid argument");
  cambium_writebatch_clear(batch);

  foreign = cambium_create_snapshot(other);
  cambium_readoptions_set_snapshot(at, foreign);
  CHECK(cambium_get(db, at, "a", 1, &length, &error) == NULL);
  CHECK_ERROR(error, "Invalid argument");
  cambium_release_snapshot(other, foreign);
  {
    cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(other);
    cambium_writebatch_put_cf(batch, family, "a", 1, "2", 1);
    cambium_write(db, woptions, batch, &error);
    CHECK_ERROR(error, "Invalid argument");
    cambium_column_family_handle_destroy(family);
  }
  check_get(db, roptions, "a", "1");
  check_get(db, roptions, "b", NULL);

  cambium_readoptions_destroy(at);
  cambium_writebatch_destroy(batch);
  cambium_close(other);
  cambium_destroy_db(options, other_path, &error);
  CHECK_OK(error);
  cambium_close(db);
}

static void test_snapshots(void) {
  cambium_t* const db = open_new();
  cambium_readoptions_t* const then = cambium_readoptions_create();
  const cambium_snapshot_t* snapshot;
  put(db, "k", "old");
  snapshot = cambium_create_snapshot(db);
  CHECK(cambium_snapshot_get_sequence_number(snapshot) == cambium_get_latest_sequence_number(db));
  put(db, "k", "new");
  CHECK(cambium_snapshot_get_sequence_number(snapshot) + 1 == cambium_get_latest_sequence_number(db));
  cambium_readoptions_set_snapshot(then, snapshot);
  check_get(db, then, "k", "old");
  check_get(db, roptions, "k", "new");
  cambium_readoptions_set_snapshot(then, NULL);
  check_get(db, then, "k", "new");
  cambium_release_snapshot(db, snapshot);
  cambium_readoptions_destroy(then);
  cambium_close(db);
}

/* ---- Families ---- */

static void test_families(void) {
  cambium_t* db = open_new();
  const char* const names[2] = {"other", "default"};
  const cambium_options_t* both[2];
  cambium_column_family_handle_t* handles[2];
  cambium_column_family_handle_t* dropped;
  char** list;
  char* text;
  size_t length;
  cambium_column_family_handle_t* other = cambium_create_column_family(db, options, "other", &error);
  CHECK_OK(error);
  CHECK(cambium_create_column_family(db, options, "other", &error) == NULL);
  CHECK_ERROR(error, "other");
  CHECK(cambium_column_family_handle_get_id(other) == 1);
  text = cambium_column_family_handle_get_name(other, &length);
  CHECK_BYTES(text, length, "other");
  CHECK(text[length] == 0);
  cambium_free(text);
  put(db, "k", "of default");
  cambium_put_cf(db, woptions, other, "k", 1, "of other", 8, &error);
  check_get(db, roptions, "k", "of default");
  check_get_cf(db, other, "k", "of other");
  dropped = cambium_create_column_family(db, options, "dropped", &error);
  cambium_drop_column_family(db, dropped, &error);
  CHECK_OK(error);
  cambium_put_cf(db, woptions, dropped, "k", 1, "v", 1, &error);
  CHECK_ERROR(error, "Column family dropped");
  cambium_column_family_handle_destroy(dropped);
  cambium_column_family_handle_destroy(other);
  cambium_column_family_handle_destroy(NULL);
  cambium_close(db);

  list = cambium_list_column_families(options, path, &length, &error);
  CHECK_OK(error);
  CHECK(length == 2 && strcmp(list[0], "default") == 0 && strcmp(list[1], "other") == 0);
  cambium_list_column_families_destroy(list, length);
  CHECK(cambium_list_column_families(options, "/nowhere/at/all", &length, &error) == NULL && length == 0);
  CHECK_ERROR(error, "/nowhere/at/all");

  CHECK(cambium_open(options, path, &error) == NULL);
  CHECK_ERROR(error, "other");
  both[0] = both[1] = options;
  db = cambium_open_column_families(options, path, 2, names, both, handles, &error);
  CHECK_OK(error);
  check_get_cf(db, handles[0], "k", "of other");
  check_get_cf(db, handles[1], "k", "of default");
  cambium_column_family_handle_destroy(handles[0]);
  cambium_column_family_handle_destroy(handles[1]);
  cambium_close(db);
  db = cambium_open_for_read_only_column_families(options, path, 2, names, both, handles, &error);
  CHECK_OK(error);
  check_get_cf(db, handles[0], "k", "of other");
  cambium_column_family_handle_destroy(handles[0]);
  cambium_column_family_handle_destroy(handles[1]);
  cambium_close(db);
  CHECK(cambium_open_column_families(options, path, -1, names, both, handles, &error) == NULL);
  CHECK_ERROR(error, "-1");
}

/* ---- Flushing, compacting, properties, options of an open database ---- */

static void test_maintenance(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_compactoptions_t* const compact = cambium_compactoptions_create();
  const char* const keys[1] = {"min_blob_size"};
  const char* values[1] = {"100"};
  const char* const db_keys[1] = {"max_space_amplification"};
  const char* const db_values[1] = {"2.5"};
  cambium_options_t* in_force;
  size_t identity_length = 9;
  uint64_t number = 0;
  char* text;
  put(db, "a", "1");
  put(db, "b", "2");
  CHECK(cambium_property_int(db, "rocksdb.num-entries-active-mem-table", &number) == 0 && number == 2);
  cambium_flush(db, flush, &error);
  CHECK_OK(error);
  CHECK(cambium_property_int_cf(db, family, "rocksdb.num-entries-active-mem-table", &number) == 0 && number == 0);
  CHECK(cambium_property_int(db, "rocksdb.no-such-thing", &number) == -1);
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

  cambium_compactoptions_destroy(compact);
  cambium_flushoptions_destroy(flush);
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

/* ---- Batches ---- */

static void tell_put(void* state, const char* key, size_t key_length, const char* value, size_t value_length) {
  snprintf((char*)state + strlen(state), 100, "put %.*s=%.*s;", (int)key_length, key, (int)value_length, value);
}
static void tell_deleted(void* state, const char* key, size_t key_length) {
  snprintf((char*)state + strlen(state), 100, "delete %.*s;", (int)key_length, key);
}
static void tell_put_cf(void* state, uint32_t family, const char* key, size_t key_length, const char* value,
                        size_t value_length) {
  snprintf((char*)state + strlen(state), 100, "put %u %.*s=%.*s;", (unsigned)family, (int)key_length, key,
           (int)value_length, value);
}
static void tell_deleted_cf(void* state, uint32_t family, const char* key, size_t key_length) {
  snprintf((char*)state + strlen(state), 100, "delete %u %.*s;", (unsigned)family, (int)key_length, key);
}
static void tell_delete_range_cf(void* state, uint32_t family, const char* start, size_t start_length, const char* end,
                                 size_t end_length) {
  snprintf((char*)state + strlen(state), 100, "range %u %.*s..%.*s;", (unsigned)family, (int)start_length, start,
           (int)end_length, end);
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

static void test_batches(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_create_column_family(db, options, "two", &error);
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_writebatch_t* const more = cambium_writebatch_create();
  cambium_writebatch_t* copy;
  char told[2000] = "";
  char long_key[70000];
  const char* data;
  size_t size;
  cambium_writebatch_put(batch, "a", 1, "1", 1);
  cambium_writebatch_delete(batch, "b", 1);
  CHECK(cambium_writebatch_count(batch) == 2);
  cambium_writebatch_iterate(batch, told, tell_put, tell_deleted);
  CHECK(strcmp(told, "put a=1;delete b;") == 0);

  cambium_writebatch_put_cf(more, family, "c", 1, "3", 1);
  cambium_writebatch_delete_cf(more, family, "d", 1);
  cambium_writebatch_singledelete(more, "e", 1);
  cambium_writebatch_singledelete_cf(more, family, "f", 1);
  cambium_writebatch_delete_range(more, "g", 1, "h", 1);
  cambium_writebatch_delete_range_cf(more, family, "i", 1, "j", 1);
  cambium_writebatch_append(batch, more);
  CHECK(cambium_writebatch_count(batch) == 8);
  told[0] = 0;
  cambium_writebatch_iterate_cf(batch, told, tell_put_cf, tell_deleted_cf, tell_delete_range_cf, &error);
  CHECK_OK(error);
  CHECK(strcmp(told, "put 0 a=1;delete 0 b;put 1 c=3;delete 1 d;delete 0 e;delete 1 f;range 0 g..h;range 1 i..j;") == 0);
  cambium_writebatch_iterate_cf(batch, told, tell_put_cf, tell_deleted_cf, NULL, &error);
  CHECK_ERROR(error, "range delete");

  data = cambium_writebatch_data(batch, &size);
  copy = cambium_writebatch_create_from(data, size);
  CHECK(copy != NULL && cambium_writebatch_count(copy) == 8);
  CHECK(cambium_writebatch_create_from("no batch", 8) == NULL);
  cambium_writebatch_set_save_point(copy);
  cambium_writebatch_put(copy, "y", 1, "y", 1);
  cambium_writebatch_rollback_to_save_point(copy, &error);
  CHECK_OK(error);
  CHECK(cambium_writebatch_count(copy) == 8);
  cambium_writebatch_set_save_point(copy);
  cambium_writebatch_pop_save_point(copy, &error);
  CHECK_OK(error);
  cambium_writebatch_pop_save_point(copy, &error);
  CHECK_ERROR(error, "NotFound");
  cambium_writebatch_rollback_to_save_point(copy, &error);
  CHECK_ERROR(error, "NotFound");
  cambium_write(db, woptions, copy, &error);
  CHECK_OK(error);
  check_get(db, roptions, "a", "1");
  check_get_cf(db, family, "c", "3");

  /* cambium_write reports what could not be added. */
  memset(long_key, 'k', sizeof long_key);
  cambium_writebatch_clear(batch);
  cambium_writebatch_put(batch, "kept", 4, "1", 1);
  cambium_writebatch_put(batch, long_key, sizeof long_key, "1", 1);
  cambium_writebatch_clear(more);
  cambium_writebatch_append(more, batch);
  cambium_write(db, woptions, batch, &error);
  CHECK_ERROR(error, "70000");
  cambium_write(db, woptions, more, &error);
  CHECK_ERROR(error, "70000");
  check_get(db, roptions, "kept", NULL);
  /* A rollback removes what could not be added since the save point. */
  cambium_writebatch_clear(more);
  cambium_writebatch_set_save_point(more);
  cambium_writebatch_append(more, batch);
  cambium_writebatch_rollback_to_save_point(more, &error);
  CHECK_OK(error);
  cambium_write(db, woptions, more, &error);
  CHECK_OK(error);
  cambium_writebatch_clear(batch);
  cambium_write(db, woptions, batch, &error);
  CHECK_OK(error);

  cambium_writebatch_destroy(copy);
  cambium_writebatch_destroy(more);
  cambium_writebatch_destroy(batch);
  cambium_writebatch_destroy(NULL);
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

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

static void test_filters(void) {
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_compactoptions_t* const compact = cambium_compactoptions_create();
  cambium_compactionfilter_t* simple;
  cambium_compactionfilter_t* whole;
  cambium_compactionfilter_t* bad;
  cambium_t* db;
  destroyed = 0;
  simple = cambium_compactionfilter_create(state, destructor, filter, my_name);
  cambium_options_set_compaction_filter(with, simple);
  cambium_destroy_db(with, path, &error);
  db = cambium_open(with, path, &error);
  CHECK_OK(error);
  put(db, "a", "v");
  put(db, "b", "v");
  put(db, "c", "v");
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  CHECK_OK(error);
  check_get(db, roptions, "a", NULL);
  check_get(db, roptions, "b", "changed");
  check_get(db, roptions, "c", "v");
  cambium_close(db);
  cambium_compactionfilter_set_ignore_snapshots(simple, 0);
  db = open_filled(with);
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  CHECK_ERROR(error, "Not implemented");
  cambium_close(db);
  CHECK(destroyed == 0);
  cambium_compactionfilter_destroy(simple);
  CHECK(destroyed == 1);

  whole = cambium_compactionfilter_create_v2(state, destructor, by_key, by_value, my_name);
  cambium_options_set_compaction_filter(with, whole);
  db = open_filled(with);
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  CHECK_OK(error);
  CHECK(!has(db, "a") && has(db, "b") && !has(db, "c") && !has(db, "d") && has(db, "e") && !has(db, "f") &&
        has(db, "z"));
  check_get(db, roptions, "b", "changed");
  cambium_close(db);
  bad = cambium_compactionfilter_create_v2(state, NULL, NULL, no_decision, my_name);
  cambium_options_set_compaction_filter(with, bad);
  db = open_filled(with);
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  CHECK_ERROR(error, "Invalid argument");
  CHECK(has(db, "a"));
  cambium_close(db);
  cambium_options_set_compaction_filter(with, NULL);
  cambium_compactionfilter_destroy(whole);
  cambium_compactionfilter_destroy(bad);
  cambium_compactionfilter_destroy(NULL);
  CHECK(destroyed == 2);

  cambium_options_set_compaction_filter_factory(
      with, cambium_compactionfilterfactory_create(state, destructor, make_filter, my_name));
  db = open_filled(with);
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  CHECK_OK(error);
  CHECK(contexts_seen > 0);
  CHECK(!has(db, "a") && has(db, "b") && !has(db, "d") && has(db, "f"));
  cambium_close(db);
  CHECK(destroyed == 2);
  cambium_options_set_compaction_filter_factory(
      with, cambium_compactionfilterfactory_create(state, NULL, make_none, my_name));
  CHECK(destroyed == 3);
  db = open_filled(with);
  cambium_compact_range_opt(db, compact, NULL, 0, NULL, 0, &error);
  CHECK_OK(error);
  CHECK(has(db, "a"));
  cambium_close(db);
  cambium_options_set_compaction_filter_factory(with, NULL);
  cambium_compactionfilterfactory_destroy(cambium_compactionfilterfactory_create(state, destructor, make_none, my_name));
  cambium_compactionfilterfactory_destroy(NULL);
  CHECK(destroyed == 4);
  cambium_compactoptions_destroy(compact);
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

static void test_backups(void) {
  cambium_t* db = open_new();
  cambium_t* copy;
  cambium_backup_engine_t* engine;
  const cambium_backup_engine_info_t* info;
  uint32_t* corrupted;
  size_t count = 9;
  char backups[sizeof path];
  char restored[sizeof path];
  CHECK(snprintf(backups, sizeof backups, "%s.backups", path) < (int)sizeof backups);
  CHECK(snprintf(restored, sizeof restored, "%s.restored", path) < (int)sizeof restored);
  cambium_destroy_db(options, restored, &error);
  CHECK_OK(error);
  engine = cambium_backup_engine_open(options, backups, &error);
  CHECK_OK(error);
  CHECK(cambium_backup_engine_open(options, backups, &error) == NULL);
  CHECK_ERROR(error, "lock");
  cambium_backup_engine_purge_old_backups(engine, 0, &error); /* those of an earlier run */
  CHECK_OK(error);
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
  info = cambium_backup_engine_get_backup_info(engine);
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
  cambium_backup_engine_restore_db_from_backup(engine, restored, 1, &error);
  CHECK_OK(error);
  copy = cambium_open(options, restored, &error);
  CHECK_OK(error);
  check_get(copy, roptions, "k", "1");
  cambium_close(copy);
  cambium_backup_engine_restore_db_from_latest_backup(engine, restored, &error);
  CHECK_ERROR(error, "exists");
  cambium_destroy_db(options, restored, &error);
  cambium_backup_engine_restore_db_from_latest_backup(engine, restored, &error);
  CHECK_OK(error);
  copy = cambium_open(options, restored, &error);
  CHECK_OK(error);
  check_get(copy, roptions, "k", "3");
  cambium_close(copy);
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
  engine = cambium_backup_engine_open(options, backups, &error);
  CHECK_OK(error);
  cambium_backup_engine_purge_old_backups(engine, 0, &error);
  CHECK_OK(error);
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
  cambium_backup_engine_close(NULL);
  cambium_destroy_db(options, restored, &error);
  CHECK_OK(error);
}

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

/* Comparators of the caller's own are given by family; the database knows the library's own. */
static void test_orders_of_families(void) {
  const char* const names[2] = {"default", "x"};
  const cambium_options_t* both[2];
  cambium_options_t* const with = cambium_options_create_copy(options);
  cambium_comparator_t* const mine = cambium_comparator_create(state, destructor, compare_backwards, my_name);
  cambium_comparator_t* const reverse = cambium_comparator_create_reverse_bytewise();
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  cambium_column_family_handle_t* handles[2];
  char salvaged[sizeof path];
  char** problems = NULL;
  size_t num_problems = 9;
  uint64_t lost = 9;
  uint64_t unproven = 9;
  cambium_t* db = NULL;
  CHECK(snprintf(salvaged, sizeof salvaged, "%s.salvaged", path) < (int)sizeof salvaged);
  cambium_destroy_db(options, salvaged, &error);
  CHECK_OK(error);
  cambium_destroy_db(options, path, &error);
  CHECK_OK(error);

  /* A comparator of the library's own need not be named. */
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
  cambium_destroy_db(options, path, &error);
  CHECK_OK(error);

  cambium_options_set_comparator(with, mine);
  both[0] = options;
  both[1] = with;
  db = cambium_open(options, path, &error);
  CHECK_OK(error);
  handles[1] = cambium_create_column_family(db, with, "x", &error);
  CHECK_OK(error);
  cambium_put_cf(db, woptions, handles[1], "a", 1, "1", 1, &error);
  cambium_put_cf(db, woptions, handles[1], "b", 1, "2", 1, &error);
  CHECK_OK(error);
  cambium_flush_cf(db, flush, handles[1], &error);
  CHECK_OK(error);
  cambium_flushoptions_destroy(flush);
  cambium_column_family_handle_destroy(handles[1]);
  cambium_close(db);

  cambium_verify_db(options, path, 1, &problems, &num_problems, &error);
  CHECK_ERROR(error, "mine");
  CHECK(problems == NULL && num_problems == 0);
  cambium_verify_db_column_families(options, path, 2, names, both, 1, &problems, &num_problems, &error);
  CHECK_OK(error);
  CHECK(problems != NULL && num_problems == 0);
  cambium_string_list_destroy(problems, num_problems);
  cambium_verify_db_column_families(options, path, -1, names, both, 1, &problems, &num_problems, &error);
  CHECK_ERROR(error, "-1");

  cambium_salvage_db(options, path, salvaged, 0, &lost, &unproven, &error);
  CHECK_ERROR(error, "mine");
  cambium_salvage_db_column_families(options, path, 2, names, both, salvaged, 0, &lost, &unproven, &error);
  CHECK_OK(error);
  CHECK(lost == 0 && unproven == 0);
  db = cambium_open_column_families(options, salvaged, 2, names, both, handles, &error);
  CHECK_OK(error);
  check_get_cf(db, handles[1], "a", "1");
  check_get_cf(db, handles[1], "b", "2");
  cambium_column_family_handle_destroy(handles[0]);
  cambium_column_family_handle_destroy(handles[1]);
  cambium_close(db);
  cambium_destroy_db(options, salvaged, &error);
  CHECK_OK(error);
  cambium_destroy_db(options, path, &error);
  CHECK_OK(error);
  cambium_options_destroy(with);
  cambium_comparator_destroy(mine);
  cambium_comparator_destroy(reverse);
}

int main(int argc, char** argv) {
  const char* const index = getenv("CAMBIUM_INDEX");
  if (argc != 2) return 2;
  snprintf(path, sizeof path, "%s", argv[1]);
  options = cambium_options_create();
  roptions = cambium_readoptions_create();
  woptions = cambium_writeoptions_create();
  cambium_options_set_create_if_missing(options, 1);
  if (index != NULL && strcmp(index, "lsm") == 0) cambium_options_set_index_type(options, cambium_lsm_index);

  test_versions();
  test_error_codes();
  test_open_and_errors();
  test_close_with_an_iterator();
  test_writes_and_gets();
  test_multi_get();
  test_asynchronous_reads();
  test_iterators();
  test_scan_of_a_damaged_value();
  test_bad_objects();
  test_snapshots();
  test_families();
  test_maintenance();
  test_approximate_sizes();
  test_batches();
  test_comparators();
  test_filters();
  test_surroundings();
  test_listeners();
  test_statistics();
  test_leveldb_names();
  test_options_as_text();
  test_checkpoints();
  test_traces();
  test_backups();
  test_repair();
  test_orders_of_families();

  cambium_destroy_db(options, path, &error);
  CHECK_OK(error);
  cambium_writeoptions_destroy(woptions);
  cambium_readoptions_destroy(roptions);
  cambium_options_destroy(options);
  puts("all is well");
  return 0;
}
