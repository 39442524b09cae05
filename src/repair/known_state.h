// What the MANIFESTs of a damaged database still say, and whether that is how it was in the end.
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Reads the directory: sets files, state, has_state, has_manifest. InvalidArgument if there is nothing of a database,
// NotSupported if it is of a later version.
//
// A MANIFEST that has lost its end shows an older state, whose layers are no longer those of the data. It is believed
// to show the last one unless the log speaks of something that it does not know (log_evidence.h); or files of the index
// with larger numbers than all that it names lie beside it while it is damaged or files that it names are missing; or it
// is damaged and files are missing. A flaw is told as a loss, whatever is believed.
Status ReadKnownState(Salvage* salvage);

// Opens the segments: those that the MANIFEST names, or all of the database. What cannot be opened is told as lost, or,
// if entries lead to it, with each of them.
void OpenSegments(Salvage* salvage);

}  // namespace cambium
