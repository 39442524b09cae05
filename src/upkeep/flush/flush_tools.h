// FlushTools: the parts of the database that flushes use.
#pragma once

#include "state/db_state.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/pace.h"
#include "upkeep/run_maker.h"

namespace cambium {

// Outlives all flushes.
struct FlushTools {
  DbContext& db;
  Jobs& jobs;
  CommitPoint& commits;
  SpaceControl& space;
  FullDisk& disk;
  Pace& pace;
  RunMaker& runs;
  Compactor& compactor;
};

}  // namespace cambium
