// Salvages the durable layers of a database whose MANIFEST is known, newest first. The newest entry of each key counts.
//
//   newest   run    a . [damaged] . e       from here on down, b to d are in doubt: the damaged page may have had them
//            tree   a b c . d e             a and e are proven
//
// Entries in doubt are noted and not written; the log may prove them (salvage_log.h).
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Salvages the layers of all families. Runs after SalvageTail.
Status SalvageLayers(Salvage* salvage);

}  // namespace cambium
