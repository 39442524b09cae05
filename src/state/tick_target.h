// TickTarget: a pointer from a delayed task to its owner, which may be destroyed before the task runs.
#pragma once

#include <memory>

#include "util/mutex.h"

namespace cambium {

// The task locks the mutex, and calls the owner if it is still set. The owner clears the pointer before it is
// destroyed, so it is not destroyed during the call.
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
