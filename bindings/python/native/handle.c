/* An open database: opening, closing, and the calls that concern it as a whole. */
#include "core.h"

#include <stddef.h>

/* ---- Children ---- */

void child_add(HandleObject* handle, Child* child) {
  child->previous = handle->children.previous;
  child->next = &handle->children;
  handle->children.previous->next = child;
  handle->children.previous = child;
}

void child_move_to_front(HandleObject* handle, Child* child) {
  child_remove(child);
  child->previous = &handle->children;
  child->next = handle->children.next;
  child->next->previous = child;
  handle->children.next = child;
}

void child_remove(Child* child) {
  if (child->next == NULL) return;
  child->previous->next = child->next;
  child->next->previous = child->previous;
  child->previous = child->next = NULL;
}

static Py_ssize_t count_exports(HandleObject* handle) {
  Py_ssize_t count = 0;
  for (Child* child = handle->children.next; child != &handle->children; child = child->next) {
    if (child->exports != NULL) count += child->exports(child);
  }
  return count;
}

bool call_finish(HandleObject* handle, FamilyObject* family, char* message) {
  (void)family;
  (void)handle;
  if (message == NULL) return true;
  error_raise(message);
  return false;
}

/* ---- Families ---- */

static void destroy_family(cambium_t* db, void* rep) {
  (void)db;
  cambium_column_family_handle_destroy(rep);
}

static void family_close(Child* child) {
  FamilyObject* const self = CHILD_OBJECT(FamilyObject, child);
  cambium_column_family_handle_t* const rep = self->rep;
  self->rep = NULL;
  child_remove(child);
  if (rep != NULL) release_in_library(self->handle, destroy_family, rep);
}

FamilyObject* family_make(HandleObject* handle, cambium_column_family_handle_t* rep, PyObject* name,
                          ComparatorObject* comparator) {
  FamilyObject* const self = PyObject_GC_New(FamilyObject, &FamilyType);
  if (self == NULL) {
    release_in_library(handle, destroy_family, rep);
    return NULL;
  }
  Py_INCREF(handle);
  self->handle = handle;
  self->rep = rep;
  Py_INCREF(name);
  self->name = name;
  Py_XINCREF(comparator);
  self->comparator = comparator;
  self->child.close = family_close;
  self->child.exports = NULL;
  child_add(handle, &self->child);
  PyObject_GC_Track(self);
  return self;
}

static int family_traverse(FamilyObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->handle);
  Py_VISIT(self->comparator);
  return 0;
}

static void family_dealloc(FamilyObject* self) {
  PyObject_GC_UnTrack(self);
  family_close(&self->child);
  Py_DECREF(self->handle);
  Py_DECREF(self->name);
  Py_XDECREF(self->comparator);
  PyObject_GC_Del(self);
}

static bool family_enter(FamilyObject* self) { return guard_enter(&self->handle->guard, "the database"); }

static PyObject* family_finish(FamilyObject* self, char* error) {
  guard_leave(&self->handle->guard);
  if (!call_finish(self->handle, self, error)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* family_get_id(FamilyObject* self, void* closure) {
  (void)closure;
  if (!family_enter(self)) return NULL;
  const uint32_t id = cambium_column_family_handle_get_id(self->rep);
  guard_leave(&self->handle->guard);
  return PyLong_FromUnsignedLong(id);
}

static PyObject* family_get_name(FamilyObject* self, void* closure) {
  (void)closure;
  Py_INCREF(self->name);
  return self->name;
}

static PyObject* family_flush(FamilyObject* self, PyObject* argument) {
  const int wait = PyObject_IsTrue(argument);
  if (wait < 0 || !family_enter(self)) return NULL;
  char* error = NULL;
  cambium_flushoptions_t* const options = cambium_flushoptions_create();
  cambium_flushoptions_set_wait(options, (unsigned char)wait);
  Py_BEGIN_ALLOW_THREADS cambium_flush_cf(self->handle->db, options, self->rep, &error);
  Py_END_ALLOW_THREADS cambium_flushoptions_destroy(options);
  return family_finish(self, error);
}

/* compact_range(start | None, stop | None, policy, age_cutoff, cluster_values) */
static PyObject* family_compact_range(FamilyObject* self, PyObject* args) {
  PyObject* start;
  PyObject* stop;
  int policy;
  double cutoff;
  int cluster;
  if (!PyArg_ParseTuple(args, "OOidp:compact_range", &start, &stop, &policy, &cutoff, &cluster)) return NULL;
  Bytes low = {NULL, 0, NULL, {0}};
  Bytes high = {NULL, 0, NULL, {0}};
  if (start != Py_None && !bytes_take(&low, start, "start")) return NULL;
  if (stop != Py_None && !bytes_take(&high, stop, "stop")) {
    if (start != Py_None) bytes_release(&low);
    return NULL;
  }
  PyObject* result = NULL;
  if (family_enter(self)) {
    char* error = NULL;
    cambium_compactoptions_t* const options = cambium_compactoptions_create();
    cambium_compactoptions_set_blob_garbage_collection_policy(options, policy);
    cambium_compactoptions_set_blob_garbage_collection_age_cutoff(options, cutoff);
    cambium_compactoptions_set_cluster_values(options, cluster != 0);
    Py_BEGIN_ALLOW_THREADS cambium_compact_range_cf_opt(self->handle->db, self->rep, options, low.data, low.length,
                                                        high.data, high.length, &error);
    Py_END_ALLOW_THREADS cambium_compactoptions_destroy(options);
    result = family_finish(self, error);
  }
  if (start != Py_None) bytes_release(&low);
  if (stop != Py_None) bytes_release(&high);
  return result;
}

static PyObject* family_property(FamilyObject* self, PyObject* argument) {
  PyObject* const name = text_take(argument, "property name");
  if (name == NULL) return NULL;
  PyObject* result = NULL;
  if (family_enter(self)) {
    char* text;
    Py_BEGIN_ALLOW_THREADS text = cambium_property_value_cf(self->handle->db, self->rep, PyBytes_AS_STRING(name));
    Py_END_ALLOW_THREADS guard_leave(&self->handle->guard);
    if (text == NULL) {
      Py_INCREF(Py_None);
      result = Py_None;
    } else {
      result = PyBytes_FromString(text);
      cambium_free(text);
    }
  }
  Py_DECREF(name);
  return result;
}

static PyObject* family_property_int(FamilyObject* self, PyObject* argument) {
  PyObject* const name = text_take(argument, "property name");
  if (name == NULL) return NULL;
  PyObject* result = NULL;
  if (family_enter(self)) {
    uint64_t value = 0;
    int found;
    Py_BEGIN_ALLOW_THREADS found =
        cambium_property_int_cf(self->handle->db, self->rep, PyBytes_AS_STRING(name), &value);
    Py_END_ALLOW_THREADS guard_leave(&self->handle->guard);
    if (found == 0) {
      result = PyLong_FromUnsignedLongLong(value);
    } else {
      Py_INCREF(Py_None);
      result = Py_None;
    }
  }
  Py_DECREF(name);
  return result;
}

/* Changes options: of the database if `self` is NULL, else of the family. `pairs` is a sequence of (name, text). */
static PyObject* change_options(HandleObject* handle, FamilyObject* self, PyObject* pairs) {
  PyObject* const list = PySequence_Fast(pairs, "pairs expected");
  if (list == NULL) return NULL;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  const char** const texts = PyMem_Calloc((size_t)(2 * count + 1), sizeof *texts);
  PyObject* result = NULL;
  if (texts == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(list, i), "ss", &texts[i], &texts[count + i])) goto done;
  }
  if (!guard_enter(&handle->guard, "the database")) goto done;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS if (self == NULL) {
    cambium_set_db_options(handle->db, (int)count, texts, texts + count, &error);
  }
  else {
    cambium_set_options_cf(handle->db, self->rep, (int)count, texts, texts + count, &error);
  }
  Py_END_ALLOW_THREADS guard_leave(&handle->guard);
  if (call_finish(handle, self, error)) {
    Py_INCREF(Py_None);
    result = Py_None;
  }
done:
  PyMem_Free(texts);
  Py_DECREF(list);
  return result;
}

static PyObject* family_set_options(FamilyObject* self, PyObject* pairs) {
  return change_options(self->handle, self, pairs);
}

static PyObject* family_get_options(FamilyObject* self, PyObject* ignored) {
  (void)ignored;
  if (!family_enter(self)) return NULL;
  cambium_options_t* rep;
  Py_BEGIN_ALLOW_THREADS rep = cambium_get_options_cf(self->handle->db, self->rep);
  Py_END_ALLOW_THREADS guard_leave(&self->handle->guard);
  PyObject* const kept = PyList_GetSlice(self->handle->owned, 0, PyList_GET_SIZE(self->handle->owned));
  if (kept == NULL) {
    cambium_options_destroy(rep);
    return NULL;
  }
  PyObject* const options = (PyObject*)options_make(rep, kept, self->comparator);
  Py_DECREF(kept);
  return options;
}

/* approximate_sizes([(start, stop), ...], include) */
static PyObject* family_approximate_sizes(FamilyObject* self, PyObject* args) {
  PyObject* ranges;
  int include;
  if (!PyArg_ParseTuple(args, "Oi:approximate_sizes", &ranges, &include)) return NULL;
  PyObject* const list = PySequence_Fast(ranges, "a sequence of ranges is required");
  if (list == NULL) return NULL;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list);
  const size_t slots = (size_t)count + 1;
  Bytes* const bytes = PyMem_Calloc(2 * slots, sizeof *bytes);
  const char** const data = PyMem_Calloc(2 * slots, sizeof *data);
  size_t* const lengths = PyMem_Calloc(2 * slots, sizeof *lengths);
  uint64_t* const sizes = PyMem_Calloc(slots, sizeof *sizes);
  Py_ssize_t taken = 0;
  PyObject* result = NULL;
  if (bytes == NULL || data == NULL || lengths == NULL || sizes == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const range = PySequence_Fast_GET_ITEM(list, i);
    if (!PyTuple_Check(range) || PyTuple_GET_SIZE(range) != 2) {
      PyErr_SetString(PyExc_TypeError, "a range must be a tuple (start, stop)");
      goto done;
    }
    for (int side = 0; side < 2; ++side) {
      if (!bytes_take(&bytes[taken], PyTuple_GET_ITEM(range, side), side == 0 ? "start" : "stop")) goto done;
      data[side * count + i] = bytes[taken].data;
      lengths[side * count + i] = bytes[taken].length;
      ++taken;
    }
  }
  if (!family_enter(self)) goto done;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_approximate_sizes_cf_with_flags(self->handle->db, self->rep, (int)count, data, lengths,
                                                                 data + count, lengths + count, (unsigned char)include,
                                                                 sizes, &error);
  Py_END_ALLOW_THREADS guard_leave(&self->handle->guard);
  if (!call_finish(self->handle, self, error)) goto done;
  result = PyList_New(count);
  for (Py_ssize_t i = 0; result != NULL && i < count; ++i) {
    PyObject* const size = PyLong_FromUnsignedLongLong(sizes[i]);
    if (size == NULL)
      Py_CLEAR(result);
    else
      PyList_SET_ITEM(result, i, size);
  }
done:
  for (Py_ssize_t i = 0; i < taken; ++i) bytes_release(&bytes[i]);
  PyMem_Free(bytes);
  PyMem_Free(data);
  PyMem_Free(lengths);
  PyMem_Free(sizes);
  Py_DECREF(list);
  return result;
}

static PyMethodDef family_methods[] = {
    {"flush", (PyCFunction)family_flush, METH_O, NULL},
    {"compact_range", (PyCFunction)family_compact_range, METH_VARARGS, NULL},
    {"get_property", (PyCFunction)family_property, METH_O, NULL},
    {"get_int_property", (PyCFunction)family_property_int, METH_O, NULL},
    {"set_options", (PyCFunction)family_set_options, METH_O, NULL},
    {"get_options", (PyCFunction)family_get_options, METH_NOARGS, NULL},
    {"approximate_sizes", (PyCFunction)family_approximate_sizes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef family_getset[] = {
    {"id", (getter)family_get_id, NULL, NULL, NULL},
    {"name", (getter)family_get_name, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject FamilyType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Family",
    .tp_basicsize = sizeof(FamilyObject),
    .tp_dealloc = (destructor)family_dealloc,
    .tp_traverse = (traverseproc)family_traverse,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_methods = family_methods,
    .tp_getset = family_getset,
};

/* ---- Closing ---- */

/* Closes; false with an exception if the database is still open, or was closed with an error. */
static bool handle_shut(HandleObject* self) {
  if (!self->guard.is_open) return true;
  if (guard_is_forked(&self->guard)) {
    self->guard.is_open = false; /* the parent's database is left alone */
    return true;
  }
  if (callback_kind != callback_none) {
    PyErr_SetString(error_base, "a callback must not close a database");
    return false;
  }
  if (self->guard.is_closing) {
    PyErr_SetString(error_base, "another thread is closing the database");
    return false;
  }
  release_deferred();
  if (!self->guard.is_open) return true;
  self->guard.is_closing = true;
  do {
    if (!guard_wait(&self->guard)) {
      self->guard.is_closing = false;
      return false;
    }
    const Py_ssize_t exports = count_exports(self);
    if (exports > 0) {
      self->guard.is_closing = false;
      PyErr_Format(PyExc_BufferError, "the database cannot be closed: %zd buffers of pinned values are in use",
                   exports);
      return false;
    }
    /* The youngest first: an iterator before the snapshot and the family that it uses. A snapshot that another thread
       is about to leave stays for the next round. */
    Py_ssize_t count = 0;
    for (Child* child = self->children.next; child != &self->children; child = child->next) ++count;
    while (count-- > 0 && self->children.previous != &self->children) {
      self->children.previous->close(self->children.previous);
    }
    release_deferred(); /* by callbacks of other threads */
  } while (self->guard.calls > 0 || self->children.next != &self->children);
  char* error = NULL;
  bool is_gone;
  Py_BEGIN_ALLOW_THREADS is_gone = cambium_close_with_status(self->db, &error) != 0;
  Py_END_ALLOW_THREADS self->guard.is_closing = false;
  if (is_gone) {
    self->db = NULL;
    self->guard.is_open = false;
  }
  if (error == NULL) return true;
  error_raise(error);
  return false;
}

static PyObject* handle_close(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  if (!handle_shut(self)) return NULL;
  Py_RETURN_NONE;
}

void handle_close_quietly(HandleObject* self) {
  if (self->guard.is_open && !handle_shut(self)) PyErr_WriteUnraisable((PyObject*)self);
}

/* Closes a database that nothing refers to. All children are gone, or garbage as well. */
static void handle_finalize(HandleObject* self) {
  PyObject* type;
  PyObject* value;
  PyObject* traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (self->guard.is_open && callback_kind != callback_none) {
    handle_close_later(self);
  } else {
    handle_close_quietly(self);
  }
  PyErr_Restore(type, value, traceback);
}

static void handle_dealloc(HandleObject* self) {
  if (PyObject_CallFinalizerFromDealloc((PyObject*)self) < 0) return;
  PyObject_GC_UnTrack(self);
  if (self->weak != NULL) PyObject_ClearWeakRefs((PyObject*)self);
  Py_XDECREF(self->owned);
  PyObject_GC_Del(self);
}

static int handle_traverse(HandleObject* self, visitproc visit, void* arg) {
  Py_VISIT(self->owned);
  return 0;
}

static PyObject* handle_get_closed(HandleObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(!self->guard.is_open);
}

/* ---- Opening ---- */

static bool add_options(HandleObject* self, PyObject* options) {
  if (!PyObject_TypeCheck(options, &OptionsType)) {
    PyErr_SetString(PyExc_TypeError, "Options expected");
    return false;
  }
  /* A copy keeps what it refers to, whatever is done to the original later. */
  PyObject* const copy = PyObject_CallMethod(options, "copy", NULL);
  if (copy == NULL) return false;
  const bool is_added = PyList_Append(self->owned, copy) == 0;
  Py_DECREF(copy);
  return is_added;
}

static HandleObject* handle_make(void) {
  HandleObject* const self = PyObject_GC_New(HandleObject, &HandleType);
  if (self == NULL) return NULL;
  self->db = NULL;
  self->txn_db = NULL;
  memset(&self->guard, 0, sizeof self->guard);
  self->children.previous = self->children.next = &self->children;
  self->weak = NULL;
  self->owned = PyList_New(0);
  PyObject_GC_Track(self);
  if (self->owned != NULL) return self;
  Py_DECREF(self);
  return NULL;
}

static OptionsObject* owned_options(HandleObject* self, Py_ssize_t index) {
  return (OptionsObject*)PyList_GET_ITEM(self->owned, index);
}

/* Options of (max_num_locks, num_stripes, lock_timeout_ms, write_lock_timeout_ms) for databases with locks; None: other
   databases. False: an exception is set. */
static bool lock_options_take(PyObject* argument, cambium_transactiondb_options_t** options) {
  long long locks;
  Py_ssize_t stripes;
  long long wait;
  long long write_wait;
  *options = NULL;
  if (argument == NULL || argument == Py_None) return true;
  if (!PyArg_ParseTuple(argument, "LnLL", &locks, &stripes, &wait, &write_wait)) return false;
  *options = cambium_transactiondb_options_create();
  cambium_transactiondb_options_set_max_num_locks(*options, locks);
  cambium_transactiondb_options_set_num_stripes(*options, (size_t)(stripes < 0 ? 0 : stripes));
  cambium_transactiondb_options_set_transaction_lock_timeout(*options, wait);
  cambium_transactiondb_options_set_default_lock_timeout(*options, write_wait);
  return true;
}

/* open(path, options, [name, ...] | None, [options, ...] | None, read_only, locks | None) returns the handle, and a list
   of families: the default one, or those named. */
PyObject* core_open(PyObject* module, PyObject* args) {
  (void)module;
  PyObject* path = NULL;
  PyObject* options;
  PyObject* names;
  PyObject* family_options;
  PyObject* locks = NULL;
  int read_only;
  if (!PyArg_ParseTuple(args, "O&OOOp|O:open", PyUnicode_FSConverter, &path, &options, &names, &family_options,
                        &read_only, &locks)) {
    return NULL;
  }
  HandleObject* self = NULL;
  PyObject* texts = NULL;
  PyObject* families = NULL;
  PyObject* result = NULL;
  const char** chars = NULL;
  const cambium_options_t** reps = NULL;
  cambium_column_family_handle_t** handles = NULL;
  cambium_transactiondb_options_t* lock_options = NULL;
  cambium_transactiondb_t* txn_db = NULL;
  Py_ssize_t count = 0;
  release_deferred();
  if (callback_kind != callback_none) {
    PyErr_SetString(error_base, "a callback must not open a database");
    goto done;
  }
  self = handle_make();
  if (self == NULL || !add_options(self, options) || !lock_options_take(locks, &lock_options)) goto done;
  if (names != Py_None) {
    if (!PyList_Check(names) || !PyList_Check(family_options) ||
        PyList_GET_SIZE(names) != PyList_GET_SIZE(family_options)) {
      PyErr_SetString(PyExc_TypeError, "two lists of the same length expected");
      goto done;
    }
    count = PyList_GET_SIZE(names);
  }
  texts = PyList_New(0);
  chars = PyMem_Calloc((size_t)count + 1, sizeof *chars);
  reps = PyMem_Calloc((size_t)count + 1, sizeof *reps);
  handles = PyMem_Calloc((size_t)count + 1, sizeof *handles);
  families = PyList_New(0);
  if (texts == NULL || families == NULL) goto done;
  if (chars == NULL || reps == NULL || handles == NULL) {
    PyErr_NoMemory();
    goto done;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const text = text_take(PyList_GET_ITEM(names, i), "column family");
    if (text == NULL) goto done;
    const bool is_added = PyList_Append(texts, text) == 0;
    Py_DECREF(text);
    if (!is_added || !add_options(self, PyList_GET_ITEM(family_options, i))) goto done;
    chars[i] = PyBytes_AS_STRING(text);
    reps[i] = owned_options(self, i + 1)->rep;
  }
  char* error = NULL;
  cambium_t* db;
  const cambium_options_t* const rep = owned_options(self, 0)->rep;
  const char* const name = PyBytes_AS_STRING(path);
  Py_BEGIN_ALLOW_THREADS if (lock_options != NULL) {
    if (names == Py_None) {
      txn_db = cambium_transactiondb_open(rep, lock_options, name, &error);
    } else {
      txn_db = cambium_transactiondb_open_column_families(rep, lock_options, name, (int)count, chars, reps, handles,
                                                          &error);
    }
    db = cambium_transactiondb_as_db(txn_db);
    if (db != NULL && names == Py_None) handles[0] = cambium_get_default_column_family_handle(db);
  }
  else if (names == Py_None) {
    db = read_only ? cambium_open_for_read_only(rep, name, &error) : cambium_open(rep, name, &error);
    if (db != NULL) handles[0] = cambium_get_default_column_family_handle(db);
  }
  else if (read_only) {
    db = cambium_open_for_read_only_column_families(rep, name, (int)count, chars, reps, handles, &error);
  }
  else {
    db = cambium_open_column_families(rep, name, (int)count, chars, reps, handles, &error);
  }
  Py_END_ALLOW_THREADS if (db != NULL) {
    self->db = db;
    self->txn_db = txn_db;
    guard_open(&self->guard);
  }
  /* The families take the handles in any case, so that closing releases them. */
  const Py_ssize_t made = db == NULL ? 0 : names == Py_None ? 1 : count;
  for (Py_ssize_t i = 0; i < made; ++i) {
    PyObject* const text = names == Py_None ? PyUnicode_FromString("default") : text_make(chars[i], strlen(chars[i]));
    FamilyObject* const family =
        text == NULL
            ? NULL
            : family_make(self, handles[i], text, owned_options(self, names == Py_None ? 0 : i + 1)->comparator);
    Py_XDECREF(text);
    if (family == NULL || PyList_Append(families, (PyObject*)family) != 0) {
      Py_XDECREF(family);
      cambium_free(error);
      goto done;
    }
    Py_DECREF(family);
  }
  if (!call_finish(self, NULL, error)) goto done;
  result = PyTuple_Pack(2, self, families);
done:
  if (result == NULL && self != NULL && self->guard.is_open) {
    PyObject* type;
    PyObject* value;
    PyObject* traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_CLEAR(families);
    if (!handle_shut(self)) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
  }
  cambium_transactiondb_options_destroy(lock_options);
  Py_XDECREF(families);
  Py_XDECREF(texts);
  PyMem_Free(chars);
  PyMem_Free(reps);
  PyMem_Free(handles);
  Py_XDECREF(self);
  Py_DECREF(path);
  return result;
}

/* ---- Other calls ---- */

static bool handle_enter(HandleObject* self) { return guard_enter(&self->guard, "the database"); }

static PyObject* handle_finish(HandleObject* self, char* error) {
  guard_leave(&self->guard);
  if (!call_finish(self, NULL, error)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* handle_create_family(HandleObject* self, PyObject* args) {
  PyObject* options;
  PyObject* argument;
  if (!PyArg_ParseTuple(args, "O!O:create_family", &OptionsType, &options, &argument)) return NULL;
  PyObject* const text = text_take(argument, "column family");
  if (text == NULL) return NULL;
  PyObject* result = NULL;
  if (handle_enter(self)) {
    /* The options stay with the database also after an error, which is rare. */
    if (add_options(self, options)) {
      OptionsObject* const owned = owned_options(self, PyList_GET_SIZE(self->owned) - 1);
      char* error = NULL;
      cambium_column_family_handle_t* made;
      Py_BEGIN_ALLOW_THREADS made = cambium_create_column_family(self->db, owned->rep, PyBytes_AS_STRING(text), &error);
      Py_END_ALLOW_THREADS PyObject* const name = text_make(PyBytes_AS_STRING(text), (size_t)PyBytes_GET_SIZE(text));
      if (made != NULL && name != NULL) {
        result = (PyObject*)family_make(self, made, name, owned->comparator);
      } else if (made != NULL) {
        release_in_library(self, destroy_family, made);
      }
      Py_XDECREF(name);
      if (error != NULL && !call_finish(self, NULL, error)) Py_CLEAR(result);
    }
    guard_leave(&self->guard);
  }
  Py_DECREF(text);
  return result;
}

static PyObject* handle_drop_family(HandleObject* self, PyObject* argument) {
  if (!PyObject_TypeCheck(argument, &FamilyType)) {
    PyErr_SetString(PyExc_TypeError, "Family expected");
    return NULL;
  }
  FamilyObject* const family = (FamilyObject*)argument;
  if (family->handle != self) {
    PyErr_SetString(PyExc_ValueError, "the column family is of another database");
    return NULL;
  }
  if (!handle_enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_drop_column_family(self->db, family->rep, &error);
  Py_END_ALLOW_THREADS return handle_finish(self, error);
}

static PyObject* handle_flush_wal(HandleObject* self, PyObject* argument) {
  const int sync = PyObject_IsTrue(argument);
  if (sync < 0 || !handle_enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_flush_wal(self->db, (unsigned char)sync, &error);
  Py_END_ALLOW_THREADS return handle_finish(self, error);
}

static PyObject* handle_wait_for_compact(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  if (!handle_enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_wait_for_compact(self->db, &error);
  Py_END_ALLOW_THREADS return handle_finish(self, error);
}

static PyObject* handle_latest_sequence_number(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  if (!handle_enter(self)) return NULL;
  uint64_t number;
  Py_BEGIN_ALLOW_THREADS number = cambium_get_latest_sequence_number(self->db);
  Py_END_ALLOW_THREADS guard_leave(&self->guard);
  return PyLong_FromUnsignedLongLong(number);
}

/* Not in the first libraries of this interface version: then they are NULL. */
#pragma weak cambium_get_db_identity
void cambium_verify_checksum(cambium_t* db, const cambium_readoptions_t* options, char** errptr) __attribute__((weak));

static PyObject* handle_identity(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  if (cambium_get_db_identity == NULL) {
    PyErr_SetString(error_base, "this version of the library has no identities of databases");
    return NULL;
  }
  if (!handle_enter(self)) return NULL;
  size_t length = 0;
  char* text;
  Py_BEGIN_ALLOW_THREADS text = cambium_get_db_identity(self->db, &length);
  Py_END_ALLOW_THREADS guard_leave(&self->guard);
  if (text == NULL) Py_RETURN_NONE;
  PyObject* const result = text_make(text, length);
  cambium_free(text);
  return result;
}

static PyObject* handle_verify_checksum(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  if (cambium_verify_checksum == NULL) {
    PyErr_SetString(error_base, "this version of the library cannot verify an open database");
    return NULL;
  }
  if (!handle_enter(self)) return NULL;
  char* error = NULL;
  const ReadFlags flags = READ_FLAGS_DEFAULT;
  const ReadOptions options = read_options_take(&flags, NULL);
  Py_BEGIN_ALLOW_THREADS cambium_verify_checksum(self->db, options.rep, &error);
  Py_END_ALLOW_THREADS read_options_give(options);
  return handle_finish(self, error);
}

static PyObject* handle_set_db_options(HandleObject* self, PyObject* pairs) {
  return change_options(self, NULL, pairs);
}

static PyObject* handle_snapshot(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  return (PyObject*)snapshot_make(self);
}

static PyObject* handle_checkpoint(HandleObject* self, PyObject* args) {
  PyObject* path = NULL;
  unsigned long long size;
  if (!PyArg_ParseTuple(args, "O&K:checkpoint", PyUnicode_FSConverter, &path, &size)) return NULL;
  PyObject* result = NULL;
  if (handle_enter(self)) {
    char* error = NULL;
    Py_BEGIN_ALLOW_THREADS cambium_checkpoint_t* const checkpoint = cambium_checkpoint_object_create(self->db, &error);
    if (checkpoint != NULL) {
      cambium_checkpoint_create(checkpoint, PyBytes_AS_STRING(path), size, &error);
      cambium_checkpoint_object_destroy(checkpoint);
    }
    Py_END_ALLOW_THREADS result = handle_finish(self, error);
  }
  Py_DECREF(path);
  return result;
}

/* start_trace(path, max_file_size, sampling_frequency, filter, preserve_write_order, include_values) */
static PyObject* handle_start_trace(HandleObject* self, PyObject* args) {
  PyObject* path = NULL;
  PyObject* size;
  PyObject* frequency;
  PyObject* filter;
  int preserve;
  int values;
  if (!PyArg_ParseTuple(args, "O&OOOpp:start_trace", PyUnicode_FSConverter, &path, &size, &frequency, &filter,
                        &preserve, &values)) {
    return NULL;
  }
  cambium_traceoptions_t* const options = cambium_traceoptions_create();
  uint64_t max_size = cambium_traceoptions_get_max_trace_file_size(options);
  uint64_t sampling = cambium_traceoptions_get_sampling_frequency(options);
  uint64_t bits = cambium_traceoptions_get_filter(options);
  PyObject* result = NULL;
  if (argument_uint64(size, &max_size) && argument_uint64(frequency, &sampling) && argument_uint64(filter, &bits) &&
      handle_enter(self)) {
    char* error = NULL;
    cambium_traceoptions_set_max_trace_file_size(options, max_size);
    cambium_traceoptions_set_sampling_frequency(options, sampling);
    cambium_traceoptions_set_filter(options, bits);
    cambium_traceoptions_set_preserve_write_order(options, preserve != 0);
    cambium_traceoptions_set_include_values(options, values != 0);
    Py_BEGIN_ALLOW_THREADS cambium_start_trace(self->db, options, PyBytes_AS_STRING(path), &error);
    Py_END_ALLOW_THREADS result = handle_finish(self, error);
  }
  cambium_traceoptions_destroy(options);
  Py_DECREF(path);
  return result;
}

static PyObject* handle_end_trace(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  if (!handle_enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_end_trace(self->db, &error);
  Py_END_ALLOW_THREADS return handle_finish(self, error);
}

static PyObject* handle_options(HandleObject* self, PyObject* ignored) {
  (void)ignored;
  PyObject* const options = PyList_GET_ITEM(self->owned, 0);
  Py_INCREF(options);
  return options;
}

static PyMethodDef handle_methods[] = {
    {"close", (PyCFunction)handle_close, METH_NOARGS, NULL},
    {"create_family", (PyCFunction)handle_create_family, METH_VARARGS, NULL},
    {"drop_family", (PyCFunction)handle_drop_family, METH_O, NULL},
    {"flush_wal", (PyCFunction)handle_flush_wal, METH_O, NULL},
    {"wait_for_compact", (PyCFunction)handle_wait_for_compact, METH_NOARGS, NULL},
    {"latest_sequence_number", (PyCFunction)handle_latest_sequence_number, METH_NOARGS, NULL},
    {"verify_checksum", (PyCFunction)handle_verify_checksum, METH_NOARGS, NULL},
    {"identity", (PyCFunction)handle_identity, METH_NOARGS, NULL},
    {"set_db_options", (PyCFunction)handle_set_db_options, METH_O, NULL},
    {"snapshot", (PyCFunction)handle_snapshot, METH_NOARGS, NULL},
    {"checkpoint", (PyCFunction)handle_checkpoint, METH_VARARGS, NULL},
    {"start_trace", (PyCFunction)handle_start_trace, METH_VARARGS, NULL},
    {"end_trace", (PyCFunction)handle_end_trace, METH_NOARGS, NULL},
    {"options", (PyCFunction)handle_options, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef handle_getset[] = {
    {"closed", (getter)handle_get_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject HandleType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Handle",
    .tp_basicsize = sizeof(HandleObject),
    .tp_dealloc = (destructor)handle_dealloc,
    .tp_finalize = (destructor)handle_finalize,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)handle_traverse,
    .tp_weaklistoffset = offsetof(HandleObject, weak),
    .tp_methods = handle_methods,
    .tp_getset = handle_getset,
};
