#include "cambium/rate_limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "util/generic_rate_limiter.h"

namespace cambium {
namespace {

// A clock that advances when a caller sleeps.
class SleepClock final : public Clock {
 public:
  std::uint64_t NowMicros() override { return now.load(); }
  std::uint64_t WallSeconds() override { return 0; }
  void SleepMicros(std::uint64_t micros) override {
    if (on_sleep) on_sleep();
    now.fetch_add(micros);
  }
  std::atomic<std::uint64_t> now{1'000'000};
  std::function<void()> on_sleep;
};

const std::function<bool()> kNever = [] { return false; };
constexpr std::int64_t kMiB = 1 << 20;

TEST(RateLimiterTest, AdmitsNoMoreThanRateAndBurst) {
  SleepClock clock;
  GenericRateLimiter limiter(kMiB, 100'000, 10);
  const std::uint64_t begin = clock.now;
  std::uint64_t waited = 0;
  for (int i = 0; i < 80; ++i) waited += limiter.Admit(128 << 10, IO_MID, &clock, kNever);
  const double seconds = static_cast<double>(clock.now - begin) / 1e6;
  EXPECT_EQ(waited, clock.now - begin);
  // 10 MiB, minus the burst and the last piece, which do not wait.
  EXPECT_GT(seconds, 9.7);
  EXPECT_LT(seconds, 10.01);
  EXPECT_EQ(limiter.GetTotalBytesThrough(IO_MID), 10 * kMiB);
  EXPECT_EQ(limiter.GetTotalBytesThrough(IO_TOTAL), 10 * kMiB);
  EXPECT_EQ(limiter.GetTotalBytesThrough(IO_LOW), 0);
  EXPECT_EQ(limiter.GetTotalRequests(IO_TOTAL), 80);
}

TEST(RateLimiterTest, IdleTimeAccumulatesOneBurstAtMost) {
  SleepClock clock;
  GenericRateLimiter limiter(kMiB, 100'000, 10);
  EXPECT_EQ(limiter.GetSingleBurstBytes(), kMiB / 10);
  EXPECT_EQ(limiter.Admit(kMiB / 8, IO_MID, &clock, kNever), 0u);
  clock.now += 3'600'000'000;
  EXPECT_EQ(limiter.Admit(kMiB / 8, IO_MID, &clock, kNever), 0u);
  EXPECT_GT(limiter.Admit(1, IO_MID, &clock, kNever), 0u);
}

TEST(RateLimiterTest, NewRateAppliesToWaitingRequests) {
  SleepClock clock;
  GenericRateLimiter limiter(16 << 10, 1000, 10);
  limiter.Admit(10 * kMiB, IO_MID, &clock, kNever);  // ten minutes of debt
  clock.on_sleep = [&] {
    clock.on_sleep = nullptr;
    ASSERT_TRUE(limiter.SetBytesPerSecond(100 * kMiB).ok());
  };
  EXPECT_LT(limiter.Admit(1, IO_MID, &clock, kNever), 200'000u);
  EXPECT_EQ(limiter.GetBytesPerSecond(), 100 * kMiB);
}

TEST(RateLimiterTest, GivingUpEndsTheWait) {
  SleepClock clock;
  GenericRateLimiter limiter(16 << 10, 1000, 10);
  limiter.Admit(10 * kMiB, IO_MID, &clock, kNever);
  int looks = 0;
  EXPECT_LT(limiter.Admit(1, IO_MID, &clock, [&] { return ++looks > 5; }), 10'000u);
  EXPECT_EQ(limiter.GetTotalBytesThrough(IO_MID), 10 * kMiB + 1) << "the bytes must count";
}

TEST(RateLimiterTest, IllegalArgumentsAreNamed) {
  const auto said = [](std::int64_t rate, std::int64_t period, std::int32_t fairness) {
    return GenericRateLimiter(rate, period, fairness).Check().ToString();
  };
  EXPECT_EQ(said(kMiB, 100'000, 10), "OK");
  EXPECT_NE(said(0, 100'000, 10).find("rate_bytes_per_sec is 0; legal is 16384 to"), std::string::npos);
  EXPECT_NE(said(-1, 100'000, 10).find("rate_bytes_per_sec is -1"), std::string::npos);
  EXPECT_NE(said(kMiB, 10, 10).find("refill_period_us is 10"), std::string::npos);
  EXPECT_NE(said(kMiB, 100'000, 0).find("fairness is 0"), std::string::npos);
  GenericRateLimiter limiter(kMiB, 100'000, 10);
  EXPECT_TRUE(limiter.SetBytesPerSecond(0).IsInvalidArgument());
  EXPECT_EQ(limiter.GetBytesPerSecond(), kMiB);
}

// Returns the order in which requests are served. One thread per priority waits while the bucket is empty; then the
// test fills the bucket for one request at a time.
std::vector<int> OrderOf(std::int32_t fairness, int high_requests) {
  class GateClock final : public Clock {  // sleeping only yields; the test advances the time
   public:
    std::uint64_t NowMicros() override { return now.load(); }
    std::uint64_t WallSeconds() override { return 0; }
    void SleepMicros(std::uint64_t) override { std::this_thread::yield(); }
    std::atomic<std::uint64_t> now{1};
  };
  GateClock clock;
  GenericRateLimiter limiter(kMiB, 1000, fairness);
  limiter.Admit(kMiB, IO_USER, &clock, kNever);  // a second of debt
  std::vector<int> order;
  std::mutex mutex;
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  const auto start = [&](IOPriority priority, int times) {
    threads.emplace_back([&, priority, times] {
      for (int i = 0; i < times; ++i) {
        bool is_first = true;
        limiter.Admit(kMiB, priority, &clock, [&] {
          if (std::exchange(is_first, false)) waiting.fetch_add(1);
          return false;
        });
        const std::lock_guard lock(mutex);
        order.push_back(priority);
      }
    });
  };
  start(IO_LOW, 1);
  start(IO_HIGH, high_requests);
  const int all = 1 + high_requests;
  for (int served = 0; served < all; ++served) {
    // Wait until every request that can wait does.
    const auto waited_so_far = [&] {
      const std::lock_guard lock(mutex);
      const bool low_is_served = std::ranges::find(order, static_cast<int>(IO_LOW)) != order.end();
      const int high_served = static_cast<int>(order.size()) - (low_is_served ? 1 : 0);
      return 1 + std::min(high_requests, high_served + 1);
    };
    while (waiting.load() < waited_so_far()) std::this_thread::yield();
    clock.now += 1'000'001;
    const auto count = [&] {
      const std::lock_guard lock(mutex);
      return static_cast<int>(order.size());
    };
    while (count() < served + 1) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  return order;
}

TEST(RateLimiterTest, HigherPriorityIsServedFirst) {
  EXPECT_EQ(OrderOf(1000, 3), (std::vector<int>{IO_HIGH, IO_HIGH, IO_HIGH, IO_LOW}));
}

TEST(RateLimiterTest, LowPriorityIsServedAfterFairnessOvertakes) {
  EXPECT_EQ(OrderOf(2, 5), (std::vector<int>{IO_HIGH, IO_HIGH, IO_LOW, IO_HIGH, IO_HIGH, IO_HIGH}));
}

TEST(RateLimiterTest, ManyThreadsCountEveryByte) {
  const std::unique_ptr<RateLimiter> made(NewGenericRateLimiter(std::int64_t{1} << 40));
  auto& limiter = static_cast<GenericRateLimiter&>(*made);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 2000; ++n) limiter.Admit(100, static_cast<IOPriority>(i), Clock::Default().get(), kNever);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made->GetTotalBytesThrough(), 4 * 2000 * 100);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(limiter.GetTotalRequests(static_cast<IOPriority>(i)), 2000);
}

}  // namespace
}  // namespace cambium
