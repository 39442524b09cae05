// The lock of a database directory.
//
// It consists of two locks, each on its own open file description: flock on the directory, and an OFD lock
// (fcntl, F_OFD_SETLK) on the file LOCK in it.
//  - Both kinds belong to the open file description. So they also exclude a second handle in the same process, and
//    closing another descriptor of the same file does not release them. (Classic fcntl locks fail in both respects.)
//  - The directory cannot be deleted while it holds a database, but LOCK can. If only LOCK were locked, a user who
//    deletes it would let in a second writer, which creates and locks a new LOCK (H50). After locking, we check that
//    both names still lead to the locked files: a lock on a file that was deleted or moved between our open and our
//    lock is useless.
//  - A reader that finds no LOCK has only the directory's lock: a reader changes nothing, and on a read-only medium it
//    could not create LOCK.
//  - LOCK is created with mode 0600, so only the owner can lock it. But every user who may read the directory can lock
//    the directory. So if users other than the owner may read the directory, its lock decides only while there is no
//    LOCK. If there is a LOCK, the directory's lock is taken if it is free, but if another process has it, the handle
//    is opened without it (docs/adr/0063-the-owner-locks-a-file.md).
//
// Fork (H49). The child's descriptors share the parent's open file descriptions. The lock is held until both processes
// have closed their descriptors, or until one of them unlocks explicitly. So only the process that took the lock
// unlocks explicitly: this releases the lock at once, even if a child still has copies of the descriptors. Any other
// process just closes its descriptors. All descriptors are O_CLOEXEC.
//
// Late I/O (H48). An io_uring outlives its killed process for a moment, and a *write* in it could land after a
// successor has the lock. To keep the lock until the ring is gone, one would register LOCK's descriptor in each ring.
// We do not need that: our rings carry only reads (uring_read_queue.h), which land in the memory of the dead process
// and change no file. Writes are synchronous calls: a killed thread leaves pwrite only when its write is done, and the
// kernel closes the descriptors, and with them releases the lock, only after the last thread has left.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/lock_file_name.h"
#include "io/posix_place.h"

namespace cambium {

// Implements FileSystem::Lock for the operating system's files. kExclusive creates LOCK if it is missing; kShared then
// locks only the directory. `place` is made from `directory`.
Status LockDirectory(const std::string& directory, const PosixPlace& place, LockMode mode, std::uint64_t wait_micros,
                     std::unique_ptr<FileLock>* lock);

}  // namespace cambium
