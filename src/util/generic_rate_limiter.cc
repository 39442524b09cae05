#include "util/generic_rate_limiter.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace cambium {
namespace {

constexpr std::int64_t kRateMin = 16 << 10;
constexpr std::int64_t kRateMax = std::int64_t{1} << 40;
// A waiting request sleeps at most this long before it checks whether the rate has changed or the caller has given up.
constexpr std::uint64_t kPauseMicros = 1000;

Status CheckRange(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return Status::OK();
  return Status::InvalidArgument("rate_limiter: " + std::string(name) + " is " + std::to_string(value) + "; legal is " +
                                 std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace

GenericRateLimiter::GenericRateLimiter(std::int64_t bytes_per_second, std::int64_t refill_period_micros,
                                       std::int32_t fairness)
    : refill_period_micros_(refill_period_micros), fairness_(fairness), bytes_per_second_(bytes_per_second) {}

Status GenericRateLimiter::Check() const {
  Status checked = CheckRange("rate_bytes_per_sec", GetBytesPerSecond(), kRateMin, kRateMax);
  if (checked.ok()) checked = CheckRange("refill_period_us", refill_period_micros_, 1000, 10'000'000);
  if (checked.ok()) checked = CheckRange("fairness", fairness_, 1, 1000);
  return checked;
}

double GenericRateLimiter::Burst() const {
  return static_cast<double>(bytes_per_second_) * static_cast<double>(refill_period_micros_) / 1e6;
}

void GenericRateLimiter::Refill(std::uint64_t now) {
  if (!is_filled_) {
    is_filled_ = true;
    tokens_ = Burst();
  } else if (now > refilled_micros_) {  // may be less: databases with different clocks may share a limiter
    const double elapsed = static_cast<double>(now - refilled_micros_);
    tokens_ = std::min(Burst(), tokens_ + elapsed * static_cast<double>(bytes_per_second_) / 1e6);
  }
  refilled_micros_ = now;
}

// A class is next if no higher class waits, or if it was overtaken `fairness_` times.
bool GenericRateLimiter::IsNext(IOPriority priority) const {
  // If several classes were overtaken that often, the lowest is next: it has waited longest.
  for (std::size_t lower = 0; lower < priority; ++lower) {
    if (classes_[lower].waiting > 0 && classes_[lower].overtaken >= fairness_) return false;
  }
  if (classes_[priority].overtaken >= fairness_) return true;
  return std::none_of(classes_.begin() + priority + 1, classes_.end(), [](const Class& c) { return c.waiting > 0; });
}

void GenericRateLimiter::Take(IOPriority priority, std::uint64_t bytes) {
  tokens_ -= static_cast<double>(bytes);
  ++classes_[priority].requests;
  classes_[priority].bytes += static_cast<std::int64_t>(bytes);
  classes_[priority].overtaken = 0;
  for (std::size_t lower = 0; lower < priority; ++lower) {
    if (classes_[lower].waiting > 0) ++classes_[lower].overtaken;
  }
}

std::uint64_t GenericRateLimiter::Admit(std::uint64_t bytes, IOPriority priority, Clock* clock,
                                        const std::function<bool()>& is_given_up) {
  assert(priority < IO_TOTAL);
  const std::uint64_t start = clock->NowMicros();
  std::uint64_t now = start;
  MutexLock lock(mutex_);
  ++classes_[priority].waiting;
  while (true) {
    // Read the clock under the lock. Otherwise a thread that read it earlier but locks later would set refilled_micros_
    // back, and the same time would be filled in twice.
    now = clock->NowMicros();
    Refill(now);
    if (tokens_ > 0 && IsNext(priority)) break;
    const double missing = tokens_ > 0 ? 1 : 1 - tokens_;  // bytes; or 1 if another class is next
    const double micros = missing * 1e6 / static_cast<double>(bytes_per_second_);
    lock.Unlock();
    if (is_given_up()) {
      lock.Lock();
      break;
    }
    clock->SleepMicros(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(micros), 1, kPauseMicros));
    lock.Lock();
  }
  assert(classes_[priority].waiting > 0);
  --classes_[priority].waiting;
  Take(priority, bytes);
  return now - start;
}

Status GenericRateLimiter::SetBytesPerSecond(std::int64_t bytes_per_second) {
  const Status checked = CheckRange("bytes_per_second", bytes_per_second, kRateMin, kRateMax);
  if (!checked.ok()) return checked;
  const MutexLock lock(mutex_);
  bytes_per_second_ = bytes_per_second;
  tokens_ = std::min(tokens_, Burst());
  return Status::OK();
}

std::int64_t GenericRateLimiter::GetBytesPerSecond() const {
  const MutexLock lock(mutex_);
  return bytes_per_second_;
}

std::int64_t GenericRateLimiter::GetSingleBurstBytes() const {
  const MutexLock lock(mutex_);
  return static_cast<std::int64_t>(Burst());
}

std::int64_t GenericRateLimiter::GetTotalBytesThrough(IOPriority priority) const {
  const MutexLock lock(mutex_);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (priority == IO_TOTAL || priority == i) bytes += classes_[i].bytes;
  }
  return bytes;
}

std::int64_t GenericRateLimiter::GetTotalRequests(IOPriority priority) const {
  const MutexLock lock(mutex_);
  std::int64_t requests = 0;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (priority == IO_TOTAL || priority == i) requests += classes_[i].requests;
  }
  return requests;
}

RateLimiter* NewGenericRateLimiter(std::int64_t rate_bytes_per_sec, std::int64_t refill_period_us,
                                   std::int32_t fairness) {
  return new GenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness);
}

}  // namespace cambium
