// Invariants of the state of an open database, as one check that tests run after each step.
#pragma once

#include "state/db_state.h"

namespace cambium {

// Returns Corruption, with the invariant that does not hold. Takes the append lock and the commit lock, so that the state
// cannot change while it is checked.
//
//   Views      The current view has exactly the families of the MANIFEST, in the order of their ids, and exactly its
//              segments, each at its slot. Each family has its runs in the order of the MANIFEST.
//   Counters   frozen_count and run_count, which writers read without a lock, agree with the current view.
//   Log        All durable and flushed operations are published. No memtable begins after the end of the log. A newer
//              memtable of a family begins where an older one ends, or later. Recovery would read every operation that
//              only a memtable has.
//   Accounts   ManifestState::Check: no account is negative, and none belongs to a slot that is free.
//   Files      ObsoleteFiles::leaving_bytes() is the sum of the sizes in ObsoleteFiles::leaving(): files that only
//              readers keep. No file that the MANIFEST names is obsolete, or waits for its removal.
//   Snapshots  No snapshot has a sequence number above the published one.
Status CheckInvariants(const DbState& state);

// Reads all entries of all layers, and compares the accounts with the references that they hold. Takes the same locks.
Status CheckAccounts(const DbState& state);

}  // namespace cambium
