/* Event listeners. The Python object has _event(name, fields), see cambium/_listener.py. */
#include "core.h"

/* Adds a field, and takes the value over. */
static bool set(PyObject* fields, const char* name, PyObject* value) {
  if (value == NULL) return false;
  const int failed = PyDict_SetItemString(fields, name, value);
  Py_DECREF(value);
  return failed == 0;
}

static PyObject* status_make(char* error) {
  if (error == NULL) Py_RETURN_NONE;
  PyObject* const made = error_make(error);
  cambium_free(error);
  return made;
}

/* Each line sets one field of the dictionary `fields` from `info` of a type. */
#define TEXT(type, name)                                             \
  {                                                                  \
    size_t length;                                                   \
    const char* const text = cambium_##type##_##name(info, &length); \
    if (!set(fields, #name, text_make(text, length))) return false;  \
  }
#define NUMBER(type, name) \
  if (!set(fields, #name, PyLong_FromUnsignedLongLong(cambium_##type##_##name(info)))) return false;
#define INTEGER(type, name) \
  if (!set(fields, #name, PyLong_FromLong(cambium_##type##_##name(info)))) return false;
#define TRUTH(type, name) \
  if (!set(fields, #name, PyBool_FromLong(cambium_##type##_##name(info)))) return false;
#define STATUS(type)                                              \
  {                                                               \
    char* error = NULL;                                           \
    cambium_##type##_status(info, &error);                        \
    if (!set(fields, "status", status_make(error))) return false; \
  }
#define FILES(type, field, item)                                               \
  {                                                                            \
    const size_t count = cambium_##type##_##field##_count(info);               \
    PyObject* const list = PyTuple_New((Py_ssize_t)count);                     \
    for (size_t i = 0; list != NULL && i < count; ++i) {                       \
      size_t length;                                                           \
      const char* const text = cambium_##type##_##item##_at(info, i, &length); \
      PyObject* const file = text_make(text, length);                          \
      if (file == NULL) {                                                      \
        Py_DECREF(list);                                                       \
        return false;                                                          \
      }                                                                        \
      PyTuple_SET_ITEM(list, (Py_ssize_t)i, file);                             \
    }                                                                          \
    if (!set(fields, #field, list)) return false;                              \
  }

static bool fields_of_flush(PyObject* fields, const void* given) {
  const cambium_flushjobinfo_t* const info = given;
  TEXT(flushjobinfo, db_name)
  TEXT(flushjobinfo, cf_name)
  NUMBER(flushjobinfo, cf_id)
  INTEGER(flushjobinfo, job_id)
  INTEGER(flushjobinfo, flush_reason)
  NUMBER(flushjobinfo, num_entries)
  NUMBER(flushjobinfo, largest_seqno)
  TRUTH(flushjobinfo, merged_into_tree)
  FILES(flushjobinfo, output_files, output_file)
  NUMBER(flushjobinfo, bytes_written)
  NUMBER(flushjobinfo, elapsed_micros)
  STATUS(flushjobinfo)
  return true;
}

static bool fields_of_compaction(PyObject* fields, const void* given) {
  const cambium_compactionjobinfo_t* const info = given;
  TEXT(compactionjobinfo, db_name)
  TEXT(compactionjobinfo, cf_name)
  NUMBER(compactionjobinfo, cf_id)
  INTEGER(compactionjobinfo, job_id)
  INTEGER(compactionjobinfo, compaction_reason)
  INTEGER(compactionjobinfo, base_input_level)
  INTEGER(compactionjobinfo, output_level)
  FILES(compactionjobinfo, input_files, input_file)
  FILES(compactionjobinfo, output_files, output_file)
  NUMBER(compactionjobinfo, bytes_read)
  NUMBER(compactionjobinfo, bytes_written)
  NUMBER(compactionjobinfo, entries_merged)
  NUMBER(compactionjobinfo, entries_dropped)
  NUMBER(compactionjobinfo, elapsed_micros)
  STATUS(compactionjobinfo)
  return true;
}

static bool fields_of_log_gc(PyObject* fields, const void* given) {
  const cambium_loggcjobinfo_t* const info = given;
  TEXT(loggcjobinfo, db_name)
  INTEGER(loggcjobinfo, job_id)
  INTEGER(loggcjobinfo, reason)
  FILES(loggcjobinfo, input_files, input_file)
  FILES(loggcjobinfo, emptied_files, emptied_file)
  FILES(loggcjobinfo, punched_files, punched_file)
  NUMBER(loggcjobinfo, bytes_read)
  NUMBER(loggcjobinfo, keys_relocated)
  NUMBER(loggcjobinfo, bytes_written)
  NUMBER(loggcjobinfo, bytes_freed)
  NUMBER(loggcjobinfo, elapsed_micros)
  STATUS(loggcjobinfo)
  return true;
}

static bool fields_of_memtable(PyObject* fields, const void* given) {
  const cambium_memtableinfo_t* const info = given;
  TEXT(memtableinfo, db_name)
  TEXT(memtableinfo, cf_name)
  NUMBER(memtableinfo, cf_id)
  NUMBER(memtableinfo, num_entries)
  NUMBER(memtableinfo, num_range_deletes)
  NUMBER(memtableinfo, memory_bytes)
  INTEGER(memtableinfo, reason)
  return true;
}

static bool fields_of_background_error(PyObject* fields, const void* given) {
  const cambium_backgrounderrorinfo_t* const info = given;
  TEXT(backgrounderrorinfo, db_name)
  INTEGER(backgrounderrorinfo, reason)
  STATUS(backgrounderrorinfo)
  return true;
}

static bool fields_of_stall(PyObject* fields, const void* given) {
  const cambium_writestallinfo_t* const info = given;
  TEXT(writestallinfo, db_name)
  TEXT(writestallinfo, cf_name)
  NUMBER(writestallinfo, cf_id)
  INTEGER(writestallinfo, cause)
  INTEGER(writestallinfo, cur)
  INTEGER(writestallinfo, prev)
  NUMBER(writestallinfo, change)
  return true;
}

static bool fields_of_table_file(PyObject* fields, const void* given) {
  const cambium_tablefilecreationinfo_t* const info = given;
  TEXT(tablefilecreationinfo, db_name)
  TEXT(tablefilecreationinfo, cf_name)
  NUMBER(tablefilecreationinfo, cf_id)
  TEXT(tablefilecreationinfo, file_path)
  NUMBER(tablefilecreationinfo, file_number)
  INTEGER(tablefilecreationinfo, job_id)
  INTEGER(tablefilecreationinfo, reason)
  NUMBER(tablefilecreationinfo, file_size)
  STATUS(tablefilecreationinfo)
  return true;
}

static bool fields_of_table_file_deletion(PyObject* fields, const void* given) {
  const cambium_tablefiledeletioninfo_t* const info = given;
  TEXT(tablefiledeletioninfo, db_name)
  TEXT(tablefiledeletioninfo, file_path)
  NUMBER(tablefiledeletioninfo, file_number)
  return true;
}

static bool fields_of_blob_file(PyObject* fields, const void* given) {
  const cambium_blobfilecreationinfo_t* const info = given;
  TEXT(blobfilecreationinfo, db_name)
  TEXT(blobfilecreationinfo, file_path)
  NUMBER(blobfilecreationinfo, file_number)
  INTEGER(blobfilecreationinfo, reason)
  NUMBER(blobfilecreationinfo, file_size)
  STATUS(blobfilecreationinfo)
  return true;
}

static bool fields_of_blob_file_deletion(PyObject* fields, const void* given) {
  const cambium_blobfiledeletioninfo_t* const info = given;
  TEXT(blobfiledeletioninfo, db_name)
  TEXT(blobfiledeletioninfo, file_path)
  NUMBER(blobfiledeletioninfo, file_number)
  return true;
}

static void report(ListenerObject* self, const char* name, bool (*fill)(PyObject*, const void*), const void* info) {
  Callback callback;
  if (!callback_begin(&callback, callback_listener)) return;
  PyObject* type;
  PyObject* value;
  PyObject* traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* const fields = PyDict_New();
  PyObject* result = NULL;
  if (fields != NULL && fill(fields, info)) result = PyObject_CallMethod(self->object, "_event", "sO", name, fields);
  if (result == NULL) Py_XDECREF(callback_report(self->object));
  Py_XDECREF(result);
  Py_XDECREF(fields);
  PyErr_Restore(type, value, traceback);
  callback_end(&callback);
}

#define EVENT_OF_DATABASE(name, type, fill)                                      \
  static void name(void* state, cambium_t* db, const cambium_##type##_t* info) { \
    (void)db;                                                                    \
    report(state, #name, fill, info);                                            \
  }
#define EVENT(name, type, fill) \
  static void name(void* state, const cambium_##type##_t* info) { report(state, #name, fill, info); }
EVENT_OF_DATABASE(on_flush_begin, flushjobinfo, fields_of_flush)
EVENT_OF_DATABASE(on_flush_completed, flushjobinfo, fields_of_flush)
EVENT_OF_DATABASE(on_compaction_begin, compactionjobinfo, fields_of_compaction)
EVENT_OF_DATABASE(on_compaction_completed, compactionjobinfo, fields_of_compaction)
EVENT_OF_DATABASE(on_log_gc_completed, loggcjobinfo, fields_of_log_gc)
EVENT(on_memtable_sealed, memtableinfo, fields_of_memtable)
EVENT(on_background_error, backgrounderrorinfo, fields_of_background_error)
EVENT(on_stall_conditions_changed, writestallinfo, fields_of_stall)
EVENT(on_table_file_creation_started, tablefilecreationinfo, fields_of_table_file)
EVENT(on_table_file_created, tablefilecreationinfo, fields_of_table_file)
EVENT(on_table_file_deleted, tablefiledeletioninfo, fields_of_table_file_deletion)
EVENT(on_blob_file_creation_started, blobfilecreationinfo, fields_of_blob_file)
EVENT(on_blob_file_created, blobfilecreationinfo, fields_of_blob_file)
EVENT(on_blob_file_deleted, blobfiledeletioninfo, fields_of_blob_file_deletion)

/* Whether the object listens to an event. */
static int listens(PyObject* object, const char* name) {
  PyObject* const answer = PyObject_CallMethod(object, "_listens", "s", name);
  if (answer == NULL) return -1;
  const int is_so = PyObject_IsTrue(answer);
  Py_DECREF(answer);
  return is_so;
}

/* Listener(object): only events that the object listens to are reported. */
static PyObject* listener_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {
      "on_flush_begin",          "on_flush_completed",    "on_compaction_begin",
      "on_compaction_completed", "on_background_error",   "on_stall_conditions_changed",
      "on_memtable_sealed",      "on_log_gc_completed",   "on_table_file_creation_started",
      "on_table_file_created",   "on_table_file_deleted", "on_blob_file_creation_started",
      "on_blob_file_created",    "on_blob_file_deleted"};
  int is_on[sizeof names / sizeof names[0]];
  PyObject* object;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O:Listener", &object)) return NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    is_on[i] = listens(object, names[i]);
    if (is_on[i] < 0) return NULL;
  }
  ListenerObject* const self = (ListenerObject*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(object);
  self->object = object;
  self->rep =
      cambium_eventlistener_create(self, NULL, is_on[0] ? on_flush_begin : NULL, is_on[1] ? on_flush_completed : NULL,
                                   is_on[2] ? on_compaction_begin : NULL, is_on[3] ? on_compaction_completed : NULL,
                                   is_on[4] ? on_background_error : NULL, is_on[5] ? on_stall_conditions_changed : NULL,
                                   is_on[6] ? on_memtable_sealed : NULL);
  if (is_on[7]) cambium_eventlistener_set_on_log_gc_completed(self->rep, on_log_gc_completed);
  cambium_eventlistener_set_on_table_files(self->rep, is_on[8] ? on_table_file_creation_started : NULL,
                                           is_on[9] ? on_table_file_created : NULL,
                                           is_on[10] ? on_table_file_deleted : NULL);
  cambium_eventlistener_set_on_blob_files(self->rep, is_on[11] ? on_blob_file_creation_started : NULL,
                                          is_on[12] ? on_blob_file_created : NULL,
                                          is_on[13] ? on_blob_file_deleted : NULL);
  return (PyObject*)self;
}

static int listener_traverse(ListenerObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->object);
  return 0;
}

static void listener_dealloc(ListenerObject* self) {
  PyObject_GC_UnTrack(self);
  cambium_eventlistener_destroy(self->rep);
  Py_XDECREF(self->object);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

PyTypeObject ListenerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Listener",
    .tp_basicsize = sizeof(ListenerObject),
    .tp_new = listener_new,
    .tp_dealloc = (destructor)listener_dealloc,
    .tp_traverse = (traverseproc)listener_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
};
