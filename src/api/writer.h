// Writer: the path of a write. It checks the write, prepares it without a lock, delays it if necessary, appends it
// under the append lock, and syncs it if requested.
//
//   Put, Delete, Write ─▶ PreparedBatch ─▶ WritePrepared: wait for compactions and space
//     ─▶ append lock: room in the memtables, log, memtables, publish ─▶ sync
//
// A write that waits holds no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "api/large_values.h"
#include "cambium/options.h"
#include "cambium/write_batch.h"
#include "memtable/write_budget.h"
#include "state/db_state.h"
#include "trace/tracer.h"
#include "upkeep/upkeep.h"
#include "vlog/prepared_batch.h"

namespace cambium {

// Any thread.
class Writer {
 public:
  Writer(DbState* state, Upkeep* upkeep, TraceSwitch* traces);

  Status Put(const WriteOptions& options, Family* family, Slice key, Slice value) CAMBIUM_EXCLUDES_ROLES;
  // Delete or SingleDelete: `type` is what a trace records.
  Status Delete(TraceOpType type, const WriteOptions& options, Family* family, Slice key) CAMBIUM_EXCLUDES_ROLES;
  Status Write(const WriteOptions& options, WriteBatch* batch) CAMBIUM_EXCLUDES_ROLES;
  // Makes everything that is published durable.
  Status Sync() CAMBIUM_EXCLUDES_ROLES;
  // OK if the database takes writes, and the options are valid.
  [[nodiscard]] Status Check(const WriteOptions& options) const;

 private:
  friend class BatchPreparer;

  // A batch that is being written.
  struct Prepared {
    PreparedBatch batch;
    std::span<const WriteTarget> targets;
    std::vector<std::uint64_t> large;  // numbers of the files of its large values
    std::uint64_t user_bytes = 0;
    bool only_deletes = false;
  };

  [[nodiscard]] PreparedBatch::Rules RulesOf(const Family& family) const;
  // Adds a put to the batch. Writes a large value to its file first.
  Status AddPut(const WriteOptions& options, const Family& family, Slice key, Slice value, Prepared* prepared);
  Status WritePrepared(const WriteOptions& options, Prepared* prepared, TracedCall* traced);
  // Drops the files of the large values of a batch that failed.
  // Fatal if a sync fails meanwhile, otherwise OK.
  Status DropLargeValues(const std::vector<std::uint64_t>& numbers);
  // Waits for compactions and for space if necessary.
  Status AwaitPermission(const WriteOptions& options, const Prepared& prepared);
  // Delays writes to a family with many runs that wait for a compaction, because runs slow down every read: from
  // level0_slowdown_writes_trigger runs on, a write sleeps up to a millisecond; from level0_stop_writes_trigger runs on,
  // it waits.
  Status AwaitCompaction(const WriteOptions& options, Family* family);
  // Waits for steps of compactions until fewer runs wait, or until a step fails or none is due: the write then goes on,
  // because nothing else would end the wait.
  Status AwaitSteps(Family* family);
  // Appends the batch. If deletes find no space, tries again as long as jobs free some.
  Status AppendOrFree(const WriteOptions& options, Prepared* prepared, SequenceNumber* last, TracedCall* traced);
  Status Append(const WriteOptions& options, Prepared* prepared, bool is_last_try, SequenceNumber* last,
                TracedCall* traced) CAMBIUM_EXCLUDES(append_lock);
  // Makes room for the batch. Freezes full memtables. If too many wait for their flush, releases the append lock and
  // waits for a flush. Then takes the memory from the budget.
  Status MakeRoomInTables(const WriteOptions& options, const Prepared& prepared, WriteBudget::Place* place)
      CAMBIUM_REQUIRES(append_lock);
  Status MakeRoom(const WriteOptions& options, Family* family) CAMBIUM_REQUIRES(append_lock);
  // Takes the batch's memory from the budget. If there is no room, releases the append lock and waits for it. True: it
  // has waited, so the memtables must be looked at again.
  Result<bool> MakeRoomInBudget(const WriteOptions& options, const Prepared& prepared, WriteBudget::Place* place)
      CAMBIUM_REQUIRES(append_lock);
  // Reports to listeners whether writes wait for the budget.
  void NoteBudgetStall(bool waits);
  Status CheckNotDropped(const Prepared& prepared) CAMBIUM_REQUIRES(append_lock);
  void Count(const Prepared& prepared) const;

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  FullDisk& disk_;
  Pace& pace_;
  Compactor& compactor_;
  Flusher& flusher_;
  FailingJobs& failing_jobs_;
  MemoryKeeper& memory_keeper_;
  SpaceKeeper& space_keeper_;
  DiskKeeper& disk_keeper_;
  TraceSwitch& traces_;
  LargeValues large_values_;
  // Written under the append lock.
  std::atomic<bool> has_budget_stall_{false};  // as reported last
  std::atomic<int> budget_waiters_{0};         // writers that the budget has refused
};

}  // namespace cambium
