/* Functions that the library calls, and that call Go. */
#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

cambium_go_state_t* cambium_go_state_create(uintptr_t handle, const char* name, size_t name_length) {
  cambium_go_state_t* const state = malloc(sizeof *state + name_length + 1);
  if (state == NULL) return NULL;
  state->handle = handle;
  if (name_length != 0) memcpy(state->name, name, name_length);
  state->name[name_length] = '\0';
  return state;
}

void cambium_go_state_destroy(cambium_go_state_t* state) {
  if (state == NULL) return;
  cambiumGoRelease(state->handle);
  free(state);
}

static void release(void* state) { cambium_go_state_destroy(state); }
static const char* name_of(void* state) { return ((cambium_go_state_t*)state)->name; }
static uintptr_t handle_of(void* state) { return ((cambium_go_state_t*)state)->handle; }

static int compare(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  return cambiumGoCompare(handle_of(state), (char*)a, a_length, (char*)b, b_length);
}

cambium_comparator_t* cambium_go_comparator(uintptr_t handle, const char* name, size_t name_length) {
  cambium_go_state_t* const state = cambium_go_state_create(handle, name, name_length);
  return state == NULL ? NULL : cambium_comparator_create(state, release, compare, name_of);
}

static int filter_by_key(void* state, int level, const char* key, size_t key_length,
                         cambium_compactionfilteranswer_t* answer) {
  return cambiumGoFilterKey(handle_of(state), level, (char*)key, key_length, answer);
}

static int filter(void* state, int level, const char* key, size_t key_length, const char* value, size_t value_length,
                  cambium_compactionfilteranswer_t* answer) {
  return cambiumGoFilter(handle_of(state), level, (char*)key, key_length, (char*)value, value_length, answer);
}

cambium_compactionfilter_t* cambium_go_filter(uintptr_t handle, const char* name, size_t name_length, int asks_by_key) {
  cambium_go_state_t* const state = cambium_go_state_create(handle, name, name_length);
  if (state == NULL) return NULL;
  return cambium_compactionfilter_create_v2(state, release, asks_by_key ? filter_by_key : NULL, filter, name_of);
}

static cambium_compactionfilter_t* create_filter(void* state, cambium_compactionfiltercontext_t* context) {
  return (cambium_compactionfilter_t*)cambiumGoCreateFilter(
      handle_of(state), cambium_compactionfiltercontext_is_full_compaction(context),
      cambium_compactionfiltercontext_is_manual_compaction(context),
      cambium_compactionfiltercontext_column_family_id(context));
}

cambium_compactionfilterfactory_t* cambium_go_filter_factory(uintptr_t handle, const char* name, size_t name_length) {
  cambium_go_state_t* const state = cambium_go_state_create(handle, name, name_length);
  return state == NULL ? NULL : cambium_compactionfilterfactory_create(state, release, create_filter, name_of);
}

static void log_line(void* state, int level, const char* line, size_t length) {
  cambiumGoLog(handle_of(state), level, (char*)line, length);
}

cambium_logger_t* cambium_go_logger(int level, cambium_go_state_t* state) {
  return cambium_logger_create_callback_logger(level, log_line, state);
}

/* ---- Event listeners ---- */

#define WITH_DB(name, type)                                                       \
  static void name(void* state, cambium_t* db, const cambium_##type##_t* info) {  \
    (void)db;                                                                     \
    cambiumGoEvent(handle_of(state), cambium_go_on_##name, (uintptr_t)info);      \
  }
#define WITHOUT_DB(name, type)                                                    \
  static void name(void* state, const cambium_##type##_t* info) {                 \
    cambiumGoEvent(handle_of(state), cambium_go_on_##name, (uintptr_t)info);      \
  }
WITH_DB(flush_begin, flushjobinfo)
WITH_DB(flush_completed, flushjobinfo)
WITH_DB(compaction_begin, compactionjobinfo)
WITH_DB(compaction_completed, compactionjobinfo)
WITH_DB(log_gc_completed, loggcjobinfo)
WITHOUT_DB(memtable_sealed, memtableinfo)
WITHOUT_DB(background_error, backgrounderrorinfo)
WITHOUT_DB(stall_changed, writestallinfo)
WITHOUT_DB(table_file_started, tablefilecreationinfo)
WITHOUT_DB(table_file_created, tablefilecreationinfo)
WITHOUT_DB(table_file_deleted, tablefiledeletioninfo)
WITHOUT_DB(blob_file_started, blobfilecreationinfo)
WITHOUT_DB(blob_file_created, blobfilecreationinfo)
WITHOUT_DB(blob_file_deleted, blobfiledeletioninfo)

#define IF_WANTED(name) ((events >> cambium_go_on_##name & 1) != 0 ? name : NULL)

cambium_eventlistener_t* cambium_go_listener(uintptr_t handle, uint32_t events) {
  cambium_go_state_t* const state = cambium_go_state_create(handle, NULL, 0);
  cambium_eventlistener_t* listener;
  if (state == NULL) return NULL;
  listener = cambium_eventlistener_create(state, release, IF_WANTED(flush_begin), IF_WANTED(flush_completed),
                                          IF_WANTED(compaction_begin), IF_WANTED(compaction_completed),
                                          IF_WANTED(background_error), IF_WANTED(stall_changed),
                                          IF_WANTED(memtable_sealed));
  cambium_eventlistener_set_on_log_gc_completed(listener, IF_WANTED(log_gc_completed));
  cambium_eventlistener_set_on_table_files(listener, IF_WANTED(table_file_started), IF_WANTED(table_file_created),
                                           IF_WANTED(table_file_deleted));
  cambium_eventlistener_set_on_blob_files(listener, IF_WANTED(blob_file_started), IF_WANTED(blob_file_created),
                                          IF_WANTED(blob_file_deleted));
  return listener;
}
