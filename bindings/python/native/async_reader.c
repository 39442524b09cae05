/* AsyncReader: many reads in flight from one thread. */
#include "core.h"

#include <math.h>
#include <stddef.h>

typedef struct {
  PyObject_HEAD Child child;
  HandleObject* handle;
  cambium_asyncreader_t* rep; /* NULL: closed */
  bool is_busy;
} AsyncReaderObject;

/* What a read holds until its callback has been called. */
typedef struct {
  PyObject* callback;
  FamilyObject* family;
  SnapshotObject* snapshot;
} Read;

static void read_free(Read* read) {
  snapshot_unuse(read->snapshot);
  Py_DECREF(read->callback);
  Py_DECREF(read->family);
  Py_XDECREF(read->snapshot);
  PyMem_Free(read);
}

/* Called by the thread that polls or closes the reader, without the GIL: callback(value, error). */
static void on_read(void* state, const char* value, size_t value_length, const char* error) {
  Read* const read = state;
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* bytes = Py_None;
  PyObject* raised = Py_None;
  if (value != NULL) {
    bytes = PyBytes_FromStringAndSize(value, (Py_ssize_t)value_length);
  } else {
    Py_INCREF(bytes);
  }
  if (error != NULL) {
    raised = error_make(error);
  } else {
    Py_INCREF(raised);
  }
  PyObject* result = NULL;
  if (bytes == NULL && PyErr_ExceptionMatches(PyExc_MemoryError)) {
    PyErr_Clear();
    Py_XDECREF(raised);
    raised = PyObject_CallNoArgs(PyExc_MemoryError);
    Py_INCREF(Py_None);
    bytes = Py_None;
  }
  if (bytes != NULL && raised != NULL) result = PyObject_CallFunctionObjArgs(read->callback, bytes, raised, NULL);
  if (result == NULL) Py_XDECREF(callback_report(read->callback));
  Py_XDECREF(result);
  Py_XDECREF(bytes);
  Py_XDECREF(raised);
  read_free(read);
  PyGILState_Release(gil);
}

static void destroy(cambium_t* db, void* rep) {
  (void)db;
  cambium_asyncreader_destroy(rep);
}

static void release(Child* child) {
  AsyncReaderObject* const self = CHILD_OBJECT(AsyncReaderObject, child);
  cambium_asyncreader_t* const rep = self->rep;
  self->rep = NULL;
  child_remove(child);
  /* Calls the callbacks of all reads. */
  if (rep != NULL) release_in_library(self->handle, destroy, rep);
}

/* AsyncReader(store, depth, bytes_max, use_io_uring) */
static PyObject* async_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"store", "depth", "bytes_max", "use_io_uring", NULL};
  ReaderObject* store;
  Py_ssize_t depth = 64;
  unsigned long long bytes_max = 64ull << 20;
  int use_io_uring = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|$nKp:AsyncReader", names, &ReaderType, &store, &depth, &bytes_max,
                                   &use_io_uring)) {
    return NULL;
  }
  if (!reader_enter(store)) return NULL;
  HandleObject* const handle = store->handle;
  char* error = NULL;
  cambium_asyncreader_t* rep;
  Py_BEGIN_ALLOW_THREADS rep = cambium_asyncreader_create(handle->db, depth < 0 ? 0 : (size_t)depth, bytes_max,
                                                          (unsigned char)use_io_uring, &error);
  Py_END_ALLOW_THREADS AsyncReaderObject* self = NULL;
  if (error != NULL) {
    error_raise(error);
  } else {
    self = (AsyncReaderObject*)type->tp_alloc(type, 0);
    if (self == NULL) {
      release_in_library(handle, destroy, rep);
    } else {
      Py_INCREF(handle);
      self->handle = handle;
      self->rep = rep;
      self->child.close = release;
      child_add(handle, &self->child);
    }
  }
  reader_leave(store);
  return (PyObject*)self;
}

static void async_dealloc(AsyncReaderObject* self) {
  if (self->handle != NULL) {
    release(&self->child);
    Py_DECREF(self->handle);
  }
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static bool enter(AsyncReaderObject* self) {
  if (self->rep == NULL) {
    PyErr_SetString(error_closed, "the database or the asynchronous reader is closed");
    return false;
  }
  if (!busy_enter(&self->is_busy, "the asynchronous reader")) return false;
  if (guard_enter(&self->handle->guard, "the database")) return true;
  self->is_busy = false;
  return false;
}

static void leave(AsyncReaderObject* self) {
  self->is_busy = false;
  guard_leave(&self->handle->guard);
}

/* get(store, key, callback, ...) returns whether the read has begun. */
static PyObject* async_get(AsyncReaderObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {
      "get", 3, 3, {"store", "key", "callback", "verify_checksums", "fill_cache", "durable_only"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  ReadFlags flags = READ_FLAGS_DEFAULT;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !argument_bool(given[3], &flags.verify_checksums) ||
      !argument_bool(given[4], &flags.fill_cache) || !argument_bool(given[5], &flags.durable_only)) {
    return NULL;
  }
  if (!PyObject_TypeCheck(given[0], &ReaderType) || !PyCallable_Check(given[2])) {
    PyErr_SetString(PyExc_TypeError, "get() takes a database or a part of it, a key and a callable");
    return NULL;
  }
  ReaderObject* const store = (ReaderObject*)given[0];
  if (store->handle != self->handle) {
    PyErr_SetString(PyExc_ValueError, "the column family is of another database");
    return NULL;
  }
  Key key;
  if (!key_take(&key, store->prefix, given[1])) return NULL;
  Read* const read = PyMem_Malloc(sizeof *read);
  if (read == NULL) {
    key_release(&key);
    return PyErr_NoMemory();
  }
  bool has_begun = false;
  bool is_ok = false;
  if (enter(self)) {
    if (snapshot_use(store->snapshot)) {
      Py_INCREF(given[2]);
      read->callback = given[2];
      Py_INCREF(store->family);
      read->family = store->family;
      Py_XINCREF(store->snapshot);
      read->snapshot = store->snapshot;
      char* error = NULL;
      const ReadOptions options = read_options_take(&flags, store->snapshot);
      Py_BEGIN_ALLOW_THREADS has_begun = cambium_asyncreader_get_cf(self->rep, options.rep, store->family->rep,
                                                                    key.data, key.length, on_read, read, &error) != 0;
      Py_END_ALLOW_THREADS read_options_give(options);
      if (!has_begun) read_free(read);
      is_ok = call_finish(self->handle, store->family, error);
    } else {
      PyMem_Free(read);
    }
    leave(self);
  } else {
    PyMem_Free(read);
  }
  key_release(&key);
  return is_ok ? PyBool_FromLong(has_begun) : NULL;
}

static PyObject* async_submit(AsyncReaderObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  Py_BEGIN_ALLOW_THREADS cambium_asyncreader_submit(self->rep);
  Py_END_ALLOW_THREADS leave(self);
  Py_RETURN_NONE;
}

/* poll(least=1, timeout=None) */
static PyObject* async_poll(AsyncReaderObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"least", "timeout", NULL};
  Py_ssize_t least = 1;
  PyObject* timeout = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|nO:poll", names, &least, &timeout)) return NULL;
  uint64_t micros = UINT64_MAX;
  if (timeout != Py_None) {
    double seconds = 0;
    if (!argument_double(timeout, &seconds)) return NULL;
    if (isnan(seconds)) {
      PyErr_SetString(PyExc_ValueError, "the timeout is not a number");
      return NULL;
    }
    micros = seconds <= 0 ? 0 : seconds > 1e12 ? UINT64_MAX : (uint64_t)(seconds * 1e6);
  }
  if (!enter(self)) return NULL;
  size_t ended;
  Py_BEGIN_ALLOW_THREADS ended = cambium_asyncreader_poll(self->rep, least < 0 ? 0 : (size_t)least, micros);
  Py_END_ALLOW_THREADS leave(self);
  return PyLong_FromSize_t(ended);
}

static PyObject* async_event_fd(AsyncReaderObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  char* error = NULL;
  const int fd = cambium_asyncreader_event_fd(self->rep, &error);
  leave(self);
  return error == NULL ? PyLong_FromLong(fd) : error_raise(error);
}

static PyObject* async_close(AsyncReaderObject* self, PyObject* ignored) {
  (void)ignored;
  if (self->is_busy) {
    PyErr_SetString(error_base, "the asynchronous reader is in use");
    return NULL;
  }
  release(&self->child);
  Py_RETURN_NONE;
}

static PyObject* async_self(PyObject* self, PyObject* ignored) {
  (void)ignored;
  Py_INCREF(self);
  return self;
}

static PyObject* async_get_in_flight(AsyncReaderObject* self, void* closure) {
  (void)closure;
  if (!enter(self)) return NULL;
  const size_t count = cambium_asyncreader_in_flight(self->rep);
  leave(self);
  return PyLong_FromSize_t(count);
}

static PyObject* async_get_closed(AsyncReaderObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(self->rep == NULL);
}

static PyMethodDef methods[] = {
    FASTCALL("get", async_get,
             "get($self, /, store, key, callback, *, verify_checksums=None, fill_cache=None, "
             "durable_only=None)\n--\n\n"
             "Begin a read. Return False if too many are in flight: poll first.\n\n"
             "poll() or close() calls callback(value, error), which must not use the reader. Both are None if the key\n"
             "does not exist."),
    {"submit", (PyCFunction)async_submit, METH_NOARGS, PyDoc_STR("Hand the reads that have begun to the system.")},
    {"poll", (PyCFunction)(void (*)(void))async_poll, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("End reads, until `least` have ended, `timeout` seconds have passed, or none is in flight.\n\n"
               "Return how many have ended.")},
    {"event_fd", (PyCFunction)async_event_fd, METH_NOARGS,
     PyDoc_STR("Return an eventfd that is readable when poll has something to do. It belongs to the reader.")},
    {"close", (PyCFunction)async_close, METH_NOARGS, PyDoc_STR("End all reads, and release the reader.")},
    {"__enter__", (PyCFunction)async_self, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)async_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getset[] = {
    {"in_flight", (getter)async_get_in_flight, NULL, PyDoc_STR("The number of reads in flight."), NULL},
    {"closed", (getter)async_get_closed, NULL, PyDoc_STR("Whether the reader, or its database, is closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject AsyncReaderType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.AsyncReader",
    .tp_doc = PyDoc_STR("Reads keys of a database, many at once from one thread, over io_uring if the system has it."),
    .tp_basicsize = sizeof(AsyncReaderObject),
    .tp_new = async_new,
    .tp_dealloc = (destructor)async_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = methods,
    .tp_getset = getset,
};
