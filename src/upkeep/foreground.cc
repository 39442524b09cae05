#include "upkeep/foreground.h"

#include <algorithm>

namespace cambium {
namespace {

// A longer piece of work counts as this long: for the rest of the time it has probably waited for something else.
constexpr std::uint64_t kPieceMicrosMax = 100'000;
constexpr std::uint64_t kPauseMicros = 1000;

}  // namespace

void Foreground::Add(CallKind kind, std::uint64_t start_micros) {
  const std::uint64_t now = clock_->NowMicros();
  Sum& sum = sums_[static_cast<std::size_t>(kind)];
  sum.micros.fetch_add(now - start_micros, std::memory_order_relaxed);
  sum.samples.fetch_add(1, std::memory_order_relaxed);
  sampled_micros_.store(now, std::memory_order_relaxed);
  std::uint64_t begun = window_micros_.load(std::memory_order_relaxed);
  if (begun == 0) {
    window_micros_.compare_exchange_strong(begun, now, std::memory_order_relaxed);
  } else if (now >= begun + kWindowMicros &&
             window_micros_.compare_exchange_strong(begun, now, std::memory_order_relaxed)) {
    CloseWindow();
  }
}

// A sample that another thread adds meanwhile counts in this window or in the next.
void Foreground::CloseWindow() {
  std::array<CallWindow, kCallKinds> windows;
  for (std::size_t i = 0; i < kCallKinds; ++i) {
    const std::uint64_t micros = sums_[i].micros.exchange(0, std::memory_order_relaxed);
    windows[i].samples = sums_[i].samples.exchange(0, std::memory_order_relaxed);
    if (windows[i].samples > 0) {
      windows[i].mean_micros = static_cast<double>(micros) / static_cast<double>(windows[i].samples);
    }
  }
  const bool did_work = did_work_.exchange(false, std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  state_ = NextYield(state_, windows, did_work);
  share_.store(state_.share, std::memory_order_relaxed);
}

double Foreground::Share() const {
  const std::uint64_t sampled = sampled_micros_.load(std::memory_order_relaxed);
  const bool has_users = sampled != 0 && clock_->NowMicros() < sampled + kForgottenMicros;
  return has_users ? share_.load(std::memory_order_relaxed) : 1.0;
}

void Foreground::GiveWay(std::uint64_t resumed_micros, const std::function<bool()>& is_over) {
  did_work_.store(true, std::memory_order_relaxed);
  const std::uint64_t begin = clock_->NowMicros();
  const std::uint64_t worked = std::min(begin - std::min(begin, resumed_micros), kPieceMicrosMax);
  for (std::uint64_t now = begin; !is_over(); now = clock_->NowMicros()) {
    const double pause = static_cast<double>(worked) * (1 / Share() - 1);  // the share may rise meanwhile
    const auto paused = static_cast<double>(now - begin);
    if (paused >= pause) return;
    clock_->SleepMicros(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(pause - paused), 1, kPauseMicros));
  }
}

}  // namespace cambium
