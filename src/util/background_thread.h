// StartBackgroundThread: how the library starts its own threads.
#pragma once

#include <functional>
#include <thread>

namespace cambium {

// Runs `body` in a new thread named `name` (at most 15 bytes, shown by top and gdb). The thread blocks all signals
// except those that its own faults raise, so the host's handlers of all other signals run only on the host's threads.
// The returned thread is not joinable() if the system cannot start one.
std::thread StartBackgroundThread(const char* name, std::function<void()> body);

}  // namespace cambium
