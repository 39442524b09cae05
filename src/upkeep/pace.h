// Pace: slows background work down before it writes: for the rate limiter, and for users who need the device.
#pragma once

#include <functional>
#include <memory>

#include "cambium/rate_limiter.h"
#include "index/family_files.h"
#include "state/db_state.h"
#include "upkeep/foreground.h"

namespace cambium {

// Any thread.
class Pace {
 public:
  explicit Pace(DbState* state);

  // Measures how long users' calls take; idle-time work pauses for them.
  [[nodiscard]] Foreground& foreground() { return foreground_; }
  // Returns the function that a job calls before each piece that it writes. It waits for the rate limiter and for
  // users, as the result of `priority` at that moment demands, and adds the bytes to the ticker `cause`. While the job
  // runs, the bytes hold writers back, unless they take the room of a step of log GC (SpaceControl::Position).
  enum class Room : unsigned char { kOfWriters, kOfStep };
  [[nodiscard]] BeforeWrite PermitFor(Tickers cause, std::function<IOPriority()> priority,
                                      Room room = Room::kOfWriters);
  [[nodiscard]] IOPriority PriorityOfCompaction(const Family& family) const;
  [[nodiscard]] IOPriority PriorityOfGc() const;
  // Counts a write that has waited `micros`.
  void CountStall(std::uint64_t micros, bool is_for_space) const;

 private:
  DbContext& db_;
  Jobs& jobs_;
  SpaceControl& space_;
  const FullDisk& disk_;
  Foreground foreground_;
};

}  // namespace cambium
