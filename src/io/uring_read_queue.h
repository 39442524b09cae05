// UringReadQueue: asynchronous reads by io_uring. Only reads ever go through a ring of ours: posix_lock.h rests on that.
#pragma once

#include <cstddef>
#include <memory>

#include "cambium/file_system.h"

namespace cambium {

// Whether this process may use io_uring: tried once, by a read through a ring. Containers and hardened kernels forbid it.
[[nodiscard]] bool IoUringWorks();

// A queue for up to `depth` reads in flight (at least 1, at most kUringDepthMax), with a ring of its own that is made by
// the first Submit. If that fails, for want of descriptors or memory, the threads of thread_read_queue.h serve the
// queue. Requests on files that are no PosixFile are served by File::Read inside Submit.
inline constexpr std::size_t kUringDepthMax = 4096;
[[nodiscard]] std::unique_ptr<ReadQueue> NewUringReadQueue(std::size_t depth);

}  // namespace cambium
