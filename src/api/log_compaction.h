// LogCompaction: CompactLog at work in an open database.
//
//   flush, seal ─▶ forecast ─▶ [values into the order of keys] ─▶ segments with garbage, step by step ─▶ indexes anew
//
// What to do is decided by looking up everything in every segment, twice: accounts count what newer layers hide as alive,
// and know segments, not records. That reads the indexes of segments and the index, no values.
#pragma once

#include <cstdint>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
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

  // Of a database opened for reading too.
  Status Forecast();
  Status Run();

 private:
  struct Segment {
    std::uint64_t bytes = 0;       // on disk
    std::uint64_t live_bytes = 0;  // of records
    bool has_garbage = false;
  };
  Result<bool> FindLive(const DbImpl::LogNow& log, const GcSource& source, std::uint32_t index, Arena* keys,
                        std::vector<GcRecord>* live);
  void FitIntoFreeSpace();
  Status Look();
  Status LookAt(const DbImpl::LogNow& log, const GcSource& source);
  [[nodiscard]] std::vector<std::uint64_t> Victims() const;
  [[nodiscard]] bool ChangesForm() const { return how_.recompress.has_value() || how_.min_blob_size.has_value(); }
  void EncodeAsWanted(DbImpl::LogNow* log) const;
  using VisitGroup =
      std::function<Status(const std::shared_ptr<const DbImpl::LogNow>& log, std::vector<LogStep> steps)>;
  Status ForEachGroup(const VisitGroup& visit);
  Status Take(const DbImpl::LogNow& log, const LogStep& step);
  Status BeginGroup(const std::shared_ptr<const DbImpl::LogNow>& log, std::vector<LogStep> steps);
  Status ForecastSteps();
  Status ForecastClustering();
  Status Cluster();
  Status Empty();
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
  std::set<std::uint64_t> damaged_;
};

}  // namespace cambium
