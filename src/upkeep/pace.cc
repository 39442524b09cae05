#include "upkeep/pace.h"

#include <utility>

#include "io/file_block.h"
#include "upkeep/gc_urgency.h"
#include "util/generic_rate_limiter.h"

namespace cambium {

Pace::Pace(DbState* state)
    : db_(state->context),
      jobs_(state->jobs),
      space_(state->space),
      disk_(state->full_disk),
      foreground_(db_.options.clock.get()) {}

BeforeWrite Pace::PermitFor(Tickers cause, std::function<IOPriority()> priority, Room room) {
  std::atomic<std::uint64_t>* const total = room == Room::kOfStep ? &space_.gc_in_flight : &space_.in_flight;
  return [this, cause, priority = std::move(priority), resumed = foreground_.NowMicros(),
          in_flight = std::make_shared<InFlight>(total)](std::uint64_t bytes) mutable {
    // A job that pauses keeps its thread, perhaps the only one, and a writer may wait for the next job of that thread.
    const auto is_given_up = [this] {
      return jobs_.is_closing() || jobs_.has_fatal() || jobs_.HasStalledWriters();
    };
    if (priority() == IO_LOW) {
      foreground_.GiveWay(resumed, [&] { return is_given_up() || jobs_.HasWaitingCalls() || priority() != IO_LOW; });
    }
    if (db_.options.rate_limiter != nullptr) {
      auto& limiter = static_cast<GenericRateLimiter&>(*db_.options.rate_limiter);  // only the library makes them
      db_.meter.Tick(RATE_LIMITER_MICROS, limiter.Admit(bytes, priority(), db_.options.clock.get(), is_given_up));
    }
    in_flight->Add(InBlocks(bytes));
    space_.job_bytes.fetch_add(InBlocks(bytes), std::memory_order_relaxed);
    db_.meter.Tick(cause, bytes);
    resumed = foreground_.NowMicros();
  };
}

// Compactions that run only because the device is idle have no user waiting: low priority.
IOPriority Pace::PriorityOfCompaction(const Family& family) const {
  if (!family.compacts_urgently.load(std::memory_order_relaxed)) return IO_MID;
  if (disk_.IsFull()) return IO_HIGH;
  const bool has_no_user =
      space_.is_idle.load(std::memory_order_relaxed) && !space_.is_short.load(std::memory_order_relaxed);
  return has_no_user ? IO_LOW : IO_HIGH;
}

IOPriority Pace::PriorityOfGc() const {
  const GcUrgency urgency = UrgencyOfGc(db_, space_, disk_);
  return urgency == GcUrgency::kSpace || urgency == GcUrgency::kFull ? IO_HIGH : IO_LOW;
}

void Pace::CountStall(std::uint64_t micros, bool is_for_space) const {
  db_.stats.stalls.fetch_add(1, std::memory_order_relaxed);
  db_.stats.stall_micros.fetch_add(micros, std::memory_order_relaxed);
  if (is_for_space) db_.stats.space_stall_micros.fetch_add(micros, std::memory_order_relaxed);
  db_.meter.Tick(STALL_MICROS, micros);
  if (is_for_space) db_.meter.Tick(SPACE_STALL_MICROS, micros);
  db_.meter.MeasureMicros(WRITE_STALL, micros);
}

}  // namespace cambium
