/* Exceptions for the messages of the library. The classes are those of cambium/_errors.py. */
#include "core.h"

PyObject* error_base;
PyObject* error_closed;
PyObject* error_iterator_invalid;

/* A code without its subcode comes last, for subcodes that this file does not know. */
static struct {
  int code;
  int subcode;
  const char* name;
  PyObject* type;
} classes[] = {
    {cambium_code_not_found, cambium_subcode_none, "NotFoundError", NULL},
    {cambium_code_corruption, cambium_subcode_none, "CorruptionError", NULL},
    {cambium_code_not_supported, cambium_subcode_none, "NotSupportedError", NULL},
    {cambium_code_invalid_argument, cambium_subcode_none, "InvalidArgumentError", NULL},
    {cambium_code_io_error, cambium_subcode_no_space, "NoSpaceError", NULL},
    {cambium_code_io_error, cambium_subcode_locked, "LockedError", NULL},
    {cambium_code_io_error, cambium_subcode_path_not_found, "PathNotFoundError", NULL},
    {cambium_code_io_error, cambium_subcode_denied, "DeniedError", NULL},
    {cambium_code_io_error, cambium_subcode_none, "IOError", NULL},
    {cambium_code_incomplete, cambium_subcode_none, "IncompleteError", NULL},
    {cambium_code_shutdown_in_progress, cambium_subcode_none, "ShutdownInProgressError", NULL},
    {cambium_code_timed_out, cambium_subcode_lock_timeout, "LockTimeoutError", NULL},
    {cambium_code_timed_out, cambium_subcode_none, "TimedOutError", NULL},
    {cambium_code_aborted, cambium_subcode_out_of_memory, "OutOfMemoryError", NULL},
    {cambium_code_aborted, cambium_subcode_none, "AbortedError", NULL},
    {cambium_code_busy, cambium_subcode_deadlock, "DeadlockError", NULL},
    {cambium_code_busy, cambium_subcode_lock_limit, "LockLimitError", NULL},
    {cambium_code_busy, cambium_subcode_none, "BusyError", NULL},
    {cambium_code_expired, cambium_subcode_none, "ExpiredError", NULL},
    {cambium_code_try_again, cambium_subcode_none, "TryAgainError", NULL},
    {cambium_code_column_family_dropped, cambium_subcode_none, "ColumnFamilyDroppedError", NULL},
};
#define CLASS_COUNT (sizeof classes / sizeof classes[0])

bool errors_init(void) {
  PyObject* const module = PyImport_ImportModule("cambium._errors");
  if (module == NULL) return false;
  bool is_ok = (error_base = PyObject_GetAttrString(module, "Error")) != NULL &&
               (error_closed = PyObject_GetAttrString(module, "ClosedError")) != NULL &&
               (error_iterator_invalid = PyObject_GetAttrString(module, "IteratorInvalidError")) != NULL;
  for (size_t i = 0; is_ok && i < CLASS_COUNT; ++i) {
    classes[i].type = PyObject_GetAttrString(module, classes[i].name);
    is_ok = classes[i].type != NULL;
  }
  Py_DECREF(module);
  return is_ok;
}

PyObject* error_make(const char* message) {
  PyObject* type = error_base;
  const int code = cambium_error_code(message);
  const int subcode = cambium_error_subcode(message);
  for (size_t i = 0; i < CLASS_COUNT && type == error_base; ++i) {
    const bool is_class = classes[i].subcode == subcode || classes[i].subcode == cambium_subcode_none;
    if (classes[i].code == code && is_class) type = classes[i].type;
  }
  const bool is_fatal = cambium_error_severity(message) == cambium_severity_fatal;
  PyObject* const text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "backslashreplace");
  if (text == NULL) return NULL;
  PyObject* const error = PyObject_CallFunctionObjArgs(type, text, NULL);
  Py_DECREF(text);
  if (error == NULL) return NULL;
  if (is_fatal && PyObject_SetAttrString(error, "fatal", Py_True) != 0) {
    Py_DECREF(error);
    return NULL;
  }
  return error;
}

PyObject* error_raise(char* message) {
  PyObject* const error = error_make(message);
  cambium_free(message);
  if (error != NULL) {
    PyErr_SetObject((PyObject*)Py_TYPE(error), error);
    Py_DECREF(error);
  }
  return NULL;
}
