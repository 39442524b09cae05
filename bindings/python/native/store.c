/* Store: a reader that can also be written to. */
#include "core.h"

static bool write_flags(PyObject* const* arguments, WriteFlags* flags) {
  return argument_bool(arguments[0], &flags->sync) && argument_bool(arguments[1], &flags->disable_wal) &&
         argument_bool(arguments[2], &flags->no_slowdown);
}

static PyObject* finish(ReaderObject* self, char* error) {
  reader_leave(self);
  if (!call_finish(self->handle, self->family, error)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* store_put(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"put", 2, 2, {"key", "value", "sync", "disable_wal", "no_slowdown"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  WriteFlags flags = {false, false, false};
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !write_flags(&given[2], &flags)) return NULL;
  Key key;
  Bytes value;
  if (!key_take(&key, self->prefix, given[0])) return NULL;
  if (!bytes_take(&value, given[1], "value")) {
    key_release(&key);
    return NULL;
  }
  PyObject* result = NULL;
  if (reader_enter(self)) {
    char* error = NULL;
    const WriteOptions options = write_options_take(&flags);
    Py_BEGIN_ALLOW_THREADS cambium_put_cf(self->handle->db, options.rep, self->family->rep, key.data, key.length,
                                          value.data, value.length, &error);
    Py_END_ALLOW_THREADS write_options_give(options);
    result = finish(self, error);
  }
  bytes_release(&value);
  key_release(&key);
  return result;
}

static PyObject* store_delete_with(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                                   Signature* signature,
                                   void (*function)(cambium_t*, const cambium_writeoptions_t*,
                                                    cambium_column_family_handle_t*, const char*, size_t, char**)) {
  PyObject* given[MAX_ARGUMENTS];
  WriteFlags flags = {false, false, false};
  if (!arguments_parse(signature, args, nargs, kwnames, given) || !write_flags(&given[1], &flags)) return NULL;
  Key key;
  if (!key_take(&key, self->prefix, given[0])) return NULL;
  PyObject* result = NULL;
  if (reader_enter(self)) {
    char* error = NULL;
    const WriteOptions options = write_options_take(&flags);
    Py_BEGIN_ALLOW_THREADS function(self->handle->db, options.rep, self->family->rep, key.data, key.length, &error);
    Py_END_ALLOW_THREADS write_options_give(options);
    result = finish(self, error);
  }
  key_release(&key);
  return result;
}

static PyObject* store_delete(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"delete", 1, 1, {"key", "sync", "disable_wal", "no_slowdown"}, {NULL}};
  return store_delete_with(self, args, nargs, kwnames, &signature, cambium_delete_cf);
}

static PyObject* store_single_delete(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"single_delete", 1, 1, {"key", "sync", "disable_wal", "no_slowdown"}, {NULL}};
  return store_delete_with(self, args, nargs, kwnames, &signature, cambium_singledelete_cf);
}

static PyObject* store_delete_range(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"delete_range", 2, 2, {"start", "stop", "sync", "disable_wal", "no_slowdown"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  WriteFlags flags = {false, false, false};
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !write_flags(&given[2], &flags)) return NULL;
  Key start;
  Key stop;
  if (!key_take(&start, self->prefix, given[0])) return NULL;
  if (!key_take(&stop, self->prefix, given[1])) {
    key_release(&start);
    return NULL;
  }
  PyObject* result = NULL;
  if (reader_enter(self)) {
    char* error = NULL;
    const WriteOptions options = write_options_take(&flags);
    Py_BEGIN_ALLOW_THREADS cambium_delete_range_cf(self->handle->db, options.rep, self->family->rep, start.data,
                                                   start.length, stop.data, stop.length, &error);
    Py_END_ALLOW_THREADS write_options_give(options);
    result = finish(self, error);
  }
  key_release(&stop);
  key_release(&start);
  return result;
}

/* An assignment to store[key], or its deletion. */
static int store_assign(ReaderObject* self, PyObject* key, PyObject* value) {
  PyObject* const arguments[2] = {key, value};
  PyObject* const result = value == NULL ? store_delete(self, arguments, 1, NULL) : store_put(self, arguments, 2, NULL);
  if (result == NULL) return -1;
  Py_DECREF(result);
  return 0;
}

/* store[key]: KeyError if the key does not exist. */
static PyObject* store_subscript(ReaderObject* self, PyObject* key) {
  PyObject* const result = PyObject_CallMethod((PyObject*)self, "get", "(O)", key);
  if (result != Py_None) return result;
  Py_DECREF(result);
  PyErr_SetObject(PyExc_KeyError, key);
  return NULL;
}

static PyMethodDef methods[] = {
    FASTCALL("put", store_put,
             "put($self, /, key, value, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Set the value of a key.\n\n"
             "sync: return when this write, and everything before it, survives a power cut.\n"
             "no_slowdown: raise IncompleteError instead of waiting for background work."),
    FASTCALL("delete", store_delete,
             "delete($self, /, key, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Delete a key. A key that does not exist is no error."),
    FASTCALL("single_delete", store_single_delete,
             "single_delete($self, /, key, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Identical to delete."),
    FASTCALL("delete_range", store_delete_range,
             "delete_range($self, /, start, stop, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Delete the keys from `start` (included) to `stop` (excluded)."),
    {NULL, NULL, 0, NULL},
};
static PyMappingMethods mapping = {.mp_subscript = (binaryfunc)store_subscript,
                                   .mp_ass_subscript = (objobjargproc)store_assign};
PyTypeObject StoreType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Store",
    .tp_doc = PyDoc_STR("A reader that can be written to: a database, a column family, or the keys with a prefix."),
    .tp_base = &ReaderType,
    .tp_basicsize = sizeof(ReaderObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_as_mapping = &mapping,
    .tp_methods = methods,
};
