// The prepared transactions of a database that no process has open for writing.
#pragma once

#include <string>
#include <vector>

#include "cambium/transaction_db.h"

namespace cambium::tool {

// Sets *prepared. Opens the database, for reading, only if `families`, the names of its families, include that of
// prepared transactions. Corruption or NotSupported if a record is not valid.
Status FindPrepared(const std::string& directory, const std::vector<std::string>& families,
                    std::vector<PreparedTransaction>* prepared);

}  // namespace cambium::tool
