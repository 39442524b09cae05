/* Loggers, rate limiters, write buffer managers. */
#include "core.h"

/* ---- Loggers ---- */

static void log_line(void* state, int level, const char* line, size_t length) {
  LoggerObject* const self = state;
  Callback callback;
  if (!callback_begin(&callback, callback_pure)) return;
  PyObject* type;
  PyObject* value;
  PyObject* traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* const text = PyUnicode_DecodeUTF8(line, (Py_ssize_t)length, "backslashreplace");
  PyObject* const result = text == NULL ? NULL : PyObject_CallFunction(self->function, "iO", level, text);
  Py_XDECREF(text);
  if (result == NULL) Py_XDECREF(callback_report(self->function));
  Py_XDECREF(result);
  PyErr_Restore(type, value, traceback);
  callback_end(&callback);
}

/* Logger(function, level); None: drops everything. */
static PyObject* logger_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function;
  int level;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "Oi:Logger", &function, &level)) return NULL;
  if (function != Py_None && !PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "a logger must be callable");
    return NULL;
  }
  LoggerObject* const self = (LoggerObject*)type->tp_alloc(type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(function);
  self->function = function;
  self->rep = function == Py_None ? cambium_logger_create_null_logger()
                                  : cambium_logger_create_callback_logger(level, log_line, self);
  return (PyObject*)self;
}

static int logger_traverse(LoggerObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->function);
  return 0;
}

static void logger_dealloc(LoggerObject* self) {
  PyObject_GC_UnTrack(self);
  cambium_logger_destroy(self->rep);
  Py_XDECREF(self->function);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

PyTypeObject LoggerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Logger",
    .tp_basicsize = sizeof(LoggerObject),
    .tp_new = logger_new,
    .tp_dealloc = (destructor)logger_dealloc,
    .tp_traverse = (traverseproc)logger_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
};

/* ---- Rate limiters ---- */

static PyObject* limiter_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"bytes_per_second", "refill_period_us", "fairness", NULL};
  long long rate;
  long long period = 100000;
  int fairness = 10;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "L|Li:RateLimiter", names, &rate, &period, &fairness)) return NULL;
  RateLimiterObject* const self = (RateLimiterObject*)type->tp_alloc(type, 0);
  if (self != NULL) self->rep = cambium_ratelimiter_create(rate, period, fairness);
  return (PyObject*)self;
}

static void limiter_dealloc(RateLimiterObject* self) {
  cambium_ratelimiter_destroy(self->rep);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static PyObject* limiter_get_rate(RateLimiterObject* self, void* closure) {
  (void)closure;
  return PyLong_FromLongLong(cambium_ratelimiter_get_bytes_per_second(self->rep));
}

static int limiter_set_rate(RateLimiterObject* self, PyObject* value, void* closure) {
  (void)closure;
  if (value == NULL) {
    PyErr_SetString(PyExc_AttributeError, "bytes_per_second cannot be deleted");
    return -1;
  }
  const long long rate = PyLong_AsLongLong(value);
  if (rate == -1 && PyErr_Occurred()) return -1;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_ratelimiter_set_bytes_per_second(self->rep, rate, &error);
  Py_END_ALLOW_THREADS if (error == NULL) return 0;
  error_raise(error);
  return -1;
}

static PyGetSetDef limiter_getset[] = {
    {"bytes_per_second", (getter)limiter_get_rate, (setter)limiter_set_rate,
     PyDoc_STR("How many bytes background work may write in a second."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject RateLimiterType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.RateLimiter",
    .tp_doc = PyDoc_STR("Limits what the background work of one or several databases writes."),
    .tp_basicsize = sizeof(RateLimiterObject),
    .tp_new = limiter_new,
    .tp_dealloc = (destructor)limiter_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_getset = limiter_getset,
};

/* ---- Write buffer managers ---- */

static PyObject* manager_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"buffer_size", "allow_stall", NULL};
  unsigned long long size;
  int stall = 0;
  PyObject* number;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:WriteBufferManager", names, &number, &stall)) return NULL;
  uint64_t converted = 0;
  if (!argument_uint64(number, &converted)) return NULL;
  size = converted;
  WriteBufferManagerObject* const self = (WriteBufferManagerObject*)type->tp_alloc(type, 0);
  if (self != NULL) self->rep = cambium_write_buffer_manager_create((size_t)size, stall != 0);
  return (PyObject*)self;
}

static void manager_dealloc(WriteBufferManagerObject* self) {
  cambium_write_buffer_manager_t* const rep = self->rep;
  Py_BEGIN_ALLOW_THREADS cambium_write_buffer_manager_destroy(rep);
  Py_END_ALLOW_THREADS Py_TYPE(self)->tp_free((PyObject*)self);
}

static PyObject* manager_get_enabled(WriteBufferManagerObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(cambium_write_buffer_manager_enabled(self->rep));
}

#define MANAGER_SIZE(name, function)                                                   \
  static PyObject* manager_get_##name(WriteBufferManagerObject* self, void* closure) { \
    (void)closure;                                                                     \
    size_t size;                                                                       \
    Py_BEGIN_ALLOW_THREADS size = function(self->rep);                                 \
    Py_END_ALLOW_THREADS return PyLong_FromSize_t(size);                               \
  }
MANAGER_SIZE(memory_usage, cambium_write_buffer_manager_memory_usage)
MANAGER_SIZE(mutable_memory_usage, cambium_write_buffer_manager_mutable_memtable_memory_usage)
MANAGER_SIZE(buffer_size, cambium_write_buffer_manager_buffer_size)
#undef MANAGER_SIZE

static int manager_set_buffer_size(WriteBufferManagerObject* self, PyObject* value, void* closure) {
  (void)closure;
  uint64_t size = 0;
  if (value == NULL || value == Py_None) {
    PyErr_SetString(PyExc_TypeError, "buffer_size must be a number");
    return -1;
  }
  if (!argument_uint64(value, &size)) return -1;
  Py_BEGIN_ALLOW_THREADS cambium_write_buffer_manager_set_buffer_size(self->rep, (size_t)size);
  Py_END_ALLOW_THREADS return 0;
}

static PyObject* manager_set_allow_stall(WriteBufferManagerObject* self, PyObject* argument) {
  const int stall = PyObject_IsTrue(argument);
  if (stall < 0) return NULL;
  Py_BEGIN_ALLOW_THREADS cambium_write_buffer_manager_set_allow_stall(self->rep, (unsigned char)stall);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyMethodDef manager_methods[] = {
    {"set_allow_stall", (PyCFunction)manager_set_allow_stall, METH_O,
     PyDoc_STR("Set whether all writes wait while the limit is reached.")},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef manager_getset[] = {
    {"enabled", (getter)manager_get_enabled, NULL, PyDoc_STR("Whether there is a limit."), NULL},
    {"memory_usage", (getter)manager_get_memory_usage, NULL, PyDoc_STR("Bytes in use."), NULL},
    {"mutable_memory_usage", (getter)manager_get_mutable_memory_usage, NULL,
     PyDoc_STR("Bytes in use by memtables that take writes."), NULL},
    {"buffer_size", (getter)manager_get_buffer_size, (setter)manager_set_buffer_size, PyDoc_STR("The limit in bytes."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject WriteBufferManagerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.WriteBufferManager",
    .tp_doc = PyDoc_STR("One limit for the memory of memtables and filters of all databases that are opened with it."),
    .tp_basicsize = sizeof(WriteBufferManagerObject),
    .tp_new = manager_new,
    .tp_dealloc = (destructor)manager_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = manager_methods,
    .tp_getset = manager_getset,
};
