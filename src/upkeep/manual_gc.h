// ManualGc: the log GC of a CompactRange. The job of log GC does the work while the caller waits.
#pragma once

#include <memory>
#include <optional>

#include "cambium/options.h"
#include "state/db_state.h"
#include "upkeep/log_gc/clusterer.h"
#include "upkeep/log_gc/collector.h"
#include "upkeep/log_gc/gc_segments.h"
#include "upkeep/space/space_keeper.h"

namespace cambium {

// The callers of all functions hold no lock.
class ManualGc {
 public:
  ManualGc(DbState* state, GcSegments* segments, Clusterer* clusterer, SpaceKeeper* space_keeper);

  // Runs the log GC of a CompactRange, after its compactions. `all_keys`: the call had no bounds.
  Status CollectFor(const CompactRangeOptions& options, bool all_keys);
  // Empties the segments that are eligible at the time of the call. `all`: regardless of their age. A cutoff outside
  // [0, 1] stands for the option's value.
  Status CollectRound(bool all, double cutoff);
  // Clusters the values of a range of keys. Null: no bound.
  Status ClusterRange(const std::shared_ptr<Family>& family, const Slice* begin, const Slice* end);

 private:
  Jobs& jobs_;
  CommitPoint& commits_;
  GcSegments& segments_;
  Clusterer& clusterer_;
  SpaceKeeper& space_keeper_;
  const std::shared_ptr<Family>& default_family_;
};

}  // namespace cambium
