// Sealer: syncs a segment that takes no more appends, writes a footer that lists its records, and records its end in
// the MANIFEST.
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
  // Ends the current segment if it has at least `rotate_from` bytes, and waits until all earlier segments are sealed.
  // Waits for three seal jobs at most, because other threads may fill segments meanwhile.
  Status SealLog(std::uint64_t rotate_from) CAMBIUM_EXCLUDES_ROLES;
  // Forgets segments that are not sealed. Called when no job runs any more.
  void Close() { unsealed_.clear(); }

 private:
  Status Seal(const RotatedSegment& rotated);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  std::vector<RotatedSegment> unsealed_;  // used by the seal job only
};

}  // namespace cambium
