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
//   - the MANIFEST is damaged or files that it names are missing; and either there is an index file with a larger
//     number than any file that it names, or a tree's file has pages after its committed length.
// A flaw of the MANIFEST is always reported: as a loss if the state counts as the last one, otherwise as a note.
Status ReadKnownState(Salvage* salvage);

// With a MANIFEST, opens the segments that it names, and large values that it does not name, because the log may refer
// to them. A missing segment is reported later, with each entry that refers to it. Without a MANIFEST, opens all
// segments of the database; a segment of another database, or one for which no slot is left, is reported as lost.
void OpenSegments(Salvage* salvage);

}  // namespace cambium
