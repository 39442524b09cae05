// Relocator: a step of log GC: values that are alive are copied out of their segments, and segments that it empties are
// dropped.
//
//   pick: the view and the sources of one moment, under the commit mutex ─▶ look up, read, check, copy
//        ─▶ a run per family that says where the values are now ─▶ commit mutex: still the newest? commit
//
// The run lies on top of all durable layers and below all memtables: whatever was written since hides it by position,
// deletes too. Between the lookup and the commit a flush may have brought a newer entry of a key, which would then lie
// below that run. So every key is looked up again in the layers of the commit, and values that are no longer the newest are
// left out. A step that is not committed leaves files without a name.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "gc/copy_buffers.h"
#include "gc/relocation.h"
#include "gc/victims.h"
#include "state/db_state.h"
#include "upkeep/compactor.h"
#include "upkeep/gc_segments.h"
#include "upkeep/pace.h"
#include "upkeep/run_maker.h"

namespace cambium {

// What a step works on, of one moment. Of a segment that is flushed only afterwards the layers know nothing, so layers,
// sources and replay position must be those of the same view.
struct GcPick {
  std::shared_ptr<const View> view;
  GcReason reason = GcReason::kNone;
  std::vector<GcSource> sources;
  std::vector<GcFamily> families;
  std::uint64_t step_bytes = 0;  // that the step may copy
  // While it is held no new segment gets the slot of one that the step may read: at the commit, what was copied is known by
  // slot and offset.
  std::shared_ptr<const void> slots;

  // The families of the view, with the options that are in force.
  void AddFamilies();
};

// How a step went.
struct GcReport {
  int job_id = 0;
  std::uint64_t begun_micros = 0;
  std::vector<bool> is_emptied;   // by source: nothing of it is left
  std::set<std::size_t> punched;  // sources that get holes
  std::uint64_t keys_relocated = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t file_bytes = 0;   // of the new segment
  std::uint64_t bytes_freed = 0;  // of sources that were emptied, as they lay on disk, and of holes
};

class Relocator {
 public:
  Relocator(DbState* state, Pace* pace, RunMaker* runs, Compactor* compactor, GcSegments* segments);

  // A report of a step that begins now, in which the sources are emptied, or not.
  [[nodiscard]] GcReport Begin(const GcPick& pick, bool empties) const;
  // Moves what is alive in the sources, as much as a step may.
  Status EmptySources(const GcPick& pick, GcReport* report);
  // Moves these records of the sources.
  Status Move(const GcPick& pick, std::span<const GcRecord> records, GcReport* report);
  // Reports the step to the listeners.
  void Report(const GcPick& pick, const GcReport& report, const Status& done);
  // For an offline compaction, which runs several steps at a time.
  void KeepCopyBuffers(std::size_t count, std::size_t least) { copy_buffers_.Keep(count, least); }

 private:
  DbState& state_;
  DbContext& db_;
  Pace& pace_;
  RunMaker& runs_;
  Compactor& compactor_;
  GcSegments& segments_;
  CopyBuffers copy_buffers_;
};

}  // namespace cambium
