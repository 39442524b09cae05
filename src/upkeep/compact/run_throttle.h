// RunThrottle: delays writes to a family with many runs that wait for a compaction, because runs slow down every read.
//
//   from level0_slowdown_writes_trigger runs on   a write sleeps up to a millisecond
//   from level0_stop_writes_trigger runs on       it waits for steps of compactions
#pragma once

#include "cambium/options.h"
#include "state/db_state.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/pace.h"

namespace cambium {

// Any thread.
class RunThrottle {
 public:
  // All arguments outlive the throttle.
  RunThrottle(DbState* state, Pace* pace, Compactor* compactor)
      : db_(state->context), jobs_(state->jobs), pace_(*pace), compactor_(*compactor) {}

  // Called before a write to the family. Returns Incomplete instead of waiting if the options say no_slowdown.
  Status Await(const WriteOptions& options, Family* family) CAMBIUM_EXCLUDES_ROLES;

 private:
  // Waits for steps of compactions until fewer runs wait, or until a step fails or none is due: the write then goes on,
  // because nothing else would end the wait.
  Status AwaitSteps(Family* family);

  DbContext& db_;
  Jobs& jobs_;
  Pace& pace_;
  Compactor& compactor_;
};

}  // namespace cambium
