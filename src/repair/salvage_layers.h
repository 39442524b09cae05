// The durable layers of a database whose MANIFEST is known, newest first: of each key the first layer that speaks of
// it.
//
//   newest   run    a . [damaged] . e       b to d are in doubt from here on down: the damaged page may have said
//   something
//            tree   a b c . d e             a and e are proven
//
// What is in doubt is noted, and not written; the log may prove it (salvage_log.h).
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Of all families, behind the tail.
Status SalvageLayers(Salvage* salvage);

}  // namespace cambium
