/* Calls the functions of c.h that open a database, write and read. Built as C99 against the shared library, like the
   other programs here. Together they call every function of the C interface, except those of single options, which
   c_options_test calls; exports_script.sh checks that none is missing. */
#include <dirent.h>

#include "test_program.h"

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

static char large[20000]; /* a value; filled by test_writes_and_gets */

/* The buffer is large enough, too small, and none. */
static void check_gets_into_a_buffer(cambium_t* db, cambium_column_family_handle_t* family) {
  static char buffer[sizeof large];
  size_t length = 0;
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

static void check_pinned_gets(cambium_t* db, cambium_column_family_handle_t* family) {
  size_t length = 0;
  cambium_pinnableslice_t* pinned = cambium_get_pinned(db, roptions, "large", 5, &error);
  CHECK_OK(error);
  CHECK(memcmp(cambium_pinnableslice_value(pinned, &length), large, sizeof large) == 0 && length == sizeof large);
  cambium_pinnableslice_destroy(pinned);
  pinned = cambium_get_pinned_cf(db, roptions, family, "b", 1, &error);
  CHECK_BYTES(cambium_pinnableslice_value(pinned, &length), length, "2");
  cambium_pinnableslice_destroy(pinned);
  CHECK(cambium_get_pinned(db, roptions, "absent", 6, &error) == NULL && error == NULL);
  cambium_pinnableslice_destroy(NULL);
}

static void check_deletes(cambium_t* db, cambium_column_family_handle_t* family) {
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
}

static void test_writes_and_gets(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  size_t length = 0;
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
  check_gets_into_a_buffer(db, family);
  check_pinned_gets(db, family);
  check_deletes(db, family);
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

static cambium_t* open_with_three_keys(void) {
  cambium_t* const db = open_new();
  put(db, "a", "1");
  put(db, "b", "22");
  put(db, "c", "333");
  return db;
}

static void test_iterators(void) {
  cambium_t* const db = open_with_three_keys();
  cambium_iterator_t* const it = cambium_create_iterator(db, roptions);
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
  cambium_close(db);
}

static void test_bounds_of_iterators(void) {
  cambium_t* const db = open_with_three_keys();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  cambium_readoptions_t* const bounded = cambium_readoptions_create();
  cambium_iterator_t* it;
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
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

/* Iterators that are created together show the same state. If one cannot be created, none is. */
static void test_iterators_created_together(void) {
  cambium_t* const db = open_with_three_keys();
  cambium_column_family_handle_t* const family = cambium_get_default_column_family_handle(db);
  cambium_column_family_handle_t* families[2];
  cambium_iterator_t* both[2];
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
    cambium_iterator_t* it;
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

/* Appends one batch to another, and reads the operations of both. */
static void check_operations(cambium_writebatch_t* batch, cambium_column_family_handle_t* family) {
  cambium_writebatch_t* const more = cambium_writebatch_create();
  char told[2000] = "";
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
  CHECK(strcmp(told, "put 0 a=1;delete 0 b;put 1 c=3;delete 1 d;delete 0 e;delete 1 f;range 0 g..h;range 1 i..j;") ==
        0);
  cambium_writebatch_iterate_cf(batch, told, tell_put_cf, tell_deleted_cf, NULL, &error);
  CHECK_ERROR(error, "range delete");
  cambium_writebatch_destroy(more);
}

/* A batch of 8 operations stays the same at each rollback. */
static void check_save_points(cambium_writebatch_t* batch) {
  cambium_writebatch_set_save_point(batch);
  cambium_writebatch_put(batch, "y", 1, "y", 1);
  cambium_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  CHECK(cambium_writebatch_count(batch) == 8);
  cambium_writebatch_set_save_point(batch);
  cambium_writebatch_pop_save_point(batch, &error);
  CHECK_OK(error);
  cambium_writebatch_pop_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound");
  cambium_writebatch_rollback_to_save_point(batch, &error);
  CHECK_ERROR(error, "NotFound");
}

static void test_batches(void) {
  cambium_t* const db = open_new();
  cambium_column_family_handle_t* const family = cambium_create_column_family(db, options, "two", &error);
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_writebatch_t* copy;
  const char* data;
  size_t size;
  check_operations(batch, family);
  data = cambium_writebatch_data(batch, &size);
  copy = cambium_writebatch_create_from(data, size);
  CHECK(copy != NULL && cambium_writebatch_count(copy) == 8);
  CHECK(cambium_writebatch_create_from("no batch", 8) == NULL);
  check_save_points(copy);
  cambium_write(db, woptions, copy, &error);
  CHECK_OK(error);
  check_get(db, roptions, "a", "1");
  check_get_cf(db, family, "c", "3");
  cambium_writebatch_destroy(copy);
  cambium_writebatch_destroy(batch);
  cambium_writebatch_destroy(NULL);
  cambium_column_family_handle_destroy(family);
  cambium_close(db);
}

/* cambium_write reports what could not be added. */
static void test_batches_with_a_key_that_is_too_long(void) {
  cambium_t* const db = open_new();
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  cambium_writebatch_t* const more = cambium_writebatch_create();
  char long_key[70000];
  memset(long_key, 'k', sizeof long_key);
  cambium_writebatch_put(batch, "kept", 4, "1", 1);
  cambium_writebatch_put(batch, long_key, sizeof long_key, "1", 1);
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
  cambium_writebatch_destroy(more);
  cambium_writebatch_destroy(batch);
  cambium_close(db);
}

int main(int argc, char** argv) {
  if (!begin_program(argc, argv)) return 2;
  test_versions();
  test_error_codes();
  test_open_and_errors();
  test_close_with_an_iterator();
  test_writes_and_gets();
  test_multi_get();
  test_asynchronous_reads();
  test_iterators();
  test_bounds_of_iterators();
  test_iterators_created_together();
  test_scan_of_a_damaged_value();
  test_bad_objects();
  test_snapshots();
  test_families();
  test_batches();
  test_batches_with_a_key_that_is_too_long();
  return end_program();
}
