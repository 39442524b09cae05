#include "shim.h"

#include <string.h>

cambium_readoptions_t* cambium_go_read_options(int flags, const cambium_snapshot_t* snapshot) {
  cambium_readoptions_t* const options = cambium_readoptions_create();
  cambium_readoptions_set_snapshot(options, snapshot);
  if (flags & cambium_go_no_checksums) cambium_readoptions_set_verify_checksums(options, 0);
  if (flags & cambium_go_no_fill_cache) cambium_readoptions_set_fill_cache(options, 0);
  if (flags & cambium_go_no_async_io) cambium_readoptions_set_async_io(options, 0);
  if (flags & cambium_go_durable_only) cambium_readoptions_set_durable_only(options, 1);
  if (flags & cambium_go_unprepared) cambium_readoptions_set_allow_unprepared_value(options, 1);
  return options;
}

char* cambium_go_iterators(cambium_t* db, int flags, const cambium_snapshot_t* snapshot, const char* lower,
                           size_t lower_length, const char* upper, size_t upper_length, const uintptr_t* families,
                           size_t count, uintptr_t* iterators) {
  char* error = NULL;
  cambium_readoptions_t* const options = cambium_go_read_options(flags, snapshot);
  cambium_readoptions_set_iterate_lower_bound(options, lower, lower_length);
  cambium_readoptions_set_iterate_upper_bound(options, upper, upper_length);
  if (count == 1) { /* An error of the iterator is an error of this call. */
    cambium_iterator_t* const made =
        cambium_create_iterator_cf(db, options, (cambium_column_family_handle_t*)families[0]);
    cambium_iter_get_error(made, &error);
    if (error != NULL) cambium_iter_destroy(made);
    iterators[0] = (uintptr_t)made;
  } else {
    cambium_create_iterators(db, options, (cambium_column_family_handle_t* const*)families,
                             (cambium_iterator_t**)iterators, count, &error);
  }
  cambium_readoptions_destroy(options);
  return error;
}

static void step(cambium_iterator_t* iterator, int direction) {
  if (direction > 0) {
    cambium_iter_next(iterator);
  } else {
    cambium_iter_prev(iterator);
  }
}

static int is_at(const cambium_iterator_t* iterator, const char* key, size_t key_length) {
  size_t length;
  const char* bytes;
  if (!cambium_iter_valid(iterator)) return 0;
  bytes = cambium_iter_key(iterator, &length);
  return length == key_length && (length == 0 || memcmp(bytes, key, length) == 0);
}

static void position(cambium_iterator_t* iterator, int op, int direction, const char* key, size_t key_length) {
  switch (op) {
    case cambium_go_seek_first: cambium_iter_seek_to_first(iterator); break;
    case cambium_go_seek_last: cambium_iter_seek_to_last(iterator); break;
    case cambium_go_seek_key: cambium_iter_seek(iterator, key, key_length); break;
    case cambium_go_seek_for_prev: cambium_iter_seek_for_prev(iterator, key, key_length); break;
    case cambium_go_step: step(iterator, direction); break;
    case cambium_go_turn:
      if (direction > 0) {
        cambium_iter_seek(iterator, key, key_length);
      } else {
        cambium_iter_seek_for_prev(iterator, key, key_length);
      }
      if (is_at(iterator, key, key_length)) step(iterator, direction);
      break;
    default: break; /* cambium_go_stay */
  }
}

static void take_error(const cambium_iterator_t* iterator, cambium_go_chunk_t* chunk) {
  char* error = NULL;
  cambium_iter_get_error(iterator, &error);
  chunk->ended = 1;
  chunk->error = (uintptr_t)error;
}

void cambium_go_iter_fill(uintptr_t handle, int op, int direction, int mode, const char* key, size_t key_length,
                          char* out, size_t capacity, cambium_go_entry_t* entries, uint32_t max,
                          cambium_go_chunk_t* chunk) {
  cambium_iterator_t* const iterator = (cambium_iterator_t*)handle;
  size_t used = 0;
  memset(chunk, 0, sizeof *chunk);
  position(iterator, op, direction, key, key_length);
  while (chunk->count < max) {
    size_t its_key_length;
    size_t value_length = 0;
    const char* value = NULL;
    if (chunk->count != 0) step(iterator, direction);
    if (!cambium_iter_valid(iterator)) {
      take_error(iterator, chunk);
      return;
    }
    const char* const its_key = cambium_iter_key(iterator, &its_key_length);
    if (mode == cambium_go_keys_and_values) value = cambium_iter_value(iterator, &value_length);
    if (its_key_length + value_length > capacity - used) {
      chunk->pending = 1 + its_key_length + value_length;
      return;
    }
    cambium_go_entry_t* const entry = &entries[chunk->count++];
    entry->offset = (uint32_t)used;
    entry->key_length = (uint32_t)its_key_length;
    entry->value_length = mode == cambium_go_keys ? cambium_iter_value_size(iterator) : value_length;
    if (its_key_length != 0) memcpy(out + used, its_key, its_key_length);
    used += its_key_length;
    if (value_length != 0) memcpy(out + used, value, value_length);
    used += value_length;
  }
}

void cambium_go_iter_value(uintptr_t handle, char* out, size_t capacity, cambium_go_chunk_t* chunk,
                           uint64_t* value_length) {
  cambium_iterator_t* const iterator = (cambium_iterator_t*)handle;
  size_t length;
  memset(chunk, 0, sizeof *chunk);
  if (!cambium_iter_prepare_value(iterator)) {
    take_error(iterator, chunk);
    return;
  }
  const char* const value = cambium_iter_value(iterator, &length);
  *value_length = length;
  if (length > capacity) {
    chunk->pending = 1 + length;
    return;
  }
  if (length != 0) memcpy(out, value, length);
  chunk->count = 1;
}

void cambium_go_iter_destroy(uintptr_t iterator) { cambium_iter_destroy((cambium_iterator_t*)iterator); }
