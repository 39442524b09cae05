// Sealer: a segment that takes no more appends is synced, gets a footer that lists its records, and its end in the
// MANIFEST.
#pragma once

#include <cstdint>
#include <vector>

#include "state/db_state.h"

namespace cambium {

class Sealer {
 public:
  explicit Sealer(DbState* state)
      : db_(state->context), jobs_(state->jobs), commits_(state->commits), head_(state->head) {}

  // Seals the segments that were rotated. The job kSeal.
  Status SealRotated();
  // Ends the current segment if it has at least `rotate_from` bytes, and waits until all before it are sealed; three times
  // at most, because other threads may fill segments meanwhile. The caller holds no lock.
  Status SealLog(std::uint64_t rotate_from);
  // No job runs any more.
  void Close() { unsealed_.clear(); }

 private:
  Status Seal(const RotatedSegment& rotated);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  std::vector<RotatedSegment> unsealed_;  // the seal job's
};

}  // namespace cambium
