// The version of RocksDB whose names these are.
#pragma once

#ifdef ROCKSDB_MAJOR
#error "This file includes RocksDB's own headers too. A source file can include those or Cambium's, not both."
#endif

#define ROCKSDB_MAJOR 11
#define ROCKSDB_MINOR 8
#define ROCKSDB_PATCH 1
#define ROCKSDB_MAKE_VERSION_INT(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define ROCKSDB_VERSION_INT ROCKSDB_MAKE_VERSION_INT(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)
#define ROCKSDB_VERSION_GE(major, minor, patch) (ROCKSDB_VERSION_INT >= ROCKSDB_MAKE_VERSION_INT(major, minor, patch))

// Defined by these headers alone: a program may ask whether it is compiled over Cambium.
#define ROCKSDB_ON_CAMBIUM 1
