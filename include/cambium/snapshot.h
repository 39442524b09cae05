// Snapshot: the state of a database at one moment.
#pragma once

#include "cambium/types.h"

namespace cambium {

class DB;

// Made by DB::GetSnapshot, released by DB::ReleaseSnapshot. Immutable; any thread may read with it. While it exists,
// the files of its state stay on disk.
class Snapshot {
 public:
  [[nodiscard]] virtual SequenceNumber GetSequenceNumber() const = 0;

 protected:
  virtual ~Snapshot() = default;
};

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

}  // namespace cambium
