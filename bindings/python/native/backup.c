/* BackupEngine: any thread may call its functions. */
#include "core.h"

typedef struct {
  PyObject_HEAD cambium_backup_engine_t* rep;
  Guard guard;
  PyObject* options;
} BackupObject;

/* BackupEngine(directory, options, read_only) */
static PyObject* backup_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* path = NULL;
  PyObject* options;
  int read_only;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O&O!p:BackupEngine", PyUnicode_FSConverter, &path, &OptionsType, &options, &read_only)) {
    return NULL;
  }
  BackupObject* self = NULL;
  PyObject* const copy = PyObject_CallMethod(options, "copy", NULL);
  if (copy != NULL) self = (BackupObject*)type->tp_alloc(type, 0);
  if (self == NULL) {
    Py_XDECREF(copy);
  } else {
    self->options = copy;
    char* error = NULL;
    Py_BEGIN_ALLOW_THREADS self->rep =
        read_only
            ? cambium_backup_engine_open_for_read_only(((OptionsObject*)copy)->rep, PyBytes_AS_STRING(path), &error)
            : cambium_backup_engine_open(((OptionsObject*)copy)->rep, PyBytes_AS_STRING(path), &error);
    Py_END_ALLOW_THREADS if (error == NULL) { guard_open(&self->guard); }
    else {
      error_raise(error);
      Py_CLEAR(self);
    }
  }
  Py_DECREF(path);
  return (PyObject*)self;
}

static bool shut(BackupObject* self) {
  if (!self->guard.is_open) return true;
  if (guard_is_forked(&self->guard)) {
    self->guard.is_open = false;
    return true;
  }
  if (callback_kind != callback_none || self->guard.is_closing) {
    PyErr_SetString(error_base, "the backup engine cannot be closed in a callback, nor by two threads");
    return false;
  }
  self->guard.is_closing = true;
  const bool is_idle = guard_wait(&self->guard);
  self->guard.is_closing = false;
  if (!is_idle) return false;
  self->guard.is_open = false;
  cambium_backup_engine_t* const rep = self->rep;
  self->rep = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_backup_engine_close(rep);
  Py_END_ALLOW_THREADS return true;
}

static void backup_dealloc(BackupObject* self) {
  PyObject* type;
  PyObject* value;
  PyObject* traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (!shut(self)) PyErr_Clear();
  PyErr_Restore(type, value, traceback);
  Py_XDECREF(self->options);
  Py_TYPE(self)->tp_free((PyObject*)self);
}

static PyObject* backup_close(BackupObject* self, PyObject* ignored) {
  (void)ignored;
  if (!shut(self)) return NULL;
  Py_RETURN_NONE;
}

static bool enter(BackupObject* self) { return guard_enter(&self->guard, "the backup engine"); }

static PyObject* finish(BackupObject* self, char* error) {
  guard_leave(&self->guard);
  if (error != NULL) return error_raise(error);
  Py_RETURN_NONE;
}

/* create(handle, flush) */
static PyObject* backup_create(BackupObject* self, PyObject* args) {
  HandleObject* handle;
  int flush;
  if (!PyArg_ParseTuple(args, "O!p:create", &HandleType, &handle, &flush) || !enter(self)) return NULL;
  if (!guard_enter(&handle->guard, "the database")) {
    guard_leave(&self->guard);
    return NULL;
  }
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_backup_engine_create_new_backup_flush(self->rep, handle->db, (unsigned char)flush,
                                                                       &error);
  Py_END_ALLOW_THREADS guard_leave(&handle->guard);
  return finish(self, error);
}

static PyObject* with_path(BackupObject* self, PyObject* argument,
                           void (*function)(cambium_backup_engine_t*, const char*, char**)) {
  PyObject* const path = path_take(argument);
  if (path == NULL) return NULL;
  PyObject* result = NULL;
  if (enter(self)) {
    char* error = NULL;
    Py_BEGIN_ALLOW_THREADS function(self->rep, PyBytes_AS_STRING(path), &error);
    Py_END_ALLOW_THREADS result = finish(self, error);
  }
  Py_DECREF(path);
  return result;
}

static PyObject* backup_create_offline(BackupObject* self, PyObject* path) {
  return with_path(self, path, cambium_backup_engine_create_new_backup_offline);
}

static PyObject* backup_restore_latest(BackupObject* self, PyObject* path) {
  return with_path(self, path, cambium_backup_engine_restore_db_from_latest_backup);
}

/* restore(directory, id) */
static PyObject* backup_restore(BackupObject* self, PyObject* args) {
  PyObject* path = NULL;
  unsigned int id;
  if (!PyArg_ParseTuple(args, "O&I:restore", PyUnicode_FSConverter, &path, &id)) return NULL;
  PyObject* result = NULL;
  if (enter(self)) {
    char* error = NULL;
    Py_BEGIN_ALLOW_THREADS cambium_backup_engine_restore_db_from_backup(self->rep, PyBytes_AS_STRING(path), id, &error);
    Py_END_ALLOW_THREADS result = finish(self, error);
  }
  Py_DECREF(path);
  return result;
}

static PyObject* backup_set_verify_checksums(BackupObject* self, PyObject* argument) {
  const int value = PyObject_IsTrue(argument);
  if (value < 0 || !enter(self)) return NULL;
  if (self->guard.calls > 1) {
    guard_leave(&self->guard);
    PyErr_SetString(error_base, "another thread uses the backup engine");
    return NULL;
  }
  cambium_backup_engine_set_verify_checksums(self->rep, (unsigned char)value);
  return finish(self, NULL);
}

static PyObject* backup_stop(BackupObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  Py_BEGIN_ALLOW_THREADS cambium_backup_engine_stop_backup(self->rep);
  Py_END_ALLOW_THREADS return finish(self, NULL);
}

static PyObject* with_number(BackupObject* self, PyObject* argument,
                             void (*function)(cambium_backup_engine_t*, uint32_t, char**)) {
  uint64_t number = 0;
  if (argument == Py_None || !argument_uint64(argument, &number) || number > UINT32_MAX) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a number below 2**32 expected");
    return NULL;
  }
  if (!enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS function(self->rep, (uint32_t)number, &error);
  Py_END_ALLOW_THREADS return finish(self, error);
}

static PyObject* backup_purge(BackupObject* self, PyObject* count) {
  return with_number(self, count, cambium_backup_engine_purge_old_backups);
}

static PyObject* backup_delete(BackupObject* self, PyObject* id) {
  return with_number(self, id, cambium_backup_engine_delete_backup);
}

static PyObject* backup_garbage_collect(BackupObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_backup_engine_garbage_collect(self->rep, &error);
  Py_END_ALLOW_THREADS return finish(self, error);
}

/* verify(id, with_checksum) */
static PyObject* backup_verify(BackupObject* self, PyObject* args) {
  unsigned int id;
  int with_checksum;
  if (!PyArg_ParseTuple(args, "Ip:verify", &id, &with_checksum) || !enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_backup_engine_verify_backup(self->rep, id, (unsigned char)with_checksum, &error);
  Py_END_ALLOW_THREADS return finish(self, error);
}

static PyObject* backup_list(BackupObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  const cambium_backup_engine_info_t* info;
  Py_BEGIN_ALLOW_THREADS info = cambium_backup_engine_get_backup_info(self->rep);
  Py_END_ALLOW_THREADS guard_leave(&self->guard);
  const int count = cambium_backup_engine_info_count(info);
  PyObject* list = PyList_New(count);
  for (int i = 0; list != NULL && i < count; ++i) {
    PyObject* const item = Py_BuildValue("(ILKIKN)", (unsigned int)cambium_backup_engine_info_backup_id(info, i),
                                         (long long)cambium_backup_engine_info_timestamp(info, i),
                                         (unsigned long long)cambium_backup_engine_info_size(info, i),
                                         (unsigned int)cambium_backup_engine_info_number_files(info, i),
                                         (unsigned long long)cambium_backup_engine_info_sequence_number(info, i),
                                         PyBool_FromLong(cambium_backup_engine_info_is_checked(info, i)));
    if (item == NULL) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, i, item);
    }
  }
  cambium_backup_engine_info_destroy(info);
  return list;
}

static PyObject* backup_corrupted(BackupObject* self, PyObject* ignored) {
  (void)ignored;
  if (!enter(self)) return NULL;
  size_t count = 0;
  uint32_t* ids;
  Py_BEGIN_ALLOW_THREADS ids = cambium_backup_engine_get_corrupted_backups(self->rep, &count);
  Py_END_ALLOW_THREADS guard_leave(&self->guard);
  PyObject* list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list != NULL && i < count; ++i) {
    PyObject* const id = PyLong_FromUnsignedLong(ids[i]);
    if (id == NULL) {
      Py_CLEAR(list);
    } else {
      PyList_SET_ITEM(list, (Py_ssize_t)i, id);
    }
  }
  cambium_free(ids);
  return list;
}

static PyObject* backup_get_closed(BackupObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(!self->guard.is_open);
}

static PyMethodDef methods[] = {
    {"close", (PyCFunction)backup_close, METH_NOARGS, NULL},
    {"create", (PyCFunction)backup_create, METH_VARARGS, NULL},
    {"create_offline", (PyCFunction)backup_create_offline, METH_O, NULL},
    {"restore", (PyCFunction)backup_restore, METH_VARARGS, NULL},
    {"restore_latest", (PyCFunction)backup_restore_latest, METH_O, NULL},
    {"set_verify_checksums", (PyCFunction)backup_set_verify_checksums, METH_O, NULL},
    {"stop", (PyCFunction)backup_stop, METH_NOARGS, NULL},
    {"purge", (PyCFunction)backup_purge, METH_O, NULL},
    {"delete", (PyCFunction)backup_delete, METH_O, NULL},
    {"garbage_collect", (PyCFunction)backup_garbage_collect, METH_NOARGS, NULL},
    {"verify", (PyCFunction)backup_verify, METH_VARARGS, NULL},
    {"info", (PyCFunction)backup_list, METH_NOARGS, NULL},
    {"corrupted", (PyCFunction)backup_corrupted, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getset[] = {
    {"closed", (getter)backup_get_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject BackupEngineType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.BackupEngine",
    .tp_basicsize = sizeof(BackupObject),
    .tp_new = backup_new,
    .tp_dealloc = (destructor)backup_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = methods,
    .tp_getset = getset,
};
