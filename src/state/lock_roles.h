// The locks of a database, for clang's thread-safety analysis (util/thread_annotations.h).
//
// Several classes need the same lock, each through a reference of its own, and the analysis cannot know that these
// references lead to one object. So data and functions name the role of a lock. CommitLock, AppendLock, JobsLock and
// FamiliesLock take the mutex of their owner and tell the analysis that its role is held. The roles do not distinguish
// the locks of two databases; no code works on two at a time.
//
// A thread takes them in this order: families, append, commit, jobs; then at most one of the other locks, which are
// leaves (docs/ARCHITECTURE.md names a few leaves under which another one may be taken). The annotations below say so.
#pragma once

#include "util/mutex.h"

namespace cambium {

class CAMBIUM_CAPABILITY("lock") LockRole {};

// The last of the roles; owner: Jobs.
inline LockRole jobs_lock;
// Owner: CommitPoint.
inline LockRole commit_lock CAMBIUM_ACQUIRED_BEFORE(jobs_lock);
// Owner: WriteHead.
inline LockRole append_lock CAMBIUM_ACQUIRED_BEFORE(commit_lock);
// Owner: Families.
inline LockRole families_lock CAMBIUM_ACQUIRED_BEFORE(append_lock);

// The caller holds none of these locks: the function waits for background work, or calls listeners.
#define CAMBIUM_EXCLUDES_ROLES CAMBIUM_EXCLUDES(families_lock, append_lock, commit_lock, jobs_lock)

}  // namespace cambium
