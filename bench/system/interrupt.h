// Interrupts: Ctrl-C, or a closed output, as a flag that loops look at.
#pragma once

#include <atomic>

namespace cambium::bench {

// Set by the first SIGINT, SIGTERM or SIGPIPE.
std::atomic<bool>& Interrupted();

// The effect of a second SIGINT. A user may send one before a loop has read the flag.
enum class SecondInterrupt : unsigned char { kIgnore, kExit };
// Installs handlers for SIGINT, SIGTERM and SIGPIPE that set the flag. So if the reader of the output goes away, as
// `head` does, the run ends as after Ctrl-C, and removes its databases.
void CatchInterrupts(SecondInterrupt second);

}  // namespace cambium::bench
