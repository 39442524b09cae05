#include "cambium/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cambium/clock.h"
#include "cambium/random.h"
#include "util/manual_executor.h"

namespace cambium {
namespace {

// Blocks the threads that pass it until it is opened.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(ExecutorTest, RunsByPriorityThenInOrderOfScheduling) {
  std::string order;  // written by one thread, read after the destructor has joined it
  Gate gate;
  {
    const auto pool = Executor::NewThreadPool(1);
    pool->Schedule(TaskPriority::kHigh, [&] { gate.Pass(); });
    for (const char c : std::string("cd")) pool->Schedule(TaskPriority::kNormal, [&order, c] { order += c; });
    for (const char c : std::string("ef")) pool->Schedule(TaskPriority::kLow, [&order, c] { order += c; });
    for (const char c : std::string("ab")) pool->Schedule(TaskPriority::kHigh, [&order, c] { order += c; });
    gate.Open();
  }
  EXPECT_EQ(order, "abcdef");
}

TEST(ExecutorTest, DestructorRunsQueuedTasksAndThoseTheySchedule) {
  std::atomic<int> runs = 0;
  {
    const auto pool = Executor::NewThreadPool(3);
    for (int i = 0; i < 100; ++i) {
      pool->Schedule(TaskPriority::kLow, [&] {
        pool->Schedule(TaskPriority::kNormal, [&] {
          ++runs;
          pool->Schedule(TaskPriority::kHigh, [&] { ++runs; });
        });
      });
    }
  }
  EXPECT_EQ(runs, 200);
}

// As many tasks as threads wait for each other, so they end only if all threads run.
TEST(ExecutorTest, AllThreadsWorkAtOnce) {
  std::mutex mutex;
  std::condition_variable all;
  int arrived = 0;
  {
    const auto pool = Executor::NewThreadPool(4);
    for (int i = 0; i < 4; ++i) {
      pool->Schedule(TaskPriority::kNormal, [&] {
        std::unique_lock lock(mutex);
        if (++arrived == 4) all.notify_all();
        all.wait(lock, [&] { return arrived == 4; });
      });
    }
  }
  EXPECT_EQ(arrived, 4);
}

// The kLow tasks that may run wait for an urgent task that is queued after them and after more kLow tasks.
TEST(ExecutorTest, LowTasksLeaveAThreadForUrgentOnes) {
  std::atomic<int> low = 0;
  std::atomic<int> low_most = 0;
  std::atomic<int> ended = 0;
  {
    Gate gate;
    const auto pool = Executor::NewThreadPool(2, 1);
    for (int i = 0; i < 6; ++i) {
      pool->Schedule(TaskPriority::kLow, [&] {
        const int now = ++low;
        int most = low_most.load();
        while (now > most && !low_most.compare_exchange_weak(most, now)) {
        }
        gate.Pass();
        --low;
        ++ended;
      });
    }
    pool->Schedule(TaskPriority::kNormal, [&] { gate.Open(); });
  }
  EXPECT_EQ(ended, 6);
  EXPECT_LE(low_most, 2);
}

TEST(ExecutorTest, HasAtLeastOneThreadAndRunsTasksOnlyThere) {
  std::thread::id ran_in;
  {
    const auto pool = Executor::NewThreadPool(-3);
    pool->Schedule(TaskPriority::kNormal, [&] { ran_in = std::this_thread::get_id(); });
    EXPECT_FALSE(pool->RunOneInstead());
  }
  EXPECT_NE(ran_in, std::thread::id());
  EXPECT_NE(ran_in, std::this_thread::get_id());
}

TEST(ExecutorTest, ManyThreadsMaySchedule) {
  std::atomic<int> runs = 0;
  {
    const auto pool = Executor::NewThreadPool(2);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) pool->Schedule(static_cast<TaskPriority>(i % 3), [&] { ++runs; });
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(runs, 2000);
}

TEST(ExecutorTest, DelayedTasksRunInOrderOfTheirTime) {
  const std::shared_ptr<Clock> clock = Clock::Default();
  const std::uint64_t begin = clock->NowMicros();
  std::mutex mutex;
  std::string order;
  std::uint64_t ended = 0;
  Gate gate;
  const auto pool = Executor::NewThreadPool(2);
  const auto note = [&](char c) {
    const std::lock_guard lock(mutex);
    order += c;
    ended = clock->NowMicros();
  };
  pool->ScheduleAfter(60'000, TaskPriority::kLow, [&] { note('c'), gate.Open(); });
  pool->ScheduleAfter(20'000, TaskPriority::kLow, [&] { note('b'); });
  pool->Schedule(TaskPriority::kLow, [&] { note('a'); });
  gate.Pass();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(order, "abc");
  EXPECT_GE(ended - begin, 60'000u);
}

TEST(ExecutorTest, DestructorDropsDelayedTasks) {
  const auto captured = std::make_shared<int>(1);
  bool has_run = false;
  {
    const auto pool = Executor::NewThreadPool(1);
    pool->ScheduleAfter(3'600'000'000, TaskPriority::kHigh, [captured, &has_run] { has_run = true; });
  }
  EXPECT_FALSE(has_run);
  EXPECT_EQ(captured.use_count(), 1);
}

// The database cannot go on with half a flush, so the process ends, as after a kill.
TEST(ExecutorDeathTest, OutOfMemoryInATaskEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_out = [] {
    const auto pool = Executor::NewThreadPool(1);
    pool->Schedule(TaskPriority::kLow, [] { throw std::bad_alloc(); });
  };
  EXPECT_DEATH(run_out(), "bad_alloc");
}

TEST(ManualExecutorTest, DelayedTasksWaitForLetTimePass) {
  ManualExecutor executor;
  int runs = 0;
  executor.ScheduleAfter(1, TaskPriority::kLow, [&] { ++runs; });
  EXPECT_EQ(executor.RunAll(), 0u);
  EXPECT_EQ(executor.LetTimePass(), 1u);
  EXPECT_EQ(executor.RunAll(), 1u);
  EXPECT_EQ(executor.LetTimePass(), 0u);
  EXPECT_EQ(runs, 1);
}

TEST(ManualExecutorTest, WithoutASeedOrdersTasksAsAPoolOfOneThread) {
  ManualExecutor executor;
  std::string order;
  for (const char c : std::string("cd")) executor.Schedule(TaskPriority::kNormal, [&order, c] { order += c; });
  for (const char c : std::string("ab")) executor.Schedule(TaskPriority::kHigh, [&order, c] { order += c; });
  executor.Schedule(TaskPriority::kLow, [&order] { order += 'e'; });
  EXPECT_EQ(executor.pending(), 5u);
  EXPECT_TRUE(executor.RunOneInstead());
  EXPECT_EQ(order, "a");
  EXPECT_EQ(executor.RunAll(), 4u);
  EXPECT_EQ(order, "abcde");
  EXPECT_EQ(executor.pending(), 0u);
}

std::string OrderOf(std::uint64_t seed) {
  ManualExecutor executor(seed);
  std::string order;
  for (int i = 0; i < 8; ++i) {
    executor.Schedule(static_cast<TaskPriority>(i % 3), [&order, i] { order += static_cast<char>('a' + i); });
  }
  executor.RunAll();
  return order;
}

TEST(ManualExecutorTest, SeedDeterminesTheOrder) {
  std::set<std::string> orders;
  std::set<char> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string order = OrderOf(seed);
    EXPECT_EQ(OrderOf(seed), order);
    EXPECT_EQ(std::set<char>(order.begin(), order.end()).size(), 8u) << "each task must run once: " << order;
    orders.insert(order);
    first.insert(order.front());
  }
  EXPECT_GT(orders.size(), 90u);
  EXPECT_EQ(first.size(), 8u) << "any task may be first";
}

TEST(ManualExecutorTest, TaskMayScheduleAndRunOthers) {
  ManualExecutor executor;
  std::string order;
  executor.Schedule(TaskPriority::kNormal, [&] {
    order += '(';
    executor.Schedule(TaskPriority::kNormal, [&] { order += 'x'; });
    EXPECT_TRUE(executor.RunOneInstead());
    executor.Schedule(TaskPriority::kNormal, [&] { order += 'y'; });
    order += ')';
  });
  EXPECT_EQ(executor.RunAll(), 2u);
  EXPECT_EQ(order, "(x)y");
}

TEST(ManualExecutorTest, CallsHookIfNothingToRun) {
  ManualExecutor executor;
  int calls = 0;
  executor.OnNothingToRun([&] { ++calls; });
  executor.Schedule(TaskPriority::kNormal, [] {});
  EXPECT_TRUE(executor.RunOneInstead());
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(executor.RunOneInstead());
  EXPECT_EQ(calls, 1);
}

TEST(ManualExecutorTest, DropsUnrunTasksAndTheirCaptures) {
  const auto held = std::make_shared<int>(1);
  bool ran = false;
  {
    ManualExecutor executor;
    executor.Schedule(TaskPriority::kNormal, [held, &ran] { ran = true; });
    EXPECT_EQ(executor.DropAll(), 1u);
    EXPECT_EQ(held.use_count(), 1);
    executor.Schedule(TaskPriority::kNormal, [held, &ran] { ran = true; });
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(ClockTest, MonotonicTimeNeverGoesBackAndSleepLastsItsTime) {
  const auto clock = Clock::Default();
  std::uint64_t before = clock->NowMicros();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t now = clock->NowMicros();
    EXPECT_GE(now, before);
    before = now;
  }
  clock->SleepMicros(2000);
  EXPECT_GE(clock->NowMicros(), before + 2000);
  EXPECT_EQ(Clock::Default(), clock);
}

TEST(ClockTest, WallTimeIsOfThisCentury) {
  EXPECT_GT(Clock::Default()->WallSeconds(), 1'500'000'000u);
  EXPECT_LT(Clock::Default()->WallSeconds(), 4'200'000'000u);
}

// Asks for more than the 256 bytes that the kernel always returns in one call.
TEST(RandomSourceTest, FillsAllBytesAndNeverRepeats) {
  std::string a(5000, '\0');
  std::string b(5000, '\0');
  RandomSource::Default()->Fill(a.data(), a.size());
  RandomSource::Default()->Fill(b.data(), b.size());
  RandomSource::Default()->Fill(nullptr, 0);
  EXPECT_NE(a, b);
  EXPECT_NE(a.substr(a.size() - 32), std::string(32, '\0'));
  EXPECT_EQ(std::set<char>(a.begin(), a.end()).size(), 256u);
}

}  // namespace
}  // namespace cambium
