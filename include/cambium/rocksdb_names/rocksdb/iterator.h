// Iterator, under RocksDB's name.
#pragma once

#include "cambium/iterator.h"
#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

using cambium::Iterator;

}  // namespace rocksdb::inline on_cambium
