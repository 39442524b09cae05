// How the library starts a thread of its own.
#pragma once

#include <functional>
#include <thread>

namespace cambium {

// Runs `body` in a new thread named `name` (at most 15 bytes, shown by top and gdb). All signals that can be blocked
// are: the host's handlers run on the host's threads, as before it used this library. What comes back is not
// joinable() if the system has no thread to give.
std::thread StartBackgroundThread(const char* name, std::function<void()> body);

}  // namespace cambium
