// SimClock: a clock that stands still until a test advances it or a caller sleeps on it.
#pragma once

#include "cambium/clock.h"
#include "util/mutex.h"

namespace cambium {

// Any thread may call any function.
class SimClock final : public Clock {
 public:
  explicit SimClock(std::uint64_t micros = 1'000'000, std::uint64_t wall_seconds = 1'700'000'000)
      : micros_(micros), wall_micros_(wall_seconds * 1'000'000) {}

  std::uint64_t NowMicros() override {
    const MutexLock guard(mutex_);
    return micros_;
  }
  std::uint64_t WallSeconds() override {
    const MutexLock guard(mutex_);
    return wall_micros_ / 1'000'000;
  }
  void SleepMicros(std::uint64_t micros) override { Advance(micros); }

  // Advances both clocks.
  void Advance(std::uint64_t micros) {
    const MutexLock guard(mutex_);
    micros_ += micros;
    wall_micros_ += micros;
  }
  // Sets the wall clock, forward or back. The monotonic clock does not change.
  void SetWallSeconds(std::uint64_t seconds) {
    const MutexLock guard(mutex_);
    wall_micros_ = seconds * 1'000'000;
  }

 private:
  Mutex mutex_;
  std::uint64_t micros_ CAMBIUM_GUARDED_BY(mutex_);
  std::uint64_t wall_micros_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
