// Small types, under RocksDB's names.
#pragma once

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"
#include "cambium/types.h"

namespace rocksdb::inline on_cambium {

using cambium::SequenceNumber;
using cambium::TableFileCreationReason;

// Where RocksDB keeps a file. Options of this type are hints.
enum class Temperature : unsigned char { kUnknown = 0, kHot = 0x04, kWarm = 0x08, kCool = 0x0A, kCold = 0x0C, kIce = 0x10 };

}  // namespace rocksdb::inline on_cambium
