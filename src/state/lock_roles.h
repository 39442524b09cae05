// The locks of a database, as clang's analysis knows them (util/thread_annotations.h).
//
// Several classes take, or need, the same lock, each through a reference of its own. The analysis cannot know that these
// references are to one object. So data and functions name the role of the lock, and CommitLock, AppendLock and JobsLock,
// which take the mutex of their owner, tell the analysis that its role is held. It does not tell the locks of two databases
// apart; no code works on two at a time.
//
// The order in which they may be taken is that of the annotations below, and of the folders: api, state, leaves.
#pragma once

#include "util/mutex.h"

namespace cambium {

class CAMBIUM_CAPABILITY("lock") LockRole {};

// A leaf; owner: Jobs.
inline LockRole jobs_lock;
// Owner: CommitPoint.
inline LockRole commit_lock CAMBIUM_ACQUIRED_BEFORE(jobs_lock);
// Owner: WriteHead.
inline LockRole append_lock CAMBIUM_ACQUIRED_BEFORE(commit_lock);
// Owner: Families.
inline LockRole families_lock CAMBIUM_ACQUIRED_BEFORE(append_lock);

}  // namespace cambium
