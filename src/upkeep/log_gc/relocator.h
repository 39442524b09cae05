// Relocator: a step of log GC. It copies live values out of their segments, and drops the segments that it empties.
//
//   pick: the view and the sources of one moment, under the commit lock ─▶ look up, read, check, copy
//        ─▶ write a run per family with the new addresses ─▶ commit lock: still the newest? commit
//
// The run lies on top of all durable layers and below all memtables, so every later write or delete hides it. Between
// the lookup and the commit a flush may add a newer entry of a key, which would then lie below that run. So every key
// is looked up again in the layers of the commit, and values that are no longer the newest are left out. A step that
// does not commit removes its files. After a fatal error they stay until the next Open.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gc/copy_buffers.h"
#include "gc/relocation.h"
#include "state/db_state.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/log_gc/gc_segments.h"
#include "upkeep/log_gc/gc_step.h"
#include "upkeep/pace.h"
#include "upkeep/run_maker.h"

namespace cambium {

class Relocator {
 public:
  Relocator(DbState* state, Pace* pace, RunMaker* runs, Compactor* compactor, GcSegments* segments);

  // Starts the report of a step. `empties`: the step empties its sources.
  [[nodiscard]] GcReport Begin(const GcPick& pick, bool empties) const;
  // Relocates live values of the sources, as many as one step may.
  Status EmptySources(const GcPick& pick, GcReport* report);
  // Relocates these records of the sources.
  Status Move(const GcPick& pick, std::span<const GcRecord> records, GcReport* report);
  // Reports the step to the listeners.
  void Report(const GcPick& pick, const GcReport& report, const Status& done);
  // Keeps copy buffers for steps that follow each other. An offline compaction runs several steps at a time.
  void KeepCopyBuffers(std::size_t count, std::size_t least) { copy_buffers_.Keep(count, least); }

 private:
  // Keeps the live records before the new cut of the only source. False: a cut would free too little, or cannot be made.
  // `punched`: the punched records of the source.
  Result<bool> PlanStep(const GcPick& pick, std::vector<GcRecord> punched, std::vector<GcRecord>* live,
                        GcReport* report);

  static Pace::Room RoomOf(const GcPick& pick);
  // Waits until the files are gone that earlier steps have dropped and that no reader holds.
  Status AwaitRemovalOfSegments();

  DbState& state_;
  DbContext& db_;
  Pace& pace_;
  Compactor& compactor_;
  GcSegments& segments_;
  CopyBuffers copy_buffers_;
  const RelocationTools tools_;
};

}  // namespace cambium
