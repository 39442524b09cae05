/* Orders of keys. An order of the caller's is a Python function. */
#include "core.h"

static int compare_bytes(const char* a, size_t a_length, const char* b, size_t b_length) {
  const size_t length = a_length < b_length ? a_length : b_length;
  const int order = length == 0 ? 0 : memcmp(a, b, length);
  if (order != 0) return order;
  return a_length == b_length ? 0 : a_length < b_length ? -1 : 1;
}

/* Called by threads of the library. After an exception no answer would be right: the library sorts by the answers, and
   writes in their order. So the process ends. */
static int compare_with_function(void* state, const char* a, size_t a_length, const char* b, size_t b_length) {
  ComparatorObject* const self = state;
  Callback callback;
  if (!callback_begin(&callback, callback_pure)) callback_wait_forever();
  long order = 0;
  bool is_ok = false;
  PyObject* const outer_type = PyErr_Occurred();
  PyObject* type = NULL;
  PyObject* value = NULL;
  PyObject* traceback = NULL;
  if (outer_type != NULL) PyErr_Fetch(&type, &value, &traceback);
  PyObject* const result =
      PyObject_CallFunction(self->function, "y#y#", a, (Py_ssize_t)a_length, b, (Py_ssize_t)b_length);
  if (result != NULL) {
    int overflow = 0;
    order = PyLong_AsLongAndOverflow(result, &overflow);
    if (overflow != 0) order = overflow;
    is_ok = !(order == -1 && PyErr_Occurred());
    Py_DECREF(result);
  }
  if (!is_ok) {
    PyErr_Print();
    Py_FatalError("a comparator has raised an exception, or its answer is no number");
  }
  if (outer_type != NULL) PyErr_Restore(type, value, traceback);
  callback_end(&callback);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

static const char* name_of(void* state) { return PyBytes_AS_STRING(((ComparatorObject*)state)->name); }

int comparator_compare(const ComparatorObject* comparator, const char* a, size_t a_length, const char* b,
                       size_t b_length) {
  if (comparator == NULL || comparator->builtin == 1) return compare_bytes(a, a_length, b, b_length);
  if (comparator->builtin == -1) return compare_bytes(b, b_length, a, a_length);
  return compare_with_function((void*)comparator, a, a_length, b, b_length);
}

/* Comparator(function, name, equal_means_same_bytes), or Comparator(None, b"", True, 1 or -1) for the library's own. */
static PyObject* comparator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function;
  PyObject* name;
  int same_bytes = 1;
  int builtin = 0;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "OS|pi:Comparator", &function, &name, &same_bytes, &builtin)) return NULL;
  if (builtin == 0 && !PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "a comparator must be callable");
    return NULL;
  }
  if (strlen(PyBytes_AS_STRING(name)) != (size_t)PyBytes_GET_SIZE(name)) {
    PyErr_SetString(PyExc_ValueError, "a comparator's name must not include a zero byte");
    return NULL;
  }
  ComparatorObject* const self = (ComparatorObject*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(function);
  self->function = function;
  Py_INCREF(name);
  self->name = name;
  self->builtin = builtin;
  if (builtin == 1) {
    self->rep = cambium_comparator_create_bytewise();
  } else if (builtin == -1) {
    self->rep = cambium_comparator_create_reverse_bytewise();
  } else {
    self->rep = cambium_comparator_create(self, NULL, compare_with_function, name_of);
    cambium_comparator_set_equal_means_same_bytes(self->rep, same_bytes != 0);
  }
  return (PyObject*)self;
}

static int comparator_traverse(ComparatorObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->function);
  return 0;
}

/* No tp_clear: the function is needed until the last database that uses it is closed. */
static void comparator_dealloc(ComparatorObject* self) {
  PyObject_GC_UnTrack(self);
  cambium_comparator_destroy(self->rep);
  Py_XDECREF(self->function);
  Py_XDECREF(self->name);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static PyObject* comparator_get_name(ComparatorObject* self, void* closure) {
  (void)closure;
  Py_INCREF(self->name);
  return self->name;
}

static PyGetSetDef getset[] = {
    {"name", (getter)comparator_get_name, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject ComparatorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Comparator",
    .tp_basicsize = sizeof(ComparatorObject),
    .tp_new = comparator_new,
    .tp_dealloc = (destructor)comparator_dealloc,
    .tp_traverse = (traverseproc)comparator_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_getset = getset,
};
