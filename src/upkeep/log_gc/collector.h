// Collector: the job of log GC. Punching comes first; clustering and relocation take turns.
#pragma once

#include "state/db_state.h"
#include "upkeep/log_gc/clusterer.h"
#include "upkeep/log_gc/gc_segments.h"
#include "upkeep/log_gc/puncher.h"
#include "upkeep/log_gc/relocator.h"

namespace cambium {

class Collector {
 public:
  Collector(DbState* state, GcSegments* segments, Relocator* relocator, Puncher* puncher, Clusterer* clusterer);

  // Runs one step. The job kCollect.
  Status Collect();
  // True if a step is due.
  [[nodiscard]] bool IsDue() CAMBIUM_EXCLUDES(commit_lock);
  void ScheduleIfDue();
  // Called when the database is idle: frees the memory that steps have kept for the next ones.
  void FreeMemory();

 private:
  // While writers wait for log GC, keeps the copy buffer of a step for the next one.
  void KeepBuffer(std::uint64_t step_bytes);
  // Chooses what the next step relocates. False: nothing is due.
  bool Pick(GcPick* pick);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  const SpaceControl& space_;
  GcSegments& segments_;
  Relocator& relocator_;
  Puncher& puncher_;
  Clusterer& clusterer_;
  bool is_turn_to_cluster_ = false;  // used by the job only
};

}  // namespace cambium
