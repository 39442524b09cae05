// PosixSync: fdatasync or fsync that is believed only if the file system's journal is still alive afterwards.
//
// ext4 forgets. Two files are synced at once, and the journal's transaction that holds what both need (sizes, places of
// blocks) cannot be written. One of the two waits for it and learns of the error. The other may come a moment later,
// finds a transaction that is neither running nor being written, takes it for written, and returns 0; what it had
// synced is gone at the next mount. (jbd2_complete_transaction, seen with kernel 6.18 in one of seven runs of
// tests/process/power_cut_test.cc.) A journal that could not be written is dead from then on, and whatever has to begin
// a handle in it is refused: so after a sync one is begun, by fallocate() of bytes that are there already. That changes
// no byte and no size, and takes 4 to 12 us, where the sync took 100 or more.
//
// It does change the inode, which the next sync of that file would write with the journal: twice the price, where the
// file has not grown. So the journal is asked through another file of the same directory, LOCK, which nobody syncs for
// what is in it.
#pragma once

#include <memory>
#include <string>

#include "cambium/status.h"
#include "io/posix_descriptor.h"

namespace cambium {

enum class SyncKind : bool { kData, kAll };  // fdatasync, fsync

// Is the file on ext4 with a journal? Then an fdatasync waits for everything that the file's bytes need, also where it is
// only a block that was allocated before and is written now. Without a journal ext4 does not (until 6.18 or so,
// "ext4: fix fsync(2) for nojournal mode", 2026): the bytes read as zeros after a power cut. False if nobody can tell.
[[nodiscard]] bool HasJournalOfExt4(int descriptor);

// False where it is known that no journal has to be asked: on everything but ext4, and what may lie over it.
[[nodiscard]] bool MayHaveJournalOfExt4(int descriptor);

// LOCK of the directory in which the file is that is open as `descriptor` and named `path`; null if there is none, it is
// on another file system, or nobody has to be asked. All files of a directory share one descriptor. *is_settled, if
// given: false if it could be another one later, since no descriptor or no memory was free. Any thread.
std::shared_ptr<const PosixDescriptor> JournalWitnessFor(int descriptor, const std::string& path,
                                                         bool* is_settled = nullptr);

// Of an open file that is written to. `witness` may be null: then the journal is asked through the file itself. Errors
// name `path`.
Status PosixSync(int descriptor, SyncKind kind, const PosixDescriptor* witness, const std::string& path);

}  // namespace cambium
