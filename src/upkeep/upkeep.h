// Upkeep: the background work of an open database: flushes, compactions, log GC, seals, the ceiling, the full disk.
// Upkeep owns the workers that do it, each declared after the workers that it uses. Jobs calls Upkeep.
#pragma once

#include <memory>

#include "state/db_state.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/compact/run_throttle.h"
#include "upkeep/failing_jobs.h"
#include "upkeep/flush/flusher.h"
#include "upkeep/flush/snapshot_runs.h"
#include "upkeep/log_gc/clusterer.h"
#include "upkeep/log_gc/collector.h"
#include "upkeep/log_gc/gc_segments.h"
#include "upkeep/log_gc/puncher.h"
#include "upkeep/log_gc/relocator.h"
#include "upkeep/log_gc/sealer.h"
#include "upkeep/manual_gc.h"
#include "upkeep/pace.h"
#include "upkeep/run_maker.h"
#include "upkeep/space/disk_keeper.h"
#include "upkeep/space/memory_keeper.h"
#include "upkeep/space/space_keeper.h"

namespace cambium {

class Upkeep final : public JobWork {
 public:
  // *state outlives the upkeep.
  explicit Upkeep(DbState* state);

  Status Do(Job job, const std::shared_ptr<Family>& family) override;
  Next After(Job job, const std::shared_ptr<Family>& family, const Status& done) override;

  // After it returns, no tick runs. Called before the jobs are closed.
  void StopTicking();
  // Waits until no job is under way and no compaction is due. Runs failed jobs again first. Returns the first error of
  // a job.
  Status WaitForAll() CAMBIUM_EXCLUDES_ROLES;

 private:
  DbState& state_;

 public:
  Pace pace{&state_};
  RunMaker runs{&state_, &pace};
  SnapshotRuns snapshot_runs{&state_, &runs};
  Compactor compactor{&state_, &pace, &runs};
  Flusher flusher{&state_, &pace, &runs, &snapshot_runs, &compactor};
  GcSegments gc_segments{&state_};
  Relocator relocator{&state_, &pace, &runs, &compactor, &gc_segments};
  Puncher puncher{&state_, &gc_segments, &relocator};
  Clusterer clusterer{&state_, &gc_segments, &relocator};
  Collector collector{&state_, &gc_segments, &relocator, &puncher, &clusterer};
  SpaceKeeper space_keeper{&state_, &pace, &compactor, &gc_segments, &collector};
  DiskKeeper disk_keeper{&state_, &flusher, &space_keeper};
  ManualGc manual_gc{&state_, &gc_segments, &clusterer, &space_keeper};
  Sealer sealer{&state_};
  FailingJobs failing_jobs{&state_};
  MemoryKeeper memory_keeper{&state_};
  RunThrottle run_throttle{&state_, &pace, &compactor};
};

}  // namespace cambium
