/* Transaction, and IndexedBatch: operations that are read before they are written. Both are a Work, and differ in which
   of the library's objects they have.

   An iterator over a Work is destroyed before it. While one of them is in a call, the Work is busy. */
#include "core.h"

#include <math.h>
#include <stddef.h>

static const char* name_of(const WorkObject* self) {
  return Py_TYPE(self) == &IndexedBatchType ? "the batch" : "the transaction";
}

/* ---- Lifetime ---- */

static void destroy_transaction(cambium_t* db, void* rep) {
  (void)db;
  cambium_transaction_destroy(rep);
}
static void destroy_batch(cambium_t* db, void* rep) {
  (void)db;
  cambium_writebatch_wi_destroy(rep);
}

static void release(WorkObject* self) {
  cambium_transaction_t* const txn = self->txn;
  cambium_writebatch_wi_t* const batch = self->batch;
  self->txn = NULL;
  self->batch = NULL;
  child_remove(&self->child);
  if (txn != NULL) release_in_library(self->handle, destroy_transaction, txn);
  if (batch != NULL) release_in_library(self->handle, destroy_batch, batch);
}

/* As snapshots: the last user releases it. */
static void work_child_close(Child* child) {
  WorkObject* const self = CHILD_OBJECT(WorkObject, child);
  self->is_closed = true;
  if (self->users == 0) {
    release(self);
  } else {
    child_move_to_front(self->handle, child);
  }
}

void work_unuse(WorkObject* self) {
  if (--self->users == 0 && self->is_closed) release(self);
}

static WorkObject* work_make(PyTypeObject* type, ReaderObject* store, cambium_transaction_t* txn,
                             cambium_writebatch_wi_t* batch) {
  WorkObject* const self = PyObject_New(WorkObject, type);
  if (self == NULL) {
    if (txn != NULL) release_in_library(store->handle, destroy_transaction, txn);
    if (batch != NULL) release_in_library(store->handle, destroy_batch, batch);
    return NULL;
  }
  Py_INCREF(store->handle);
  self->handle = store->handle;
  Py_INCREF(store->family);
  self->family = store->family;
  Py_XINCREF(store->prefix);
  self->prefix = store->prefix;
  self->txn = txn;
  self->batch = batch;
  self->users = 0;
  self->is_busy = false;
  self->is_closed = false;
  self->has_ended = false;
  self->child.close = work_child_close;
  self->child.exports = NULL;
  child_add(store->handle, &self->child);
  return self;
}

static void work_dealloc(WorkObject* self) {
  release(self);
  Py_XDECREF(self->prefix);
  Py_DECREF(self->family);
  Py_DECREF(self->handle);
  PyObject_Free(self);
}

bool work_enter(WorkObject* self) {
  if (!guard_enter(&self->handle->guard, "the database")) return false;
  if (self->is_closed || (self->txn == NULL && self->batch == NULL)) {
    PyErr_Format(error_closed, "%s has ended", name_of(self));
  } else if (busy_enter(&self->is_busy, name_of(self))) {
    return true;
  }
  guard_leave(&self->handle->guard);
  return false;
}

void work_leave(WorkObject* self) {
  self->is_busy = false;
  guard_leave(&self->handle->guard);
}

/* After a call: None, or the exception. */
static PyObject* finish(WorkObject* self, char* error) {
  work_leave(self);
  if (!call_finish(self->handle, self->family, error)) return NULL;
  Py_RETURN_NONE;
}

/* Closes the iterators over it. A call is running. False with an exception: another thread is destroying one of them. */
static bool close_iterators(WorkObject* self) {
  iterators_close_over(self);
  if (self->users == 0) return true;
  PyErr_Format(error_base, "another thread is closing an iterator over %s", name_of(self));
  return false;
}

/* Ends it. A call is running, and its iterators are closed. */
static void end(WorkObject* self) {
  self->is_closed = true;
  self->has_ended = true;
  release(self);
}

/* ---- Arguments ---- */

typedef struct {
  FamilyObject* family;
  PyObject* prefix;
} Target;

/* Where an operation goes: `argument`, or the object's own family and prefix. */
static bool target_take(WorkObject* self, PyObject* argument, Target* target) {
  target->family = self->family;
  target->prefix = self->prefix;
  if (argument == NULL || argument == Py_None) return true;
  if (!PyObject_TypeCheck(argument, &StoreType)) {
    PyErr_SetString(PyExc_TypeError, "column_family must be a column family, or another part of the database");
    return false;
  }
  const ReaderObject* const store = (ReaderObject*)argument;
  if (store->handle != self->handle) {
    PyErr_SetString(PyExc_ValueError, "the column family is of another database");
    return false;
  }
  target->family = store->family;
  target->prefix = store->prefix;
  return true;
}

/* Milliseconds of a number of seconds; None leaves *value as it is. */
static bool argument_milliseconds(PyObject* argument, int64_t* value) {
  double seconds = 0;
  if (argument == NULL || argument == Py_None) return true;
  if (!argument_double(argument, &seconds)) return false;
  if (!isfinite(seconds)) {
    PyErr_SetString(PyExc_ValueError, "a time must be a finite number of seconds");
    return false;
  }
  *value = seconds < 0 ? -1 : seconds > 1e12 ? INT64_MAX / 2 : (int64_t)(seconds * 1000 + 0.999);
  return true;
}

/* ---- Making ---- */

/* begin(store, sync, disable_wal, no_slowdown, snapshot | None, read_newest, deadlock_detect, lock_timeout | None,
   expiration | None, max_write_batch_size, skip_prepare) */
PyObject* core_begin(PyObject* module, PyObject* args) {
  PyObject* object;
  int sync;
  int disable_wal;
  int no_slowdown;
  PyObject* snapshot;
  int read_newest;
  int deadlock_detect;
  PyObject* lock_timeout;
  PyObject* expiration;
  Py_ssize_t size;
  int skip_prepare;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!pppOppOOnp:begin", &StoreType, &object, &sync, &disable_wal, &no_slowdown, &snapshot,
                        &read_newest, &deadlock_detect, &lock_timeout, &expiration, &size, &skip_prepare)) {
    return NULL;
  }
  ReaderObject* const store = (ReaderObject*)object;
  int64_t wait = INT64_MIN; /* not given */
  int64_t lifetime = -1;
  bool has_snapshot = false;
  if (!argument_bool(snapshot, &has_snapshot) || !argument_milliseconds(lock_timeout, &wait) ||
      !argument_milliseconds(expiration, &lifetime) || !reader_enter(store)) {
    return NULL;
  }
  HandleObject* const handle = store->handle;
  const WriteFlags flags = {sync != 0, disable_wal != 0, no_slowdown != 0};
  const WriteOptions write = write_options_take(&flags);
  char* error = NULL;
  cambium_transaction_t* txn;
  if (handle->txn_db == NULL) {
    cambium_optimistictransaction_options_t* const options = cambium_optimistictransaction_options_create();
    if (snapshot != Py_None) cambium_optimistictransaction_options_set_set_snapshot(options, has_snapshot);
    cambium_optimistictransaction_options_set_read_at_snapshot(options, !read_newest);
    Py_BEGIN_ALLOW_THREADS txn = cambium_begin_optimistic_transaction(handle->db, write.rep, options, &error);
    Py_END_ALLOW_THREADS cambium_optimistictransaction_options_destroy(options);
  } else {
    cambium_transaction_options_t* const options = cambium_transaction_options_create();
    cambium_transaction_options_set_set_snapshot(options, has_snapshot);
    cambium_transaction_options_set_read_at_snapshot(options, !read_newest);
    cambium_transaction_options_set_deadlock_detect(options, deadlock_detect != 0);
    if (wait >= 0) cambium_transaction_options_set_lock_timeout(options, wait);
    cambium_transaction_options_set_expiration(options, lifetime);
    cambium_transaction_options_set_max_write_batch_size(options, (size_t)(size < 0 ? 0 : size));
    cambium_transaction_options_set_skip_prepare(options, skip_prepare != 0);
    Py_BEGIN_ALLOW_THREADS txn = cambium_transaction_begin(handle->txn_db, write.rep, options, NULL);
    if (txn != NULL && wait == -1) cambium_transaction_set_lock_timeout(txn, -1); /* without limit */
    Py_END_ALLOW_THREADS cambium_transaction_options_destroy(options);
  }
  write_options_give(write);
  PyObject* result = NULL;
  if (txn != NULL) {
    result = (PyObject*)work_make(&TransactionType, store, txn, NULL);
  } else if (error == NULL) {
    PyObject* const raised = error_make("Not implemented: the database takes no writes");
    if (raised != NULL) {
      PyErr_SetObject((PyObject*)Py_TYPE(raised), raised);
      Py_DECREF(raised);
    }
  }
  reader_leave(store);
  if (error != NULL) return error_raise(error);
  return result;
}

/* prepared_transactions(store): those that were prepared before the database was opened, each once. */
PyObject* core_prepared_transactions(PyObject* module, PyObject* argument) {
  (void)module;
  if (!PyObject_TypeCheck(argument, &StoreType)) {
    PyErr_SetString(PyExc_TypeError, "a database is expected");
    return NULL;
  }
  ReaderObject* const store = (ReaderObject*)argument;
  if (!reader_enter(store)) return NULL;
  char* error = NULL;
  size_t count = 0;
  cambium_transaction_t** all = NULL;
  if (store->handle->txn_db != NULL) {
    Py_BEGIN_ALLOW_THREADS all =
        cambium_transactiondb_get_prepared_transactions(store->handle->txn_db, &count, &error);
    Py_END_ALLOW_THREADS
  }
  PyObject* result = error == NULL ? PyList_New((Py_ssize_t)count) : NULL;
  for (size_t i = 0; i < count; ++i) {
    /* What gets no object remains prepared. */
    PyObject* const made = (PyObject*)work_make(&TransactionType, store, all[i], NULL);
    if (made == NULL) {
      Py_CLEAR(result);
    } else if (result == NULL) {
      Py_DECREF(made);
    } else {
      PyList_SET_ITEM(result, (Py_ssize_t)i, made);
    }
  }
  cambium_free(all);
  reader_leave(store);
  if (error != NULL) return error_raise(error);
  return result;
}

/* indexed_batch(store, max_bytes) */
PyObject* core_indexed_batch(PyObject* module, PyObject* args) {
  PyObject* object;
  Py_ssize_t size;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!n:indexed_batch", &StoreType, &object, &size)) return NULL;
  ReaderObject* const store = (ReaderObject*)object;
  if (!reader_enter(store)) return NULL;
  /* All operations name their family, so the order of the batch does not matter. */
  cambium_writebatch_wi_t* const batch =
      cambium_writebatch_wi_create_with_params(NULL, 0, 1, (size_t)(size < 0 ? 0 : size));
  PyObject* const result = (PyObject*)work_make(&IndexedBatchType, store, NULL, batch);
  reader_leave(store);
  return result;
}

/* ---- Reading ---- */

typedef enum { only_read, for_share, for_update } Use;

static PyObject* look_up(WorkObject* self, PyObject* argument, PyObject* family, PyObject* absent, Use use) {
  Target target;
  Key key;
  if (!target_take(self, family, &target) || !key_take(&key, target.prefix, argument)) return NULL;
  PyObject* result = NULL;
  if (work_enter(self)) {
    char* error = NULL;
    cambium_pinnableslice_t* slice;
    const ReadFlags flags = READ_FLAGS_DEFAULT;
    const ReadOptions options = read_options_take(&flags, NULL);
    Py_BEGIN_ALLOW_THREADS if (self->batch != NULL) {
      slice = cambium_writebatch_wi_get_pinned_from_batch_and_db_cf(self->batch, self->handle->db, options.rep,
                                                                    target.family->rep, key.data, key.length, &error);
    }
    else if (use == only_read) {
      slice = cambium_transaction_get_pinned_cf(self->txn, options.rep, target.family->rep, key.data, key.length,
                                                &error);
    }
    else {
      slice = cambium_transaction_get_pinned_for_update_cf(self->txn, options.rep, target.family->rep, key.data,
                                                           key.length, use == for_update, &error);
    }
    Py_END_ALLOW_THREADS read_options_give(options);
    size_t length;
    const char* const value = cambium_pinnableslice_value(slice, &length);
    if (slice != NULL) {
      result = PyBytes_FromStringAndSize(value, (Py_ssize_t)length);
      cambium_pinnableslice_destroy(slice);
    } else if (error == NULL) {
      result = absent == NULL ? Py_None : absent;
      Py_INCREF(result);
    }
    work_leave(self);
    if (error != NULL) error_raise(error);
  }
  key_release(&key);
  return result;
}

static PyObject* work_get(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"get", 1, 2, {"key", "default", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  if (!arguments_parse(&signature, args, nargs, kwnames, given)) return NULL;
  return look_up(self, given[0], given[2], given[1], only_read);
}

static PyObject* work_get_for_update(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"get_for_update", 1, 2, {"key", "default", "exclusive", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  bool exclusive = true;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !argument_bool(given[2], &exclusive)) return NULL;
  return look_up(self, given[0], given[3], given[1], exclusive ? for_update : for_share);
}

static PyObject* work_undo(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"undo_get_for_update", 1, 1, {"key", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  Target target;
  Key key;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !target_take(self, given[1], &target) ||
      !key_take(&key, target.prefix, given[0])) {
    return NULL;
  }
  PyObject* result = NULL;
  if (work_enter(self)) {
    Py_BEGIN_ALLOW_THREADS cambium_transaction_undo_get_for_update_cf(self->txn, target.family->rep, key.data,
                                                                      key.length);
    Py_END_ALLOW_THREADS result = finish(self, NULL);
  }
  key_release(&key);
  return result;
}

/* What the batch alone says of a key. */
static PyObject* batch_get_from_batch(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"get_from_batch", 1, 2, {"key", "default", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  Target target;
  Key key;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !target_take(self, given[2], &target) ||
      !key_take(&key, target.prefix, given[0])) {
    return NULL;
  }
  PyObject* result = NULL;
  if (work_enter(self)) {
    char* error = NULL;
    char* value;
    size_t length;
    Py_BEGIN_ALLOW_THREADS value = cambium_writebatch_wi_get_from_batch_cf(self->batch, NULL, target.family->rep,
                                                                           key.data, key.length, &length, &error);
    Py_END_ALLOW_THREADS if (value != NULL) {
      result = PyBytes_FromStringAndSize(value, (Py_ssize_t)length);
      cambium_free(value);
    }
    else if (error == NULL) {
      result = given[1] == NULL ? Py_None : given[1];
      Py_INCREF(result);
    }
    work_leave(self);
    if (error != NULL) error_raise(error);
  }
  key_release(&key);
  return result;
}

static PyObject* work_iterator(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"iterator", 0, 0, {ITERATOR_PARAMETERS, "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  Target target;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) ||
      !target_take(self, given[ITERATOR_PARAMETER_COUNT], &target) || !work_enter(self)) {
    return NULL;
  }
  PyObject* const result = iterator_make_over(self, target.family, target.prefix, given);
  self->is_busy = false; /* the call has left the database */
  return result;
}

/* ---- Writing ---- */

static PyObject* work_put(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"put", 2, 2, {"key", "value", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  Target target;
  Key key;
  Bytes value;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !target_take(self, given[2], &target) ||
      !key_take(&key, target.prefix, given[0])) {
    return NULL;
  }
  PyObject* result = NULL;
  if (bytes_take(&value, given[1], "value")) {
    if (work_enter(self)) {
      char* error = NULL;
      Py_BEGIN_ALLOW_THREADS if (self->batch != NULL) {
        cambium_writebatch_wi_put_cf(self->batch, target.family->rep, key.data, key.length, value.data, value.length);
      }
      else {
        cambium_transaction_put_cf(self->txn, target.family->rep, key.data, key.length, value.data, value.length,
                                   &error);
      }
      Py_END_ALLOW_THREADS result = finish(self, error);
    }
    bytes_release(&value);
  }
  key_release(&key);
  return result;
}

static PyObject* work_delete(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"delete", 1, 1, {"key", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  Target target;
  Key key;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !target_take(self, given[1], &target) ||
      !key_take(&key, target.prefix, given[0])) {
    return NULL;
  }
  PyObject* result = NULL;
  if (work_enter(self)) {
    char* error = NULL;
    Py_BEGIN_ALLOW_THREADS if (self->batch != NULL) {
      cambium_writebatch_wi_delete_cf(self->batch, target.family->rep, key.data, key.length);
    }
    else {
      cambium_transaction_delete_cf(self->txn, target.family->rep, key.data, key.length, &error);
    }
    Py_END_ALLOW_THREADS result = finish(self, error);
  }
  key_release(&key);
  return result;
}

static PyObject* batch_delete_range(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"delete_range", 2, 2, {"start", "stop", "column_family"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  Target target;
  Key start;
  Key stop;
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !target_take(self, given[2], &target) ||
      !key_take(&start, target.prefix, given[0])) {
    return NULL;
  }
  PyObject* result = NULL;
  if (key_take(&stop, target.prefix, given[1])) {
    if (work_enter(self)) {
      Py_BEGIN_ALLOW_THREADS cambium_writebatch_wi_delete_range_cf(self->batch, target.family->rep, start.data,
                                                                   start.length, stop.data, stop.length);
      Py_END_ALLOW_THREADS result = finish(self, NULL);
    }
    key_release(&stop);
  }
  key_release(&start);
  return result;
}

/* write(batch): its operations, one by one. */
static PyObject* transaction_write(WorkObject* self, PyObject* argument) {
  HandleObject* handle;
  cambium_writebatch_t* const batch = batch_borrow(argument, &handle);
  if (batch == NULL) return NULL;
  PyObject* result = NULL;
  if (handle != self->handle) {
    PyErr_SetString(PyExc_ValueError, "the batch is of another database");
  } else if (work_enter(self)) {
    char* error = NULL;
    Py_BEGIN_ALLOW_THREADS cambium_transaction_rebuild_from_writebatch(self->txn, batch, &error);
    Py_END_ALLOW_THREADS result = finish(self, error);
  }
  batch_give_back(argument);
  return result;
}

/* ---- The end ---- */

static PyObject* transaction_commit(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  if (!close_iterators(self)) {
    work_leave(self);
    return NULL;
  }
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_transaction_commit(self->txn, &error);
  Py_END_ALLOW_THREADS if (error == NULL) end(self);
  return finish(self, error);
}

static uint64_t state_is_prepared(const cambium_transaction_t* txn) {
  return cambium_transaction_get_state(txn) == cambium_transaction_prepared;
}
static bool is_prepared(const WorkObject* self) { return state_is_prepared(self->txn); }

static PyObject* transaction_prepare(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS cambium_transaction_prepare(self->txn, &error);
  Py_END_ALLOW_THREADS return finish(self, error);
}

/* Ends a transaction, which is rolled back, or a batch. A second call does nothing, nor does one after the database was
   closed. */
static PyObject* work_close(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (self->is_closed || !self->handle->guard.is_open || guard_is_forked(&self->handle->guard)) {
    self->has_ended = true;
    Py_RETURN_NONE;
  }
  if (!work_enter(self)) return NULL;
  if (!close_iterators(self)) {
    work_leave(self);
    return NULL;
  }
  char* error = NULL;
  if (is_prepared(self)) { /* its end alone would leave it prepared */
    Py_BEGIN_ALLOW_THREADS cambium_transaction_rollback(self->txn, &error);
    Py_END_ALLOW_THREADS
  }
  if (error == NULL) end(self);
  return finish(self, error);
}

static PyObject* work_self(PyObject* self, PyObject* ignored) {
  (void)ignored;
  Py_INCREF(self);
  return self;
}

/* Commits at the end of a with statement, unless commit or rollback was called in it. If the database was closed in it,
   the commit raises ClosedError. After an exception, and after a commit that failed, the transaction is rolled back;
   but a prepared one whose commit failed remains, because the other databases may have committed. */
static PyObject* transaction_exit(WorkObject* self, PyObject* args) {
  PyObject* type = Py_None;
  PyObject* value = Py_None;
  PyObject* traceback = Py_None;
  if (!PyArg_ParseTuple(args, "|OOO:__exit__", &type, &value, &traceback)) return NULL;
  if (type == Py_None && !self->has_ended) {
    PyObject* const committed = transaction_commit(self, NULL);
    if (committed != NULL || is_prepared(self)) return committed;
    PyObject* error_type;
    PyObject* error;
    PyObject* error_traceback;
    PyErr_Fetch(&error_type, &error, &error_traceback);
    PyObject* const closed = work_close(self, NULL);
    Py_XDECREF(closed);
    PyErr_Restore(error_type, error, error_traceback);
    return NULL;
  }
  return work_close(self, NULL);
}

static PyObject* batch_exit(WorkObject* self, PyObject* args) {
  (void)args;
  return work_close(self, NULL);
}

/* write(sync, disable_wal, no_slowdown) */
static PyObject* batch_write(WorkObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"write", 0, 0, {"sync", "disable_wal", "no_slowdown"}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  WriteFlags flags = {false, false, false};
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !argument_bool(given[0], &flags.sync) ||
      !argument_bool(given[1], &flags.disable_wal) || !argument_bool(given[2], &flags.no_slowdown) ||
      !work_enter(self)) {
    return NULL;
  }
  char* error = NULL;
  const WriteOptions options = write_options_take(&flags);
  Py_BEGIN_ALLOW_THREADS cambium_write_writebatch_wi(self->handle->db, options.rep, self->batch, &error);
  Py_END_ALLOW_THREADS write_options_give(options);
  return finish(self, error);
}

static PyObject* batch_clear(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  cambium_writebatch_wi_clear(self->batch);
  return finish(self, NULL);
}

static Py_ssize_t batch_length(WorkObject* self) {
  if (!work_enter(self)) return -1;
  const Py_ssize_t count = cambium_writebatch_wi_count(self->batch);
  work_leave(self);
  return count;
}

/* ---- Save points, snapshots, figures ---- */

static PyObject* work_set_save_point(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  if (self->batch != NULL) {
    cambium_writebatch_wi_set_save_point(self->batch);
  } else {
    cambium_transaction_set_savepoint(self->txn);
  }
  return finish(self, NULL);
}

static PyObject* work_rollback_to_save_point(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  char* error = NULL;
  Py_BEGIN_ALLOW_THREADS if (self->batch != NULL) {
    cambium_writebatch_wi_rollback_to_save_point(self->batch, &error);
  }
  else {
    cambium_transaction_rollback_to_savepoint(self->txn, &error);
  }
  Py_END_ALLOW_THREADS return finish(self, error);
}

static PyObject* work_pop_save_point(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  char* error = NULL;
  if (self->batch != NULL) {
    cambium_writebatch_wi_pop_save_point(self->batch, &error);
  } else {
    cambium_transaction_pop_savepoint(self->txn, &error);
  }
  return finish(self, error);
}

static PyObject* transaction_set_snapshot(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  Py_BEGIN_ALLOW_THREADS cambium_transaction_set_snapshot(self->txn);
  Py_END_ALLOW_THREADS return finish(self, NULL);
}

static PyObject* transaction_clear_snapshot(WorkObject* self, PyObject* ignored) {
  (void)ignored;
  if (!work_enter(self)) return NULL;
  Py_BEGIN_ALLOW_THREADS cambium_transaction_clear_snapshot(self->txn);
  Py_END_ALLOW_THREADS return finish(self, NULL);
}

static PyObject* transaction_get_snapshot_sequence_number(WorkObject* self, void* closure) {
  (void)closure;
  if (!work_enter(self)) return NULL;
  const cambium_snapshot_t* const snapshot = cambium_transaction_snapshot(self->txn);
  const uint64_t number = snapshot == NULL ? 0 : cambium_snapshot_get_sequence_number(snapshot);
  work_leave(self);
  if (snapshot == NULL) Py_RETURN_NONE;
  return PyLong_FromUnsignedLongLong(number);
}

static PyObject* transaction_get_name(WorkObject* self, void* closure) {
  (void)closure;
  if (!work_enter(self)) return NULL;
  size_t length;
  char* const name = cambium_transaction_get_name(self->txn, &length);
  work_leave(self);
  PyObject* const result = text_make(name, length);
  cambium_free(name);
  return result;
}

static int transaction_set_name(WorkObject* self, PyObject* value, void* closure) {
  (void)closure;
  if (value == NULL) {
    PyErr_SetString(PyExc_TypeError, "the name cannot be deleted");
    return -1;
  }
  PyObject* const name = text_take(value, "name");
  if (name == NULL) return -1;
  bool is_ok = work_enter(self);
  if (is_ok) {
    char* error = NULL;
    cambium_transaction_set_name(self->txn, PyBytes_AS_STRING(name), (size_t)PyBytes_GET_SIZE(name), &error);
    work_leave(self);
    is_ok = call_finish(self->handle, self->family, error);
  }
  Py_DECREF(name);
  return is_ok ? 0 : -1;
}

typedef uint64_t (*Figure)(const cambium_transaction_t*);
static uint64_t has_lost_locks(const cambium_transaction_t* txn) {
  return cambium_transaction_get_state(txn) == cambium_transaction_locks_stolen;
}
static PyObject* figure(WorkObject* self, Figure read) {
  if (!work_enter(self)) return NULL;
  const uint64_t value = read(self->txn);
  work_leave(self);
  return PyLong_FromUnsignedLongLong(value);
}
static PyObject* get_id(WorkObject* self, void* closure) {
  (void)closure;
  return figure(self, cambium_transaction_get_id);
}
static PyObject* get_num_keys(WorkObject* self, void* closure) {
  (void)closure;
  return figure(self, cambium_transaction_get_num_keys);
}
static PyObject* get_num_puts(WorkObject* self, void* closure) {
  (void)closure;
  return figure(self, cambium_transaction_get_num_puts);
}
static PyObject* get_num_deletes(WorkObject* self, void* closure) {
  (void)closure;
  return figure(self, cambium_transaction_get_num_deletes);
}
static PyObject* get_elapsed_ms(WorkObject* self, void* closure) {
  (void)closure;
  return figure(self, cambium_transaction_get_elapsed_time);
}
static PyObject* truth(WorkObject* self, Figure read) {
  PyObject* const number = figure(self, read);
  if (number == NULL) return NULL;
  const int is_true = PyObject_IsTrue(number);
  Py_DECREF(number);
  return PyBool_FromLong(is_true);
}
static PyObject* get_has_lost_locks(WorkObject* self, void* closure) {
  (void)closure;
  return truth(self, has_lost_locks);
}
static PyObject* get_is_prepared(WorkObject* self, void* closure) {
  (void)closure;
  return truth(self, state_is_prepared);
}

static PyObject* work_get_closed(WorkObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(self->is_closed || !self->handle->guard.is_open);
}

/* ---- Types ---- */

#define COMMON_METHODS                                                                                             \
  FASTCALL("put", work_put,                                                                                        \
           "put($self, /, key, value, *, column_family=None)\n--\n\n"                                              \
           "Set the value of a key, in `column_family` or where the object was made."),                            \
      FASTCALL("delete", work_delete, "delete($self, /, key, *, column_family=None)\n--\n\nDelete a key."),        \
      FASTCALL("get", work_get,                                                                                    \
               "get($self, /, key, default=None, *, column_family=None)\n--\n\n"                                   \
               "Return the value of a key as if the writes so far had been written; `default` without the key."),  \
      FASTCALL("iterator", work_iterator,                                                                          \
               "iterator($self, /, *, reverse=None, start=None, stop=None, include_start=None, "                   \
               "include_stop=None, prefix=None, include_key=None, include_value=None, verify_checksums=None, "     \
               "fill_cache=None, durable_only=None, async_io=None, column_family=None)\n--\n\n"                    \
               "Return an Iterator as Store.iterator does, which also shows the writes so far. Entries are read\n" \
               "ahead, so later writes may not be shown."),                                                        \
      {"set_save_point", (PyCFunction)work_set_save_point, METH_NOARGS,                                            \
       PyDoc_STR("Remember what was done so far.")},                                                               \
      {"rollback_to_save_point", (PyCFunction)work_rollback_to_save_point, METH_NOARGS,                            \
       PyDoc_STR("Take back what was done since the newest save point, and remove it. NotFoundError: none.")},     \
      {"pop_save_point", (PyCFunction)work_pop_save_point, METH_NOARGS,                                            \
       PyDoc_STR("Remove the newest save point, and take nothing back. NotFoundError: there is none.")},           \
  { "__enter__", (PyCFunction)work_self, METH_NOARGS, NULL }
#define COMMON_GETTERS \
  { "closed", (getter)work_get_closed, NULL, PyDoc_STR("Whether it has ended, or the database is closed."), NULL }

static PyMethodDef transaction_methods[] = {
    COMMON_METHODS,
    FASTCALL("get_for_update", work_get_for_update,
             "get_for_update($self, /, key, default=None, *, exclusive=True, column_family=None)\n--\n\n"
             "Track the key, whether it exists or not, and return its value.\n\n"
             "If others write it before the commit, the commit fails; in a TransactionDB they wait for the end of\n"
             "the transaction. There, without `exclusive`, others may track it too, also without `exclusive`."),
    FASTCALL("undo_get_for_update", work_undo,
             "undo_get_for_update($self, /, key, *, column_family=None)\n--\n\n"
             "Take one get_for_update of a key back, if nothing else tracks it."),
    {"write", (PyCFunction)transaction_write, METH_O,
     PyDoc_STR("Do the operations of a WriteBatch one by one. A delete_range among them is an error.")},
    {"commit", (PyCFunction)transaction_commit, METH_NOARGS,
     PyDoc_STR("Write what the transaction has written, as a whole, and end it.\n\n"
               "After an error nothing is written (except after a failed sync: then the database takes no writes\n"
               "until it is opened again, and reads may see those of the transaction), and the transaction has\n"
               "not ended. BusyError: others have written a key that it tracks. Its iterators are closed in both\n"
               "cases.")},
    {"prepare", (PyCFunction)transaction_prepare, METH_NOARGS,
     PyDoc_STR("Record the transaction in its TransactionDB, the first of two phases. It needs a name.\n\n"
               "From then on it can only be read, committed or rolled back, and others cannot make its commit fail.\n"
               "It remains prepared if the object is freed, or the database closed, before: see\n"
               "TransactionDB.prepared_transactions.")},
    {"rollback", (PyCFunction)work_close, METH_NOARGS,
     PyDoc_STR("Discard what the transaction has written, and end it. A second call does nothing.\n\n"
               "If it is prepared, this writes. After an error it is still prepared, and has not ended.")},
    {"set_snapshot", (PyCFunction)transaction_set_snapshot, METH_NOARGS,
     PyDoc_STR("Take a snapshot now: from now on, a key conflicts if others have written it after it.")},
    {"clear_snapshot", (PyCFunction)transaction_clear_snapshot, METH_NOARGS,
     PyDoc_STR("Release the snapshot of the transaction. Reads then see the newest state.")},
    {"__exit__", (PyCFunction)transaction_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef transaction_getset[] = {
    COMMON_GETTERS,
    {"snapshot_sequence_number", (getter)transaction_get_snapshot_sequence_number, NULL,
     PyDoc_STR("The number of the newest write that its snapshot shows; None: it has no snapshot."), NULL},
    {"name", (getter)transaction_get_name, (setter)transaction_set_name,
     PyDoc_STR("The name, which no other transaction has; it can be set once, in a TransactionDB."), NULL},
    {"id", (getter)get_id, NULL, PyDoc_STR("A number that no other transaction of the process has."), NULL},
    {"num_keys", (getter)get_num_keys, NULL, PyDoc_STR("How many keys are tracked."), NULL},
    {"num_puts", (getter)get_num_puts, NULL, NULL, NULL},
    {"num_deletes", (getter)get_num_deletes, NULL, NULL, NULL},
    {"elapsed_ms", (getter)get_elapsed_ms, NULL, PyDoc_STR("Milliseconds since it began."), NULL},
    {"has_lost_locks", (getter)get_has_lost_locks, NULL,
     PyDoc_STR("Whether it has expired, and another transaction has taken one of its locks."), NULL},
    {"is_prepared", (getter)get_is_prepared, NULL, PyDoc_STR("Whether prepare was called, and has succeeded."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject TransactionType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Transaction",
    .tp_doc = PyDoc_STR("Reads and writes that take effect together, or not at all."),
    .tp_basicsize = sizeof(WorkObject),
    .tp_dealloc = (destructor)work_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = transaction_methods,
    .tp_getset = transaction_getset,
};

static PyMethodDef batch_methods[] = {
    COMMON_METHODS,
    FASTCALL("get_from_batch", batch_get_from_batch,
             "get_from_batch($self, /, key, default=None, *, column_family=None)\n--\n\n"
             "Return the value that the batch alone gives a key; `default` if it gives none."),
    FASTCALL("delete_range", batch_delete_range,
             "delete_range($self, /, start, stop, *, column_family=None)\n--\n\n"
             "Delete the keys from `start` (included) to `stop` (excluded)."),
    FASTCALL("write", batch_write,
             "write($self, /, *, sync=None, disable_wal=None, no_slowdown=None)\n--\n\n"
             "Write all operations, or none. The batch keeps them until clear()."),
    {"clear", (PyCFunction)batch_clear, METH_NOARGS, PyDoc_STR("Remove all operations and save points.")},
    {"close", (PyCFunction)work_close, METH_NOARGS, PyDoc_STR("Free the batch. A second call does nothing.")},
    {"__exit__", (PyCFunction)batch_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef batch_getset[] = {
    COMMON_GETTERS,
    {NULL, NULL, NULL, NULL, NULL},
};
static PySequenceMethods batch_sequence = {.sq_length = (lenfunc)batch_length};
PyTypeObject IndexedBatchType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.IndexedBatch",
    .tp_doc = PyDoc_STR("A batch that can be read before it is written."),
    .tp_basicsize = sizeof(WorkObject),
    .tp_dealloc = (destructor)work_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_as_sequence = &batch_sequence,
    .tp_methods = batch_methods,
    .tp_getset = batch_getset,
};
