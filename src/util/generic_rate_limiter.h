// GenericRateLimiter: a bucket that fills with time and is emptied by writes.
//
//   tokens = min(burst, tokens + elapsed * rate)      a request that finds more than 0 takes all it needs at once, and
//                                                     leaves less than 0 to the next
//
// So a piece larger than a burst needs no rule of its own, and over any time no more than rate * time + burst + one piece
// is written. Whoever has to wait sleeps a little and looks again: then he sees a new rate, or that he need not wait.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>

#include "cambium/clock.h"
#include "cambium/rate_limiter.h"

namespace cambium {

class GenericRateLimiter final : public RateLimiter {
 public:
  GenericRateLimiter(std::int64_t bytes_per_second, std::int64_t refill_period_micros, std::int32_t fairness);

  // InvalidArgument, unless all it was made with is legal.
  [[nodiscard]] Status Check() const;

  // Returns when so many bytes may be written, or `is_given_up` says that nobody waits any longer; then they count all the
  // same. How long that took, in microseconds of the clock. No lock is held: `is_given_up` may be called at any time.
  std::uint64_t Admit(std::uint64_t bytes, IOPriority priority, Clock* clock, const std::function<bool()>& is_given_up);

  Status SetBytesPerSecond(std::int64_t bytes_per_second) override;
  [[nodiscard]] std::int64_t GetBytesPerSecond() const override;
  [[nodiscard]] std::int64_t GetSingleBurstBytes() const override;
  [[nodiscard]] std::int64_t GetTotalBytesThrough(IOPriority priority) const override;
  [[nodiscard]] std::int64_t GetTotalRequests(IOPriority priority) const override;

 private:
  // All need mutex_.
  void Refill(std::uint64_t now);
  [[nodiscard]] bool IsNext(IOPriority priority) const;
  void Take(IOPriority priority, std::uint64_t bytes);
  [[nodiscard]] double Burst() const;

  const std::int64_t refill_period_micros_;
  const std::int32_t fairness_;

  mutable std::mutex mutex_;
  std::int64_t bytes_per_second_;  // mutex_, as all below
  bool is_filled_ = false;         // the bucket was full at the first request
  double tokens_ = 0;
  std::uint64_t refilled_micros_ = 0;
  struct Class {
    std::int32_t waiting = 0;
    std::int32_t overtaken = 0;  // since one of it was served, while some of it waited
    std::int64_t requests = 0;
    std::int64_t bytes = 0;
  };
  std::array<Class, IO_TOTAL> classes_;
};

}  // namespace cambium
