// A LogCompaction does the work of CompactLog in an open database.
//
//   flush, seal ─▶ forecast ─▶ [move values into key order] ─▶ empty segments with garbage, in steps ─▶ rewrite indexes
//
// To find the live values, it looks up every record of every segment in the index. Accounts do not suffice: they count
// hidden garbage as live, and know segments, not records. The lookups read footers and index pages, but no values.
// Their results are kept up to a limit of memory, for the forecast and the steps; the rest is looked up again. Nothing
// else writes, so a live record remains live until the step that moves it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/offline.h"
#include "cambium/compact_log.h"
#include "gc/log_steps.h"
#include "util/mutex.h"

namespace cambium {

// One thread calls Run or Forecast, once.
class LogCompaction {
 public:
  // Values in segments with larger numbers than `as_wanted_from` already have the form that `how` asks for.
  LogCompaction(OfflineAccess* db, const CompactLogOptions& how, std::uint64_t as_wanted_from, CompactLogReport* report);

  ~LogCompaction();
  LogCompaction(const LogCompaction&) = delete;
  LogCompaction& operator=(const LogCompaction&) = delete;

  // Returns the number of concurrent steps; the executor should have as many threads. It is larger than the number of
  // processors, since each step waits for its reads and its sync.
  [[nodiscard]] static int StepsAtATime(const DBOptions& options);

  // Returns the forecast decrease of the log in bytes, including files that a checkpoint keeps on disk.
  [[nodiscard]] std::uint64_t leaves() const;

  // Makes the forecast only. The database may be open for reading only.
  Status Forecast();
  // Makes the forecast and compacts. If the disk lacks room, Open or this call releases the reserve; this call makes it
  // again at its end.
  Status Run();

 private:
  Status RunSteps();
  struct Segment {
    std::uint64_t bytes = 0;       // on disk
    std::uint64_t live_bytes = 0;  // of records
    bool has_garbage = false;
    bool is_shared = false;  // its file has a second name
  };
  // The live records of a segment.
  struct Found {
    std::string damage;     // not empty: its records cannot be listed
    bool is_empty = false;  // it has no records: the database was opened and not written to
    Arena keys;
    std::vector<GcRecord> live;  // their source is 0
  };
  // Appends the live records of `source`, as FindLive of log_steps.h.
  Result<bool> FindLive(const OfflineAccess::LogNow& log, const GcSource& source, std::uint32_t index, Arena* keys,
                        std::vector<GcRecord>* live);
  static Result<std::unique_ptr<Found>> LookUp(const OfflineAccess::LogNow& log, const GcSource& source);  // any thread
  void NoteDamage(std::uint64_t number, const std::string& damage);
  void FitIntoFreeSpace();
  // Looks up all segments, and fills segments_ and found_.
  Status Look();
  Status LookAt(const GcSource& source, std::unique_ptr<Found> found);
  // Returns the segments without live records. They are emptied first, in groups of their own: SealWholeLog may have
  // removed some of them, and this must not change the other groups, or the forecast of a dry run would differ.
  [[nodiscard]] std::vector<std::uint64_t> Dead() const;
  // Returns the other segments to empty: those with garbage, as target_space_amp asks, and those whose values change
  // their form.
  [[nodiscard]] std::vector<std::uint64_t> Victims() const;
  [[nodiscard]] bool ChangesForm() const { return how_.recompress.has_value() || how_.min_blob_size.has_value(); }
  void EncodeAsWanted(OfflineAccess::LogNow* log) const;
  using VisitGroup =
      std::function<Status(const std::shared_ptr<const OfflineAccess::LogNow>& log, std::vector<LogStep> steps)>;
  Status ForEachGroup(const VisitGroup& visit);
  Status ForEachGroupOf(std::span<const std::uint64_t> victims, const VisitGroup& visit);
  Status Take(const OfflineAccess::LogNow& log, const LogStep& step);
  Status BeginGroup(const std::shared_ptr<const OfflineAccess::LogNow>& log, std::vector<LogStep> steps);
  [[nodiscard]] bool IsClustered(const GcRecord& record, const OfflineAccess::LogNow& log) const;
  void CountFreed(std::uint64_t gone, std::uint64_t held, CompactLogFigures* figures) const;
  Status ForecastSteps();
  Status ForecastClustering();
  Status Cluster();
  Status Empty();
  Status SealAndCount();
  Status CountRemoved(const GcSource& source);
  void CountGone(const std::map<std::uint64_t, Segment>& before);
  [[nodiscard]] bool GoesOn();

  OfflineAccess& db_;
  const CompactLogOptions& how_;
  const std::uint64_t as_wanted_from_;
  int steps_at_a_time_;
  std::uint64_t step_bytes_;
  bool is_tight_ = false;  // the disk has no room for concurrent steps of the usual size
  Mutex mutex_;            // guards report_.fact while steps run
  CompactLogReport& report_;
  std::map<std::uint64_t, Segment> segments_;              // by number
  std::map<std::uint64_t, std::unique_ptr<Found>> found_;  // lookups that are kept, by number
  std::uint64_t found_bytes_ = 0;                          // memory of found_
  std::set<std::uint64_t> damaged_;
  // Only during a forecast: the key ranges that clustering will move, by family, ascending.
  struct KeyRange {
    std::string first;
    std::string last;
  };
  std::map<std::uint32_t, std::vector<KeyRange>> clustered_;
  std::uint64_t clustered_bytes_ = 0;  // size of the segments that will hold them
  CompactLogFigures removed_by_seal_;  // of segments that were removed during SealWholeLog: nothing refers to them
};

}  // namespace cambium
