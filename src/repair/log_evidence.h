// LogEvidence: what the log knows of and a MANIFEST does not, so that this one cannot show the last state.
#pragma once

#include <string>

#include "repair/salvage.h"

namespace cambium {

// Whatever a record speaks of was named in the MANIFEST before it was written: its segment, its family, the file of its
// large value. So a record that speaks of something else proves that the MANIFEST has lost its end, or something within:
// where it stands and of what it speaks, or nothing. Headers alone count, because they have checksums of their own.
//
// Reads the log from the segment of the replay position on: what is before it was there when the state was committed.
Result<std::string> FindWhatTheManifestLacks(const Salvage& salvage);

}  // namespace cambium
