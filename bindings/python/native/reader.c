/* Reader: the reading functions of databases, column families, snapshots and prefixes. */
#include "core.h"

bool reader_enter(ReaderObject* self) {
  if (self->handle == NULL) {
    PyErr_SetString(error_closed, "the database was not opened");
    return false;
  }
  if (!guard_enter(&self->handle->guard, "the database")) return false;
  if (snapshot_use(self->snapshot)) return true;
  guard_leave(&self->handle->guard);
  return false;
}

void reader_leave(ReaderObject* self) {
  snapshot_unuse(self->snapshot);
  guard_leave(&self->handle->guard);
}

static int reader_init(ReaderObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* handle;
  PyObject* family;
  PyObject* prefix;
  PyObject* snapshot;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O!O!OO:Reader", &HandleType, &handle, &FamilyType, &family, &prefix, &snapshot)) {
    return -1;
  }
  if (self->handle != NULL) {
    PyErr_SetString(PyExc_TypeError, "the object is initialized already");
    return -1;
  }
  if ((prefix != Py_None && !PyBytes_Check(prefix)) ||
      (snapshot != Py_None && !PyObject_TypeCheck(snapshot, &SnapshotType))) {
    PyErr_SetString(PyExc_TypeError, "a prefix is bytes, a snapshot is a SnapshotHandle");
    return -1;
  }
  Py_INCREF(handle);
  self->handle = (HandleObject*)handle;
  Py_INCREF(family);
  self->family = (FamilyObject*)family;
  if (prefix != Py_None && PyBytes_GET_SIZE(prefix) > 0) {
    Py_INCREF(prefix);
    self->prefix = prefix;
  }
  if (snapshot != Py_None) {
    Py_INCREF(snapshot);
    self->snapshot = (SnapshotObject*)snapshot;
  }
  return 0;
}

static int reader_traverse(ReaderObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->handle);
  Py_VISIT(self->family);
  return 0;
}

static void reader_dealloc(ReaderObject* self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF(self->family);
  Py_XDECREF(self->snapshot);
  Py_XDECREF(self->prefix);
  Py_XDECREF(self->handle);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

/* Reads the flags of ReadFlags from consecutive arguments. */
static bool read_flags(PyObject* const* arguments, ReadFlags* flags) {
  return argument_bool(arguments[0], &flags->verify_checksums) && argument_bool(arguments[1], &flags->fill_cache) &&
         argument_bool(arguments[2], &flags->durable_only);
}

/* Looks a key up. False: an exception is set. *slice is NULL if the key does not exist. */
static bool look_up(ReaderObject* self, PyObject* argument, const ReadFlags* flags, cambium_pinnableslice_t** slice) {
  Key key;
  if (!key_take(&key, self->prefix, argument)) return false;
  if (!reader_enter(self)) {
    key_release(&key);
    return false;
  }
  char* error = NULL;
  const ReadOptions options = read_options_take(flags, self->snapshot);
  Py_BEGIN_ALLOW_THREADS* slice =
      cambium_get_pinned_cf(self->handle->db, options.rep, self->family->rep, key.data, key.length, &error);
  Py_END_ALLOW_THREADS read_options_give(options);
  key_release(&key);
  const bool is_ok = call_finish(self->handle, self->family, error);
  if (!is_ok && *slice != NULL) {
    cambium_pinnableslice_destroy(*slice);
    *slice = NULL;
  }
  if (!is_ok || *slice == NULL) reader_leave(self);
  return is_ok;
}

/* A value of at most this many bytes is read in one call of the library; a longer one takes a second call. */
#define SHORT_VALUE 4096

/* Reads a value into `buffer`, or, if that is too short, into a new bytes object *object. False: an exception is set.
   *found: whether the key exists. */
static bool look_up_into(ReaderObject* self, PyObject* argument, const ReadFlags* flags, char* buffer, size_t capacity,
                         size_t* length, bool* found, PyObject** object) {
  Key key;
  *found = false;
  *object = NULL;
  if (!key_take(&key, self->prefix, argument)) return false;
  if (!reader_enter(self)) {
    key_release(&key);
    return false;
  }
  const ReadOptions options = read_options_take(flags, self->snapshot);
  char* error = NULL;
  unsigned char exists = 0;
  bool is_ok = true;
  bool is_read = false;
  while (is_ok && !is_read) {
    Py_BEGIN_ALLOW_THREADS is_read =
        cambium_get_into_buffer_cf(self->handle->db, options.rep, self->family->rep, key.data, key.length, buffer,
                                   capacity, length, &exists, &error) != 0;
    Py_END_ALLOW_THREADS if (is_read || exists == 0) break;
    /* Another thread may write a value of another size between the calls. */
    Py_CLEAR(*object);
    *object = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)*length);
    is_ok = *object != NULL;
    if (is_ok) buffer = PyBytes_AS_STRING(*object);
    capacity = *length;
  }
  read_options_give(options);
  key_release(&key);
  if (is_ok) is_ok = call_finish(self->handle, self->family, error);
  reader_leave(self);
  *found = exists != 0;
  if (is_ok && *found && *object != NULL && *length < capacity) is_ok = _PyBytes_Resize(object, (Py_ssize_t)*length) == 0;
  if (!is_ok || !*found) Py_CLEAR(*object);
  return is_ok;
}

static PyObject* reader_get(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {
      "get", 1, 2, {"key", "default", "verify_checksums", "fill_cache", "durable_only"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  ReadFlags flags = READ_FLAGS_DEFAULT;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !read_flags(&given[2], &flags)) return NULL;
  char buffer[SHORT_VALUE];
  size_t length;
  bool found;
  PyObject* result;
  if (!look_up_into(self, given[0], &flags, buffer, sizeof buffer, &length, &found, &result)) return NULL;
  if (!found) {
    result = given[1] == NULL ? Py_None : given[1];
    Py_INCREF(result);
    return result;
  }
  return result != NULL ? result : PyBytes_FromStringAndSize(buffer, (Py_ssize_t)length);
}

static PyObject* reader_get_pinned(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {
      "get_pinned", 1, 1, {"key", "verify_checksums", "fill_cache", "durable_only", "pin_mapped_values"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  ReadFlags flags = READ_FLAGS_DEFAULT;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !read_flags(&given[1], &flags) ||
      !argument_bool(given[4], &flags.pin_mapped_values)) {
    return NULL;
  }
  cambium_pinnableslice_t* slice;
  if (!look_up(self, given[0], &flags, &slice)) return NULL;
  if (slice == NULL) Py_RETURN_NONE;
  PyObject* const result = pinned_make(self->handle, slice);
  reader_leave(self);
  return result;
}

static int reader_contains(ReaderObject* self, PyObject* key) {
  ReadFlags flags = READ_FLAGS_DEFAULT;
  cambium_pinnableslice_t* slice;
  if (!look_up(self, key, &flags, &slice)) return -1;
  if (slice == NULL) return 0;
  cambium_pinnableslice_destroy(slice);
  reader_leave(self);
  return 1;
}

typedef struct {
  Key* keys;
  const char** data;
  size_t* lengths;
  cambium_pinnableslice_t** values;
  char** errors;
} Many;

static bool many_make(Many* many, size_t count) {
  ++count;
  many->keys = PyMem_Calloc(count, sizeof *many->keys);
  many->data = PyMem_Calloc(count, sizeof *many->data);
  many->lengths = PyMem_Calloc(count, sizeof *many->lengths);
  many->values = PyMem_Calloc(count, sizeof *many->values);
  many->errors = PyMem_Calloc(count, sizeof *many->errors);
  if (many->keys != NULL && many->data != NULL && many->lengths != NULL && many->values != NULL &&
      many->errors != NULL) {
    return true;
  }
  PyErr_NoMemory();
  return false;
}

static void many_free(Many* many, Py_ssize_t taken, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < taken; ++i) key_release(&many->keys[i]);
  for (Py_ssize_t i = 0; many->values != NULL && many->errors != NULL && i < count; ++i) {
    cambium_pinnableslice_destroy(many->values[i]);
    cambium_free(many->errors[i]);
  }
  PyMem_Free(many->keys);
  PyMem_Free(many->data);
  PyMem_Free(many->lengths);
  PyMem_Free(many->values);
  PyMem_Free(many->errors);
}

static PyObject* reader_multi_get(ReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {
      "multi_get", 1, 2, {"keys", "default", "verify_checksums", "fill_cache", "durable_only", "async_io"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  ReadFlags flags = READ_FLAGS_DEFAULT;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !read_flags(&given[2], &flags) ||
      !argument_bool(given[5], &flags.async_io)) {
    return NULL;
  }
  PyObject* const absent = given[1] == NULL ? Py_None : given[1];
  /* A tuple: no other thread can change it during the call. */
  PyObject* const keys = PySequence_Tuple(given[0]);
  if (keys == NULL) return NULL;
  const Py_ssize_t count = PyTuple_GET_SIZE(keys);
  Many many = {NULL, NULL, NULL, NULL, NULL};
  Py_ssize_t taken = 0;
  PyObject* result = NULL;
  if (!many_make(&many, (size_t)count)) goto done;
  for (; taken < count; ++taken) {
    if (!key_take(&many.keys[taken], self->prefix, PyTuple_GET_ITEM(keys, taken))) goto done;
    many.data[taken] = many.keys[taken].data;
    many.lengths[taken] = many.keys[taken].length;
  }
  if (!reader_enter(self)) goto done;
  const ReadOptions options = read_options_take(&flags, self->snapshot);
  Py_BEGIN_ALLOW_THREADS cambium_batched_multi_get_cf(self->handle->db, options.rep, self->family->rep, (size_t)count,
                                                      many.data, many.lengths, many.values, many.errors, 0);
  Py_END_ALLOW_THREADS read_options_give(options);
  char* error = NULL;
  for (Py_ssize_t i = 0; i < count && error == NULL; ++i) {
    error = many.errors[i];
    many.errors[i] = NULL;
  }
  if (call_finish(self->handle, self->family, error)) result = PyList_New(count);
  for (Py_ssize_t i = 0; result != NULL && i < count; ++i) {
    size_t length;
    const char* const value = cambium_pinnableslice_value(many.values[i], &length);
    PyObject* item = absent;
    if (many.values[i] == NULL) {
      Py_INCREF(absent);
    } else {
      item = PyBytes_FromStringAndSize(value, (Py_ssize_t)length);
    }
    if (item == NULL) {
      Py_CLEAR(result);
    } else {
      PyList_SET_ITEM(result, i, item);
    }
  }
  reader_leave(self);
done:
  many_free(&many, taken, count);
  Py_DECREF(keys);
  return result;
}

/* multi_get_families([(reader, key), ...]) of readers of one database: reads all keys at one state. */
PyObject* reader_multi_get_families(ReaderObject* self, PyObject* pairs) {
  PyObject* const list = PySequence_Tuple(pairs);
  if (list == NULL) return NULL;
  const Py_ssize_t count = PyTuple_GET_SIZE(list);
  const cambium_column_family_handle_t** const families = PyMem_Calloc((size_t)count + 1, sizeof *families);
  char** const values = PyMem_Calloc((size_t)count + 1, sizeof *values);
  size_t* const sizes = PyMem_Calloc((size_t)count + 1, sizeof *sizes);
  Many many = {NULL, NULL, NULL, NULL, NULL};
  Py_ssize_t taken = 0;
  PyObject* result = NULL;
  if (!many_make(&many, (size_t)count)) goto done;
  if (families == NULL || values == NULL || sizes == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  for (; taken < count; ++taken) {
    PyObject* const pair = PyTuple_GET_ITEM(list, taken);
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 ||
        !PyObject_TypeCheck(PyTuple_GET_ITEM(pair, 0), &ReaderType)) {
      PyErr_SetString(PyExc_TypeError, "an item must be a tuple (database or column family, key)");
      goto done;
    }
    ReaderObject* const reader = (ReaderObject*)PyTuple_GET_ITEM(pair, 0);
    if (reader->handle != self->handle) {
      PyErr_SetString(PyExc_ValueError, "a column family is of another database");
      goto done;
    }
    if (reader->snapshot != self->snapshot) {
      PyErr_SetString(PyExc_ValueError, "all keys are read at one state: snapshots cannot be given");
      goto done;
    }
    if (!key_take(&many.keys[taken], reader->prefix, PyTuple_GET_ITEM(pair, 1))) goto done;
    many.data[taken] = many.keys[taken].data;
    many.lengths[taken] = many.keys[taken].length;
  }
  if (!reader_enter(self)) goto done;
  for (Py_ssize_t i = 0; i < count; ++i) {
    families[i] = ((ReaderObject*)PyTuple_GET_ITEM(PyTuple_GET_ITEM(list, i), 0))->family->rep;
  }
  ReadFlags flags = READ_FLAGS_DEFAULT;
  const ReadOptions options = read_options_take(&flags, self->snapshot);
  Py_BEGIN_ALLOW_THREADS cambium_multi_get_cf(self->handle->db, options.rep, families, (size_t)count, many.data,
                                              many.lengths, values, sizes, many.errors);
  Py_END_ALLOW_THREADS read_options_give(options);
  char* error = NULL;
  for (Py_ssize_t i = 0; i < count && error == NULL; ++i) {
    error = many.errors[i];
    many.errors[i] = NULL;
  }
  if (call_finish(self->handle, self->family, error)) result = PyList_New(count);
  for (Py_ssize_t i = 0; result != NULL && i < count; ++i) {
    PyObject* item = Py_None;
    if (values[i] == NULL) {
      Py_INCREF(item);
    } else {
      item = PyBytes_FromStringAndSize(values[i], (Py_ssize_t)sizes[i]);
    }
    if (item == NULL) {
      Py_CLEAR(result);
    } else {
      PyList_SET_ITEM(result, i, item);
    }
  }
  reader_leave(self);
done:
  for (Py_ssize_t i = 0; values != NULL && i < count; ++i) cambium_free(values[i]);
  many_free(&many, taken, count);
  PyMem_Free(families);
  PyMem_Free(values);
  PyMem_Free(sizes);
  Py_DECREF(list);
  return result;
}

static PyObject* reader_iter(ReaderObject* self) { return iterator_make(self, NULL, 0, NULL); }

static PyObject* reader_get_handle(ReaderObject* self, void* closure) {
  (void)closure;
  PyObject* const object = self->handle == NULL ? Py_None : (PyObject*)self->handle;
  Py_INCREF(object);
  return object;
}

static PyObject* reader_get_family(ReaderObject* self, void* closure) {
  (void)closure;
  PyObject* const object = self->family == NULL ? Py_None : (PyObject*)self->family;
  Py_INCREF(object);
  return object;
}

static PyObject* reader_get_snapshot(ReaderObject* self, void* closure) {
  (void)closure;
  PyObject* const object = self->snapshot == NULL ? Py_None : (PyObject*)self->snapshot;
  Py_INCREF(object);
  return object;
}

static PyObject* reader_get_prefix(ReaderObject* self, void* closure) {
  (void)closure;
  if (self->prefix == NULL) return PyBytes_FromStringAndSize(NULL, 0);
  Py_INCREF(self->prefix);
  return self->prefix;
}

static PyObject* reader_get_closed(ReaderObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(self->handle == NULL || !self->handle->guard.is_open ||
                         (self->snapshot != NULL && self->snapshot->is_closed));
}

static PyMethodDef methods[] = {
    FASTCALL("get", reader_get,
             "get($self, /, key, default=None, *, verify_checksums=None, fill_cache=None, durable_only=None)\n--\n\n"
             "Return the value of a key, or `default` if the key does not exist.\n\n"
             "verify_checksums: compare the value with its checksum (default True).\n"
             "fill_cache: keep index pages that have to be read (default True).\n"
             "durable_only: read the state that is known to survive a power cut."),
    FASTCALL("get_pinned", reader_get_pinned,
             "get_pinned($self, /, key, *, verify_checksums=None, fill_cache=None, durable_only=None, "
             "pin_mapped_values=None)\n--\n\n"
             "Return the value of a key as a PinnedValue, which memoryview() reads without a copy.\n\n"
             "None: the key does not exist. With pin_mapped_values the bytes may be those of a mapped file: then\n"
             "nothing is copied, and a device that cannot read them ends the process with SIGBUS."),
    FASTCALL("multi_get", reader_multi_get,
             "multi_get($self, /, keys, default=None, *, verify_checksums=None, fill_cache=None, "
             "durable_only=None, async_io=None)\n--\n\n"
             "Return the list of the values of several keys, all of one state of the database.\n\n"
             "The value of a key that does not exist is `default`. If a key cannot be read, its error is raised."),
    FASTCALL("iterator", iterator_make,
             "iterator($self, /, *, reverse=None, start=None, stop=None, include_start=None, "
             "include_stop=None, prefix=None, include_key=None, include_value=None, verify_checksums=None, "
             "fill_cache=None, durable_only=None, async_io=None)\n--\n\n"
             "Return an Iterator over the entries from `start` (included, unless include_start is False) to `stop`\n"
             "(excluded, unless include_stop is True), or over those whose keys begin with `prefix`."),
    FASTCALL("raw_iterator", raw_iterator_make,
             "raw_iterator($self, /, *, lower_bound=None, upper_bound=None, verify_checksums=None, "
             "fill_cache=None, durable_only=None, async_io=None, pin_mapped_values=None, "
             "allow_unprepared_value=None)\n--\n\n"
             "Return a RawIterator, which is not positioned."),
    {"_multi_get_families", (PyCFunction)reader_multi_get_families, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getset[] = {
    {"_handle", (getter)reader_get_handle, NULL, NULL, NULL},
    {"_family", (getter)reader_get_family, NULL, NULL, NULL},
    {"_snapshot", (getter)reader_get_snapshot, NULL, NULL, NULL},
    {"prefix", (getter)reader_get_prefix, NULL, PyDoc_STR("The bytes that are added before each key."), NULL},
    {"closed", (getter)reader_get_closed, NULL, PyDoc_STR("Whether the database, or the snapshot, is closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PySequenceMethods sequence = {.sq_contains = (objobjproc)reader_contains};
PyTypeObject ReaderType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Reader",
    .tp_doc = PyDoc_STR("What can be read: a database, a column family, a snapshot, or the keys with a prefix."),
    .tp_basicsize = sizeof(ReaderObject),
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)reader_init,
    .tp_dealloc = (destructor)reader_dealloc,
    .tp_traverse = (traverseproc)reader_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_as_sequence = &sequence,
    .tp_iter = (getiterfunc)reader_iter,
    .tp_methods = methods,
    .tp_getset = getset,
};
