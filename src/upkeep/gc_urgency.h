// How urgent log GC is at the moment, by the ceiling and the full disk.
#pragma once

#include "gc/victims.h"
#include "state/db_context.h"
#include "state/full_disk.h"
#include "state/space_control.h"

namespace cambium {

// With a ceiling, values are relocated only if space is needed or there are no writes: the longer log GC waits, the
// fewer live values a victim has.
inline GcUrgency UrgencyOfGc(const DbContext& db, const SpaceControl& space, const FullDisk& disk) {
  if (disk.IsFull()) return GcUrgency::kFull;
  if (space.is_short.load(std::memory_order_relaxed)) return GcUrgency::kSpace;
  const bool has_ceiling = db.max_space_amplification.load(std::memory_order_relaxed) != 0;
  return has_ceiling && !space.is_idle.load(std::memory_order_relaxed) ? GcUrgency::kForced : GcUrgency::kIdle;
}

}  // namespace cambium
