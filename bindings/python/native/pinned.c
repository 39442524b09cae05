/* PinnedValue: the bytes of a value, read through the buffer protocol without a copy. */
#include "core.h"

#include <stddef.h>

typedef struct {
  PyObject_HEAD Child child;
  HandleObject* handle;
  cambium_pinnableslice_t* rep; /* NULL: released */
  Py_ssize_t exports;
  PyObject* view; /* what __enter__ has returned */
} PinnedObject;

static void destroy(cambium_t* db, void* rep) {
  (void)db;
  cambium_pinnableslice_destroy(rep);
}

static void release(Child* child) {
  PinnedObject* const self = CHILD_OBJECT(PinnedObject, child);
  cambium_pinnableslice_t* const rep = self->rep;
  self->rep = NULL;
  child_remove(child);
  if (rep != NULL) release_in_library(self->handle, destroy, rep);
}

static Py_ssize_t exports(Child* child) { return CHILD_OBJECT(PinnedObject, child)->exports; }

PyObject* pinned_make(HandleObject* handle, cambium_pinnableslice_t* rep) {
  PinnedObject* const self = PyObject_New(PinnedObject, &PinnedType);
  if (self == NULL) {
    cambium_pinnableslice_destroy(rep);
    return NULL;
  }
  Py_INCREF(handle);
  self->handle = handle;
  self->rep = rep;
  self->exports = 0;
  self->view = NULL;
  self->child.close = release;
  self->child.exports = exports;
  child_add(handle, &self->child);
  return (PyObject*)self;
}

static void pinned_dealloc(PinnedObject* self) {
  release(&self->child);
  Py_DECREF(self->handle);
  PyObject_Free(self);
}

static bool check(PinnedObject* self) {
  if (self->rep == NULL) {
    PyErr_SetString(error_closed, "the value is released");
    return false;
  }
  if (!guard_enter(&self->handle->guard, "the database")) return false;
  guard_leave(&self->handle->guard);
  return true;
}

static int pinned_getbuffer(PinnedObject* self, Py_buffer* view, int flags) {
  view->obj = NULL;
  if (!check(self)) return -1;
  size_t length;
  const char* const data = cambium_pinnableslice_value(self->rep, &length);
  if (PyBuffer_FillInfo(view, (PyObject*)self, (void*)data, (Py_ssize_t)length, 1, flags) != 0) return -1;
  ++self->exports;
  return 0;
}

static void pinned_releasebuffer(PinnedObject* self, Py_buffer* view) {
  (void)view;
  --self->exports;
}

static Py_ssize_t pinned_length(PinnedObject* self) {
  if (!check(self)) return -1;
  size_t length;
  cambium_pinnableslice_value(self->rep, &length);
  return (Py_ssize_t)length;
}

static PyObject* pinned_release(PinnedObject* self, PyObject* ignored) {
  (void)ignored;
  if (self->exports > 0) {
    PyErr_Format(PyExc_BufferError, "the value cannot be released: %zd buffers are in use", self->exports);
    return NULL;
  }
  release(&self->child);
  Py_RETURN_NONE;
}

static PyObject* pinned_exit(PinnedObject* self, PyObject* ignored) {
  (void)ignored;
  if (self->view != NULL) {
    PyObject* const view = self->view;
    self->view = NULL;
    PyObject* const released = PyObject_CallMethod(view, "release", NULL);
    Py_DECREF(view);
    if (released == NULL) return NULL;
    Py_DECREF(released);
  }
  return pinned_release(self, NULL);
}

static PyObject* pinned_enter(PinnedObject* self, PyObject* ignored) {
  (void)ignored;
  if (!check(self)) return NULL;
  if (self->view == NULL) self->view = PyMemoryView_FromObject((PyObject*)self);
  Py_XINCREF(self->view);
  return self->view;
}

static PyObject* pinned_tobytes(PinnedObject* self, PyObject* ignored) {
  (void)ignored;
  if (!check(self)) return NULL;
  size_t length;
  const char* const data = cambium_pinnableslice_value(self->rep, &length);
  return PyBytes_FromStringAndSize(data, (Py_ssize_t)length);
}

static PyMethodDef methods[] = {
    {"release", (PyCFunction)pinned_release, METH_NOARGS,
     PyDoc_STR("Release the bytes. BufferError while a memoryview of the value exists.")},
    {"tobytes", (PyCFunction)pinned_tobytes, METH_NOARGS, PyDoc_STR("Return a copy of the bytes.")},
    {"__enter__", (PyCFunction)pinned_enter, METH_NOARGS,
     PyDoc_STR("Return a memoryview of the bytes, which __exit__ releases.")},
    {"__exit__", (PyCFunction)pinned_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyBufferProcs buffer = {(getbufferproc)pinned_getbuffer, (releasebufferproc)pinned_releasebuffer};
static PySequenceMethods sequence = {.sq_length = (lenfunc)pinned_length};
PyTypeObject PinnedType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.PinnedValue",
    .tp_doc = PyDoc_STR("The bytes of a value, without a copy: memoryview(value), len(value), bytes(value)."),
    .tp_basicsize = sizeof(PinnedObject),
    .tp_dealloc = (destructor)pinned_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_buffer = &buffer,
    .tp_as_sequence = &sequence,
    .tp_methods = methods,
};
