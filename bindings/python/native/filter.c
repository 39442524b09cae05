/* Compaction filters. The Python object has `filter(level, key, value)` and perhaps `filter_key(level, key)`. An answer
   is a pair (decision, bytes or None), as cambium/_filter.py makes it. */
#include "core.h"

#define DECISION_ILLEGAL 255 /* ends the compaction, which changes nothing */

/* Calls a method of the filter's object; takes its answer over. */
static int ask(PyObject* object, const char* method, int level, const char* key, size_t key_length, const char* value,
               size_t value_length, cambium_compactionfilteranswer_t* answer) {
  Callback callback;
  if (!callback_begin(&callback, callback_pure)) callback_wait_forever();
  int decision = DECISION_ILLEGAL;
  PyObject* const result = value == NULL
                               ? PyObject_CallMethod(object, method, "iy#", level, key, (Py_ssize_t)key_length)
                               : PyObject_CallMethod(object, method, "iy#y#", level, key, (Py_ssize_t)key_length, value,
                                                     (Py_ssize_t)value_length);
  int number;
  PyObject* bytes;
  if (result != NULL && PyArg_ParseTuple(result, "iO", &number, &bytes)) {
    if (bytes == Py_None) {
      decision = number;
    } else {
      Bytes taken;
      if (bytes_take(&taken, bytes, "the answer of a compaction filter")) {
        if (number == cambium_filter_change_value) {
          cambium_compactionfilteranswer_set_value(answer, taken.data, taken.length);
        } else {
          cambium_compactionfilteranswer_skip_until(answer, taken.data, taken.length);
        }
        decision = number;
        bytes_release(&taken);
      }
    }
  }
  Py_XDECREF(result);
  if (PyErr_Occurred()) {
    decision = DECISION_ILLEGAL;
    Py_XDECREF(callback_report(object));
  }
  callback_end(&callback);
  return decision;
}

static int by_value(void* state, int level, const char* key, size_t key_length, const char* value, size_t value_length,
                    cambium_compactionfilteranswer_t* answer) {
  return ask(state, "_by_value", level, key, key_length, value == NULL ? "" : value, value_length, answer);
}

static int by_key(void* state, int level, const char* key, size_t key_length,
                  cambium_compactionfilteranswer_t* answer) {
  return ask(state, "_by_key", level, key, key_length, NULL, 0, answer);
}

static const char* filter_name(void* state) {
  (void)state;
  return "python_filter";
}

static void forget(void* state) {
  Callback callback;
  if (!callback_begin(&callback, callback_pure)) return;
  Py_DECREF((PyObject*)state);
  callback_end(&callback);
}

/* `owns`: the filter holds the object, else its creator does. */
cambium_compactionfilter_t* filter_rep_make(PyObject* object, bool owns) {
  PyObject* const asks = PyObject_GetAttrString(object, "_asks_by_key");
  if (asks == NULL) return NULL;
  const int asks_by_key = PyObject_IsTrue(asks);
  Py_DECREF(asks);
  if (asks_by_key < 0) return NULL;
  if (owns) Py_INCREF(object);
  return cambium_compactionfilter_create_v2(object, owns ? forget : NULL, asks_by_key ? by_key : NULL, by_value,
                                            filter_name);
}

/* Filter(object): a filter that options borrow. */
static PyObject* filter_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* object;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O:Filter", &object)) return NULL;
  FilterObject* const self = (FilterObject*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(object);
  self->object = object;
  self->rep = filter_rep_make(object, false);
  if (self->rep != NULL) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

static int filter_traverse(FilterObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->object);
  return 0;
}

static void filter_dealloc(FilterObject* self) {
  PyObject_GC_UnTrack(self);
  cambium_compactionfilter_destroy(self->rep);
  Py_XDECREF(self->object);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

PyTypeObject FilterType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Filter",
    .tp_basicsize = sizeof(FilterObject),
    .tp_new = filter_new,
    .tp_dealloc = (destructor)filter_dealloc,
    .tp_traverse = (traverseproc)filter_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
};

/* ---- Factories ---- */

static int broken_by_value(void* state, int level, const char* key, size_t key_length, const char* value,
                           size_t value_length, cambium_compactionfilteranswer_t* answer) {
  (void)state, (void)level, (void)key, (void)key_length, (void)value, (void)value_length, (void)answer;
  return DECISION_ILLEGAL;
}

/* Calls the factory with what it is told about the job. After an exception the filter's answers end the job. */
static cambium_compactionfilter_t* create(void* state, cambium_compactionfiltercontext_t* context) {
  FilterFactoryObject* const self = state;
  Callback callback;
  if (!callback_begin(&callback, callback_pure)) callback_wait_forever();
  cambium_compactionfilter_t* made = NULL;
  PyObject* const object = PyObject_CallFunction(
      self->function, "NNk", PyBool_FromLong(cambium_compactionfiltercontext_is_full_compaction(context)),
      PyBool_FromLong(cambium_compactionfiltercontext_is_manual_compaction(context)),
      (unsigned long)cambium_compactionfiltercontext_column_family_id(context));
  if (object != NULL && object != Py_None) made = filter_rep_make(object, true);
  Py_XDECREF(object);
  if (PyErr_Occurred()) {
    Py_XDECREF(callback_report(self->function));
    made = cambium_compactionfilter_create_v2(NULL, NULL, NULL, broken_by_value, filter_name);
  }
  callback_end(&callback);
  return made;
}

static const char* factory_name(void* state) { return PyBytes_AS_STRING(((FilterFactoryObject*)state)->name); }

cambium_compactionfilterfactory_t* filter_factory_rep_make(FilterFactoryObject* factory) {
  return cambium_compactionfilterfactory_create(factory, NULL, create, factory_name);
}

/* FilterFactory(function, name) */
static PyObject* factory_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function;
  PyObject* name;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "OS:FilterFactory", &function, &name)) return NULL;
  FilterFactoryObject* const self = (FilterFactoryObject*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(function);
  self->function = function;
  Py_INCREF(name);
  self->name = name;
  return (PyObject*)self;
}

static int factory_traverse(FilterFactoryObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->function);
  return 0;
}

static void factory_dealloc(FilterFactoryObject* self) {
  PyObject_GC_UnTrack(self);
  Py_XDECREF(self->function);
  Py_XDECREF(self->name);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

PyTypeObject FilterFactoryType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.FilterFactory",
    .tp_basicsize = sizeof(FilterFactoryObject),
    .tp_new = factory_new,
    .tp_dealloc = (destructor)factory_dealloc,
    .tp_traverse = (traverseproc)factory_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
};
