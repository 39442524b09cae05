/* Calls in the library, closing, forks. */
#include "core.h"

#include <pthread.h>
#include <time.h>

volatile unsigned fork_generation = 0;

/* Wakes threads that wait for the last call of an object. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void after_fork_in_child(void) {
  ++fork_generation;
  /* Another thread of the parent may have held them. */
  pthread_mutex_init(&mutex, NULL);
  pthread_cond_init(&condition, NULL);
}

bool guard_init(void) {
  static bool is_set = false;
  if (!is_set && pthread_atfork(NULL, NULL, after_fork_in_child) != 0) {
    PyErr_NoMemory();
    return false;
  }
  is_set = true;
  return true;
}

void guard_open(Guard* guard) {
  guard->calls = 0;
  guard->is_open = true;
  guard->is_closing = false;
  guard->generation = fork_generation;
}

bool guard_enter(Guard* guard, const char* what) {
  if (has_deferred) release_deferred();
  if (!guard->is_open || guard->is_closing) {
    PyErr_Format(error_closed, "%s is closed", what);
    return false;
  }
  if (guard_is_forked(guard)) {
    char message[160];
    PyOS_snprintf(message, sizeof message, "Not implemented: %s cannot be used in a forked child", what);
    PyObject* const error = error_make(message);
    if (error != NULL) {
      PyErr_SetObject((PyObject*)Py_TYPE(error), error);
      Py_DECREF(error);
    }
    return false;
  }
  if (callback_kind == callback_pure) {
    PyErr_SetString(error_base, "a comparator, a compaction filter or a logger must not call the library");
    return false;
  }
  ++guard->calls;
  return true;
}

void guard_leave(Guard* guard) {
  if (--guard->calls == 0 && guard->is_closing) {
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
  }
}

bool guard_wait(Guard* guard) {
  while (guard->calls > 0) {
    /* The GIL guards the count, so a signal may come before the wait. Therefore the wait has a limit. */
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_nsec -= 1000000000;
      ++until.tv_sec;
    }
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    Py_END_ALLOW_THREADS if (PyErr_CheckSignals() != 0) return false;
  }
  return true;
}

bool busy_enter(bool* is_busy, const char* what) {
  if (*is_busy) {
    PyErr_Format(error_base, "%s is in use by another thread", what);
    return false;
  }
  *is_busy = true;
  return true;
}
