#include "cambium/clock.h"

#include <chrono>
#include <thread>

namespace cambium {
namespace {

class SystemClock final : public Clock {
 public:
  std::uint64_t NowMicros() override { return Micros(std::chrono::steady_clock::now().time_since_epoch()); }
  std::uint64_t WallSeconds() override {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_1970).count();
    return seconds < 0 ? 0 : static_cast<std::uint64_t>(seconds);  // a machine may boot with its clock before 1970
  }
  void SleepMicros(std::uint64_t micros) override {
    std::this_thread::sleep_for(std::chrono::microseconds(micros));  // resumes after a signal
  }

 private:
  static std::uint64_t Micros(std::chrono::nanoseconds d) { return static_cast<std::uint64_t>(d.count()) / 1000; }
};

}  // namespace

std::shared_ptr<Clock> Clock::Default() {
  // Never destroyed: the host's threads may still read the clock while main() returns.
  static const auto* const clock = new std::shared_ptr<Clock>(std::make_shared<SystemClock>());
  return *clock;
}

}  // namespace cambium
