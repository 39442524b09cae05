// Writer: the path of a write. It prepares the write without a lock, delays it if necessary, appends it under the
// append lock, and syncs it if requested.
//
//   Put, Delete, Write ─▶ WritePreparer: records ─▶ WritePrepared: wait for compactions and space
//     ─▶ append lock: room in the memtables, log, memtables, publish ─▶ sync
//
// A write that waits holds no lock.
#pragma once

#include "api/large_values.h"
#include "api/prepared_write.h"
#include "api/table_room.h"
#include "api/write_preparer.h"
#include "cambium/options.h"
#include "cambium/write_batch.h"
#include "state/db_state.h"
#include "trace/tracer.h"
#include "upkeep/upkeep.h"

namespace cambium {

// Any thread.
class Writer {
 public:
  Writer(DbState* state, Upkeep* upkeep, TraceSwitch* traces);

  Status Put(const WriteOptions& options, Family* family, Slice key, Slice value) CAMBIUM_EXCLUDES_ROLES;
  // Delete or SingleDelete: `type` is what a trace records.
  Status Delete(TraceOpType type, const WriteOptions& options, Family* family, Slice key) CAMBIUM_EXCLUDES_ROLES;
  // A null condition always holds. It is not asked if the batch has no operations.
  Status Write(const WriteOptions& options, WriteBatch* batch, const WriteCondition* condition = nullptr)
      CAMBIUM_EXCLUDES_ROLES;
  // Makes everything that is published durable.
  Status Sync() CAMBIUM_EXCLUDES_ROLES;
  // OK if the database takes writes, and the options are valid.
  [[nodiscard]] Status Check(const WriteOptions& options) const;

 private:
  // The whole path: waits, appends, counts the write, and syncs it if requested.
  Status WritePrepared(const WriteOptions& options, PreparedWrite* write, TracedCall* traced);
  // Waits for compactions and for space if necessary.
  Status AwaitPermission(const WriteOptions& options, const PreparedWrite& write);
  // Appends the batch. If it finds no space on the disk, tries again as long as jobs may free some.
  Status AppendOrFree(const WriteOptions& options, PreparedWrite* write, TracedCall* traced);
  Status Append(const WriteOptions& options, PreparedWrite* write, WriteTry its_try, TracedCall* traced)
      CAMBIUM_EXCLUDES(append_lock);
  Status CheckNotDropped(const PreparedWrite& write) CAMBIUM_REQUIRES(append_lock);
  // Called if the write has failed: drops the files of its large values. Returns the error of the write.
  Status GiveUp(PreparedWrite* write, const Status& why);

  DbState& state_;
  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  FullDisk& disk_;
  Pace& pace_;
  RunThrottle& run_throttle_;
  FailingJobs& failing_jobs_;
  MemoryKeeper& memory_keeper_;
  SpaceKeeper& space_keeper_;
  DiskKeeper& disk_keeper_;
  TraceSwitch& traces_;
  LargeValues large_values_;
  WritePreparer preparer_;
  TableRoom table_room_;
};

}  // namespace cambium
