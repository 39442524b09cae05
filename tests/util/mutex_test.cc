#include "util/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cambium {
namespace {

static_assert(sizeof(Mutex) == sizeof(std::mutex));
static_assert(sizeof(CondVar) == sizeof(std::condition_variable));

// A number that only the mutex protects.
struct Counter {
  Mutex mutex;
  CondVar changed;
  int count CAMBIUM_GUARDED_BY(mutex) = 0;

  void Add() CAMBIUM_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    ++count;
    changed.NotifyAll();
  }
  void AwaitLocked(int wanted) CAMBIUM_REQUIRES(mutex) {
    while (count < wanted) changed.Wait(mutex);
  }
};

TEST(MutexTest, OneThreadHoldsItAtATime) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&counter] {
      for (int i = 0; i < 10000; ++i) counter.Add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MutexLock lock(counter.mutex);
  EXPECT_EQ(counter.count, 40000);
}

// ThreadSanitizer reports a second release of a mutex.
TEST(MutexTest, LockReleasedEarlyLetsAnotherThreadIn) {
  Counter counter;
  MutexLock lock(counter.mutex);
  lock.Unlock();
  std::thread([&counter] { counter.Add(); }).join();  // waits for ever if the lock is still held
  lock.Lock();
  EXPECT_EQ(counter.count, 1);
  lock.Unlock();
  std::thread([&counter] { counter.Add(); }).join();
}

// Another thread can take the lock while it is released, and none after it is taken again, however the scope ends.
TEST(MutexTest, UnlockedScopeEndsWithTheLockHeld) {
  for (const bool throws : {false, true}) {
    Counter counter;
    std::thread other;
    {
      const MutexLock lock(counter.mutex);
      try {
        const MutexUnlock unlocked(counter.mutex);
        std::thread([&counter] { counter.Add(); }).join();
        if (throws) throw std::runtime_error("the scope ends early");
      } catch (const std::runtime_error&) {
      }
      other = std::thread([&counter] { counter.Add(); });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_EQ(counter.count, 1);
    }
    other.join();
    const MutexLock lock(counter.mutex);
    EXPECT_EQ(counter.count, 2);
  }
}

TEST(CondVarTest, WaitReleasesTheMutexAndTakesItAgain) {
  Counter counter;
  std::thread other;
  {
    const MutexLock lock(counter.mutex);
    other = std::thread([&counter] {
      for (int i = 0; i < 100; ++i) counter.Add();
    });
    counter.AwaitLocked(100);
    EXPECT_EQ(counter.count, 100);
  }
  other.join();
}

TEST(CondVarTest, WaitForReturnsAtTimeout) {
  Counter counter;
  const auto begin = std::chrono::steady_clock::now();
  {
    const MutexLock lock(counter.mutex);
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(10)) {
      counter.changed.WaitFor(counter.mutex, 1000);
    }
  }
  counter.Add();
  const MutexLock lock(counter.mutex);
  EXPECT_EQ(counter.count, 1);
}

}  // namespace
}  // namespace cambium
