#include "shim.h"

#include <stdlib.h>
#include <string.h>

cambium_go_error_t cambium_go_describe(const char* text) {
  const cambium_go_error_t error = {cambium_error_code(text), cambium_error_subcode(text), cambium_error_severity(text),
                                    (size_t)(cambium_error_message(text) - text)};
  return error;
}

int cambium_go_get(cambium_t* db, const cambium_readoptions_t* options, cambium_column_family_handle_t* family,
                   const char* key, size_t key_length, char* out, size_t capacity, cambium_go_value_t* value) {
  char* error = NULL;
  size_t length;
  unsigned char exists;
  const unsigned char is_copied =
      cambium_get_into_buffer_cf(db, options, family, key, key_length, out, capacity, &length, &exists, &error);
  value->length = length;
  value->error = (uintptr_t)error;
  if (error != NULL) return cambium_go_failed;
  if (!exists) return cambium_go_absent;
  return is_copied ? cambium_go_found : cambium_go_long;
}

/* The results of a call for many keys: values of one family are slices, those of several are copies. */
typedef struct {
  size_t count;
  cambium_pinnableslice_t** slices; /* NULL: `copies` are used */
  char** copies;
  size_t* copy_lengths;
  char** errors;
} results_t;

static const char* value_at(const results_t* results, size_t i, size_t* length) {
  if (results->slices != NULL) return cambium_pinnableslice_value(results->slices[i], length);
  *length = results->copy_lengths[i];
  return results->copies[i];
}

static int is_there(const results_t* results, size_t i) {
  return results->slices != NULL ? results->slices[i] != NULL : results->copies[i] != NULL;
}

static void copy_values(const results_t* results, char* out) {
  for (size_t i = 0; i < results->count; ++i) {
    size_t length;
    const char* const bytes = value_at(results, i, &length);
    if (length != 0) memcpy(out, bytes, length);
    out += length;
  }
}

/* Errors are not freed. */
static void free_results(results_t* results) {
  for (size_t i = 0; i < results->count; ++i) {
    if (results->slices != NULL) {
      cambium_pinnableslice_destroy(results->slices[i]);
    } else {
      cambium_free(results->copies[i]);
    }
  }
  free(results);
}

void cambium_go_multi_get(cambium_t* db, const cambium_readoptions_t* options, cambium_column_family_handle_t* family,
                          const uintptr_t* families, size_t count, const char* keys, const uint64_t* key_lengths,
                          int64_t* lengths, char* out, size_t capacity, cambium_go_multi_t* result) {
  /* One block: the results, then five arrays of pointers or sizes. */
  const size_t array = count * sizeof(void*);
  results_t* const results = malloc(sizeof(results_t) + 5 * array);
  memset(result, 0, sizeof *result);
  if (results == NULL) {
    result->no_memory = 1;
    return;
  }
  char* const arrays = (char*)(results + 1);
  const char** const key_pointers = (const char**)arrays;
  size_t* const key_sizes = (size_t*)(arrays + array);
  results->count = count;
  results->slices = families == NULL ? (cambium_pinnableslice_t**)(arrays + 2 * array) : NULL;
  results->copies = (char**)(arrays + 2 * array);
  results->copy_lengths = (size_t*)(arrays + 3 * array);
  results->errors = (char**)(arrays + 4 * array);
  for (size_t i = 0; i < count; ++i) {
    key_pointers[i] = keys;
    key_sizes[i] = key_lengths[i];
    keys += key_lengths[i];
  }
  if (families == NULL) {
    cambium_batched_multi_get_cf(db, options, family, count, key_pointers, key_sizes, results->slices, results->errors,
                                 0);
  } else {
    cambium_multi_get_cf(db, options, (const cambium_column_family_handle_t* const*)families, count, key_pointers,
                         key_sizes, results->copies, results->copy_lengths, results->errors);
  }
  for (size_t i = 0; i < count; ++i) {
    if (results->errors[i] != NULL) {
      lengths[i] = -2;
      ++result->failed;
    } else if (!is_there(results, i)) {
      lengths[i] = -1;
    } else {
      size_t length;
      value_at(results, i, &length);
      lengths[i] = (int64_t)length;
      result->total += length;
    }
  }
  if (result->failed != 0 || result->total > capacity) {
    result->held = (uintptr_t)results;
    return;
  }
  copy_values(results, out);
  free_results(results);
}

void cambium_go_multi_take(uintptr_t held, char* out, uintptr_t* errors) {
  results_t* const results = (results_t*)held;
  copy_values(results, out);
  for (size_t i = 0; i < results->count; ++i) errors[i] = (uintptr_t)results->errors[i];
  free_results(results);
}
