// VersionSwitch: lets a column family keep versions: from then on, its flushes write the sequence number of each inline
// value into the index.
//
//   layers when it begins:  inline values without versions, all at or before flushed_sequence = versions_since
//   memtables then:         their flushes write versions
//
// It takes one commit, at the first use that needs versions. The family keeps them as long as it exists.
#pragma once

#include "cambium/status.h"
#include "state/commit_point.h"
#include "state/db_context.h"

namespace cambium {

// Any thread.
class VersionSwitch {
 public:
  VersionSwitch(DbContext* db, CommitPoint* commits) : db_(*db), commits_(*commits) {}

  // The family keeps versions when this returns OK. NotSupported in a database that is open for reading only; otherwise
  // the error of a commit.
  Status Begin(const Family& family) const CAMBIUM_EXCLUDES(commit_lock);

 private:
  DbContext& db_;
  CommitPoint& commits_;
};

}  // namespace cambium
