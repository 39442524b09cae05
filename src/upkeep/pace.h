// Pace: what background work asks before it writes: the rate limiter, and whether users need the device.
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

  // How long users' calls take; idle-time work makes way for them.
  [[nodiscard]] Foreground& foreground() { return foreground_; }
  // What a job calls before each piece that it writes. Waits for the rate limiter, and for users, according to what
  // `priority` returns at that moment. `cause` counts the bytes.
  [[nodiscard]] BeforeWrite PermitFor(Tickers cause, std::function<IOPriority()> priority);
  [[nodiscard]] IOPriority PriorityOfCompaction(const Family& family) const;
  [[nodiscard]] IOPriority PriorityOfGc() const;
  // Counts a write that has waited so long.
  void CountStall(std::uint64_t micros, bool is_for_space) const;

 private:
  DbContext& db_;
  Jobs& jobs_;
  SpaceControl& space_;
  const FullDisk& disk_;
  Foreground foreground_;
};

}  // namespace cambium
