// Relocator: a step of log GC. It copies live values out of their segments, and drops the segments that it empties.
//
//   pick: the view and the sources of one moment, under the commit lock ─▶ look up, read, check, copy
//        ─▶ write a run per family with the new addresses ─▶ commit lock: still the newest? commit
//
// The run lies on top of all durable layers and below all memtables, so every later write or delete hides it. Between
// the lookup and the commit a flush may add a newer entry of a key, which would then lie below that run. So every key
// is looked up again in the layers of the commit, and values that are no longer the newest are left out. A step that
// does not commit leaves files that no MANIFEST record names.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "gc/copy_buffers.h"
#include "gc/cut.h"
#include "gc/relocation.h"
#include "gc/victims.h"
#include "state/db_state.h"
#include "upkeep/compactor.h"
#include "upkeep/gc_segments.h"
#include "upkeep/pace.h"
#include "upkeep/run_maker.h"

namespace cambium {

// The input of a step. Layers, sources and replay position must be of one moment: older layers would lack entries that
// were flushed since, and the step would take their records for dead.
struct GcPick {
  std::shared_ptr<const View> view;
  GcReason reason = GcReason::kNone;
  std::vector<GcSource> sources;
  std::vector<GcFamily> families;
  std::uint64_t step_bytes = 0;  // that the step may copy
  bool cuts = false;             // the step cuts its only source: it copies and frees a part
  // While `slots` is held, no new segment gets the slot of a segment that the step may read: the commit identifies
  // copied values by slot and offset.
  std::shared_ptr<const void> slots;

  // Adds the families of the view, with their current options.
  void AddFamilies();
};

// The result of a step.
struct GcReport {
  int job_id = 0;
  std::uint64_t begun_micros = 0;
  std::vector<bool> is_emptied;   // by source: no live value is left
  std::set<std::size_t> punched;  // sources that get holes
  CutPlan cut;                    // of the first source, if the step cuts it
  std::uint64_t keys_relocated = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t file_bytes = 0;   // of the new segment
  std::uint64_t bytes_freed = 0;  // on disk, of emptied sources and of holes
};

// The parts of the database that steps use. Outlives all steps.
struct RelocationTools {
  DbState& state;
  RunMaker& runs;
  Compactor& compactor;
  GcSegments& segments;
  CopyBuffers& buffers;
};

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
