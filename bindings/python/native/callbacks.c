/* Python functions that threads of the library call. */
#include "core.h"

#include <unistd.h>

__thread CallbackKind callback_kind = callback_none;
static volatile bool is_stopped = false;

bool callback_begin(Callback* callback, CallbackKind kind) {
  if (is_stopped) return false;
  callback->gil = PyGILState_Ensure();
  callback->outer = callback_kind;
  callback_kind = kind;
  return true;
}

void callback_end(Callback* callback) {
  callback_kind = callback->outer;
  PyGILState_Release(callback->gil);
}

void callback_wait_forever(void) {
  for (;;) pause();
}

PyObject* callback_report(PyObject* where) {
  PyObject* type;
  PyObject* value;
  PyObject* traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != NULL && traceback != NULL) PyException_SetTraceback(value, traceback);
  Py_XINCREF(value);
  PyObject* const error = value;
  PyErr_Restore(type, value, traceback);
  PyErr_WriteUnraisable(where);
  return error;
}

PyObject* callbacks_stop(PyObject* module, PyObject* ignored) {
  (void)module;
  (void)ignored;
  release_deferred();
  is_stopped = true;
  Py_RETURN_NONE;
}
