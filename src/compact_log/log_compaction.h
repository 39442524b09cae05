// LogCompaction: CompactLog at work in an open database.
//
//   flush, seal ─▶ forecast ─▶ [values into the order of keys] ─▶ segments with garbage, step by step ─▶ indexes anew
//
// What to do is decided by looking up everything in every segment: accounts count what newer layers hide as alive, and
// know segments, not records. That reads the indexes of segments and the index, no values. What was found is remembered as
// far as memory for it goes, for the forecast and for the steps: nobody writes, and what is alive stays so until the step
// that moves it. What is not remembered is looked up again.
#pragma once

#include <cstdint>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/db_impl.h"
#include "cambium/compact_log.h"
#include "gc/log_steps.h"

namespace cambium {

// One thread, one Run or Forecast.
class LogCompaction {
 public:
  // Segments with larger numbers than `as_wanted_from` have their values in the form that `how` asks for already.
  LogCompaction(DbImpl* db, const CompactLogOptions& how, std::uint64_t as_wanted_from, CompactLogReport* report);

  ~LogCompaction();
  LogCompaction(const LogCompaction&) = delete;
  LogCompaction& operator=(const LogCompaction&) = delete;

  // Steps that are under way beside one another: more than there are processors, since each waits by turns for its reads
  // and its sync. As many threads as that should be there.
  [[nodiscard]] static int StepsAtATime(const DBOptions& options);

  // Bytes that the log is to lose, whoever holds their files.
  [[nodiscard]] std::uint64_t leaves() const;

  // Of a database opened for reading too.
  Status Forecast();
  Status Run();

 private:
  struct Segment {
    std::uint64_t bytes = 0;       // on disk
    std::uint64_t live_bytes = 0;  // of records
    bool has_garbage = false;
    bool is_shared = false;  // its file has a second name
  };
  // What is alive in a segment.
  struct Found {
    std::string damage;  // not empty: its records cannot be listed
    bool is_empty = false;  // there are none: what an opening leaves that wrote nothing
    Arena keys;
    std::vector<GcRecord> live;  // of source 0
  };
  Result<bool> FindLive(const DbImpl::LogNow& log, const GcSource& source, std::uint32_t index, Arena* keys,
                        std::vector<GcRecord>* live);
  static Result<std::unique_ptr<Found>> LookUp(const DbImpl::LogNow& log, const GcSource& source);  // any thread
  void NoteDamage(std::uint64_t number, const std::string& damage);
  void FitIntoFreeSpace();
  Status Look();
  Status LookAt(const GcSource& source, std::unique_ptr<Found> found);
  // Those with nothing alive come first, and in groups of their own: which of them went in SettleLog is nothing to the rest.
  [[nodiscard]] std::vector<std::uint64_t> Dead() const;
  [[nodiscard]] std::vector<std::uint64_t> Victims() const;
  [[nodiscard]] bool ChangesForm() const { return how_.recompress.has_value() || how_.min_blob_size.has_value(); }
  void EncodeAsWanted(DbImpl::LogNow* log) const;
  using VisitGroup =
      std::function<Status(const std::shared_ptr<const DbImpl::LogNow>& log, std::vector<LogStep> steps)>;
  Status ForEachGroup(const VisitGroup& visit);
  Status ForEachGroupOf(std::span<const std::uint64_t> victims, const VisitGroup& visit);
  Status Take(const DbImpl::LogNow& log, const LogStep& step);
  Status BeginGroup(const std::shared_ptr<const DbImpl::LogNow>& log, std::vector<LogStep> steps);
  [[nodiscard]] bool IsClustered(const GcRecord& record, const DbImpl::LogNow& log) const;
  void CountFreed(std::uint64_t gone, std::uint64_t held, CompactLogFigures* figures) const;
  Status ForecastSteps();
  Status ForecastClustering();
  Status Cluster();
  Status Empty();
  Status Settle();
  Status CountSettled(const GcSource& source);
  void CountGone(const std::map<std::uint64_t, Segment>& before);
  [[nodiscard]] bool GoesOn();

  DbImpl& db_;
  const CompactLogOptions& how_;
  const std::uint64_t as_wanted_from_;
  int steps_at_a_time_;
  std::uint64_t step_bytes_;
  bool is_tight_ = false;  // there is no room for steps of that size
  std::mutex mutex_;  // report_.fact, while steps are under way
  CompactLogReport& report_;
  std::map<std::uint64_t, Segment> segments_;  // by number
  std::map<std::uint64_t, std::unique_ptr<Found>> found_;  // by number; what is remembered
  std::uint64_t found_bytes_ = 0;  // of memory
  std::set<std::uint64_t> damaged_;
  // Keys, first and last, of what clustering is going to move: by family, ascending. While it is forecast.
  struct KeyRange {
    std::string first;
    std::string last;
  };
  std::map<std::uint32_t, std::vector<KeyRange>> clustered_;
  std::uint64_t clustered_bytes_ = 0;  // of the segments that these go to
  CompactLogFigures settled_;  // of segments that went in SettleLog, because nothing refers to them
};

}  // namespace cambium
