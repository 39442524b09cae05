/* WriteBatch: operations that are written together. */
#include "core.h"

typedef struct {
  PyObject_HEAD cambium_writebatch_t* rep;
  ReaderObject* store; /* where operations without a family go, and where write() writes */
  PyObject* families;  /* a list of the families in the batch */
  bool is_busy;
  bool is_transaction;
  WriteFlags flags;
} BatchObject;

static int batch_init(BatchObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"store", "transaction", "sync", "disable_wal", "no_slowdown", "data", NULL};
  PyObject* store;
  int transaction = 0;
  int sync = 0;
  int disable_wal = 0;
  int no_slowdown = 0;
  PyObject* data = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|$ppppO:WriteBatch", names, &StoreType, &store, &transaction, &sync,
                                   &disable_wal, &no_slowdown, &data)) {
    return -1;
  }
  if (self->rep != NULL) {
    PyErr_SetString(PyExc_TypeError, "the object is initialized already");
    return -1;
  }
  if (data == Py_None) {
    self->rep = cambium_writebatch_create();
  } else {
    Bytes bytes;
    if (!bytes_take(&bytes, data, "data")) return -1;
    self->rep = cambium_writebatch_create_from(bytes.data, bytes.length);
    bytes_release(&bytes);
    if (self->rep == NULL) {
      PyErr_SetString(PyExc_ValueError, "the bytes are not those of a batch");
      return -1;
    }
  }
  self->families = PyList_New(0);
  if (self->families == NULL) return -1;
  Py_INCREF(store);
  self->store = (ReaderObject*)store;
  self->is_transaction = transaction != 0;
  self->flags.sync = sync != 0;
  self->flags.disable_wal = disable_wal != 0;
  self->flags.no_slowdown = no_slowdown != 0;
  return 0;
}

static int batch_traverse(BatchObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->store);
  Py_VISIT(self->families);
  return 0;
}

static void batch_dealloc(BatchObject* self) {
  PyObject_GC_UnTrack(self);
  cambium_writebatch_destroy(self->rep);
  Py_XDECREF(self->families);
  Py_XDECREF(self->store);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static bool enter(BatchObject* self) {
  if (self->rep == NULL || self->store->handle == NULL) {
    PyErr_SetString(error_closed, "the batch is not initialized");
    return false;
  }
  return busy_enter(&self->is_busy, "the batch");
}

ReaderObject* family_argument(ReaderObject* store, PyObject* families, PyObject* argument) {
  ReaderObject* reader = store;
  if (argument != NULL && argument != Py_None) {
    if (!PyObject_TypeCheck(argument, &StoreType)) {
      PyErr_SetString(PyExc_TypeError, "column_family must be a column family, or another part of the database");
      return NULL;
    }
    reader = (ReaderObject*)argument;
  }
  if (reader->handle != store->handle) {
    PyErr_SetString(PyExc_ValueError, "the column family is of another database");
    return NULL;
  }
  if (!guard_enter(&reader->handle->guard, "the database")) return NULL;
  guard_leave(&reader->handle->guard);
  const Py_ssize_t count = PyList_GET_SIZE(families);
  if (count > 0 && PyList_GET_ITEM(families, count - 1) == (PyObject*)reader->family) return reader;
  const int contains = PySequence_Contains(families, (PyObject*)reader->family);
  if (contains < 0 || (contains == 0 && PyList_Append(families, (PyObject*)reader->family) != 0)) return NULL;
  return reader;
}

/* The reader of an operation. Its family is kept until the batch is cleared. */
static ReaderObject* target(BatchObject* self, PyObject* argument) {
  return family_argument(self->store, self->families, argument);
}

static PyObject* batch_put(BatchObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"put", 2, 2, {"key", "value", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !enter(self)) return NULL;
  ReaderObject* const reader = target(self, given[2]);
  PyObject* result = NULL;
  Key key;
  Bytes value;
  if (reader != NULL && key_take(&key, reader->prefix, given[0])) {
    if (bytes_take(&value, given[1], "value")) {
      cambium_writebatch_put_cf(self->rep, reader->family->rep, key.data, key.length, value.data, value.length);
      bytes_release(&value);
      Py_INCREF(Py_None);
      result = Py_None;
    }
    key_release(&key);
  }
  self->is_busy = false;
  return result;
}

static PyObject* delete_with(BatchObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                             Signature* signature,
                             void (*function)(cambium_writebatch_t*, cambium_column_family_handle_t*, const char*,
                                              size_t)) {
  PyObject* given[MAX_ARGUMENTS];
  if (!arguments_parse(signature, args, nargs, kwnames, given) || !enter(self)) return NULL;
  ReaderObject* const reader = target(self, given[1]);
  PyObject* result = NULL;
  Key key;
  if (reader != NULL && key_take(&key, reader->prefix, given[0])) {
    function(self->rep, reader->family->rep, key.data, key.length);
    key_release(&key);
    Py_INCREF(Py_None);
    result = Py_None;
  }
  self->is_busy = false;
  return result;
}

static PyObject* batch_delete(BatchObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"delete", 1, 1, {"key", "column_family"}, {NULL}};
  return delete_with(self, args, nargs, kwnames, &signature, cambium_writebatch_delete_cf);
}

static PyObject* batch_single_delete(BatchObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"single_delete", 1, 1, {"key", "column_family"}, {NULL}};
  return delete_with(self, args, nargs, kwnames, &signature, cambium_writebatch_singledelete_cf);
}

static PyObject* batch_delete_range(BatchObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"delete_range", 2, 2, {"start", "stop", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !enter(self)) return NULL;
  ReaderObject* const reader = target(self, given[2]);
  PyObject* result = NULL;
  Key start;
  Key stop;
  if (reader != NULL && key_take(&start, reader->prefix, given[0])) {
    if (key_take(&stop, reader->prefix, given[1])) {
      cambium_writebatch_delete_range_cf(self->rep, reader->family->rep, start.data, start.length, stop.data,
                                         stop.length);
      key_release(&stop);
      Py_INCREF(Py_None);
      result = Py_None;
    }
    key_release(&start);
  }
  self->is_busy = false;
  return result;
}

static PyObject* batch_clear(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  cambium_writebatch_clear(self->rep);
  self->is_busy = false;
  if (PyList_SetSlice(self->families, 0, PyList_GET_SIZE(self->families), NULL) != 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* batch_append(BatchObject* self, PyObject* argument) {
  if (!PyObject_TypeCheck(argument, &BatchType)) {
    PyErr_SetString(PyExc_TypeError, "a batch can only be appended to a batch");
    return NULL;
  }
  BatchObject* const source = (BatchObject*)argument;
  if (source == self) {
    PyErr_SetString(PyExc_ValueError, "a batch cannot be appended to itself");
    return NULL;
  }
  if (!enter(self)) return NULL;
  PyObject* result = NULL;
  if (enter(source)) {
    if (source->store->handle != self->store->handle) {
      PyErr_SetString(PyExc_ValueError, "the batch is of another database");
    } else if (PyList_SetSlice(self->families, PyList_GET_SIZE(self->families), PyList_GET_SIZE(self->families),
                               source->families) == 0) {
      cambium_writebatch_append(self->rep, source->rep);
      Py_INCREF(Py_None);
      result = Py_None;
    }
    source->is_busy = false;
  }
  self->is_busy = false;
  return result;
}

static PyObject* batch_write(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  PyObject* result = NULL;
  HandleObject* const handle = self->store->handle;
  if (guard_enter(&handle->guard, "the database")) {
    char* error = NULL;
    const WriteOptions options = write_options_take(&self->flags);
    Py_BEGIN_ALLOW_THREADS cambium_write(handle->db, options.rep, self->rep, &error);
    Py_END_ALLOW_THREADS write_options_give(options);
    guard_leave(&handle->guard);
    if (call_finish(handle, NULL, error)) {
      Py_INCREF(Py_None);
      result = Py_None;
    }
  }
  self->is_busy = false;
  return result;
}

static PyObject* batch_write_if(BatchObject* self, PyObject* argument) {
  if (!enter(self)) return NULL;
  PyObject* result = NULL;
  HandleObject* const handle = self->store->handle;
  cambium_writeconditions_t* const conditions = conditions_borrow(argument, handle);
  if (conditions != NULL) {
    if (guard_enter(&handle->guard, "the database")) {
      char* error = NULL;
      unsigned char written;
      const WriteOptions options = write_options_take(&self->flags);
      Py_BEGIN_ALLOW_THREADS written = cambium_write_if(handle->db, options.rep, conditions, self->rep, &error);
      Py_END_ALLOW_THREADS write_options_give(options);
      guard_leave(&handle->guard);
      if (call_finish(handle, NULL, error)) result = PyBool_FromLong(written);
    }
    conditions_give_back(argument);
  }
  self->is_busy = false;
  return result;
}

cambium_writebatch_t* batch_borrow(PyObject* object, HandleObject** handle) {
  if (!PyObject_TypeCheck(object, &BatchType)) {
    PyErr_SetString(PyExc_TypeError, "WriteBatch expected");
    return NULL;
  }
  BatchObject* const self = (BatchObject*)object;
  if (!enter(self)) return NULL;
  *handle = self->store->handle;
  return self->rep;
}

void batch_give_back(PyObject* object) { ((BatchObject*)object)->is_busy = false; }

static PyObject* batch_data(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  size_t size;
  const char* const data = cambium_writebatch_data(self->rep, &size);
  PyObject* const result = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  self->is_busy = false;
  return result;
}

static PyObject* batch_approximate_size(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  size_t size;
  cambium_writebatch_data(self->rep, &size);
  self->is_busy = false;
  return PyLong_FromSize_t(size);
}

static Py_ssize_t batch_length(BatchObject* self) {
  if (!enter(self)) return -1;
  const int count = cambium_writebatch_count(self->rep);
  self->is_busy = false;
  return count;
}

static PyObject* batch_set_save_point(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  cambium_writebatch_set_save_point(self->rep);
  self->is_busy = false;
  Py_RETURN_NONE;
}

static PyObject* save_point(BatchObject* self, void (*function)(cambium_writebatch_t*, char**)) {
  if (!enter(self)) return NULL;
  char* error = NULL;
  function(self->rep, &error);
  self->is_busy = false;
  if (error != NULL) return error_raise(error);
  Py_RETURN_NONE;
}

static PyObject* batch_rollback_to_save_point(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  return save_point(self, cambium_writebatch_rollback_to_save_point);
}

static PyObject* batch_pop_save_point(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  return save_point(self, cambium_writebatch_pop_save_point);
}

/* ---- Listing the operations ---- */

typedef struct {
  PyObject* list;
  bool has_failed;
} Listing;

static void add(Listing* listing, const char* name, uint32_t family, const char* a, size_t a_length, const char* b,
                size_t b_length) {
  if (listing->has_failed) return;
  PyObject* const item =
      b == NULL
          ? Py_BuildValue("(sky#O)", name, (unsigned long)family, a, (Py_ssize_t)a_length, Py_None)
          : Py_BuildValue("(sky#y#)", name, (unsigned long)family, a, (Py_ssize_t)a_length, b, (Py_ssize_t)b_length);
  listing->has_failed = item == NULL || PyList_Append(listing->list, item) != 0;
  Py_XDECREF(item);
}

static void on_put(void* state, uint32_t family, const char* key, size_t key_length, const char* value,
                   size_t value_length) {
  add(state, "put", family, key, key_length, value == NULL ? "" : value, value_length);
}

static void on_delete(void* state, uint32_t family, const char* key, size_t key_length) {
  add(state, "delete", family, key, key_length, NULL, 0);
}

static void on_delete_range(void* state, uint32_t family, const char* start, size_t start_length, const char* end,
                            size_t end_length) {
  add(state, "delete_range", family, start, start_length, end == NULL ? "" : end, end_length);
}

static PyObject* batch_operations(BatchObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  Listing listing = {PyList_New(0), false};
  if (listing.list != NULL) {
    char* error = NULL;
    cambium_writebatch_iterate_cf(self->rep, &listing, on_put, on_delete, on_delete_range, &error);
    if (listing.has_failed) {
      Py_CLEAR(listing.list);
      cambium_free(error);
    } else if (error != NULL) {
      Py_CLEAR(listing.list);
      error_raise(error);
    }
  }
  self->is_busy = false;
  return listing.list;
}

static PyObject* batch_enter(PyObject* self, PyObject* ignored) {
  (void)ignored;
  Py_INCREF(self);
  return self;
}

/* Writes at the end of a with statement. After an exception a transaction is discarded, any other batch is written. */
static PyObject* batch_exit(BatchObject* self, PyObject* args) {
  PyObject* type = Py_None;
  PyObject* value = Py_None;
  PyObject* traceback = Py_None;
  if (!PyArg_ParseTuple(args, "|OOO:__exit__", &type, &value, &traceback)) return NULL;
  if (type != Py_None && self->is_transaction) return batch_clear(self, NULL);
  PyObject* const written = batch_write(self, NULL);
  if (written == NULL) return NULL;
  Py_DECREF(written);
  return batch_clear(self, NULL);
}

static PyMethodDef methods[] = {
    FASTCALL("put", batch_put,
             "put($self, /, key, value, *, column_family=None)\n--\n\n"
             "Add: set the value of a key, in `column_family` or where the batch was made."),
    FASTCALL("delete", batch_delete,
             "delete($self, /, key, *, column_family=None)\n--\n\n"
             "Add: delete a key."),
    FASTCALL("single_delete", batch_single_delete,
             "single_delete($self, /, key, *, column_family=None)\n--\n\n"
             "Identical to delete."),
    FASTCALL("delete_range", batch_delete_range,
             "delete_range($self, /, start, stop, *, column_family=None)\n--\n\n"
             "Add: delete the keys from `start` (included) to `stop` (excluded)."),
    {"clear", (PyCFunction)batch_clear, METH_NOARGS, PyDoc_STR("Remove all operations.")},
    {"append", (PyCFunction)batch_append, METH_O, PyDoc_STR("Add all operations of another batch of the database.")},
    {"write", (PyCFunction)batch_write, METH_NOARGS,
     PyDoc_STR("Write all operations, or none. The batch keeps them until clear().")},
    {"write_if", (PyCFunction)batch_write_if, METH_O,
     PyDoc_STR("Write all operations if all conditions of a WriteConditions hold, and return whether they did. The "
               "batch keeps them until clear(), so the end of a with statement would write them without conditions.")},
    {"data", (PyCFunction)batch_data, METH_NOARGS, PyDoc_STR("Return the bytes of the batch.")},
    {"approximate_size", (PyCFunction)batch_approximate_size, METH_NOARGS,
     PyDoc_STR("Return how many bytes the batch has.")},
    {"set_save_point", (PyCFunction)batch_set_save_point, METH_NOARGS, PyDoc_STR("Remember the state of the batch.")},
    {"rollback_to_save_point", (PyCFunction)batch_rollback_to_save_point, METH_NOARGS,
     PyDoc_STR("Remove what was added after the last save point. NotFoundError if there is none.")},
    {"pop_save_point", (PyCFunction)batch_pop_save_point, METH_NOARGS, PyDoc_STR("Forget the last save point.")},
    {"operations", (PyCFunction)batch_operations, METH_NOARGS,
     PyDoc_STR("Return the operations as tuples (name, number of the family, key or start, value or stop or None).")},
    {"__enter__", (PyCFunction)batch_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)batch_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PySequenceMethods sequence = {.sq_length = (lenfunc)batch_length};
PyTypeObject BatchType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.WriteBatch",
    .tp_doc = PyDoc_STR("Operations that are written together, or not at all. One thread at a time may use it."),
    .tp_basicsize = sizeof(BatchObject),
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)batch_init,
    .tp_dealloc = (destructor)batch_dealloc,
    .tp_traverse = (traverseproc)batch_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_as_sequence = &sequence,
    .tp_methods = methods,
};
