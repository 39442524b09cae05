// ManualGc: what a CompactRange asks of log GC, carried out by the job of log GC, while the caller waits.
#pragma once

#include <memory>
#include <optional>

#include "cambium/options.h"
#include "state/db_state.h"
#include "upkeep/clusterer.h"
#include "upkeep/collector.h"
#include "upkeep/gc_segments.h"
#include "upkeep/space_keeper.h"

namespace cambium {

// The caller holds no lock, in all of these.
class ManualGc {
 public:
  ManualGc(DbState* state, GcSegments* segments, Clusterer* clusterer, SpaceKeeper* space_keeper);

  // The log GC of a CompactRange, after its compactions; `all_keys`: it had no bounds.
  Status CollectFor(const CompactRangeOptions& options, bool all_keys);
  // Empties the segments that are eligible now, until none of these is left. `all`: whatever their age. A cutoff outside
  // [0, 1] is the option's.
  Status CollectRound(bool all, double cutoff);
  // Brings the values of a range into the order of their keys. Null: no bound.
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
