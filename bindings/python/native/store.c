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

/* A function that writes one key on a condition. `expected` and `value` are only set if it uses them. */
typedef unsigned char (*ConditionalWrite)(cambium_t* db, const cambium_writeoptions_t* options,
                                          cambium_column_family_handle_t* family, const Key* key,
                                          const Bytes* expected, const Bytes* value, char** error);

static unsigned char put_if_absent(cambium_t* db, const cambium_writeoptions_t* options,
                                   cambium_column_family_handle_t* family, const Key* key, const Bytes* expected,
                                   const Bytes* value, char** error) {
  (void)expected;
  return cambium_put_if_absent_cf(db, options, family, key->data, key->length, value->data, value->length, error);
}

static unsigned char compare_and_set(cambium_t* db, const cambium_writeoptions_t* options,
                                     cambium_column_family_handle_t* family, const Key* key, const Bytes* expected,
                                     const Bytes* value, char** error) {
  return cambium_compare_and_set_cf(db, options, family, key->data, key->length, expected->data, expected->length,
                                    value->data, value->length, error);
}

static unsigned char compare_and_delete(cambium_t* db, const cambium_writeoptions_t* options,
                                        cambium_column_family_handle_t* family, const Key* key, const Bytes* expected,
                                        const Bytes* value, char** error) {
  (void)value;
  return cambium_compare_and_delete_cf(db, options, family, key->data, key->length, expected->data, expected->length,
                                       error);
}

/* Takes the bytes of an argument that the function has. */
static bool take_if(bool has, Bytes* bytes, PyObject* argument, const char* what) {
  return !has || bytes_take(bytes, argument, what);
}

static PyObject* write_if(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                          Signature* signature, bool has_expected, bool has_value, ConditionalWrite write) {
  PyObject* given[MAX_ARGUMENTS];
  WriteFlags flags = {false, false, false};
  if (!arguments_parse(signature, args, nargs, kwnames, given) ||
      !write_flags(&given[signature->required], &flags)) {
    return NULL;
  }
  Key key;
  Bytes expected;
  Bytes value;
  PyObject* result = NULL;
  if (!key_take(&key, self->prefix, given[0])) return NULL;
  if (take_if(has_expected, &expected, given[1], "expected")) {
    if (take_if(has_value, &value, given[signature->required - 1], "value")) {
      if (reader_enter(self)) {
        char* error = NULL;
        unsigned char written;
        const WriteOptions options = write_options_take(&flags);
        Py_BEGIN_ALLOW_THREADS written =
            write(self->handle->db, options.rep, self->family->rep, &key, &expected, &value, &error);
        Py_END_ALLOW_THREADS write_options_give(options);
        reader_leave(self);
        if (call_finish(self->handle, self->family, error)) result = PyBool_FromLong(written);
      }
      if (has_value) bytes_release(&value);
    }
    if (has_expected) bytes_release(&expected);
  }
  key_release(&key);
  return result;
}

static PyObject* store_put_if_absent(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {
      "put_if_absent", 2, 2, {"key", "value", "sync", "disable_wal", "no_slowdown"}, {NULL}};
  return write_if(self, args, nargs, kwnames, &signature, false, true, put_if_absent);
}

static PyObject* store_compare_and_set(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs,
                                       PyObject* kwnames) {
  static Signature signature = {
      "compare_and_set", 3, 3, {"key", "expected", "value", "sync", "disable_wal", "no_slowdown"}, {NULL}};
  return write_if(self, args, nargs, kwnames, &signature, true, true, compare_and_set);
}

static PyObject* store_compare_and_delete(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs,
                                          PyObject* kwnames) {
  static Signature signature = {
      "compare_and_delete", 2, 2, {"key", "expected", "sync", "disable_wal", "no_slowdown"}, {NULL}};
  return write_if(self, args, nargs, kwnames, &signature, true, false, compare_and_delete);
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
    FASTCALL("put_if_absent", store_put_if_absent,
             "put_if_absent($self, /, key, value, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Set the value of a key that does not exist. Return whether it was written."),
    FASTCALL("compare_and_set", store_compare_and_set,
             "compare_and_set($self, /, key, expected, value, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Set the value of a key that has the value `expected`. Return whether it was written."),
    FASTCALL("compare_and_delete", store_compare_and_delete,
             "compare_and_delete($self, /, key, expected, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Delete a key that has the value `expected`. Return whether it was deleted."),
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
