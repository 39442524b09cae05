// Clock: the library's source of time. Correctness does not depend on it.
#pragma once

#include <cstdint>
#include <memory>

namespace cambium {

// Any thread may call any function.
class Clock {
 public:
  virtual ~Clock() = default;
  static std::shared_ptr<Clock> Default();

  // Monotonic microseconds since an arbitrary moment: for durations.
  virtual std::uint64_t NowMicros() = 0;
  // Seconds since 1970 by the wall clock, which may jump either way: for people, and for write times.
  virtual std::uint64_t WallSeconds() = 0;
  virtual void SleepMicros(std::uint64_t micros) = 0;
};

}  // namespace cambium
