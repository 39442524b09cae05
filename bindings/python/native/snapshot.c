/* Snapshots. A snapshot that is closed while an iterator or a call uses it is released after that. */
#include "core.h"

#include <stddef.h>

static void destroy(cambium_t* db, void* rep) { cambium_release_snapshot(db, rep); }

static void release(SnapshotObject* self) {
  const cambium_snapshot_t* const rep = self->rep;
  self->rep = NULL;
  child_remove(&self->child);
  if (rep != NULL) release_in_library(self->handle, destroy, (void*)rep);
}

/* Iterators that use it are younger, so they are closed already, unless another thread is destroying one. Then the last
   user releases the snapshot, and handle_shut waits for that. */
static void snapshot_child_close(Child* child) {
  SnapshotObject* const self = CHILD_OBJECT(SnapshotObject, child);
  self->is_closed = true;
  if (self->users == 0) {
    release(self);
  } else {
    child_move_to_front(self->handle, child);
  }
}

SnapshotObject* snapshot_make(HandleObject* handle) {
  if (!guard_enter(&handle->guard, "the database")) return NULL;
  const cambium_snapshot_t* rep;
  Py_BEGIN_ALLOW_THREADS rep = cambium_create_snapshot(handle->db);
  Py_END_ALLOW_THREADS SnapshotObject* const self = rep == NULL ? NULL : PyObject_New(SnapshotObject, &SnapshotType);
  if (self != NULL) {
    Py_INCREF(handle);
    self->handle = handle;
    self->rep = rep;
    self->users = 0;
    self->is_closed = false;
    self->child.close = snapshot_child_close;
    self->child.exports = NULL;
    child_add(handle, &self->child);
  } else if (rep == NULL) {
    PyErr_SetString(error_base, "the library has made no snapshot");
  } else {
    release_in_library(handle, destroy, (void*)rep);
  }
  guard_leave(&handle->guard);
  return self;
}

bool snapshot_use(SnapshotObject* snapshot) {
  if (snapshot == NULL) return true;
  if (snapshot->is_closed) {
    PyErr_SetString(error_closed, "the snapshot is closed");
    return false;
  }
  ++snapshot->users;
  return true;
}

void snapshot_unuse(SnapshotObject* snapshot) {
  if (snapshot == NULL) return;
  if (--snapshot->users == 0 && snapshot->is_closed) release(snapshot);
}

static PyObject* snapshot_close(SnapshotObject* self, PyObject* ignored) {
  (void)ignored;
  self->is_closed = true;
  if (self->users == 0) release(self);
  Py_RETURN_NONE;
}

static void snapshot_dealloc(SnapshotObject* self) {
  release(self);
  Py_DECREF(self->handle);
  PyObject_Free(self);
}

static PyObject* snapshot_get_closed(SnapshotObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(self->is_closed || self->rep == NULL);
}

static PyObject* snapshot_get_sequence_number(SnapshotObject* self, void* closure) {
  (void)closure;
  if (!guard_enter(&self->handle->guard, "the database")) return NULL;
  PyObject* result = NULL;
  if (snapshot_use(self)) {
    result = PyLong_FromUnsignedLongLong(cambium_snapshot_get_sequence_number(self->rep));
    snapshot_unuse(self);
  }
  guard_leave(&self->handle->guard);
  return result;
}

static PyMethodDef methods[] = {
    {"close", (PyCFunction)snapshot_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getset[] = {
    {"closed", (getter)snapshot_get_closed, NULL, NULL, NULL},
    {"sequence_number", (getter)snapshot_get_sequence_number, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject SnapshotType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.SnapshotHandle",
    .tp_basicsize = sizeof(SnapshotObject),
    .tp_dealloc = (destructor)snapshot_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = methods,
    .tp_getset = getset,
};
