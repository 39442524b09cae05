// UnlinkWhilePinned: a defect that exists in a mutant only.
#pragma once

#include "state/obsolete_files.h"
#include "util/mutant.h"
#include "vlog/segment.h"

namespace cambium {

// Only in a mutant: removes the file of a segment although a view may hold it.
inline void UnlinkWhilePinned(const Segment& segment, ObsoleteFiles* obsolete) {
  if (MutantIs(Mutant::kUnlinkWhilePinned)) obsolete->Add({segment.path()});
}

}  // namespace cambium
