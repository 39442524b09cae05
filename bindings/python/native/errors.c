/* Exceptions for the messages of the library. The classes are those of cambium/_errors.py. */
#include "core.h"

PyObject* error_base;
PyObject* error_closed;
PyObject* error_iterator_invalid;

/* A message begins with the name of a code, then the subcode in parentheses, if there is one. More specific texts come
   first. */
static struct {
  const char* text;
  const char* name;
  PyObject* type;
} classes[] = {
    {"Operation aborted: out of memory", "OutOfMemoryError", NULL},
    {"Operation aborted: no memory", "OutOfMemoryError", NULL},
    {"NotFound", "NotFoundError", NULL},
    {"Corruption", "CorruptionError", NULL},
    {"Not implemented", "NotSupportedError", NULL},
    {"Invalid argument", "InvalidArgumentError", NULL},
    {"IO error (no space)", "NoSpaceError", NULL},
    {"IO error (locked)", "LockedError", NULL},
    {"IO error", "IOError", NULL},
    {"Result incomplete", "IncompleteError", NULL},
    {"Shutdown in progress", "ShutdownInProgressError", NULL},
    {"Operation timed out", "TimedOutError", NULL},
    {"Operation aborted", "AbortedError", NULL},
    {"Resource busy", "BusyError", NULL},
    {"Operation expired", "ExpiredError", NULL},
    {"Operation failed. Try again.", "TryAgainError", NULL},
    {"Column family dropped", "ColumnFamilyDroppedError", NULL},
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
  for (size_t i = 0; i < CLASS_COUNT; ++i) {
    if (strncmp(message, classes[i].text, strlen(classes[i].text)) == 0) {
      type = classes[i].type;
      break;
    }
  }
  const char* const fatal = strstr(message, " (fatal until reopened)");
  const char* const colon = strchr(message, ':');
  const bool is_fatal = fatal != NULL && (colon == NULL || fatal < colon);
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
