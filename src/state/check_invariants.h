// Invariants of the state of an open database, as one check that tests run after each step.
#pragma once

#include "state/db_state.h"

namespace cambium {

// Corruption, with the invariant that does not hold. Takes the append and the commit lock, so that what it looks at is
// of one moment.
//
//   Views      A view has the families of the MANIFEST, in the order of their ids, each with its runs in the order of
//   the
//              MANIFEST, and every segment of the MANIFEST at its slot, and no other.
//   Counters   frozen_count and run_count, which writers read without a lock, are what the current view says.
//   Log        What is durable is published; every memtable begins before the end of the log; newer memtables begin
//   after
//              older ones end; recovery would read everything that is in a memtable only.
//   Accounts   ManifestState::Check: no account is negative, and none belongs to a slot that is free.
//   Files      The bytes of files that are leaving add up.
//   Snapshots  None is newer than what is published.
Status CheckInvariants(const DbState& state);

}  // namespace cambium
