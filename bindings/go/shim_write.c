#include "shim.h"

#include <stdlib.h>
#include <string.h>

char* cambium_go_put(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                     const char* key, size_t key_length, const char* value, size_t value_length) {
  char* error = NULL;
  cambium_put_cf(db, options, family, key, key_length, value, value_length, &error);
  return error;
}

char* cambium_go_delete(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                        const char* key, size_t key_length) {
  char* error = NULL;
  cambium_delete_cf(db, options, family, key, key_length, &error);
  return error;
}

char* cambium_go_delete_range(cambium_t* db, const cambium_writeoptions_t* options,
                              cambium_column_family_handle_t* family, const char* start, size_t start_length,
                              const char* end, size_t end_length) {
  char* error = NULL;
  cambium_delete_range_cf(db, options, family, start, start_length, end, end_length, &error);
  return error;
}

char* cambium_go_put_if_absent(cambium_t* db, const cambium_writeoptions_t* options,
                               cambium_column_family_handle_t* family, const char* key, size_t key_length,
                               const char* value, size_t value_length, unsigned char* written) {
  char* error = NULL;
  *written = cambium_put_if_absent_cf(db, options, family, key, key_length, value, value_length, &error);
  return error;
}

char* cambium_go_compare_and_set(cambium_t* db, const cambium_writeoptions_t* options,
                                 cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                 const char* expected, size_t expected_length, const char* value, size_t value_length,
                                 unsigned char* written) {
  char* error = NULL;
  *written = cambium_compare_and_set_cf(db, options, family, key, key_length, expected, expected_length, value,
                                        value_length, &error);
  return error;
}

char* cambium_go_compare_and_delete(cambium_t* db, const cambium_writeoptions_t* options,
                                    cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                    const char* expected, size_t expected_length, unsigned char* written) {
  char* error = NULL;
  *written =
      cambium_compare_and_delete_cf(db, options, family, key, key_length, expected, expected_length, &error);
  return error;
}

/* An operation: a code, then the numbers of family, key bytes and value bytes, then key and value. */
enum { header_bytes = 1 + 3 * 4 };

typedef struct {
  unsigned char code;
  cambium_column_family_handle_t* family;
  const char* key;
  size_t key_length;
  const char* value;
  size_t value_length;
} op_t;

/* Reads the operation at `ops`, and returns the address of the next one. */
static const char* next_op(const char* ops, const uintptr_t* families, op_t* op) {
  uint32_t numbers[3];
  memcpy(numbers, ops + 1, sizeof numbers);
  op->code = (unsigned char)*ops;
  op->family = (cambium_column_family_handle_t*)families[numbers[0]];
  op->key = ops + header_bytes;
  op->key_length = numbers[1];
  op->value = op->key + numbers[1];
  op->value_length = numbers[2];
  return op->value + numbers[2];
}

static cambium_writebatch_t* batch_of(const char* ops, size_t length, const uintptr_t* families) {
  cambium_writebatch_t* const batch = cambium_writebatch_create();
  const char* const end = ops + length;
  while (ops != end) {
    op_t op;
    ops = next_op(ops, families, &op);
    if (op.code == cambium_go_op_put && op.family == NULL) {
      cambium_writebatch_put(batch, op.key, op.key_length, op.value, op.value_length);
    } else if (op.code == cambium_go_op_put) {
      cambium_writebatch_put_cf(batch, op.family, op.key, op.key_length, op.value, op.value_length);
    } else if (op.code == cambium_go_op_delete && op.family == NULL) {
      cambium_writebatch_delete(batch, op.key, op.key_length);
    } else if (op.code == cambium_go_op_delete) {
      cambium_writebatch_delete_cf(batch, op.family, op.key, op.key_length);
    } else if (op.family == NULL) {
      cambium_writebatch_delete_range(batch, op.key, op.key_length, op.value, op.value_length);
    } else {
      cambium_writebatch_delete_range_cf(batch, op.family, op.key, op.key_length, op.value, op.value_length);
    }
  }
  return batch;
}

char* cambium_go_write(cambium_t* db, const cambium_writeoptions_t* options, const char* ops, size_t length,
                       const uintptr_t* families) {
  char* error = NULL;
  cambium_writebatch_t* const batch = batch_of(ops, length, families);
  cambium_write(db, options, batch, &error);
  cambium_writebatch_destroy(batch);
  return error;
}

static cambium_writeconditions_t* conditions_of(const char* encoded, size_t length, const uintptr_t* families) {
  cambium_writeconditions_t* const conditions = cambium_writeconditions_create();
  const char* const end = encoded + length;
  while (encoded != end) {
    op_t op;
    encoded = next_op(encoded, families, &op);
    if (op.code == cambium_go_is_absent && op.family == NULL) {
      cambium_writeconditions_is_absent(conditions, op.key, op.key_length);
    } else if (op.code == cambium_go_is_absent) {
      cambium_writeconditions_is_absent_cf(conditions, op.family, op.key, op.key_length);
    } else if (op.family == NULL) {
      cambium_writeconditions_has_value(conditions, op.key, op.key_length, op.value, op.value_length);
    } else {
      cambium_writeconditions_has_value_cf(conditions, op.family, op.key, op.key_length, op.value, op.value_length);
    }
  }
  return conditions;
}

char* cambium_go_write_if(cambium_t* db, const cambium_writeoptions_t* options, const char* ops, size_t length,
                          const uintptr_t* families, const char* conditions, size_t conditions_length,
                          const uintptr_t* conditions_families, unsigned char* written) {
  char* error = NULL;
  cambium_writebatch_t* const batch = batch_of(ops, length, families);
  cambium_writeconditions_t* const all = conditions_of(conditions, conditions_length, conditions_families);
  *written = cambium_write_if(db, options, all, batch, &error);
  cambium_writeconditions_destroy(all);
  cambium_writebatch_destroy(batch);
  return error;
}

char* cambium_go_txn_write(cambium_transaction_t* txn, const char* ops, size_t length, const uintptr_t* families) {
  char* error = NULL;
  cambium_writebatch_t* const batch = batch_of(ops, length, families);
  cambium_transaction_rebuild_from_writebatch(txn, batch, &error);
  cambium_writebatch_destroy(batch);
  return error;
}

void cambium_go_batch_data(const char* ops, size_t length, const uintptr_t* families, char** data,
                           size_t* data_length) {
  cambium_writebatch_t* const batch = batch_of(ops, length, families);
  const char* const bytes = cambium_writebatch_data(batch, data_length);
  *data = malloc(*data_length + 1);
  if (*data != NULL) memcpy(*data, bytes, *data_length);
  cambium_writebatch_destroy(batch);
}

/* Operations that are being encoded. */
typedef struct {
  char* bytes;
  size_t length;
  size_t capacity;
  int no_memory;
} ops_t;

static void add(ops_t* ops, unsigned char code, uint32_t family, const char* key, size_t key_length, const char* value,
                size_t value_length) {
  const uint32_t numbers[3] = {family, (uint32_t)key_length, (uint32_t)value_length};
  const size_t needed = ops->length + header_bytes + key_length + value_length;
  char* at;
  if (ops->no_memory) return;
  if (needed > ops->capacity) {
    const size_t capacity = needed > 2 * ops->capacity ? needed : 2 * ops->capacity;
    char* const bytes = realloc(ops->bytes, capacity);
    if (bytes == NULL) {
      ops->no_memory = 1;
      return;
    }
    ops->bytes = bytes;
    ops->capacity = capacity;
  }
  at = ops->bytes + ops->length;
  *at = (char)code;
  memcpy(at + 1, numbers, sizeof numbers);
  if (key_length != 0) memcpy(at + header_bytes, key, key_length);
  if (value_length != 0) memcpy(at + header_bytes + key_length, value, value_length);
  ops->length = needed;
}
static void add_put(void* state, uint32_t family, const char* key, size_t key_length, const char* value,
                    size_t value_length) {
  add(state, cambium_go_op_put, family, key, key_length, value, value_length);
}
static void add_delete(void* state, uint32_t family, const char* key, size_t key_length) {
  add(state, cambium_go_op_delete, family, key, key_length, NULL, 0);
}
static void add_delete_range(void* state, uint32_t family, const char* start, size_t start_length, const char* end,
                             size_t end_length) {
  add(state, cambium_go_op_delete_range, family, start, start_length, end, end_length);
}

char* cambium_go_batch_ops(const char* data, size_t length, int* is_batch, char** ops, size_t* ops_length) {
  enum { first_bytes = 256 };
  cambium_writebatch_t* const batch = cambium_writebatch_create_from(data, length);
  ops_t made = {NULL, 0, first_bytes, 0};
  char* error = NULL;
  *is_batch = batch != NULL;
  if (batch == NULL) return NULL;
  made.bytes = malloc(first_bytes);
  made.no_memory = made.bytes == NULL;
  cambium_writebatch_iterate_cf(batch, &made, add_put, add_delete, add_delete_range, &error);
  cambium_writebatch_destroy(batch);
  if (error != NULL || made.no_memory) {
    free(made.bytes);
    return error;
  }
  *ops = made.bytes;
  *ops_length = made.length;
  return NULL;
}
