// A logger of the program's, for Cambium.
#pragma once

#include <memory>

#include "cambium/logger.h"
#include "cambium/rocksdb_names/rocksdb/logger.h"

namespace rocksdb::inline on_cambium {

// Null for null.
[[nodiscard]] std::shared_ptr<cambium::Logger> OnCambium(std::shared_ptr<Logger> user);

}  // namespace rocksdb::inline on_cambium
