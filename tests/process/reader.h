// What a process reads that is watched from outside, or that lacks a system call. The roles of process_main.cc.
#pragma once

#include <string>

#include "process/workload.h"

namespace cambium::testing {

// Gets of values that are all in memory, between two calls of getppid, which nobody else makes.
inline constexpr std::uint64_t kHotGets = 20'000;
int RunHotGets(const Plan& plan, int out);

// Calls that fail in this process from its beginning, as on an older kernel or in a container.
enum class Lacking { kNothing, kCacheStat, kResidency, kIoUring, kIoUringForbidden };

// Every value read in every way, hot and cold. It tells kWrong for one that is not what was written; and, in the text of
// kClosed, "mapped" if the log was in the end, "queued" if reads went through queues that asked for io_uring, "kept" if
// none did because no page could be taken out of the cache, or none that was not back at once, "uring" if there is such a
// thing.
int RunReadAll(const Plan& plan, Lacking lacking, int out);
// The exit code of a process that could not take the calls from itself.
inline constexpr int kCannotForbid = 7;

}  // namespace cambium::testing
