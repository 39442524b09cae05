// Capturer: captures the files and the state of an open database at one moment, for checkpoints and backups.
//
//   flush, if there is much log to replay ─▶ end a long current segment, and seal all earlier ones
//        ─▶ append and commit lock: the state of the MANIFEST, the view that holds its files, the end of the log
//        ─▶ the caller links and copies files, as long as it holds the view
//
// While both locks are held, no batch is half written, and no commit is under way, so the captured state plus the log
// up to its captured end is a prefix of all writes. While the view is held, none of its files is removed or punched.
#pragma once

#include <cstdint>

#include "api/families.h"
#include "recovery/capture.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

class Capturer {
 public:
  Capturer(DbState* state, Upkeep* upkeep, Families* families)
      : state_(*state), upkeep_(*upkeep), families_(*families) {}

  // Flushes the memtables first, unless recovery would have to read less than `log_size_for_flush` bytes of log. The
  // result's pin must be released before the database is closed.
  Result<Capture> CaptureNow(std::uint64_t log_size_for_flush) CAMBIUM_EXCLUDES_ROLES;

 private:
  Status FlushFirst(std::uint64_t log_size_for_flush);
  // The bytes of log that recovery would have to read.
  [[nodiscard]] std::uint64_t LogBytes(const View& view) CAMBIUM_REQUIRES(append_lock);
  Status Take(Capture* capture);

  DbState& state_;
  Upkeep& upkeep_;
  Families& families_;
};

}  // namespace cambium
