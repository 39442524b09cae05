// Salvages the index pages of a database without a MANIFEST. It is unknown which files count, their order, and the
// family of each.
//
// The pages have inline values that the log no longer has. An inline value is noted as in doubt if the log has no
// record of its key. A large value, whose record names family and key, is noted in the same way. Addresses are not
// followed, so their slots need not be known: LogSalvage has already read every whole record of the log, and a record
// says more. A file that the state does not name belongs to the family that has most of the file's first keys.
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Runs after LogSalvage::Read.
Status SalvagePages(Salvage* salvage);

}  // namespace cambium
