// ThreadReadQueue: asynchronous reads without the kernel's help.
#pragma once

#include <cstddef>
#include <memory>

#include "cambium/file_system.h"

namespace cambium {

// A queue for up to `depth` reads in flight (at least 1), served by File::Read in threads that all queues of the process
// share. They start when there is more work than threads, and stay: at most kReadThreadsMax. If the system gives no
// thread at all, Submit reads by itself.
inline constexpr std::size_t kReadThreadsMax = 32;
[[nodiscard]] std::unique_ptr<ReadQueue> NewThreadReadQueue(std::size_t depth);

}  // namespace cambium
