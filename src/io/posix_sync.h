// PosixSync: fdatasync or fsync that is believed only if the file system's journal is still alive afterwards.
//
// ext4 forgets. Two files are synced at once, and the journal's transaction that holds what both need (sizes, places of
// blocks) cannot be written. One of the two waits for it and learns of the error. The other may come a moment later,
// finds a transaction that is neither running nor being written, takes it for written, and returns 0; what it had
// synced is gone at the next mount. (jbd2_complete_transaction, seen with kernel 6.18 in one of seven runs of
// tests/process/power_cut_test.cc.) A journal that could not be written is dead from then on, and whatever has to begin
// a handle in it is refused: so after a sync one is begun, by fallocate() of bytes that are there already. That changes
// no byte and no size (the inode's change time, though), and takes 4 to 12 us, where the sync took 100 or more.
#pragma once

#include <string>

#include "cambium/status.h"

namespace cambium {

enum class SyncKind : bool { kData, kAll };  // fdatasync, fsync

// Of an open file that is written to. Errors name `path`.
Status PosixSync(int descriptor, SyncKind kind, const std::string& path);

}  // namespace cambium
