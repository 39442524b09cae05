// Foreground: how long calls of users take, sampled, and how that makes background work pause that nobody waits for. The
// rule is gc/yield.h's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "cambium/clock.h"
#include "gc/yield.h"
#include "util/mutex.h"

namespace cambium {

// Any thread.
class Foreground {
 public:
  static constexpr std::uint32_t kSampleEvery = 64;           // calls of a thread
  static constexpr std::uint64_t kWindowMicros = 200'000;     // at least
  static constexpr std::uint64_t kForgottenMicros = 1'000'000;  // without samples nobody is there to yield to

  explicit Foreground(Clock* clock) : clock_(clock) {}

  // One in so many calls: then it is timed. Costs a thread's own counter.
  [[nodiscard]] static bool IsSampled() {
    thread_local constinit std::uint32_t calls = 0;
    return ++calls % kSampleEvery == 0;
  }
  // A call of this kind began then and ends now.
  void Add(CallKind kind, std::uint64_t start_micros);

  // For work that yields, before it goes on after `resumed_micros`. Returns when it has paused as long as its share asks
  // for, or `is_over` says that it need not yield any more.
  void GiveWay(std::uint64_t resumed_micros, const std::function<bool()>& is_over);
  // Of the device, as far as work that yields is concerned.
  [[nodiscard]] double Share() const;

  [[nodiscard]] std::uint64_t NowMicros() const { return clock_->NowMicros(); }

 private:
  void CloseWindow();

  Clock* const clock_;
  struct alignas(64) Sum {
    std::atomic<std::uint64_t> micros{0};
    std::atomic<std::uint64_t> samples{0};
  };
  std::array<Sum, kCallKinds> sums_;  // of this window
  std::atomic<std::uint64_t> window_micros_{0};  // when it began; 0: no sample yet
  std::atomic<std::uint64_t> sampled_micros_{0};  // the last sample
  std::atomic<bool> did_work_{false};             // in this window
  std::atomic<double> share_{1};                  // of state_, for those who look without the lock

  Mutex mutex_;  // a leaf
  YieldState state_ CAMBIUM_GUARDED_BY(mutex_);
};

// Times the call whose scope it is, if it is one of those that are.
class SampledCall {
 public:
  SampledCall(Foreground* foreground, CallKind kind)
      : foreground_(Foreground::IsSampled() ? foreground : nullptr), kind_(kind) {
    if (foreground_ != nullptr) start_micros_ = foreground_->NowMicros();
  }
  ~SampledCall() {
    if (foreground_ != nullptr) foreground_->Add(kind_, start_micros_);
  }
  SampledCall(const SampledCall&) = delete;
  SampledCall& operator=(const SampledCall&) = delete;

 private:
  Foreground* const foreground_;
  const CallKind kind_;
  std::uint64_t start_micros_ = 0;
};

}  // namespace cambium
