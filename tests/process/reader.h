// Roles of process_main.cc that read: under observation by strace, or without certain system calls.
#pragma once

#include <string>

#include "process/workload.h"

namespace cambium::testing {

// Gets values that are all in memory, between two calls of getppid, which nothing else calls.
inline constexpr std::uint64_t kHotGets = 20'000;
int RunHotGets(const Plan& plan, int out);

// System calls that fail in this process from the beginning, as on an older kernel or in a container.
enum class Lacking { kNothing, kCacheStat, kResidency, kIoUring, kIoUringForbidden };

// Reads every value in every way, hot and cold. Sends kWrong for a wrong value. The text of kClosed has these words:
// "mapped" if the log was mapped after the hot reads, "queued" if reads passed through queues created with
// use_io_uring, "kept" if no read passed through them because no page could be kept out of the page cache, "uring" if
// io_uring works.
int RunReadAll(const Plan& plan, Lacking lacking, int out);
// The exit code of a process that could not forbid the system calls.
inline constexpr int kCannotForbid = 7;

}  // namespace cambium::testing
