// Interrupts: Ctrl-C as a flag that loops look at.
#pragma once

#include <atomic>

namespace cambium::bench {

// Set by the first SIGINT or SIGTERM.
std::atomic<bool>& Interrupted();

// The effect of a second SIGINT. A user may send one before a loop has read the flag.
enum class SecondInterrupt : unsigned char { kIgnore, kExit };
// Installs handlers for SIGINT and SIGTERM that set the flag.
void CatchInterrupts(SecondInterrupt second);

}  // namespace cambium::bench
