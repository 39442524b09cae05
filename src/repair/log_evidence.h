// Finds evidence in the log, and in files made from it, that a MANIFEST does not show the last state.
#pragma once

#include <string>

#include "repair/salvage.h"

namespace cambium {

// Before a record is written, the MANIFEST names all that the record refers to: its segment, its family, the file of
// its large value. So a record that refers to something else proves that the MANIFEST has lost edits at its end or
// before. Returns the place of such a record and what it refers to, or "". A record whose header is whole suffices,
// since the header has its own checksum. If by the MANIFEST nothing was ever written, any run, index segment or
// relocation segment is such evidence.
//
// Reads the log from the segment of the replay position on. Earlier segments were complete when the state was
// committed.
Result<std::string> FindUnknownToManifest(const Salvage& salvage);

}  // namespace cambium
