// The input and the result of a step of log GC, and the parts of the database that it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "gc/copy_buffers.h"
#include "gc/cut.h"
#include "gc/relocation.h"
#include "gc/victims.h"
#include "state/db_state.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/log_gc/gc_segments.h"
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
  CutPlan cut;                    // how the step cuts its first source, if it does
  std::uint64_t keys_relocated = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t file_bytes = 0;   // the size of the new segment
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

}  // namespace cambium
