/* Functions on databases that are not open. Options are copied, so that no other thread changes them meanwhile. */
#include "core.h"

/* The arguments of these functions: a path, options, and families with their options. */
typedef struct {
  PyObject* path;
  OptionsObject* options;
  PyObject* copies; /* of the options of families */
  PyObject* texts;
  const char** names;
  const cambium_options_t** reps;
  int count;
} Where;

static bool where_take(Where* where, PyObject* path, PyObject* options, PyObject* names, PyObject* family_options) {
  memset(where, 0, sizeof *where);
  release_deferred();
  if (callback_kind != callback_none) {
    PyErr_SetString(error_base, "a callback must not call this function");
    return false;
  }
  if (!PyObject_TypeCheck(options, &OptionsType)) {
    PyErr_SetString(PyExc_TypeError, "Options expected");
    return false;
  }
  where->path = path_take(path);
  if (where->path == NULL) return false;
  where->options = (OptionsObject*)PyObject_CallMethod(options, "copy", NULL);
  if (where->options == NULL) return false;
  if (names == NULL) return true;
  if (!PyList_Check(names) || !PyList_Check(family_options) ||
      PyList_GET_SIZE(names) != PyList_GET_SIZE(family_options)) {
    PyErr_SetString(PyExc_TypeError, "two lists of the same length expected");
    return false;
  }
  where->count = (int)PyList_GET_SIZE(names);
  where->copies = PyList_New(0);
  where->texts = PyList_New(0);
  where->names = PyMem_Calloc((size_t)where->count + 1, sizeof *where->names);
  where->reps = PyMem_Calloc((size_t)where->count + 1, sizeof *where->reps);
  if (where->copies == NULL || where->texts == NULL) return false;
  if (where->names == NULL || where->reps == NULL) {
    PyErr_NoMemory();
    return false;
  }
  for (int i = 0; i < where->count; ++i) {
    PyObject* const text = text_take(PyList_GET_ITEM(names, i), "column family");
    if (text == NULL) return false;
    const bool is_kept = PyList_Append(where->texts, text) == 0;
    Py_DECREF(text);
    if (!is_kept) return false;
    where->names[i] = PyBytes_AS_STRING(text);
    if (!PyObject_TypeCheck(PyList_GET_ITEM(family_options, i), &OptionsType)) {
      PyErr_SetString(PyExc_TypeError, "Options expected");
      return false;
    }
    PyObject* const copy = PyObject_CallMethod(PyList_GET_ITEM(family_options, i), "copy", NULL);
    if (copy == NULL) return false;
    const bool is_copied = PyList_Append(where->copies, copy) == 0;
    Py_DECREF(copy);
    if (!is_copied) return false;
    where->reps[i] = ((OptionsObject*)copy)->rep;
  }
  return true;
}

static void where_release(Where* where) {
  Py_XDECREF(where->path);
  Py_XDECREF((PyObject*)where->options);
  Py_XDECREF(where->copies);
  Py_XDECREF(where->texts);
  PyMem_Free(where->names);
  PyMem_Free(where->reps);
}

static PyObject* finish(Where* where, char* error) {
  where_release(where);
  if (error != NULL) return error_raise(error);
  Py_RETURN_NONE;
}

static PyObject* fail(Where* where) {
  where_release(where);
  return NULL;
}

static PyObject* string_list(char** list, size_t count) {
  PyObject* result = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; result != NULL && i < count; ++i) {
    PyObject* const text = text_make(list[i], strlen(list[i]));
    if (text == NULL) {
      Py_CLEAR(result);
    } else {
      PyList_SET_ITEM(result, (Py_ssize_t)i, text);
    }
  }
  return result;
}

static PyObject* destroy_db(PyObject* module, PyObject* args) {
  PyObject* path;
  PyObject* options;
  Where where;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO:destroy_db", &path, &options)) return NULL;
  if (!where_take(&where, path, options, NULL, NULL)) return fail(&where);
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_destroy_db(where.options->rep, PyBytes_AS_STRING(where.path), &error);
  Py_END_ALLOW_THREADS return finish(&where, error);
}

static PyObject* repair_db(PyObject* module, PyObject* args) {
  PyObject* path;
  PyObject* options;
  Where where;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO:repair_db", &path, &options)) return NULL;
  if (!where_take(&where, path, options, NULL, NULL)) return fail(&where);
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_repair_db(where.options->rep, PyBytes_AS_STRING(where.path), &error);
  Py_END_ALLOW_THREADS return finish(&where, error);
}

/* salvage_db(path, out, options, names, family_options, include_unproven) returns (lost, unproven) */
static PyObject* salvage_db(PyObject* module, PyObject* args) {
  PyObject* path;
  PyObject* out = NULL;
  PyObject* options;
  PyObject* names;
  PyObject* family_options;
  int include_unproven;
  Where where;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO&OOOp:salvage_db", &path, PyUnicode_FSConverter, &out, &options, &names,
                        &family_options, &include_unproven)) {
    return NULL;
  }
  if (!where_take(&where, path, options, names, family_options)) {
    Py_DECREF(out);
    return fail(&where);
  }
  char* error = NULL;
  uint64_t lost = 0;
  uint64_t unproven = 0;
  Py_BEGIN_ALLOW_THREADS if (where.count == 0) {
    cambium_salvage_db(where.options->rep, PyBytes_AS_STRING(where.path), PyBytes_AS_STRING(out),
                       (unsigned char)include_unproven, &lost, &unproven, &error);
  }
  else {
    cambium_salvage_db_column_families(where.options->rep, PyBytes_AS_STRING(where.path), where.count, where.names,
                                       where.reps, PyBytes_AS_STRING(out), (unsigned char)include_unproven, &lost,
                                       &unproven, &error);
  }
  Py_END_ALLOW_THREADS Py_DECREF(out);
  where_release(&where);
  if (error != NULL) return error_raise(error);
  return Py_BuildValue("(KK)", (unsigned long long)lost, (unsigned long long)unproven);
}

/* verify_db(path, options, names, family_options, deep) returns the list of problems. If something could not be read,
   the exception has the list as its attribute `problems`. */
static PyObject* verify_db(PyObject* module, PyObject* args) {
  PyObject* path;
  PyObject* options;
  PyObject* names;
  PyObject* family_options;
  int deep;
  Where where;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOOOp:verify_db", &path, &options, &names, &family_options, &deep)) return NULL;
  if (!where_take(&where, path, options, names, family_options)) return fail(&where);
  char* error = NULL;
  char** problems = NULL;
  size_t count = 0;
  Py_BEGIN_ALLOW_THREADS if (where.count == 0) {
    cambium_verify_db(where.options->rep, PyBytes_AS_STRING(where.path), (unsigned char)deep, &problems, &count,
                      &error);
  }
  else {
    cambium_verify_db_column_families(where.options->rep, PyBytes_AS_STRING(where.path), where.count, where.names,
                                      where.reps, (unsigned char)deep, &problems, &count, &error);
  }
  Py_END_ALLOW_THREADS where_release(&where);
  PyObject* list = string_list(problems, count);
  cambium_string_list_destroy(problems, count);
  if (error == NULL) return list;
  PyObject* const raised = error_make(error);
  cambium_free(error);
  if (raised != NULL && list != NULL && PyObject_SetAttrString(raised, "problems", list) == 0) {
    PyErr_SetObject((PyObject*)Py_TYPE(raised), raised);
  }
  Py_XDECREF(raised);
  Py_XDECREF(list);
  return NULL;
}

static PyObject* list_column_families(PyObject* module, PyObject* args) {
  PyObject* path;
  PyObject* options;
  Where where;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO:list_column_families", &path, &options)) return NULL;
  if (!where_take(&where, path, options, NULL, NULL)) return fail(&where);
  char* error = NULL;
  size_t count = 0;
  char** names;
  Py_BEGIN_ALLOW_THREADS names =
      cambium_list_column_families(where.options->rep, PyBytes_AS_STRING(where.path), &count, &error);
  Py_END_ALLOW_THREADS where_release(&where);
  if (error != NULL) return error_raise(error);
  PyObject* const result = string_list(names, count);
  cambium_list_column_families_destroy(names, count);
  return result;
}

static PyObject* checkpoint_offline(PyObject* module, PyObject* args) {
  PyObject* path;
  PyObject* options;
  PyObject* directory = NULL;
  Where where;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOO&:checkpoint_offline", &path, &options, PyUnicode_FSConverter, &directory)) {
    return NULL;
  }
  if (!where_take(&where, path, options, NULL, NULL)) {
    Py_DECREF(directory);
    return fail(&where);
  }
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_checkpoint_offline(where.options->rep, PyBytes_AS_STRING(where.path),
                                                    PyBytes_AS_STRING(directory), &error);
  Py_END_ALLOW_THREADS Py_DECREF(directory);
  return finish(&where, error);
}

/* load_latest_options(path, ignore_unknown, [comparator, ...]) returns (options, [(name, options), ...]) */
static PyObject* load_latest_options(PyObject* module, PyObject* args) {
  PyObject* path = NULL;
  int ignore_unknown;
  PyObject* comparators;
  (void)module;
  if (!PyArg_ParseTuple(args, "O&pO!:load_latest_options", PyUnicode_FSConverter, &path, &ignore_unknown, &PyList_Type,
                        &comparators)) {
    return NULL;
  }
  PyObject* result = NULL;
  PyObject* families = NULL;
  PyObject* options = NULL;
  cambium_options_t* loaded = NULL;
  cambium_options_t** family_options = NULL;
  char** names = NULL;
  size_t count = 0;
  PyObject* const kept = PyList_GetSlice(comparators, 0, PyList_GET_SIZE(comparators));
  const size_t comparator_count = kept == NULL ? 0 : (size_t)PyList_GET_SIZE(kept);
  const cambium_comparator_t** const reps = PyMem_Calloc(comparator_count + 1, sizeof *reps);
  if (kept == NULL || reps == NULL) {
    if (reps == NULL) PyErr_NoMemory();
    goto done;
  }
  for (size_t i = 0; i < comparator_count; ++i) {
    PyObject* const item = PyList_GET_ITEM(kept, (Py_ssize_t)i);
    if (!PyObject_TypeCheck(item, &ComparatorType)) {
      PyErr_SetString(PyExc_TypeError, "Comparator expected");
      goto done;
    }
    reps[i] = ((ComparatorObject*)item)->rep;
  }
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_load_latest_options(PyBytes_AS_STRING(path), (unsigned char)ignore_unknown, reps,
                                                     comparator_count, &loaded, &count, &names, &family_options,
                                                     &error);
  Py_END_ALLOW_THREADS if (error != NULL) {
    error_raise(error);
    goto done;
  }
  families = PyList_New(0);
  options = (PyObject*)options_make(cambium_options_create_copy(loaded), kept, NULL);
  for (size_t i = 0; families != NULL && i < count; ++i) {
    /* The comparator of the family, if it is one of the caller's. */
    PyObject* const made = (PyObject*)options_make(cambium_options_create_copy(family_options[i]), kept, NULL);
    PyObject* const name = text_make(names[i], strlen(names[i]));
    PyObject* const item = made == NULL || name == NULL ? NULL : PyTuple_Pack(2, name, made);
    if (item == NULL || PyList_Append(families, item) != 0) Py_CLEAR(families);
    Py_XDECREF(item);
    Py_XDECREF(name);
    Py_XDECREF(made);
  }
  if (families != NULL && options != NULL) result = PyTuple_Pack(2, options, families);
done:
  if (loaded != NULL) cambium_load_latest_options_destroy(loaded, names, family_options, count);
  PyMem_Free(reps);
  Py_XDECREF(kept);
  Py_XDECREF(families);
  Py_XDECREF(options);
  Py_DECREF(path);
  return result;
}

static PyObject* library_version(PyObject* module, PyObject* ignored) {
  (void)module;
  (void)ignored;
  return Py_BuildValue("(iii)", cambium_major_version(), cambium_minor_version(), cambium_patch_version());
}

/* The exception for a message of the library. */
static PyObject* make_error(PyObject* module, PyObject* argument) {
  (void)module;
  const char* const message = PyUnicode_AsUTF8(argument);
  return message == NULL ? NULL : error_make(message);
}

PyMethodDef tool_methods[] = {
    {"make_error", make_error, METH_O, NULL},
    {"open", core_open, METH_VARARGS, NULL},
    {"begin", core_begin, METH_VARARGS, NULL},
    {"prepared_transactions", core_prepared_transactions, METH_O, NULL},
    {"indexed_batch", core_indexed_batch, METH_VARARGS, NULL},
    {"destroy_db", destroy_db, METH_VARARGS, NULL},
    {"repair_db", repair_db, METH_VARARGS, NULL},
    {"salvage_db", salvage_db, METH_VARARGS, NULL},
    {"verify_db", verify_db, METH_VARARGS, NULL},
    {"list_column_families", list_column_families, METH_VARARGS, NULL},
    {"checkpoint_offline", checkpoint_offline, METH_VARARGS, NULL},
    {"load_latest_options", load_latest_options, METH_VARARGS, NULL},
    {"library_version", library_version, METH_NOARGS, NULL},
    {"callbacks_stop", callbacks_stop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
