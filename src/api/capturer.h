// Capturer: what an open database consists of at one moment, for checkpoints and backups.
//
//   flush, if much is in memory ─▶ the log goes on in a new segment, and the ones before it are sealed
//        ─▶ append and commit mutex: the state of the MANIFEST, the view that holds its files, the end of the log
//        ─▶ the caller links and copies files, as long as it holds the view
//
// With both mutexes held no batch is half written, and no commit is under way: the log up to its end, after this state, is a
// prefix of what was written. The view keeps every file, and every value that punching would take.
#pragma once

#include <cstdint>

#include "api/families.h"
#include "recovery/capture.h"
#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

// The caller holds no lock.
class Capturer {
 public:
  Capturer(DbState* state, Upkeep* upkeep, Families* families)
      : state_(*state), upkeep_(*upkeep), families_(*families) {}

  // The result's pin must be released before the database is closed. The memtables are flushed first unless recovery would
  // have to read less than `log_size_for_flush` bytes.
  Result<Capture> CaptureNow(std::uint64_t log_size_for_flush);

 private:
  Status FlushFirst(std::uint64_t log_size_for_flush);
  // How much log recovery would have to read.
  [[nodiscard]] std::uint64_t LogBytes(const View& view) CAMBIUM_REQUIRES(append_lock);
  Status Take(Capture* capture);

  DbState& state_;
  Upkeep& upkeep_;
  Families& families_;
};

}  // namespace cambium
