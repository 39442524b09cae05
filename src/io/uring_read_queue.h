// UringReadQueue: asynchronous reads by io_uring. Our rings carry only reads: posix_lock.h relies on that.
#pragma once

#include <cstddef>
#include <memory>

#include "cambium/file_system.h"

namespace cambium {

// Returns whether this process may use io_uring, which some containers and hardened kernels forbid. The first call
// tries a read through a ring.
[[nodiscard]] bool IoUringWorks();

// Returns a queue for up to `depth` reads in flight (at least 1, at most kUringDepthMax). It has its own ring, which
// the first Submit creates. If that fails for lack of descriptors or memory, the threads of thread_read_queue.h serve
// the queue. If a request's file is not a PosixFile, Submit serves it with File::Read.
inline constexpr std::size_t kUringDepthMax = 4096;
[[nodiscard]] std::unique_ptr<ReadQueue> NewUringReadQueue(std::size_t depth);

}  // namespace cambium
