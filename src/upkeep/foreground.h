// Foreground: samples how long users' calls take. When the calls get slower, it pauses background work that no user
// waits for. The rule is in gc/yield.h.
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
  static constexpr std::uint32_t kSampleEvery = 64;           // of this many calls of a thread, one is timed
  static constexpr std::uint64_t kWindowMicros = 200'000;     // the least length of a window
  static constexpr std::uint64_t kForgottenMicros = 1'000'000;  // after so long without samples, work does not pause

  explicit Foreground(Clock* clock) : clock_(clock) {}

  // True for one in kSampleEvery calls, which is then timed. Costs one thread-local counter.
  [[nodiscard]] static bool IsSampled() {
    thread_local constinit std::uint32_t calls = 0;
    return ++calls % kSampleEvery == 0;
  }
  // Adds a call of this kind that began at `start_micros` and ends now.
  void Add(CallKind kind, std::uint64_t start_micros);

  // Called by work that yields, after each piece. `resumed_micros`: when the piece began. Pauses as long as the share
  // of the work demands, or until `is_over` returns true.
  void GiveWay(std::uint64_t resumed_micros, const std::function<bool()>& is_over);
  // The fraction of the time in which work that yields may use the device.
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
  std::atomic<std::uint64_t> window_micros_{0};   // when it began; 0: no sample yet
  std::atomic<std::uint64_t> sampled_micros_{0};  // time of the last sample
  std::atomic<bool> did_work_{false};             // work that yields ran in this window
  std::atomic<double> share_{1};                  // copy of state_.share, read without the lock

  Mutex mutex_;  // a leaf
  YieldState state_ CAMBIUM_GUARDED_BY(mutex_);
};

// Times the call during which it lives, if that call is sampled.
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
