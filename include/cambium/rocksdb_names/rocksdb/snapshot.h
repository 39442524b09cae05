// Snapshot and ManagedSnapshot, under RocksDB's names.
#pragma once

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"
#include "cambium/snapshot.h"

namespace rocksdb::inline on_cambium {

class DB;
using cambium::Snapshot;

// Releases its snapshot in the destructor.
class ManagedSnapshot {
 public:
  explicit ManagedSnapshot(DB* db);
  ManagedSnapshot(DB* db, const Snapshot* snapshot) : db_(db), snapshot_(snapshot) {}
  ~ManagedSnapshot();
  ManagedSnapshot(const ManagedSnapshot&) = delete;
  ManagedSnapshot& operator=(const ManagedSnapshot&) = delete;
  [[nodiscard]] const Snapshot* snapshot() const { return snapshot_; }

 private:
  DB* db_;
  const Snapshot* snapshot_;
};

}  // namespace rocksdb::inline on_cambium
