// RateLimiter: limits the bytes per second that background work writes.
//
//   cambium::Options options;
//   options.rate_limiter.reset(cambium::NewGenericRateLimiter(64 << 20));  // 64 MiB a second
//   ...
//   options.rate_limiter->SetBytesPerSecond(16 << 20);                     // from now on
//
// Flushes, sweeps, compactions and log GC ask it before each piece that they write, at most 1 MiB. User reads and log
// writes never wait for it. Nor does a write that waits for a flush or compaction: while a write waits for such work,
// the work writes at full speed, and later work waits longer. Names are RocksDB's, where they mean the same.
#pragma once

#include <cstdint>

#include "cambium/status.h"

namespace cambium {

// Priorities of requests. The waiting request of the highest priority goes first.
enum IOPriority : unsigned char {
  IO_LOW = 0,   // no caller waits: log GC and compactions that free space while there is enough
  IO_MID = 1,   // sweeps and compactions
  IO_HIGH = 2,  // near max_space_amplification: compactions and log GC that free space
  IO_USER = 3,  // flushes
  IO_TOTAL = 4,
};

// Any thread may call any function. If several databases share a limiter, it limits their sum.
//
// Only the library creates these; users cannot derive from it.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // Takes effect at once, also for waiting requests. InvalidArgument for an illegal rate; nothing is changed then.
  virtual Status SetBytesPerSecond(std::int64_t bytes_per_second) = 0;
  [[nodiscard]] virtual std::int64_t GetBytesPerSecond() const = 0;
  // Bytes that may be written at once after a pause: those of a refill period.
  [[nodiscard]] virtual std::int64_t GetSingleBurstBytes() const = 0;

  // Totals since creation. IO_TOTAL: the sum over all priorities.
  [[nodiscard]] virtual std::int64_t GetTotalBytesThrough(IOPriority priority = IO_TOTAL) const = 0;
  [[nodiscard]] virtual std::int64_t GetTotalRequests(IOPriority priority = IO_TOTAL) const = 0;

 private:
  friend class GenericRateLimiter;
  RateLimiter() = default;
};

// The caller owns the result, and usually gives it to a shared_ptr. The rate may be 16 KiB to 1 TiB a second, the
// refill period 1 ms to 10 s, and fairness 1 to 1000. For a limiter made with other values, DB::Open returns
// InvalidArgument, which says what is wrong.
//   refill_period_us  the bytes that the rate allows in this time may be written at once; with a longer period the rate
//                     is less even, and the limiter costs less
//   fairness          how often requests of higher priority may overtake a request before it goes first
[[nodiscard]] RateLimiter* NewGenericRateLimiter(std::int64_t rate_bytes_per_sec,
                                                 std::int64_t refill_period_us = 100 * 1000,
                                                 std::int32_t fairness = 10);

}  // namespace cambium
