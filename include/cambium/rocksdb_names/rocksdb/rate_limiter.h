// RateLimiter, under RocksDB's name.
#pragma once

#include <cstdint>

#include "cambium/rate_limiter.h"
#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

using cambium::NewGenericRateLimiter;
using cambium::RateLimiter;

}  // namespace rocksdb::inline on_cambium
