// Status, under RocksDB's name.
#pragma once

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"
#include "cambium/status.h"

namespace rocksdb::inline on_cambium {

using cambium::Status;
using IOStatus = cambium::Status;

}  // namespace rocksdb::inline on_cambium
