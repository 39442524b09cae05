// PosixSync: fdatasync or fsync whose success counts only if the file system's journal is still alive afterwards.
//
// ext4 can lose an error. Suppose two files are synced at once, and the kernel cannot write the journal transaction
// that both need (for sizes, block locations). One sync waits for the transaction and gets the error. The other may
// arrive a moment later, find that the transaction is neither running nor being committed, take it for committed, and
// return 0; the data of that sync is gone at the next mount. (The function is jbd2_complete_transaction. With kernel
// 6.18, one of seven runs of tests/process/power_cut_test.cc showed the loss.) After a failed write the journal is
// aborted for good, and ext4 refuses every operation that must start a handle in it. So after each sync we start one,
// with fallocate() of bytes that are already allocated. This changes no byte and no size, and takes 4 to 12 us, where
// the sync took 100 or more.
//
// The fallocate() does change the inode, and the next sync of that file would have to write the inode through the
// journal, which doubles its cost if the file has not grown. So we ask through another file of the same directory, the
// *witness*: LOCK, whose contents no caller needs to sync.
#pragma once

#include <memory>
#include <string>

#include "cambium/status.h"
#include "io/posix_descriptor.h"
#include "io/posix_place.h"

namespace cambium {

enum class SyncKind : bool { kData, kAll };  // fdatasync, fsync

// Returns true if the file is on a file system that is known to overwrite bytes in place: ext4, XFS. There, if bytes
// were written and synced, fdatasync of other bytes that replace them writes no metadata. False if unknown.
[[nodiscard]] bool OverwritesInPlace(int descriptor);

// Returns false if it is known that the journal need not be asked: on file systems other than ext4 and overlayfs, which
// may lie over ext4.
[[nodiscard]] bool MayHaveJournalOfExt4(int descriptor);

// Returns the witness for the file that is open as `descriptor` and has its name at `place`: LOCK of its directory. Null
// if there is no LOCK, if it is on another file system, or if the journal need not be asked. All files of a directory
// share one descriptor. Sets *is_final, unless null, to false if this call lacked descriptors or memory, so that a
// later call may find a witness; else to true. Any thread.
std::shared_ptr<const PosixDescriptor> JournalWitnessFor(int descriptor, const PosixPlace& place,
                                                         bool* is_final = nullptr);

// Syncs a file that is open for writing. If `witness` is null, asks the journal through the file itself. Errors name
// `path`.
Status PosixSync(int descriptor, SyncKind kind, const PosixDescriptor* witness, const std::string& path);

}  // namespace cambium
