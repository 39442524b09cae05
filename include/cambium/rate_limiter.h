// RateLimiter: how many bytes a second background work may write.
//
//   cambium::Options options;
//   options.rate_limiter.reset(cambium::NewGenericRateLimiter(64 << 20));  // 64 MiB a second
//   ...
//   options.rate_limiter->SetBytesPerSecond(16 << 20);                     // from now on
//
// Flushes, sweeps, compactions and log GC ask it before each piece that they write, 1 MiB at most. What users write to
// the log or read never waits for it. Nor does a writer who cannot go on before a flush or a merge has ended: as long as
// there is one, that work writes as fast as it can, and what comes later waits the longer. Names are RocksDB's, where they
// mean the same.
#pragma once

#include <cstdint>

#include "cambium/status.h"

namespace cambium {

// What is written for what. Of those that wait the higher one goes first.
enum IOPriority : unsigned char {
  IO_LOW = 0,   // what nobody waits for: log GC and merges that only give back space, as long as there is enough
  IO_MID = 1,   // sweeps and compactions
  IO_HIGH = 2,  // near max_space_amplification: merges and log GC that bring space
  IO_USER = 3,  // flushes
  IO_TOTAL = 4,
};

// Any thread may call any function. Several databases may share one: then it is a limit for all of them together.
//
// Only the library makes these: others cannot be derived from it.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  // From now on, also for what waits already. InvalidArgument if it is not legal, and nothing changes.
  virtual Status SetBytesPerSecond(std::int64_t bytes_per_second) = 0;
  [[nodiscard]] virtual std::int64_t GetBytesPerSecond() const = 0;
  // What may be written at once after a time in which nothing was written: the bytes of a refill period.
  [[nodiscard]] virtual std::int64_t GetSingleBurstBytes() const = 0;

  // Since it was made. IO_TOTAL: of all.
  [[nodiscard]] virtual std::int64_t GetTotalBytesThrough(IOPriority priority = IO_TOTAL) const = 0;
  [[nodiscard]] virtual std::int64_t GetTotalRequests(IOPriority priority = IO_TOTAL) const = 0;

 private:
  friend class GenericRateLimiter;
  RateLimiter() = default;
};

// Owned by the caller, who mostly gives it to a shared_ptr. Legal are rates of 16 KiB to 1 TiB a second, refill periods of
// 1 ms to 10 s, and fairness of 1 to 1000; DB::Open refuses another one with InvalidArgument, which says what is wrong.
//   refill_period_us  the time whose bytes may be written at once; larger is less even, and cheaper
//   fairness          how often a request may be overtaken by those of higher priority before it goes first
[[nodiscard]] RateLimiter* NewGenericRateLimiter(std::int64_t rate_bytes_per_sec,
                                                 std::int64_t refill_period_us = 100 * 1000,
                                                 std::int32_t fairness = 10);

}  // namespace cambium
