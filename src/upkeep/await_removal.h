// Near the ceiling, a job waits before it writes until files that were dropped before are removed.
#pragma once

#include "cambium/status.h"
#include "state/db_state.h"

namespace cambium {

// Removes the files that are dropped and that nothing holds any more, and waits until the job kRemove, if it is under
// way, has ended. A dropped file takes space until then. On a busy disk a removal may take a second, and steps that
// did not wait would fill the space above the ceiling meanwhile. A file that cannot be removed is no error: the job
// tries again. Called without locks.
Status AwaitRemoval(DbContext& db, CommitPoint* commits, Jobs* jobs);

}  // namespace cambium
