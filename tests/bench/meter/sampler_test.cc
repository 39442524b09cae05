#include "meter/sampler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

namespace cambium::bench {
namespace {

std::int64_t ThreadCpuNanos() {
  timespec now{};
  EXPECT_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TEST(SamplerTest, RecordsOperationsOverTime) {
  std::atomic<std::uint64_t> ops{0};
  Sampler sampler("", [&ops] { return ops.load(); });
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ops += 10;
  }
  sampler.Stop();
  ASSERT_GE(sampler.samples().size(), 2u);
  EXPECT_EQ(sampler.samples().back().ops, 50u) << "the last one is of the moment of Stop";
  for (std::size_t i = 1; i < sampler.samples().size(); ++i) {
    EXPECT_GT(sampler.samples()[i].seconds, sampler.samples()[i - 1].seconds);
    EXPECT_GE(sampler.samples()[i].ops, sampler.samples()[i - 1].ops);
  }
  EXPECT_EQ(sampler.disk_peak(), 0u) << "no disk was given";
}

// Regression: a directory with many files kept the sampler so busy that a store which watches the process's CPU time
// never settled.
TEST(SamplerTest, SlowLooksAreRareAndCounted) {
  const double before = SamplerCpuSeconds();
  std::atomic<int> looks{0};
  const auto burn = [&looks] {
    ++looks;
    const std::int64_t begin = ThreadCpuNanos();  // CPU time, because other processes may keep the cores busy
    while (ThreadCpuNanos() - begin < 20'000'000) {
    }
    return std::uint64_t{0};
  };
  Sampler sampler("", burn);
  while (looks < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(SamplerCpuSeconds() - before, 0.005);
  EXPECT_GT(sampler.user_cpu_s() + sampler.sys_cpu_s(), 0.005);
  sampler.Stop();
  ASSERT_GE(sampler.samples().size(), 2u);
  EXPECT_GE(sampler.samples()[1].seconds - sampler.samples()[0].seconds, 50 * 0.02);
  EXPECT_EQ(SamplerCpuSeconds(), before) << "it is gone";
}

TEST(SamplerTest, ShortPhaseHasOneSample) {
  Sampler sampler("/proc/self", [] { return std::uint64_t{7}; });
  sampler.Stop();
  sampler.Stop();
  ASSERT_EQ(sampler.samples().size(), 1u);
  EXPECT_EQ(sampler.samples()[0].ops, 7u);
}

}  // namespace
}  // namespace cambium::bench
