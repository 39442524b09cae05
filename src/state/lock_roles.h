// The locks of a database, for clang's thread-safety analysis (util/thread_annotations.h).
//
// Several classes need the same lock, each through a reference of its own, and the analysis cannot know that these
// references lead to one object. So data and functions name the role of a lock. CommitLock, AppendLock, JobsLock and
// FamiliesLock take the mutex of their owner and tell the analysis that its role is held. The roles do not distinguish
// the locks of two databases; no code works on two at a time.
//
// A thread takes the locks in this order: DbImpl::close_mutex_, the members of a WriteBudget or the mutex of a
// TickTarget, families, append, commit, jobs, one leaf. Under the jobs lock it takes only the locks of the executor's
// queue, the logger and the figures of a WriteBudget (state/jobs.h). The annotations below declare the order of the
// roles. All locks not named here are leaves. docs/ARCHITECTURE.md ("The locks") has the whole table, and the few
// leaves under which another lock may be taken.
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
