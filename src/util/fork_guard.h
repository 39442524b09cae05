// Which side of a fork this is. A child inherits memory and descriptors of a database that is not its own.
#pragma once

#include <cstdint>

namespace cambium {

// Goes up by one in the child of every fork. An object remembers the number at its making, and refuses to work under
// another. Costs a load, where asking for the process id costs a system call.
[[nodiscard]] std::uint64_t ForkGeneration();

}  // namespace cambium
