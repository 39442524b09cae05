// Salvages the index pages of a database without a MANIFEST. It is unknown which files count, their order, and the
// family of each.
//
// The pages have inline values that the log no longer has. They are noted as in doubt if the log has no record of the
// key, and so are large values, whose records name family and key. An address needs no slot here: LogSalvage has found
// its record already, which says more. A file that the state does not name belongs to the family that has most of the
// file's first keys.
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Runs after LogSalvage::Read.
Status SalvagePages(Salvage* salvage);

}  // namespace cambium
