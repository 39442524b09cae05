/* Arguments of calls from Python. */
#include "core.h"

static bool signature_intern(Signature* signature) {
  for (int i = 0; i < MAX_ARGUMENTS && signature->names[i] != NULL; ++i) {
    if (signature->interned[i] == NULL) signature->interned[i] = PyUnicode_InternFromString(signature->names[i]);
    if (signature->interned[i] == NULL) return false;
  }
  return true;
}

static int signature_find(const Signature* signature, PyObject* name) {
  for (int i = 0; i < MAX_ARGUMENTS && signature->names[i] != NULL; ++i) {
    if (signature->interned[i] == name) return i;
  }
  for (int i = 0; i < MAX_ARGUMENTS && signature->names[i] != NULL; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, signature->names[i]) == 0) return i;
  }
  return -1;
}

bool arguments_parse(Signature* signature, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** out) {
  if (signature->interned[0] == NULL && !signature_intern(signature)) return false;
  if (nargs > signature->positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", signature->function,
                 signature->positional, nargs);
    return false;
  }
  int count = 0;
  while (count < MAX_ARGUMENTS && signature->names[count] != NULL) ++count;
  for (int i = 0; i < count; ++i) out[i] = i < nargs ? args[i] : NULL;
  if (kwnames != NULL) {
    const Py_ssize_t named = PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < named; ++i) {
      PyObject* const name = PyTuple_GET_ITEM(kwnames, i);
      const int index = signature_find(signature, name);
      if (index < 0) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", signature->function, name);
        return false;
      }
      if (out[index] != NULL) {
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", signature->function, name);
        return false;
      }
      out[index] = args[nargs + i];
    }
  }
  for (int i = 0; i < signature->required; ++i) {
    if (out[i] == NULL) {
      PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", signature->function, signature->names[i]);
      return false;
    }
  }
  return true;
}

bool argument_bool(PyObject* argument, bool* value) {
  if (argument == NULL || argument == Py_None) return true;
  const int truth = PyObject_IsTrue(argument);
  if (truth < 0) return false;
  *value = truth != 0;
  return true;
}

bool argument_uint64(PyObject* argument, uint64_t* value) {
  if (argument == NULL || argument == Py_None) return true;
  PyObject* const number = PyNumber_Index(argument);
  if (number == NULL) return false;
  const unsigned long long converted = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  if (converted == (unsigned long long)-1 && PyErr_Occurred()) return false;
  *value = converted;
  return true;
}

bool argument_double(PyObject* argument, double* value) {
  if (argument == NULL || argument == Py_None) return true;
  const double converted = PyFloat_AsDouble(argument);
  if (converted == -1.0 && PyErr_Occurred()) return false;
  *value = converted;
  return true;
}

bool argument_int(PyObject* argument, int* value) {
  if (argument == NULL || argument == Py_None) return true;
  const long converted = PyLong_AsLong(argument);
  if (converted == -1 && PyErr_Occurred()) return false;
  if (converted > INT_MAX || converted < INT_MIN) {
    PyErr_SetString(PyExc_OverflowError, "number does not fit into a C int");
    return false;
  }
  *value = (int)converted;
  return true;
}

bool bytes_take(Bytes* bytes, PyObject* argument, const char* what) {
  if (PyBytes_CheckExact(argument)) {
    Py_INCREF(argument);
    bytes->object = argument;
    bytes->data = PyBytes_AS_STRING(argument);
    bytes->length = (size_t)PyBytes_GET_SIZE(argument);
    return true;
  }
  bytes->object = NULL;
  if (!PyObject_CheckBuffer(argument)) {
    PyErr_Format(PyExc_TypeError, "%s must be a bytes-like object, not %.200s", what, Py_TYPE(argument)->tp_name);
    return false;
  }
  if (PyObject_GetBuffer(argument, &bytes->view, PyBUF_SIMPLE) != 0) return false;
  bytes->data = bytes->view.buf;
  bytes->length = (size_t)bytes->view.len;
  if (bytes->data == NULL) bytes->data = "";
  return true;
}

void bytes_release(Bytes* bytes) {
  if (bytes->object != NULL) {
    Py_DECREF(bytes->object);
  } else {
    PyBuffer_Release(&bytes->view);
  }
}

bool key_take(Key* key, PyObject* prefix, PyObject* argument) {
  key->joined = NULL;
  if (!bytes_take(&key->bytes, argument, "key")) return false;
  key->data = key->bytes.data;
  key->length = key->bytes.length;
  if (prefix == NULL) return true;
  const size_t prefix_length = (size_t)PyBytes_GET_SIZE(prefix);
  const size_t length = prefix_length + key->bytes.length;
  char* target = key->small;
  if (length > sizeof key->small) {
    target = key->joined = PyMem_RawMalloc(length);
    if (target == NULL) {
      bytes_release(&key->bytes);
      PyErr_NoMemory();
      return false;
    }
  }
  memcpy(target, PyBytes_AS_STRING(prefix), prefix_length);
  memcpy(target + prefix_length, key->bytes.data, key->bytes.length);
  key->data = target;
  key->length = length;
  return true;
}

void key_release(Key* key) {
  bytes_release(&key->bytes);
  PyMem_RawFree(key->joined);
}

PyObject* text_take(PyObject* argument, const char* what) {
  PyObject* bytes;
  if (PyUnicode_Check(argument)) {
    bytes = PyUnicode_EncodeFSDefault(argument);
    if (bytes == NULL) return NULL;
  } else if (PyBytes_Check(argument)) {
    bytes = argument;
    Py_INCREF(bytes);
  } else {
    return PyErr_Format(PyExc_TypeError, "%s must be str or bytes, not %.200s", what, Py_TYPE(argument)->tp_name);
  }
  if (strlen(PyBytes_AS_STRING(bytes)) != (size_t)PyBytes_GET_SIZE(bytes)) {
    Py_DECREF(bytes);
    return PyErr_Format(PyExc_ValueError, "%s must not include a zero byte", what);
  }
  return bytes;
}

PyObject* path_take(PyObject* argument) {
  PyObject* bytes = NULL;
  return PyUnicode_FSConverter(argument, &bytes) ? bytes : NULL;
}

PyObject* text_make(const char* text, size_t length) {
  return PyUnicode_DecodeFSDefaultAndSize(text, (Py_ssize_t)length);
}
