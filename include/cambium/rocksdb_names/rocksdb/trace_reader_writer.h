// Traces, under RocksDB's names. The format of a trace is Cambium's.
#pragma once

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"
#include "cambium/trace.h"

namespace rocksdb::inline on_cambium {

using cambium::TraceFilterType;
using cambium::TraceOptions;
using cambium::TraceReader;
using cambium::TraceWriter;
using enum cambium::TraceFilterType;

}  // namespace rocksdb::inline on_cambium
