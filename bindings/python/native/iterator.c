/* Iterator: walks entries in both directions. Its position is a gap between two entries.

   One call of the library serves many entries: the iterator fetches a window of entries, and copies them, while the GIL
   is released. The window grows from one entry to many while the iterator moves in one direction. */
#include "core.h"

#include <stddef.h>

#define WINDOW_ENTRIES 256
#define WINDOW_BYTES ((size_t)256 << 10)
#define LARGE_VALUE ((size_t)64 << 10) /* copied once, to its bytes object */

typedef struct {
  size_t key; /* offset in the arena */
  size_t key_length;
  size_t value;
  size_t value_length;
} Entry;

typedef enum { at_begin, at_end, before_entry, after_entry } Place;

typedef struct {
  PyObject_HEAD Child child;
  HandleObject* handle;
  FamilyObject* family;
  SnapshotObject* snapshot;
  WorkObject* work;        /* whose writes it shows too; NULL: none */
  cambium_iterator_t* rep; /* NULL: closed */
  bool is_busy;
  int direction; /* of next(): 1 or -1 */
  bool include_key;
  bool include_value;
  PyObject* prefix; /* of the reader: it is not returned. NULL: none */
  /* Limits that the library does not check: those of comparators other than the order of bytes. */
  bool is_checked;
  PyObject* start;
  PyObject* stop;
  bool include_start;
  bool include_stop;
  /* The window. If it has entries, the position is between entries[position - 1] and entries[position]; the library's
     iterator is at its last entry, or, if has_ended, at no entry. If it has none, `place` is the position. */
  int window_direction;
  Entry entries[WINDOW_ENTRIES];
  size_t count;
  size_t position;
  size_t fetch; /* entries to fetch next */
  bool has_ended;
  bool is_new;  /* the last fetch has replaced the window */
  bool is_lost; /* the library's iterator is not at the last entry */
  char* error;  /* why the window has ended; NULL: no more entries */
  Place place;
  char* arena;
  size_t arena_capacity;
  size_t arena_length;
  PyObject* large; /* the value of the last entry if it is large */
} IteratorObject;

static void destroy(cambium_t* db, void* rep) {
  (void)db;
  cambium_iter_destroy(rep);
}

static void release(Child* child) {
  IteratorObject* const self = CHILD_OBJECT(IteratorObject, child);
  cambium_iterator_t* const rep = self->rep;
  self->rep = NULL;
  child_remove(child);
  if (rep == NULL) return;
  release_in_library(self->handle, destroy, rep);
  if (guard_is_forked(&self->handle->guard)) return;
  snapshot_unuse(self->snapshot);
  if (self->work != NULL) work_unuse(self->work);
}

void iterators_close_over(WorkObject* work) {
  Child* const head = &work->handle->children;
  for (Child* child = head->next; child != head;) {
    if (child->close == release && CHILD_OBJECT(IteratorObject, child)->work == work) {
      release(child); /* the list may have changed meanwhile */
      child = head->next;
    } else {
      child = child->next;
    }
  }
}

static void iterator_dealloc(IteratorObject* self) {
  release(&self->child);
  Py_XDECREF(self->start);
  Py_XDECREF(self->stop);
  Py_XDECREF(self->large);
  Py_XDECREF(self->prefix);
  cambium_free(self->error);
  PyMem_RawFree(self->arena);
  Py_XDECREF(self->snapshot);
  Py_XDECREF(self->work);
  Py_DECREF(self->family);
  Py_DECREF(self->handle);
  PyObject_Free(self);
}

/* ---- Making ---- */

/* The first bytes that follow all keys with a prefix; NULL without an exception if there are none. */
static PyObject* after_prefix(const char* prefix, Py_ssize_t length) {
  while (length > 0 && (unsigned char)prefix[length - 1] == 0xff) --length;
  if (length == 0) return NULL;
  PyObject* const after = PyBytes_FromStringAndSize(NULL, length); /* a new object, which may be changed */
  if (after == NULL) return NULL;
  memcpy(PyBytes_AS_STRING(after), prefix, (size_t)length);
  ++((unsigned char*)PyBytes_AS_STRING(after))[length - 1];
  return after;
}

static PyObject* joined(PyObject* prefix, PyObject* argument) {
  Key key;
  if (!key_take(&key, prefix, argument)) return NULL;
  PyObject* const result = PyBytes_FromStringAndSize(key.data, (Py_ssize_t)key.length);
  key_release(&key);
  return result;
}

static PyObject* with_zero(PyObject* bytes) {
  PyObject* const longer = PyBytes_FromStringAndSize(NULL, PyBytes_GET_SIZE(bytes) + 1);
  if (longer == NULL) return NULL;
  memcpy(PyBytes_AS_STRING(longer), PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes));
  PyBytes_AS_STRING(longer)[PyBytes_GET_SIZE(bytes)] = 0;
  return longer;
}

/* Sets the limits of the iterator from its arguments and the prefix of the reader. */
static bool set_limits(IteratorObject* self, PyObject* reader_prefix, PyObject* start, PyObject* stop,
                       PyObject* prefix) {
  PyObject* whole = NULL; /* the prefix of all keys */
  if (prefix != NULL && prefix != Py_None) {
    if ((start != NULL && start != Py_None) || (stop != NULL && stop != Py_None)) {
      PyErr_SetString(PyExc_TypeError, "'prefix' cannot be given together with 'start' or 'stop'");
      return false;
    }
    whole = joined(reader_prefix, prefix);
    if (whole == NULL) return false;
  } else if (reader_prefix != NULL) {
    Py_INCREF(reader_prefix);
    whole = reader_prefix;
  }
  bool is_ok = true;
  if (start != NULL && start != Py_None) {
    is_ok = (self->start = joined(reader_prefix, start)) != NULL;
  } else if (whole != NULL) {
    Py_INCREF(whole);
    self->start = whole;
    self->include_start = true;
  }
  if (is_ok && stop != NULL && stop != Py_None) {
    is_ok = (self->stop = joined(reader_prefix, stop)) != NULL;
  } else if (is_ok && whole != NULL) {
    self->stop = after_prefix(PyBytes_AS_STRING(whole), PyBytes_GET_SIZE(whole));
    self->include_stop = false;
    is_ok = self->stop != NULL || !PyErr_Occurred();
  }
  Py_XDECREF(whole);
  if (!is_ok) return false;
  /* In the order of bytes, the key that follows a key is that key with a zero byte. */
  self->is_checked = self->family->comparator != NULL && self->family->comparator->builtin != 1;
  if (self->is_checked) return true;
  if (self->start != NULL && !self->include_start) {
    Py_SETREF(self->start, with_zero(self->start));
    if (self->start == NULL) return false;
  }
  if (self->stop != NULL && self->include_stop) {
    Py_SETREF(self->stop, with_zero(self->stop));
    if (self->stop == NULL) return false;
  }
  self->include_start = true;
  self->include_stop = false;
  return true;
}

/* The library's iterator. Called without the GIL. */
static cambium_iterator_t* create(IteratorObject* self, const cambium_readoptions_t* options) {
  cambium_column_family_handle_t* const family = self->family->rep;
  if (self->work == NULL) return cambium_create_iterator_cf(self->handle->db, options, family);
  if (self->work->txn != NULL) return cambium_transaction_create_iterator_cf(self->work->txn, options, family);
  return cambium_writebatch_wi_create_iterator_with_base_cf_readopts(
      self->work->batch, cambium_create_iterator_cf(self->handle->db, options, family), family, options);
}

/* Makes an iterator. The caller's call of the database ends. */
static PyObject* make(HandleObject* handle, FamilyObject* family, PyObject* prefix, SnapshotObject* snapshot,
                      WorkObject* work, PyObject* const* given) {
  bool reverse = false;
  bool include_start = true;
  bool include_stop = false;
  bool include_key = true;
  bool include_value = true;
  ReadFlags flags = READ_FLAGS_DEFAULT;
  IteratorObject* self = NULL;
  if (argument_bool(given[0], &reverse) && argument_bool(given[3], &include_start) &&
      argument_bool(given[4], &include_stop) && argument_bool(given[6], &include_key) &&
      argument_bool(given[7], &include_value) && argument_bool(given[8], &flags.verify_checksums) &&
      argument_bool(given[9], &flags.fill_cache) && argument_bool(given[10], &flags.durable_only) &&
      argument_bool(given[11], &flags.async_io)) {
    self = PyObject_New(IteratorObject, &IteratorType);
  }
  if (self == NULL) {
    snapshot_unuse(snapshot);
    guard_leave(&handle->guard);
    return NULL;
  }
  memset((char*)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
  self->child.close = release;
  Py_INCREF(handle);
  self->handle = handle;
  Py_INCREF(family);
  self->family = family;
  Py_XINCREF(snapshot);
  self->snapshot = snapshot;
  Py_XINCREF(work);
  self->work = work;
  self->direction = reverse ? -1 : 1;
  self->include_key = include_key;
  self->include_value = include_value;
  self->include_start = include_start;
  self->include_stop = include_stop;
  Py_XINCREF(prefix);
  self->prefix = prefix;
  self->fetch = 1;
  self->place = reverse ? at_end : at_begin;
  if (!set_limits(self, prefix, given[1], given[2], given[5])) {
    snapshot_unuse(snapshot);
    guard_leave(&handle->guard);
    Py_DECREF(self);
    return NULL;
  }
  cambium_readoptions_t* const options = cambium_readoptions_create();
  cambium_readoptions_set_verify_checksums(options, flags.verify_checksums);
  cambium_readoptions_set_fill_cache(options, flags.fill_cache);
  cambium_readoptions_set_async_io(options, flags.async_io);
  cambium_readoptions_set_durable_only(options, flags.durable_only);
  cambium_readoptions_set_allow_unprepared_value(options, !include_value);
  if (self->snapshot != NULL) cambium_readoptions_set_snapshot(options, self->snapshot->rep);
  if (self->start != NULL) {
    cambium_readoptions_set_iterate_lower_bound(options, PyBytes_AS_STRING(self->start),
                                                (size_t)PyBytes_GET_SIZE(self->start));
  }
  if (self->stop != NULL && !self->include_stop) {
    cambium_readoptions_set_iterate_upper_bound(options, PyBytes_AS_STRING(self->stop),
                                                (size_t)PyBytes_GET_SIZE(self->stop));
  }
  cambium_iterator_t* rep;
  Py_BEGIN_ALLOW_THREADS rep = create(self, options);
  Py_END_ALLOW_THREADS cambium_readoptions_destroy(options);
  self->rep = rep;
  if (work != NULL) ++work->users;
  child_add(self->handle, &self->child);
  /* The iterator keeps the use of the snapshot. */
  guard_leave(&self->handle->guard);
  if (!call_finish(self->handle, self->family, NULL)) {
    Py_DECREF(self);
    return NULL;
  }
  return (PyObject*)self;
}

PyObject* iterator_make(ReaderObject* reader, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static Signature signature = {"iterator", 0, 0, {ITERATOR_PARAMETERS}, {NULL}};
  PyObject* given[MAX_ARGUMENTS];
  if (!arguments_parse(&signature, args, nargs, kwnames, given) || !reader_enter(reader)) return NULL;
  return make(reader->handle, reader->family, reader->prefix, reader->snapshot, NULL, given);
}

PyObject* iterator_make_over(WorkObject* work, FamilyObject* family, PyObject* prefix, PyObject* const* given) {
  return make(work->handle, family, prefix, NULL, work, given);
}

/* ---- Fetching, without the GIL ---- */

static void advance(IteratorObject* self, int direction) {
  if (direction > 0) {
    cambium_iter_next(self->rep);
  } else {
    cambium_iter_prev(self->rep);
  }
}

static int compare_to(const IteratorObject* self, const char* key, size_t length, PyObject* limit) {
  return comparator_compare(self->family->comparator, key, length, PyBytes_AS_STRING(limit),
                            (size_t)PyBytes_GET_SIZE(limit));
}

/* Whether the library's iterator is at an entry of the range; skips entries equal to an excluded limit. */
static bool settle(IteratorObject* self, int direction) {
  while (cambium_iter_valid(self->rep)) {
    if (!self->is_checked) return true;
    size_t length;
    const char* const key = cambium_iter_key(self->rep, &length);
    const int from_start = self->start == NULL ? 1 : compare_to(self, key, length, self->start);
    const int from_stop = self->stop == NULL ? -1 : compare_to(self, key, length, self->stop);
    const bool is_low = from_start < 0 || (from_start == 0 && !self->include_start);
    const bool is_high = from_stop > 0 || (from_stop == 0 && !self->include_stop);
    if (!is_low && !is_high) return true;
    if (direction > 0 ? is_high : is_low) return false;
    advance(self, direction);
  }
  return false;
}

/* Copies bytes to the arena; false if there is no memory. */
static bool arena_add(IteratorObject* self, const char* data, size_t length, size_t* offset) {
  if (self->arena_length + length > self->arena_capacity) {
    size_t capacity = self->arena_capacity == 0 ? 4096 : self->arena_capacity;
    while (capacity < self->arena_length + length) capacity *= 2;
    char* const larger = PyMem_RawRealloc(self->arena, capacity);
    if (larger == NULL) return false;
    self->arena = larger;
    self->arena_capacity = capacity;
  }
  *offset = self->arena_length;
  if (length > 0) memcpy(self->arena + self->arena_length, data, length);
  self->arena_length += length;
  return true;
}

typedef enum { fetch_done, fetch_ended, fetch_large, fetch_no_memory } Fetched;

/* Replaces the window by entries from where the library's iterator is. If there are none, the window is kept. */
static Fetched fetch(IteratorObject* self, int direction) {
  if (!settle(self, direction)) return fetch_ended;
  self->count = self->position = self->arena_length = 0;
  self->window_direction = direction;
  self->is_new = true;
  self->is_lost = false;
  for (;;) {
    Entry* const entry = &self->entries[self->count];
    size_t length;
    const char* data = cambium_iter_key(self->rep, &length);
    entry->key_length = length;
    if (!arena_add(self, data, length, &entry->key)) return fetch_no_memory;
    entry->value = entry->value_length = 0;
    if (self->include_value) {
      data = cambium_iter_value(self->rep, &length);
      entry->value_length = length;
      if (length > LARGE_VALUE) {
        ++self->count;
        return fetch_large;
      }
      if (!arena_add(self, data, length, &entry->value)) return fetch_no_memory;
    }
    ++self->count;
    if (self->count >= self->fetch || self->arena_length >= WINDOW_BYTES) return fetch_done;
    advance(self, direction);
    if (!settle(self, direction)) return fetch_ended;
  }
}

/* Moves the library's iterator from an entry of the window to its neighbour. A transaction may have deleted the entry. */
static void move_from(IteratorObject* self, const Entry* entry, int direction) {
  const char* const key = self->arena + entry->key;
  size_t length = 0;
  if (direction > 0) {
    cambium_iter_seek(self->rep, key, entry->key_length);
  } else {
    cambium_iter_seek_for_prev(self->rep, key, entry->key_length);
  }
  if (!cambium_iter_valid(self->rep)) return;
  const char* const found = cambium_iter_key(self->rep, &length);
  if (length == entry->key_length && memcmp(found, key, length) == 0) advance(self, direction);
}

/* Seeks the key again at which the library's iterator is, because the transaction may have changed since. */
static bool stay(IteratorObject* self, int direction) {
  size_t length;
  if (self->work == NULL || !cambium_iter_valid(self->rep)) return true;
  const char* const key = cambium_iter_key(self->rep, &length);
  char* const copy = PyMem_RawMalloc(length + 1);
  if (copy == NULL) return false;
  if (length > 0) memcpy(copy, key, length);
  if (direction > 0) {
    cambium_iter_seek(self->rep, copy, length);
  } else {
    cambium_iter_seek_for_prev(self->rep, copy, length);
  }
  PyMem_RawFree(copy);
  return true;
}

/* Moves the library's iterator to the gap from which a move in `direction` begins, and fetches. */
static Fetched move(IteratorObject* self, int direction) {
  self->is_new = false;
  if (self->count > 0 && direction == self->window_direction) {
    if (self->is_lost) {
      move_from(self, &self->entries[self->count - 1], direction);
      self->is_lost = false;
    } else {
      advance(self, direction);
    }
  } else if (self->count > 0) { /* from the first entry of the window, in the opposite direction */
    move_from(self, &self->entries[0], direction);
  } else if (self->place == at_begin) {
    cambium_iter_seek_to_first(self->rep);
  } else if (self->place == at_end) {
    if (self->is_checked && self->stop != NULL && self->include_stop) {
      cambium_iter_seek_for_prev(self->rep, PyBytes_AS_STRING(self->stop), (size_t)PyBytes_GET_SIZE(self->stop));
    } else {
      cambium_iter_seek_to_last(self->rep);
    }
  } else if ((self->place == before_entry) != (direction > 0)) {
    advance(self, direction);
  } else if (!stay(self, direction)) {
    return fetch_no_memory;
  }
  return fetch(self, direction);
}

/* ---- Moving, with the GIL ---- */

static bool enter(IteratorObject* self) {
  if (self->rep == NULL) {
    PyErr_SetString(error_closed, "the database or the iterator is closed");
    return false;
  }
  if (!busy_enter(&self->is_busy, "the iterator")) return false;
  if (self->work != NULL ? work_enter(self->work) : guard_enter(&self->handle->guard, "the database")) return true;
  self->is_busy = false;
  return false;
}

static void leave(IteratorObject* self) {
  self->is_busy = false;
  if (self->work != NULL) {
    work_leave(self->work);
  } else {
    guard_leave(&self->handle->guard);
  }
}

static void forget_window(IteratorObject* self) {
  self->count = self->position = self->arena_length = 0;
  self->has_ended = self->is_lost = false;
  self->fetch = 1;
  cambium_free(self->error);
  self->error = NULL;
  Py_CLEAR(self->large);
}

static PyObject* make_item(IteratorObject* self, size_t index) {
  const Entry* const entry = &self->entries[index];
  PyObject* key = NULL;
  PyObject* value = NULL;
  if (self->include_key) {
    size_t strip = self->prefix == NULL ? 0 : (size_t)PyBytes_GET_SIZE(self->prefix);
    if (strip > entry->key_length) strip = entry->key_length;
    key = PyBytes_FromStringAndSize(self->arena + entry->key + strip, (Py_ssize_t)(entry->key_length - strip));
    if (key == NULL || !self->include_value) return key;
  } else if (!self->include_value) {
    Py_RETURN_NONE;
  }
  if (self->large != NULL && index == self->count - 1) {
    Py_INCREF(self->large);
    value = self->large;
  } else {
    value = PyBytes_FromStringAndSize(self->arena + entry->value, (Py_ssize_t)entry->value_length);
  }
  if (value == NULL || !self->include_key) {
    Py_XDECREF(key);
    return value;
  }
  PyObject* const pair = PyTuple_New(2);
  if (pair == NULL) {
    Py_DECREF(key);
    Py_DECREF(value);
    return NULL;
  }
  PyTuple_SET_ITEM(pair, 0, key);
  PyTuple_SET_ITEM(pair, 1, value);
  return pair;
}

/* An entry in `direction`, from the window. NULL without an exception: the window has none. */
static PyObject* from_window(IteratorObject* self, int direction) {
  if (self->count == 0) return NULL;
  if (direction == self->window_direction) {
    if (self->position == self->count) return NULL;
    return make_item(self, self->position++);
  }
  if (self->position == 0) return NULL;
  return make_item(self, --self->position);
}

static void raise_kept(const char* message) {
  PyObject* const error = error_make(message);
  if (error == NULL) return;
  PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_DECREF(error);
}

/* After a fetch that has replaced the window. False: an exception is set. */
static bool accept_window(IteratorObject* self, Fetched fetched, char* error) {
  Py_CLEAR(self->large);
  cambium_free(self->error);
  self->error = error;
  self->has_ended = fetched == fetch_ended;
  if (fetched == fetch_large) {
    size_t length;
    const char* const data = cambium_iter_value(self->rep, &length);
    self->large = PyBytes_FromStringAndSize(data, (Py_ssize_t)length);
    if (self->large != NULL) return true;
    --self->count;
  } else if (fetched != fetch_no_memory) {
    return true;
  }
  /* The library's iterator is at an entry for which there was no memory. */
  if (self->count > 0) {
    PyErr_Clear();
    self->is_lost = true;
    return true;
  }
  self->place = self->window_direction > 0 ? before_entry : after_entry;
  PyErr_NoMemory();
  return false;
}

/* After a fetch that has found nothing. */
static void accept_end(IteratorObject* self, int direction, char* error) {
  if (self->count > 0 && direction == self->window_direction) {
    self->has_ended = true;
    cambium_free(self->error);
    self->error = error;
    if (error != NULL) raise_kept(error);
    return;
  }
  if (self->count > 0) {
    self->is_lost = true; /* the library's iterator has left the window */
  } else if (self->place == before_entry || self->place == after_entry) {
    self->place = direction > 0 ? at_end : at_begin;
  }
  if (error != NULL) error_raise(error);
}

/* Moves in a direction. NULL without an exception: there is no entry. */
static PyObject* step(IteratorObject* self, int direction) {
  if (!enter(self)) return NULL;
  PyObject* item = from_window(self, direction);
  const bool continues = self->count > 0 && direction == self->window_direction;
  if (item != NULL || PyErr_Occurred()) {
    /* done */
  } else if (continues && self->has_ended) {
    if (self->error != NULL) raise_kept(self->error);
  } else if (self->count > 0 || self->place != (direction > 0 ? at_end : at_begin)) {
    if (!continues) {
      self->fetch = 1;
    } else if (self->fetch < WINDOW_ENTRIES) {
      self->fetch *= 4;
    }
    Fetched fetched;
    char* error = NULL;
    Py_BEGIN_ALLOW_THREADS fetched = move(self, direction);
    if (fetched == fetch_ended) cambium_iter_get_error(self->rep, &error);
    Py_END_ALLOW_THREADS if (!call_finish(self->handle, self->family, NULL)) { cambium_free(error); }
    else if (!self->is_new) {
      accept_end(self, direction, error);
    }
    else if (accept_window(self, fetched, error)) {
      item = make_item(self, self->position++);
    }
  }
  leave(self);
  return item;
}

static PyObject* iterator_next(IteratorObject* self) { return step(self, self->direction); }

static PyObject* iterator_prev(IteratorObject* self, PyObject* ignored) {
  (void)ignored;
  PyObject* const item = step(self, -self->direction);
  if (item == NULL && !PyErr_Occurred()) PyErr_SetNone(PyExc_StopIteration);
  return item;
}

static PyObject* iterator_take(IteratorObject* self, PyObject* argument) {
  const Py_ssize_t count = PyNumber_AsSsize_t(argument, PyExc_OverflowError);
  if (count == -1 && PyErr_Occurred()) return NULL;
  PyObject* const list = PyList_New(0);
  for (Py_ssize_t i = 0; list != NULL && i < count; ++i) {
    PyObject* const item = step(self, self->direction);
    if (item == NULL) break;
    const int failed = PyList_Append(list, item);
    Py_DECREF(item);
    if (failed) break;
  }
  /* An error after the entries that were taken is raised by the next call. */
  if (list != NULL && PyErr_Occurred() && PyList_GET_SIZE(list) > 0 && PyErr_ExceptionMatches(error_base) &&
      self->error != NULL) {
    PyErr_Clear();
  }
  if (!PyErr_Occurred()) return list;
  Py_XDECREF(list);
  return NULL;
}

static PyObject* seek_to(IteratorObject* self, Place place) {
  if (!enter(self)) return NULL;
  forget_window(self);
  self->place = place;
  leave(self);
  Py_RETURN_NONE;
}

static PyObject* iterator_seek_to_start(IteratorObject* self, PyObject* ignored) {
  (void)ignored;
  return seek_to(self, at_begin);
}

static PyObject* iterator_seek_to_stop(IteratorObject* self, PyObject* ignored) {
  (void)ignored;
  return seek_to(self, at_end);
}

static PyObject* iterator_seek(IteratorObject* self, PyObject* argument) {
  Key key;
  if (!key_take(&key, self->prefix, argument)) return NULL;
  if (!enter(self)) {
    key_release(&key);
    return NULL;
  }
  forget_window(self);
  char* error = NULL;
  if (self->start != NULL && compare_to(self, key.data, key.length, self->start) <= 0) {
    self->place = at_begin;
  } else if (self->stop != NULL && compare_to(self, key.data, key.length, self->stop) > 0) {
    self->place = at_end;
  } else {
    bool is_valid;
    Py_BEGIN_ALLOW_THREADS cambium_iter_seek(self->rep, key.data, key.length);
    is_valid = settle(self, 1);
    if (!is_valid) cambium_iter_get_error(self->rep, &error);
    Py_END_ALLOW_THREADS self->place = is_valid ? before_entry : at_end;
  }
  leave(self);
  key_release(&key);
  if (!call_finish(self->handle, self->family, error)) return NULL;
  Py_RETURN_NONE;
}

static PyObject* iterator_close(IteratorObject* self, PyObject* ignored) {
  (void)ignored;
  if (self->is_busy) {
    PyErr_SetString(error_base, "the iterator is in use by another thread");
    return NULL;
  }
  release(&self->child);
  Py_RETURN_NONE;
}

static PyObject* iterator_self(PyObject* self, PyObject* ignored) {
  (void)ignored;
  Py_INCREF(self);
  return self;
}

static PyObject* iterator_get_closed(IteratorObject* self, void* closure) {
  (void)closure;
  return PyBool_FromLong(self->rep == NULL);
}

static PyMethodDef methods[] = {
    {"prev", (PyCFunction)iterator_prev, METH_NOARGS,
     PyDoc_STR("Return the entry before the position, and move before it. StopIteration if there is none.")},
    {"take", (PyCFunction)iterator_take, METH_O, PyDoc_STR("Return a list of the next entries, at most `count`.")},
    {"seek", (PyCFunction)iterator_seek, METH_O,
     PyDoc_STR("Move before the first key of the range that is equal to `target`, or after it.")},
    {"seek_to_start", (PyCFunction)iterator_seek_to_start, METH_NOARGS,
     PyDoc_STR("Move before the first key of the range.")},
    {"seek_to_stop", (PyCFunction)iterator_seek_to_stop, METH_NOARGS,
     PyDoc_STR("Move after the last key of the range.")},
    {"close", (PyCFunction)iterator_close, METH_NOARGS,
     PyDoc_STR("Release what the iterator holds. Closing the database does this too.")},
    {"__enter__", (PyCFunction)iterator_self, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)iterator_close, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getset[] = {
    {"closed", (getter)iterator_get_closed, NULL, PyDoc_STR("Whether the iterator, or its database, is closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject IteratorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "cambium._core.Iterator",
    .tp_doc = PyDoc_STR("Walks the entries of a range in both directions. It shows the state at its creation."),
    .tp_basicsize = sizeof(IteratorObject),
    .tp_dealloc = (destructor)iterator_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)iterator_next,
    .tp_methods = methods,
    .tp_getset = getset,
};
