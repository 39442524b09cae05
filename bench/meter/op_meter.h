// OpMeter: one worker's clock, counts and latencies.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <limits>

#include "util/histogram.h"

namespace cambium::bench {

inline std::uint64_t NowNanos() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

// As in db_bench the clock is read once per operation: a latency is the time from the end of one operation to the end
// of the next. It includes making the key and checking the value, which cost every engine the same. Used by one thread;
// others may read progress().
class alignas(64) OpMeter {
 public:
  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  // `stop` ends all workers early: after Ctrl-C, or an error of one of them.
  OpMeter(std::uint64_t op_limit, std::uint64_t duration_nanos, const std::atomic<bool>& stop)
      : op_limit_(op_limit), duration_nanos_(duration_nanos), stop_(stop) {}

  void Begin() {
    last_ = NowNanos();
    deadline_ = duration_nanos_ == kNoLimit ? kNoLimit : last_ + duration_nanos_;
  }
  [[nodiscard]] bool More() const {
    return ops_ < op_limit_ && last_ < deadline_ && !stop_.load(std::memory_order_relaxed);
  }
  // The time since the last operation is not part of the next latency: the worker waited on purpose.
  void Resume() { last_ = NowNanos(); }
  [[nodiscard]] const std::atomic<bool>& stop() const { return stop_; }
  // Returns how many operations may still follow, at most `wanted`.
  [[nodiscard]] std::uint64_t Room(std::uint64_t wanted) const {
    return op_limit_ - ops_ < wanted ? op_limit_ - ops_ : wanted;
  }
  void Finish(std::uint64_t ops, std::uint64_t bytes) {
    const std::uint64_t now = NowNanos();
    nanos_.Add(now - last_);
    last_ = now;
    ops_ += ops;
    bytes_ += bytes;
    progress_.store(ops_, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t ops() const { return ops_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const Histogram& nanos() const { return nanos_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  const std::uint64_t op_limit_;
  const std::uint64_t duration_nanos_;
  const std::atomic<bool>& stop_;
  std::uint64_t deadline_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t ops_ = 0;
  std::uint64_t bytes_ = 0;
  Histogram nanos_;
  std::atomic<std::uint64_t> progress_{0};
};

}  // namespace cambium::bench
