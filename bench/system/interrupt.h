// Ctrl-C, told to loops as a flag.
#pragma once

#include <atomic>

namespace cambium::bench {

// Set by the first SIGINT or SIGTERM.
std::atomic<bool>& Interrupted();

// What a second SIGINT does, when someone does not want to wait for a loop's end.
enum class SecondInterrupt : unsigned char { kIgnore, kExit };
void CatchInterrupts(SecondInterrupt second);

}  // namespace cambium::bench
