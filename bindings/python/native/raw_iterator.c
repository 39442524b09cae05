/* RawIterator: an iterator whose position is an entry, as in the C interface. */
#include "core.h"

#include <stddef.h>

typedef struct {
  PyObject_HEAD Child child;
  HandleObject* handle;
  FamilyObject* family;
  SnapshotObject* snapshot;
  PyObject* prefix;
  cambium_iterator_t* rep; /* NULL: closed */
  bool is_busy;
} RawIteratorObject;

static void destroy(cambium_t* db, void* rep) {
  (void)db;
  cambium_iter_destroy(rep);
}

static void release(Child* child) {
  RawIteratorObject* const self = CHILD_OBJECT(RawIteratorObject, child);
  cambium_iterator_t* const rep = self->rep;
  self->rep = NULL;
  child_remove(child);
  if (rep == NULL) return;
  release_in_library(self->handle, destroy, rep);
  if (!guard_is_forked(&self->handle->guard)) snapshot_unuse(self->snapshot);
}

static void raw_iterator_dealloc(RawIteratorObject* self) {
  release(&self->child);
  Py_XDECREF(self->prefix);
  Py_XDECREF(self->snapshot);
  Py_DECREF(self->family);
  Py_DECREF(self->handle);
  PyObject_Free(self);
}

/* Sets a bound, after the prefix of the reader. */
static bool set_bound(cambium_readoptions_t* options, PyObject* prefix, PyObject* bound,
                      void (*set)(cambium_readoptions_t*, const char*, size_t)) {
  if (bound == NULL || bound == Py_None) return true;
  Key key;
  if (!key_take(&key, prefix, bound)) return false;
  set(options, key.data, key.length);
  key_release(&key);
  return true;
}

PyObject* raw_iterator_make(ReaderObject* reader, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"raw_iterator",
                                0,
                                0,
                                {"lower_bound", "upper_bound", "verify_checksums", "fill_cache", "durable_only",
                                 "async_io", "pin_mapped_values", "allow_unprepared_value"},
                                {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  ReadFlags flags = READ_FLAGS_DEFAULT;
  bool unprepared = false;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !argument_bool(given[2], &flags.verify_checksums) ||
      !argument_bool(given[3], &flags.fill_cache) || !argument_bool(given[4], &flags.durable_only) ||
      !argument_bool(given[5], &flags.async_io) || !argument_bool(given[6], &flags.pin_mapped_values) ||
      !argument_bool(given[7], &unprepared)) {
    return NULL;
  }
  if (!reader_enter(reader)) return NULL;
  cambium_readoptions_t* const options = cambium_readoptions_create();
  RawIteratorObject* self = NULL;
  if (set_bound(options, reader->prefix, given[0], cambium_readoptions_set_iterate_lower_bound) &&
      set_bound(options, reader->prefix, given[1], cambium_readoptions_set_iterate_upper_bound)) {
    self = PyObject_New(RawIteratorObject, &RawIteratorType);
  }
  if (self == NULL) {
    cambium_readoptions_destroy(options);
    reader_leave(reader);
    return NULL;
  }
  cambium_readoptions_set_verify_checksums(options, flags.verify_checksums);
  cambium_readoptions_set_fill_cache(options, flags.fill_cache);
  cambium_readoptions_set_async_io(options, flags.async_io);
  cambium_readoptions_set_durable_only(options, flags.durable_only);
  cambium_readoptions_set_pin_mapped_values(options, flags.pin_mapped_values);
  cambium_readoptions_set_allow_unprepared_value(options, unprepared);
  if (reader->snapshot != NULL) cambium_readoptions_set_snapshot(options, reader->snapshot->rep);
  memset((char*)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
  self->child.close = release;
  Py_INCREF(reader->handle);
  self->handle = reader->handle;
  Py_INCREF(reader->family);
  self->family = reader->family;
  Py_XINCREF(reader->snapshot);
  self->snapshot = reader->snapshot;
  Py_XINCREF(reader->prefix);
  self->prefix = reader->prefix;
  cambium_iterator_t* rep;
  Py_BEGIN_ALLOW_THREADS rep = cambium_create_iterator_cf(self->handle->db, options, self->family->rep);
  Py_END_ALLOW_THREADS cambium_readoptions_destroy(options);
  self->rep = rep;
  child_add(self->handle, &self->child);
  guard_leave(&self->handle->guard); /* the iterator keeps the use of the snapshot */
  return (PyObject*)self;
}

static bool enter(RawIteratorObject* self) {
  if (self->rep == NULL) {
    PyErr_SetString(error_closed, "the database or the iterator is closed");
    return false;
  }
  if (!busy_enter(&self->is_busy, "the iterator")) return false;
  if (guard_enter(&self->handle->guard, "the database")) return true;
  self->is_busy = false;
  return false;
}

static void leave(RawIteratorObject* self) {
  self->is_busy = false;
  guard_leave(&self->handle->guard);
}

/* Ends a move: raises the error that made the iterator invalid. */
static PyObject* moved(RawIteratorObject* self) {
  char* error = NULL;
  if (!cambium_iter_valid(self->rep)) cambium_iter_get_error(self->rep, &error);
  leave(self);
  if (!call_finish(self->handle, self->family, error)) return NULL;
  Py_RETURN_NONE;
}

#define MOVE(name, call)                                                    \
  static PyObject* raw_##name(RawIteratorObject* self, PyObject* ignored) { \
    (void)ignored;                                                          \
    if (!enter(self)) return NULL;                                          \
    Py_BEGIN_ALLOW_THREADS call(self->rep);                                 \
    Py_END_ALLOW_THREADS return moved(self);                                \
  }
MOVE(seek_to_first, cambium_iter_seek_to_first)
MOVE(seek_to_last, cambium_iter_seek_to_last)
#undef MOVE

#define STEP(name, call)                                                      \
  static PyObject* raw_##name(RawIteratorObject* self, PyObject* ignored) {   \
    (void)ignored;                                                            \
    if (!enter(self)) return NULL;                                            \
    if (!cambium_iter_valid(self->rep)) {                                     \
      leave(self);                                                            \
      PyErr_SetString(error_iterator_invalid, "the iterator is at no entry"); \
      return NULL;                                                            \
    }                                                                         \
    Py_BEGIN_ALLOW_THREADS call(self->rep);                                   \
    Py_END_ALLOW_THREADS return moved(self);                                  \
  }
STEP(next, cambium_iter_next)
STEP(prev, cambium_iter_prev)
#undef STEP

static PyObject* seek_with(RawIteratorObject* self, PyObject* argument,
                           void (*call)(cambium_iterator_t*, const char*, size_t)) {
  Key key;
  if (!key_take(&key, self->prefix, argument)) return NULL;
  if (!enter(self)) {
    key_release(&key);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS call(self->rep, key.data, key.length);
  Py_END_ALLOW_THREADS key_release(&key);
  return moved(self);
}

static PyObject* raw_seek(RawIteratorObject* self, PyObject* target) {
  return seek_with(self, target, cambium_iter_seek);
}

static PyObject* raw_seek_for_prev(RawIteratorObject* self, PyObject* target) {
  return seek_with(self, target, cambium_iter_seek_for_prev);
}

static PyObject* raw_valid(RawIteratorObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  const bool is_valid = cambium_iter_valid(self->rep) != 0;
  leave(self);
  return PyBool_FromLong(is_valid);
}

static PyObject* take_key(RawIteratorObject* self) {
  size_t length;
  const char* const key = cambium_iter_key(self->rep, &length);
  size_t strip = self->prefix == NULL ? 0 : (size_t)PyBytes_GET_SIZE(self->prefix);
  /* Without bounds an iterator over a prefix leaves it. */
  if (strip > length || (strip > 0 && memcmp(key, PyBytes_AS_STRING(self->prefix), strip) != 0)) strip = 0;
  return PyBytes_FromStringAndSize(key + strip, (Py_ssize_t)(length - strip));
}

static PyObject* take_value(RawIteratorObject* self) {
  unsigned char is_there;
  Py_BEGIN_ALLOW_THREADS is_there = cambium_iter_prepare_value(self->rep);
  Py_END_ALLOW_THREADS if (!is_there) {
    char* error = NULL;
    cambium_iter_get_error(self->rep, &error);
    if (error == NULL) {
      PyErr_SetString(error_iterator_invalid, "the iterator is at no entry");
      return NULL;
    }
    return error_raise(error);
  }
  size_t length;
  const char* const value = cambium_iter_value(self->rep, &length);
  return PyBytes_FromStringAndSize(value, (Py_ssize_t)length);
}

static bool enter_valid(RawIteratorObject* self) {
  if (!enter(self)) return false;
  if (cambium_iter_valid(self->rep)) return true;
  leave(self);
  PyErr_SetString(error_iterator_invalid, "the iterator is at no entry");
  return false;
}

static PyObject* raw_key(RawIteratorObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter_valid(self)) return NULL;
  PyObject* const key = take_key(self);
  leave(self);
  return key;
}

static PyObject* raw_value(RawIteratorObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter_valid(self)) return NULL;
  PyObject* const value = take_value(self);
  leave(self);
  return value;
}

static PyObject* raw_item(RawIteratorObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter_valid(self)) return NULL;
  PyObject* const key = take_key(self);
  PyObject* const value = key == NULL ? NULL : take_value(self);
  leave(self);
  if (value == NULL) {
    Py_XDECREF(key);
    return NULL;
  }
  return Py_BuildValue("(NN)", key, value);
}

static PyObject* raw_value_size(RawIteratorObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter_valid(self)) return NULL;
  const uint64_t size = cambium_iter_value_size(self->rep);
  leave(self);
  return PyLong_FromUnsignedLongLong(size);
}

static PyObject* raw_close(RawIteratorObject* self, PyObject* ignored) {
  (void)ignored;
  if (self->is_busy) {
    PyErr_SetString(error_base, "the iterator is in use by another thread");
    return NULL;
  }
  release(&self->child);
  Py_RETURN_NONE;
}

static PyObject* raw_self(PyObject* self, PyObject* ignored) {
  (void)ignored;
  Py_INCREF(self);
  return self;
}

static PyObject* raw_get_closed(RawIteratorObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(self->rep == NULL);
}

#define METHOD(name, flags, doc) \
  { #name, (PyCFunction)raw_##name, flags, PyDoc_STR(doc) }
static PyMethodDef methods[] = {
    METHOD(valid, METH_NOARGS, "Return whether the iterator is at an entry."),
    METHOD(seek_to_first, METH_NOARGS, "Move to the first entry."),
    METHOD(seek_to_last, METH_NOARGS, "Move to the last entry."),
    METHOD(seek, METH_O, "Move to the first key that is equal to `target`, or after it."),
    METHOD(seek_for_prev, METH_O, "Move to the last key that is equal to `target`, or before it."),
    METHOD(next, METH_NOARGS, "Move to the next entry. IteratorInvalidError if the iterator is at no entry."),
    METHOD(prev, METH_NOARGS, "Move to the entry before. IteratorInvalidError if the iterator is at no entry."),
    METHOD(key, METH_NOARGS, "Return the key of the entry."),
    METHOD(value, METH_NOARGS, "Return the value of the entry."),
    METHOD(item, METH_NOARGS, "Return the key and the value of the entry."),
    METHOD(value_size, METH_NOARGS, "Return the size of the value; if it has not been read, as far as it is known."),
    METHOD(close, METH_NOARGS, "Release what the iterator holds. Closing the database does this too."),
    {"__enter__", (PyCFunction)raw_self, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)raw_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
#undef METHOD
static PyGetSetDef getset[] = {
    {"closed", (getter)raw_get_closed, NULL, PyDoc_STR("Whether the iterator, or its database, is closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject RawIteratorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.RawIterator",
    .tp_doc = PyDoc_STR("An iterator whose position is an entry. It shows the state at its creation."),
    .tp_basicsize = sizeof(RawIteratorObject),
    .tp_dealloc = (destructor)raw_iterator_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = methods,
    .tp_getset = getset,
};
