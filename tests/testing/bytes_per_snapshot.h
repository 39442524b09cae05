// BytesPerSnapshot: for a scope, memtables with less memory than this for each of their snapshots stay in memory.
#pragma once

#include <cstddef>

#include "upkeep/flush/snapshot_runs.h"

namespace cambium::testing {

class BytesPerSnapshot {
 public:
  explicit BytesPerSnapshot(std::size_t least) : before_(bytes_per_snapshot_least.exchange(least)) {}
  ~BytesPerSnapshot() { bytes_per_snapshot_least = before_; }
  BytesPerSnapshot(const BytesPerSnapshot&) = delete;
  BytesPerSnapshot& operator=(const BytesPerSnapshot&) = delete;

 private:
  const std::size_t before_;
};

}  // namespace cambium::testing
