// The log's tail: what no layer has yet, from the replay position to the first damage, in whole batches, as a recovery
// would take it. It proves itself.
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Before the layers, which are older. Sets tail_end and is_tail_damaged.
Status SalvageTail(Salvage* salvage);

}  // namespace cambium
