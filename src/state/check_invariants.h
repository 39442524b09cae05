// Invariants of the state of an open database, as one check that tests run after each step.
#pragma once

#include "state/db_state.h"

namespace cambium {

// Returns Corruption, with the invariant that does not hold. Takes the append lock and the commit lock, so that the state
// cannot change while it is checked.
//
//   Views      A view has the families of the MANIFEST, in the order of their ids, each with its runs in the order of
//              the MANIFEST, and every segment of the MANIFEST at its slot, and no other.
//   Counters   frozen_count and run_count, which writers read without a lock, agree with the current view.
//   Log        All durable operations are published. Every memtable begins before the end of the log. A newer memtable
//              begins after an older one ends. Recovery would read every operation that is in a memtable only.
//   Accounts   ManifestState::Check: no account is negative, and none belongs to a slot that is free.
//   Files      The bytes of files that are leaving add up.
//   Snapshots  No snapshot has a sequence number above the published one.
Status CheckInvariants(const DbState& state);

}  // namespace cambium
