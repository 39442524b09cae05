// Index pages of a database without a MANIFEST: nobody knows which files count, nor in which order, nor whose they are.
//
// What they have and the log has not are inline values: noted as in doubt, where the log has no record of the key. So are
// large values, which say themselves whose they are. Where an entry leads to a record, the record has been found already,
// and knows more; slots are not needed. What is no file of a known family is told of by what it holds: it is the family
// that has most of the first keys.
#pragma once

#include "repair/salvage.h"

namespace cambium {

// After LogSalvage::Read.
Status SalvagePages(Salvage* salvage);

}  // namespace cambium
