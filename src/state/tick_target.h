// TickTarget: what a task for later finds of its owner, which may be gone when the task runs.
#pragma once

#include <memory>

#include "util/mutex.h"

namespace cambium {

// The task locks the mutex, does nothing if there is no owner, and else calls it with the mutex held. So the owner is not
// destroyed meanwhile: it clears the pointer first.
template <typename Owner>
struct TickTarget {
  Mutex mutex;
  Owner* owner CAMBIUM_GUARDED_BY(mutex) = nullptr;

  void Set(Owner* now) CAMBIUM_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    owner = now;
  }
};

}  // namespace cambium
