// ThreadReadQueue: asynchronous reads by threads, without kernel support.
#pragma once

#include <cstddef>
#include <memory>

#include "cambium/file_system.h"

namespace cambium {

// Returns a queue for up to `depth` reads in flight (at least 1). Threads that all queues of the process share serve it
// with File::Read. A thread starts if there is more work than threads, up to kReadThreadsMax, and never ends. If the
// system gives no thread at all, Submit itself reads.
inline constexpr std::size_t kReadThreadsMax = 32;
[[nodiscard]] std::unique_ptr<ReadQueue> NewThreadReadQueue(std::size_t depth);

}  // namespace cambium
