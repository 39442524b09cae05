// GenericRateLimiter: a token bucket. Time fills it, and writes empty it.
//
//   tokens = min(burst, tokens + elapsed * rate)      a request that finds more than 0 tokens takes all that it needs,
//                                                     which may leave a negative number
//
// So a request larger than the burst needs no special rule, and any period admits at most rate * time + burst + one
// request. A waiting request sleeps briefly and checks again, so it notices a new rate, and that its caller has given
// up.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "cambium/clock.h"
#include "cambium/rate_limiter.h"
#include "util/mutex.h"

namespace cambium {

class GenericRateLimiter final : public RateLimiter {
 public:
  GenericRateLimiter(std::int64_t bytes_per_second, std::int64_t refill_period_micros, std::int32_t fairness);

  // Returns InvalidArgument unless all constructor arguments are legal.
  [[nodiscard]] Status Check() const;

  // Waits until `bytes` may be written, or until `is_given_up` returns true; the bytes count either way. Returns the
  // waiting time in microseconds of `clock`. Calls `is_given_up` without holding a lock.
  std::uint64_t Admit(std::uint64_t bytes, IOPriority priority, Clock* clock, const std::function<bool()>& is_given_up);

  Status SetBytesPerSecond(std::int64_t bytes_per_second) override;
  [[nodiscard]] std::int64_t GetBytesPerSecond() const override;
  [[nodiscard]] std::int64_t GetSingleBurstBytes() const override;
  [[nodiscard]] std::int64_t GetTotalBytesThrough(IOPriority priority) const override;
  [[nodiscard]] std::int64_t GetTotalRequests(IOPriority priority) const override;

 private:
  void Refill(std::uint64_t now) CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] bool IsNext(IOPriority priority) const CAMBIUM_REQUIRES(mutex_);
  void Take(IOPriority priority, std::uint64_t bytes) CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] double Burst() const CAMBIUM_REQUIRES(mutex_);

  const std::int64_t refill_period_micros_;
  const std::int32_t fairness_;

  mutable Mutex mutex_;
  std::int64_t bytes_per_second_ CAMBIUM_GUARDED_BY(mutex_);
  bool is_filled_ CAMBIUM_GUARDED_BY(mutex_) = false;  // true from the first request on, which finds a full bucket
  double tokens_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t refilled_micros_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  struct Class {
    std::int32_t waiting = 0;
    std::int32_t overtaken = 0;  // requests of higher classes served while this one waited, since it was last served
    std::int64_t requests = 0;
    std::int64_t bytes = 0;
  };
  std::array<Class, IO_TOTAL> classes_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
