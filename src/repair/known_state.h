// Reads what the MANIFESTs of a damaged database still say, and decides whether it is the last state.
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Reads the directory, and sets files, state, has_state and has_manifest. InvalidArgument if it holds nothing of a
// database, NotSupported if it is of a later version.
//
// A MANIFEST that has lost its end shows an older state, whose layers no longer fit the data. The state counts as the
// last one unless
//   - the log refers to something that the state does not know (log_evidence.h), or
//   - the MANIFEST is damaged, and files that it names are missing, or
//   - the MANIFEST is damaged or files that it names are missing, and there are index files with larger numbers than any
//     file that it names, or pages after the committed length of a tree's file.
// A flaw of the MANIFEST is always reported: as a loss if the state counts as the last one, otherwise as a note.
Status ReadKnownState(Salvage* salvage);

// Opens the segments: those that the MANIFEST names, or without a MANIFEST all segments of the database. Without a
// MANIFEST, a segment of another database is reported as lost. With one, a missing segment is reported with each entry
// that refers to it.
void OpenSegments(Salvage* salvage);

}  // namespace cambium
