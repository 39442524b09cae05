// The table of locks, without a database.
#include "transactions/key_locks.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "testing/heap_bytes.h"

namespace cambium::testing::key_locks_test {
namespace {

struct NobodyExpires final : KeyLocks::Owners {
  bool StealFrom(TransactionID) override { return false; }
};

TEST(KeyLocksTest, AMillionLocksTakeLessThanTwoHundredMegabytes) {
  constexpr int kLocks = 100'000;
  const std::shared_ptr<Clock> clock = Clock::Default();
  NobodyExpires owners;
  KeyLocks locks(16, -1, 5, clock.get(), &owners);
  const LockOwner owner{.id = 1};
  const std::size_t before = HeapBytes();
  for (int i = 0; i < kLocks; ++i) {
    ASSERT_TRUE(locks.Lock(owner, 3, "a key of twenty: " + std::to_string(i), true, 0).ok());
  }
  const std::size_t bytes = HeapBytes() - before;
  EXPECT_LT(bytes / kLocks, 200u);
  std::printf("%zu bytes a lock\n", bytes / kLocks);
  for (int i = 0; i < kLocks; ++i) locks.Unlock(1, 3, "a key of twenty: " + std::to_string(i));
  EXPECT_TRUE(locks.List().empty());
}

}  // namespace
}  // namespace cambium::testing::key_locks_test
