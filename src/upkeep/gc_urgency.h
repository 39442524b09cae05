// How urgent log GC is, from what the ceiling and the full disk say of the moment.
#pragma once

#include "gc/victims.h"
#include "state/db_context.h"
#include "state/full_disk.h"
#include "state/space_control.h"

namespace cambium {

// With a ceiling, relocating values waits until space is needed or nobody writes: later, less of a victim is alive.
inline GcUrgency UrgencyOfGc(const DbContext& db, const SpaceControl& space, const FullDisk& disk) {
  if (disk.IsFull()) return GcUrgency::kFull;
  if (space.is_short.load(std::memory_order_relaxed)) return GcUrgency::kSpace;
  const bool has_ceiling = db.max_space_amplification.load(std::memory_order_relaxed) != 0;
  return has_ceiling && !space.is_idle.load(std::memory_order_relaxed) ? GcUrgency::kForced : GcUrgency::kIdle;
}

}  // namespace cambium
