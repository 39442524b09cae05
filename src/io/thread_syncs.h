// SyncInThreads: syncs many files in less time than one sync after the other takes.
//
// A sync waits until the device has flushed its cache and, for a new file, until the journal of the file system is
// written. Syncs that wait at the same time share both (docs/adr/0070 has the times).
#pragma once

#include <span>

#include "cambium/file_system.h"

namespace cambium {

// More threads gain little: two writes of the journal serve them all.
inline constexpr std::size_t kSyncThreadsMax = 8;

// Calls SyncData of each file once, in the caller's thread and up to kSyncThreadsMax - 1 others, which end before the
// call returns. results[i] is that of files[i]. If the system gives no thread, the caller's syncs all files. If
// SyncData throws, throws the exception once all threads have ended; files that were not synced then have the result
// Aborted.
void SyncInThreads(std::span<File* const> files, std::span<Status> results);

}  // namespace cambium
