// OfflineAccess: what an offline compaction (compact_log) needs of a database that is open for it alone: the log as a whole,
// sealed; steps of log GC with records that the caller has chosen; indexes that are written anew.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/families.h"
#include "gc/relocation.h"
#include "options/options_file.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

class OfflineAccess {
 public:
  OfflineAccess(DbState* state, Upkeep* upkeep, Families* families)
      : state_(*state), upkeep_(*upkeep), families_(*families) {}

  // The offline compaction uses the space of the reserve for a full disk; the next Open makes the reserve again.
  void ReleaseReserve() { upkeep_.disk_keeper.ReleaseReserve(); }
  // The copy buffers of log GC are kept for steps that run at the same time.
  void KeepCopyBuffers(std::size_t count, std::size_t least) { upkeep_.relocator.KeepCopyBuffers(count, least); }
  // Writes the OPTIONS file, which an offline Open leaves alone: the options in force, and how much of its form a value keeps
  // when it is moved. Called after SealWholeLog, before any value is moved.
  Status PersistOptions(KeptForm kept) { return families_.PersistOffline(kept, SegmentsOfLog()); }
  // Flushes everything and seals the log up to here. Nobody writes to the database.
  Status SealWholeLog();
  // Segments that can be emptied, by number. Of a database that is open for reading: those that could be after SealWholeLog.
  [[nodiscard]] std::vector<std::uint64_t> SegmentsOfLog() const;
  // Segments, and what their values are looked up in. While it is held, none of their files is removed.
  struct LogNow {
    std::shared_ptr<const View> view;
    std::vector<GcSource> sources;
    std::vector<GcFamily> families;     // values keep their form
    std::shared_ptr<const void> slots;  // released before the database is closed
  };
  [[nodiscard]] LogNow PinLog(std::span<const std::uint64_t> numbers);
  // One step of log GC: moves these records to a new segment. If it `empties` the sources, they are dropped, but for those in
  // which something is damaged. Any thread, several at a time, as long as no two move the same record.
  struct MovedOut {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;  // of the file of the new segment
  };
  Result<MovedOut> MoveOut(const LogNow& log, std::span<const GcSource> sources, bool empties,
                           std::span<const GcRecord> records);
  // Brings all values of all families that may be moved into the order of their keys. `visit` is called with the records of
  // each step; false ends it, with Incomplete. `dry`: nothing is moved.
  Status ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit);
  // Writes every page of every index anew.
  Status RewriteIndexes();
  // Runs `task` in the background as soon as fewer than `most` are under way. After a task has failed none is started.
  Status StartTask(std::function<Status()> task, int most) { return state_.jobs.StartTask(std::move(task), most); }
  // Waits until all tasks have ended. The first error.
  Status AwaitTasks() { return state_.jobs.AwaitTasks(); }
  // Waits until no job is under way.
  Status AwaitIdle();
  // Segments that were left alone, and why.
  [[nodiscard]] std::map<std::uint64_t, std::string> DamagedSegments() const;
  // The state of the MANIFEST; of a database that is open for reading, as it was then.
  [[nodiscard]] ManifestState StateNow() const;
  [[nodiscard]] FileSystem& file_system() const { return *state_.context.fs; }
  [[nodiscard]] const std::string& path() const { return state_.context.path; }
  [[nodiscard]] const DBOptions& options() const { return state_.context.options; }
  [[nodiscard]] std::uint64_t blob_file_size() const { return state_.context.blob_file_size; }

 private:
  DbState& state_;
  Upkeep& upkeep_;
  Families& families_;
};

}  // namespace cambium
