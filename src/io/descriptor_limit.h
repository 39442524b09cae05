// RaiseDescriptorLimit: lets this process open as many files as the system allows.
#pragma once

#include <cstddef>

namespace cambium {

// Raises the soft limit of the process (RLIMIT_NOFILE) to the hard one, if the system allows it, and returns the soft
// limit that holds then. Any thread.
[[nodiscard]] std::size_t RaiseDescriptorLimit();

}  // namespace cambium
