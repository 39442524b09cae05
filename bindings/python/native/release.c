/* Releasing objects of the library. */
#include "core.h"

typedef struct Deferred {
  struct Deferred* next;
  HandleObject* handle;
  ReleaseFunction function;
  void* rep;
} Deferred;

volatile bool has_deferred = false;
static Deferred* first = NULL;
static Deferred* last = NULL;

static void call(HandleObject* handle, ReleaseFunction function, void* rep) {
  if (guard_is_forked(&handle->guard)) return;
  ++handle->guard.calls;
  Py_BEGIN_ALLOW_THREADS function(handle->db, rep);
  Py_END_ALLOW_THREADS guard_leave(&handle->guard);
}

/* Without memory the object is lost, and its database cannot be closed any more. */
static void defer(HandleObject* handle, ReleaseFunction function, void* rep) {
  Deferred* const deferred = PyMem_Malloc(sizeof *deferred);
  if (deferred == NULL) return;
  Py_INCREF(handle);
  *deferred = (Deferred){NULL, handle, function, rep};
  if (last == NULL) {
    first = deferred;
  } else {
    last->next = deferred;
  }
  last = deferred;
  has_deferred = true;
}

void release_in_library(HandleObject* handle, ReleaseFunction function, void* rep) {
  if (callback_kind == callback_pure) {
    defer(handle, function, rep);
    return;
  }
  release_deferred(); /* in the order of the releases: an iterator before its snapshot */
  call(handle, function, rep);
}

void release_deferred(void) {
  while (first != NULL && callback_kind == callback_none) {
    Deferred* const deferred = first;
    first = deferred->next;
    if (first == NULL) {
      last = NULL;
      has_deferred = false;
    }
    if (deferred->function == NULL) {
      handle_close_quietly(deferred->handle);
    } else {
      call(deferred->handle, deferred->function, deferred->rep);
    }
    Py_DECREF(deferred->handle);
    PyMem_Free(deferred);
  }
}

void handle_close_later(HandleObject* handle) { defer(handle, NULL, NULL); }
