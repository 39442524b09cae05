// The lock of a database directory.
//
// Two locks, each on an open file description of its own: flock on the directory, and a write lock of the OFD kind
// (fcntl, F_OFD_SETLK) on the file LOCK in it.
//  - Both kinds belong to the open file description, so a second handle in the same process is kept out as well, and
//    closing some other descriptor of the same file loses nothing. (Classic fcntl locks fail in both.)
//  - The directory cannot be deleted while it holds a database; LOCK can. With LOCK alone, who deletes it by hand lets a
//    second writer in, who makes a new LOCK and locks that (H50). After locking, both are compared with what their
//    names say: we must not hold the lock of something that was deleted or moved between our open and our lock.
//  - A reader on a medium that cannot be written, where no LOCK can be made, has the directory's lock.
//
// Fork (H49). The child's descriptors are the parent's open file descriptions: the lock is held until both have closed
// them, or until someone unlocks explicitly. So only the process that took the lock unlocks explicitly, which makes it
// free at once, though a child may live on with copies of the descriptors; any other process just closes them. All
// descriptors are O_CLOEXEC.
//
// Late I/O (H48). An io_uring outlives its killed process for a moment, and a *write* in it could land after a successor
// has the lock; to keep the lock until the ring is gone one would register LOCK's descriptor in each ring. There is
// nothing to keep out here: our rings carry reads only (uring_read_queue.h), which land in the memory of the dead
// process and change no file. Writes are synchronous calls: a killed thread leaves pwrite only when its write is done,
// and the descriptors, hence the lock, are released only when the last thread has left.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/lock_file_name.h"

namespace cambium {

// FileSystem::Lock for the operating system's files. kExclusive makes LOCK if it is missing; kShared goes without.
Status LockDirectory(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
                     std::unique_ptr<FileLock>* lock);

}  // namespace cambium
