// Salvages the log's tail as recovery would: the whole batches from the replay position to the first damage. These
// values are proven.
#pragma once

#include "repair/salvage.h"

namespace cambium {

// Runs before SalvageLayers, because the layers have older operations than the tail. Sets tail_end and is_tail_damaged.
Status SalvageTail(Salvage* salvage);

}  // namespace cambium
