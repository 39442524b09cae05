/* What the test programs in C have in common: a directory for a database, options, the last error, and functions that
   write and read with them. A program calls begin_program first and end_program last. */
#ifndef CAMBIUM_TESTS_C_TEST_PROGRAM_H_
#define CAMBIUM_TESTS_C_TEST_PROGRAM_H_

#include <stdint.h>

#include "cambium/c.h"
#include "check.h"

static char path[4096];
static char* error = NULL;
static cambium_options_t* options;
static cambium_readoptions_t* roptions;
static cambium_writeoptions_t* woptions;

static inline void destroy(void) {
  cambium_destroy_db(options, path, &error);
  CHECK_OK(error);
}

static inline cambium_t* open_new(void) {
  cambium_t* db;
  destroy();
  db = cambium_open(options, path, &error);
  CHECK_OK(error);
  CHECK(db != NULL);
  return db;
}

/* The argument of the program is the directory. Returns 0 if it is missing. */
static inline int begin_program(int argc, char** argv) {
  const char* const index = getenv("CAMBIUM_INDEX");
  if (argc != 2) return 0;
  snprintf(path, sizeof path, "%s", argv[1]);
  options = cambium_options_create();
  roptions = cambium_readoptions_create();
  woptions = cambium_writeoptions_create();
  cambium_options_set_create_if_missing(options, 1);
  if (index != NULL && strcmp(index, "lsm") == 0) cambium_options_set_index_type(options, cambium_lsm_index);
  return 1;
}

/* Returns the exit code of the program. */
static inline int end_program(void) {
  destroy();
  cambium_writeoptions_destroy(woptions);
  cambium_readoptions_destroy(roptions);
  cambium_options_destroy(options);
  puts("all is well");
  return 0;
}

/* ---- Writing and reading ---- */

static inline void put(cambium_t* db, const char* key, const char* value) {
  cambium_put(db, woptions, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

/* Expects a copied value, which it frees; `expected` NULL: no such key. The length comes by pointer, because the call
   that sets it is another argument. */
static inline void check_value(char* value, const size_t* length, const char* expected) {
  CHECK_OK(error);
  if (expected == NULL) {
    CHECK(value == NULL && *length == 0);
  } else {
    CHECK_BYTES(value, *length, expected);
  }
  cambium_free(value);
}

/* Expects the value of `key`; `expected` NULL: no such key. */
static inline void check_get(cambium_t* db, const cambium_readoptions_t* how, const char* key, const char* expected) {
  size_t length = 99;
  char* const value = cambium_get(db, how, key, strlen(key), &length, &error);
  check_value(value, &length, expected);
}

static inline void check_get_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* key,
                                const char* expected) {
  size_t length = 99;
  char* const value = cambium_get_cf(db, roptions, family, key, strlen(key), &length, &error);
  check_value(value, &length, expected);
}

static inline void check_iter(const cambium_iterator_t* it, const char* key, const char* value) {
  size_t length;
  const char* bytes;
  CHECK(cambium_iter_valid(it) == 1);
  bytes = cambium_iter_key(it, &length);
  CHECK_BYTES(bytes, length, key);
  bytes = cambium_iter_value(it, &length);
  CHECK_BYTES(bytes, length, value);
}

#endif /* CAMBIUM_TESTS_C_TEST_PROGRAM_H_ */
