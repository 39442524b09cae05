/* Options of a database and of a family. Those with a text form are set and read as text: cambium/_options.py. */
#include "core.h"

OptionsObject* options_make(cambium_options_t* rep, PyObject* kept, ComparatorObject* comparator) {
  OptionsObject* const self = (OptionsObject*)OptionsType.tp_alloc(&OptionsType, 0);
  if (self == NULL) {
    cambium_options_destroy(rep);
    return NULL;
  }
  self->rep = rep;
  Py_INCREF(kept);
  self->kept = kept;
  Py_XINCREF(comparator);
  self->comparator = comparator;
  return self;
}

static PyObject* options_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  (void)args;
  (void)kwargs;
  OptionsObject* const self = (OptionsObject*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  self->rep = cambium_options_create();
  self->kept = PyList_New(0);
  if (self->kept != NULL) return (PyObject*)self;
  Py_DECREF(self);
  return NULL;
}

static int options_traverse(OptionsObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->kept);
  Py_VISIT(self->comparator);
  return 0;
}

static void options_dealloc(OptionsObject* self) {
  PyObject_GC_UnTrack(self);
  cambium_options_t* const rep = self->rep;
  if (rep != NULL) {
    Py_BEGIN_ALLOW_THREADS cambium_options_destroy(rep);
    Py_END_ALLOW_THREADS
  }
  Py_XDECREF(self->kept);
  Py_XDECREF(self->comparator);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static PyObject* options_update(OptionsObject* self, PyObject* argument) {
  PyObject* const text = text_take(argument, "options");
  if (text == NULL) return NULL;
  char* error = NULL;
  cambium_options_t* const changed = cambium_options_create();
  cambium_get_options_from_string(self->rep, PyBytes_AS_STRING(text), changed, &error);
  Py_DECREF(text);
  if (error != NULL) {
    cambium_options_destroy(changed);
    return error_raise(error);
  }
  cambium_options_t* const old = self->rep;
  self->rep = changed;
  cambium_options_destroy(old);
  Py_RETURN_NONE;
}

static PyObject* options_to_string(OptionsObject* self, PyObject* ignored) {
  (void)ignored;
  char* error = NULL;
  char* const text = cambium_options_to_string(self->rep, &error);
  if (error != NULL) return error_raise(error);
  PyObject* const result = text_make(text, strlen(text));
  cambium_free(text);
  return result;
}

static PyObject* options_copy(OptionsObject* self, PyObject* ignored) {
  (void)ignored;
  PyObject* const kept = PyList_GetSlice(self->kept, 0, PyList_GET_SIZE(self->kept));
  if (kept == NULL) return NULL;
  PyObject* const copy = (PyObject*)options_make(cambium_options_create_copy(self->rep), kept, self->comparator);
  Py_DECREF(kept);
  return copy;
}

/* Makes `self` a copy of another object. */
static PyObject* options_assign(OptionsObject* self, PyObject* argument) {
  if (!PyObject_TypeCheck(argument, &OptionsType)) {
    PyErr_SetString(PyExc_TypeError, "Options expected");
    return NULL;
  }
  OptionsObject* const other = (OptionsObject*)argument;
  PyObject* const kept = PyList_GetSlice(other->kept, 0, PyList_GET_SIZE(other->kept));
  if (kept == NULL) return NULL;
  cambium_options_t* const old = self->rep;
  self->rep = cambium_options_create_copy(other->rep);
  cambium_options_destroy(old);
  Py_SETREF(self->kept, kept);
  Py_XINCREF(other->comparator);
  Py_XSETREF(self->comparator, other->comparator);
  Py_RETURN_NONE;
}

static PyObject* options_optimize_for_rocksdb_compatibility(OptionsObject* self, PyObject* ignored) {
  (void)ignored;
  cambium_options_optimize_for_rocksdb_compatibility(self->rep);
  Py_RETURN_NONE;
}

/* ---- Objects ---- */

static bool keep(OptionsObject* self, PyObject* object, PyTypeObject* type) {
  if (!PyObject_TypeCheck(object, type)) {
    PyErr_Format(PyExc_TypeError, "%s expected, not %.200s", type->tp_name, Py_TYPE(object)->tp_name);
    return false;
  }
  return PyList_Append(self->kept, object) == 0;
}

static PyObject* options_set_comparator(OptionsObject* self, PyObject* object) {
  if (!keep(self, object, &ComparatorType)) return NULL;
  cambium_options_set_comparator(self->rep, ((ComparatorObject*)object)->rep);
  Py_INCREF(object);
  Py_XSETREF(self->comparator, (ComparatorObject*)object);
  Py_RETURN_NONE;
}

static PyObject* options_set_compaction_filter(OptionsObject* self, PyObject* object) {
  if (!keep(self, object, &FilterType)) return NULL;
  cambium_options_set_compaction_filter(self->rep, ((FilterObject*)object)->rep);
  Py_RETURN_NONE;
}

static PyObject* options_set_compaction_filter_factory(OptionsObject* self, PyObject* object) {
  if (!keep(self, object, &FilterFactoryType)) return NULL;
  cambium_options_set_compaction_filter_factory(self->rep, filter_factory_rep_make((FilterFactoryObject*)object));
  Py_RETURN_NONE;
}

static PyObject* options_set_rate_limiter(OptionsObject* self, PyObject* object) {
  if (object == Py_None) {
    cambium_options_set_ratelimiter(self->rep, NULL);
    Py_RETURN_NONE;
  }
  if (!keep(self, object, &RateLimiterType)) return NULL;
  cambium_options_set_ratelimiter(self->rep, ((RateLimiterObject*)object)->rep);
  Py_RETURN_NONE;
}

static PyObject* options_set_write_buffer_manager(OptionsObject* self, PyObject* object) {
  if (object == Py_None) {
    cambium_options_set_write_buffer_manager(self->rep, NULL);
    Py_RETURN_NONE;
  }
  if (!keep(self, object, &WriteBufferManagerType)) return NULL;
  cambium_options_set_write_buffer_manager(self->rep, ((WriteBufferManagerObject*)object)->rep);
  Py_RETURN_NONE;
}

static PyObject* options_set_logger(OptionsObject* self, PyObject* object) {
  if (object == Py_None) {
    cambium_options_set_info_log(self->rep, NULL);
    Py_RETURN_NONE;
  }
  if (!keep(self, object, &LoggerType)) return NULL;
  cambium_options_set_info_log(self->rep, ((LoggerObject*)object)->rep);
  Py_RETURN_NONE;
}

static PyObject* options_add_listener(OptionsObject* self, PyObject* object) {
  if (!keep(self, object, &ListenerType)) return NULL;
  cambium_options_add_eventlistener(self->rep, ((ListenerObject*)object)->rep);
  Py_RETURN_NONE;
}

/* ---- Statistics ---- */

static PyObject* options_enable_statistics(OptionsObject* self, PyObject* ignored) {
  (void)ignored;
  cambium_options_enable_statistics(self->rep);
  Py_RETURN_NONE;
}

static PyObject* options_get_statistics_level(OptionsObject* self, void* closure) {
  (void)closure;
  return PyLong_FromLong(cambium_options_get_statistics_level(self->rep));
}

static int options_set_statistics_level(OptionsObject* self, PyObject* value, void* closure) {
  (void)closure;
  int level = 0;
  if (value == NULL || value == Py_None) {
    PyErr_SetString(PyExc_TypeError, "statistics_level must be a number");
    return -1;
  }
  if (!argument_int(value, &level)) return -1;
  cambium_options_set_statistics_level(self->rep, level);
  return 0;
}

static PyObject* options_statistics(OptionsObject* self, PyObject* ignored) {
  (void)ignored;
  char* text;
  Py_BEGIN_ALLOW_THREADS text = cambium_options_statistics_get_string(self->rep);
  Py_END_ALLOW_THREADS if (text == NULL) Py_RETURN_NONE;
  PyObject* const result = text_make(text, strlen(text));
  cambium_free(text);
  return result;
}

static PyObject* options_ticker(OptionsObject* self, PyObject* argument) {
  PyObject* const name = text_take(argument, "ticker");
  if (name == NULL) return NULL;
  const uint32_t number = cambium_statistics_ticker(PyBytes_AS_STRING(name));
  Py_DECREF(name);
  if (number == UINT32_MAX) {
    PyErr_SetObject(PyExc_KeyError, argument);
    return NULL;
  }
  return PyLong_FromUnsignedLongLong(cambium_options_statistics_get_ticker_count(self->rep, number));
}

static PyObject* options_histogram(OptionsObject* self, PyObject* argument) {
  PyObject* const name = text_take(argument, "histogram");
  if (name == NULL) return NULL;
  const uint32_t number = cambium_statistics_histogram(PyBytes_AS_STRING(name));
  Py_DECREF(name);
  if (number == UINT32_MAX) {
    PyErr_SetObject(PyExc_KeyError, argument);
    return NULL;
  }
  cambium_statistics_histogram_data_t* const data = cambium_statistics_histogram_data_create();
  cambium_options_statistics_get_histogram_data(self->rep, number, data);
  PyObject* const result = Py_BuildValue(
      "(dddddddKK)", cambium_statistics_histogram_data_get_median(data),
      cambium_statistics_histogram_data_get_p95(data), cambium_statistics_histogram_data_get_p99(data),
      cambium_statistics_histogram_data_get_average(data), cambium_statistics_histogram_data_get_std_dev(data),
      cambium_statistics_histogram_data_get_max(data), cambium_statistics_histogram_data_get_min(data),
      (unsigned long long)cambium_statistics_histogram_data_get_count(data),
      (unsigned long long)cambium_statistics_histogram_data_get_sum(data));
  cambium_statistics_histogram_data_destroy(data);
  return result;
}

static PyMethodDef methods[] = {
    {"update_text", (PyCFunction)options_update, METH_O, NULL},
    {"to_string", (PyCFunction)options_to_string, METH_NOARGS, NULL},
    {"copy", (PyCFunction)options_copy, METH_NOARGS, NULL},
    {"assign", (PyCFunction)options_assign, METH_O, NULL},
    {"optimize_for_rocksdb_compatibility", (PyCFunction)options_optimize_for_rocksdb_compatibility, METH_NOARGS, NULL},
    {"set_comparator", (PyCFunction)options_set_comparator, METH_O, NULL},
    {"set_compaction_filter", (PyCFunction)options_set_compaction_filter, METH_O, NULL},
    {"set_compaction_filter_factory", (PyCFunction)options_set_compaction_filter_factory, METH_O, NULL},
    {"set_rate_limiter", (PyCFunction)options_set_rate_limiter, METH_O, NULL},
    {"set_write_buffer_manager", (PyCFunction)options_set_write_buffer_manager, METH_O, NULL},
    {"set_logger", (PyCFunction)options_set_logger, METH_O, NULL},
    {"add_listener", (PyCFunction)options_add_listener, METH_O, NULL},
    {"enable_statistics", (PyCFunction)options_enable_statistics, METH_NOARGS, NULL},
    {"statistics", (PyCFunction)options_statistics, METH_NOARGS, NULL},
    {"ticker", (PyCFunction)options_ticker, METH_O, NULL},
    {"histogram", (PyCFunction)options_histogram, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getset[] = {
    {"statistics_level", (getter)options_get_statistics_level, (setter)options_set_statistics_level, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject OptionsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Options",
    .tp_basicsize = sizeof(OptionsObject),
    .tp_new = options_new,
    .tp_dealloc = (destructor)options_dealloc,
    .tp_traverse = (traverseproc)options_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_methods = methods,
    .tp_getset = getset,
};
