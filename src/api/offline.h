// OfflineAccess: the operations that an offline compaction (compact_log) needs on a database that is open for it alone:
// seal the whole log, run steps of log GC with records that the caller has chosen, rewrite indexes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/families.h"
#include "api/offline_tasks.h"
#include "gc/relocation.h"
#include "options/options_file.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

class OfflineAccess {
 public:
  OfflineAccess(DbState* state, Upkeep* upkeep, Families* families)
      : state_(*state), upkeep_(*upkeep), families_(*families) {}

  // Release the reserve for a full disk, so that the offline compaction can use its space, and make it again. If there
  // is no space, that is no error: the next Open tries again.
  void ReleaseReserve() { upkeep_.disk_keeper.ReleaseReserve(); }
  Status MakeReserve() { return upkeep_.disk_keeper.MakeReserve(); }
  // Keeps the copy buffers of log GC for steps that run at the same time.
  void KeepCopyBuffers(std::size_t count, std::size_t least) { upkeep_.relocator.KeepCopyBuffers(count, least); }
  // Writes the OPTIONS file, which an offline Open does not write. It records the options in force, and which
  // properties of its form a value keeps when it is relocated (`kept`). Called after SealWholeLog, before the first
  // value is relocated.
  Status PersistOptions(KeptForm kept) { return families_.PersistOffline(kept, SegmentsOfLog()); }
  // Flushes everything and seals the whole log. No other thread writes to the database.
  Status SealWholeLog();
  // The numbers of segments that can be emptied. In a database that is open for reading: those that could be emptied
  // after SealWholeLog.
  [[nodiscard]] std::vector<std::uint64_t> SegmentsOfLog() const;
  // Segments, and the layers in which their values are looked up. While a LogNow is held, none of their files is
  // removed.
  struct LogNow {
    std::shared_ptr<const View> view;
    std::vector<GcSource> sources;
    std::vector<GcFamily> families;     // with options under which moved values keep their form
    std::shared_ptr<const void> slots;  // must be released before the database is closed
  };
  [[nodiscard]] LogNow PinLog(std::span<const std::uint64_t> numbers);
  // Runs one step of log GC: relocates these records to a new segment. If it `empties` the sources, they are dropped,
  // except damaged ones. Several threads may call it at a time if no two relocate the same record.
  struct MovedOut {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;  // of the file of the new segment
  };
  Result<MovedOut> MoveOut(const LogNow& log, std::span<const GcSource> sources, bool empties,
                           std::span<const GcRecord> records);
  // Clusters all values that may be moved, in all families. Calls `visit` with the records of each step; if it returns
  // false, stops with Incomplete. `dry`: moves nothing.
  Status ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit);
  // Rewrites every page of every index.
  Status RewriteIndexes();
  // Runs `task` in the background as soon as fewer than `most` are under way. After a failed task, starts no other.
  Status StartTask(std::function<Status()> task, int most) { return tasks_.Start(std::move(task), most); }
  // Waits until all tasks have ended. Returns their first error.
  Status AwaitTasks() { return tasks_.Await(); }
  // Waits until no job is under way.
  Status AwaitIdle();
  // Damaged segments, which are not collected, with the reason.
  [[nodiscard]] std::map<std::uint64_t, std::string> DamagedSegments() const;
  // The state of the MANIFEST; in a database that is open for reading, as Open has found it.
  [[nodiscard]] ManifestState StateNow() const;
  [[nodiscard]] FileSystem& file_system() const { return *state_.context.fs; }
  [[nodiscard]] const std::string& path() const { return state_.context.path; }
  [[nodiscard]] const DBOptions& options() const { return state_.context.options; }
  [[nodiscard]] std::uint64_t blob_file_size() const { return state_.context.blob_file_size; }

 private:
  DbState& state_;
  Upkeep& upkeep_;
  Families& families_;
  OfflineTasks tasks_{&state_.context, &state_.jobs};
};

}  // namespace cambium
