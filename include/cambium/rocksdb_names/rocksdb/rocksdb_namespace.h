// The namespace of RocksDB's names. Its inner namespace keeps the library's symbols apart from RocksDB's own, so that a
// program may link both libraries; no single source file can include the headers of both.
#pragma once

#include "cambium/rocksdb_names/rocksdb/version.h"

namespace rocksdb::inline on_cambium {}

#ifndef ROCKSDB_NAMESPACE
#define ROCKSDB_NAMESPACE rocksdb
#endif
// If the program has given the macro another value, the names are in that namespace too.
namespace ROCKSDB_NAMESPACE {
using namespace rocksdb;
}
