/* WriteConditions: what keys must be when a batch is written. */
#include "core.h"

typedef struct {
  PyObject_HEAD cambium_writeconditions_t* rep;
  ReaderObject* store; /* where keys without a family are */
  PyObject* families;  /* a list of the families in the conditions, whose handles they use */
  Py_ssize_t count;
  bool is_busy;
} ConditionsObject;

static int conditions_init(ConditionsObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"store", NULL};
  PyObject* store;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:WriteConditions", names, &StoreType, &store)) return -1;
  if (self->rep != NULL) {
    PyErr_SetString(PyExc_TypeError, "the object is initialized already");
    return -1;
  }
  self->families = PyList_New(0);
  if (self->families == NULL) return -1;
  self->rep = cambium_writeconditions_create();
  Py_INCREF(store);
  self->store = (ReaderObject*)store;
  return 0;
}

static int conditions_traverse(ConditionsObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->store);
  Py_VISIT(self->families);
  return 0;
}

static void conditions_dealloc(ConditionsObject* self) {
  PyObject_GC_UnTrack(self);
  if (self->rep != NULL) cambium_writeconditions_destroy(self->rep);
  Py_XDECREF(self->families);
  Py_XDECREF(self->store);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static bool enter(ConditionsObject* self) {
  if (self->rep == NULL || self->store->handle == NULL) {
    PyErr_SetString(error_closed, "the conditions are not initialized");
    return false;
  }
  return busy_enter(&self->is_busy, "the conditions");
}

cambium_writeconditions_t* conditions_borrow(PyObject* object, const HandleObject* handle) {
  if (!PyObject_TypeCheck(object, &ConditionsType)) {
    PyErr_SetString(PyExc_TypeError, "WriteConditions expected");
    return NULL;
  }
  ConditionsObject* const self = (ConditionsObject*)object;
  if (!enter(self)) return NULL;
  if (self->store->handle != handle) {
    self->is_busy = false;
    PyErr_SetString(PyExc_ValueError, "the conditions are of another database");
    return NULL;
  }
  return self->rep;
}

void conditions_give_back(PyObject* object) { ((ConditionsObject*)object)->is_busy = false; }

static PyObject* conditions_is_absent(ConditionsObject* self, PyObject* const* args, Py_ssize_t nargs,
                                      PyObject* kwnames) {
  static Signature signature = {"is_absent", 1, 1, {"key", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !enter(self)) return NULL;
  ReaderObject* const reader = family_argument(self->store, self->families, given[1]);
  PyObject* result = NULL;
  Key key;
  if (reader != NULL && key_take(&key, reader->prefix, given[0])) {
    cambium_writeconditions_is_absent_cf(self->rep, reader->family->rep, key.data, key.length);
    key_release(&key);
    ++self->count;
    Py_INCREF(Py_None);
    result = Py_None;
  }
  self->is_busy = false;
  return result;
}

static PyObject* conditions_has_value(ConditionsObject* self, PyObject* const* args, Py_ssize_t nargs,
                                      PyObject* kwnames) {
  static Signature signature = {"has_value", 2, 2, {"key", "value", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !enter(self)) return NULL;
  ReaderObject* const reader = family_argument(self->store, self->families, given[2]);
  PyObject* result = NULL;
  Key key;
  Bytes value;
  if (reader != NULL && key_take(&key, reader->prefix, given[0])) {
    if (bytes_take(&value, given[1], "value")) {
      cambium_writeconditions_has_value_cf(self->rep, reader->family->rep, key.data, key.length, value.data,
                                           value.length);
      bytes_release(&value);
      ++self->count;
      Py_INCREF(Py_None);
      result = Py_None;
    }
    key_release(&key);
  }
  self->is_busy = false;
  return result;
}

static PyObject* conditions_clear(ConditionsObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  cambium_writeconditions_clear(self->rep);
  self->count = 0;
  self->is_busy = false;
  if (PyList_SetSlice(self->families, 0, PyList_GET_SIZE(self->families), NULL) != 0) return NULL;
  Py_RETURN_NONE;
}

static Py_ssize_t conditions_length(ConditionsObject* self) { return self->count; }

static PyMethodDef methods[] = {
    FASTCALL("is_absent", conditions_is_absent,
             "is_absent($self, /, key, *, column_family=None)\n--\n\n"
             "Add: the key does not exist, in `column_family` or where the conditions were made."),
    FASTCALL("has_value", conditions_has_value,
             "has_value($self, /, key, value, *, column_family=None)\n--\n\n"
             "Add: the key exists, with this value."),
    {"clear", (PyCFunction)conditions_clear, METH_NOARGS, PyDoc_STR("Remove all conditions.")},
    {NULL, NULL, 0, NULL},
};
static PySequenceMethods sequence = {.sq_length = (lenfunc)conditions_length};
PyTypeObject ConditionsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.WriteConditions",
    .tp_doc = PyDoc_STR("What keys must be when WriteBatch.write_if writes a batch. One thread at a time may use it."),
    .tp_basicsize = sizeof(ConditionsObject),
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)conditions_init,
    .tp_dealloc = (destructor)conditions_dealloc,
    .tp_traverse = (traverseproc)conditions_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_as_sequence = &sequence,
    .tp_methods = methods,
};
