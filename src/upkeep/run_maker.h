// RunMaker: writes a run from a cursor, for a flush or for log GC, and begins the files of private runs.
#pragma once

#include <memory>

#include "index/private_runs.h"
#include "index/run.h"
#include "manifest/accounts.h"
#include "memtable/entry_cursor.h"
#include "memtable/range_deletes.h"
#include "state/db_state.h"
#include "upkeep/first_entries.h"
#include "upkeep/pace.h"
#include "upkeep/unsynced_files.h"

namespace cambium {

// Any thread.
class RunMaker {
 public:
  RunMaker(DbState* state, Pace* pace) : db_(state->context), commits_(state->commits), pace_(*pace) {}

  // Writes entries from the cursor's position on until the file is full, and the range deletes, unless null. Adds the
  // references of the entries to *accounts, and the file to *unsynced. No MANIFEST record names it yet.
  Result<std::shared_ptr<const Run>> Make(const Family& family, EntryCursor* cursor, const RangeDeletes* ranges,
                                          AccountDelta* accounts, UnsyncedFiles* unsynced, int job_id,
                                          RunKind kind = RunKind::kFlush);
  // Begins a file of runs for snapshots. No record ever names it, and it is removed after its last reader.
  Result<std::unique_ptr<PrivateRunsBuilder>> BeginPrivate(const Family& family, TableFiles* files);
  // Completes the file: its runs may be read.
  Status EndPrivate(PrivateRunsBuilder* runs);
  // Reports the files of one job to the listeners.
  [[nodiscard]] TableFiles FilesOf(const Family& family, TableFileCreationReason reason, int job_id);

 private:
  [[nodiscard]] RunOptions OptionsFor(const Family& family, RunKind kind);
  Result<std::shared_ptr<const Run>> Fill(const NewIndexFile& made, const Family& family, const RunOptions& options,
                                          const FirstEntries& first, EntryCursor* cursor, const RangeDeletes* ranges,
                                          AccountDelta* accounts);

  DbContext& db_;
  CommitPoint& commits_;
  Pace& pace_;
};

}  // namespace cambium
