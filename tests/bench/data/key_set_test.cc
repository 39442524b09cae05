#include "data/key_set.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace cambium::bench {
namespace {

TEST(KeySetTest, CountsEachIdOnce) {
  KeySet keys(130);
  for (const std::uint64_t id : {0u, 63u, 64u, 129u, 64u}) keys.Insert(id);
  EXPECT_EQ(keys.count(), 4u);
  EXPECT_TRUE(keys.Contains(129));
  EXPECT_FALSE(keys.Contains(1));
  keys.Erase(64);
  keys.Erase(65);
  EXPECT_EQ(keys.count(), 3u);
  EXPECT_FALSE(keys.Contains(64));
  keys.Reset(false);
  EXPECT_EQ(keys.count(), 0u);
  EXPECT_FALSE(keys.known());
}

TEST(KeySetTest, ThreadsMayInsertTheSameIds) {
  KeySet keys(10000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&keys] {
      for (std::uint64_t id = 0; id < 10000; id += 3) keys.Insert(id);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(keys.count(), 3334u);
}

TEST(KeySetTest, CopyDoesNotChange) {
  KeySet keys(100);
  keys.Insert(64);
  const KeySet copy(keys);
  keys.Insert(65);
  keys.Erase(64);
  EXPECT_TRUE(copy.Contains(64));
  EXPECT_FALSE(copy.Contains(65));
  EXPECT_EQ(copy.count(), 1u);
  EXPECT_TRUE(copy.known());
  keys.Reset(false);
  EXPECT_FALSE(KeySet(keys).known());
}

TEST(KeySetTest, FindsIdsBetweenOthers) {
  KeySet keys(100'000);
  for (const std::uint64_t id : {0u, 63u, 64u, 200u}) keys.Insert(id);
  EXPECT_FALSE(keys.HasAnyIn(1, 63));
  EXPECT_TRUE(keys.HasAnyIn(1, 64));
  EXPECT_TRUE(keys.HasAnyIn(63, 64));
  EXPECT_FALSE(keys.HasAnyIn(64, 64));
  EXPECT_TRUE(keys.HasAnyIn(64, 65));
  EXPECT_FALSE(keys.HasAnyIn(65, 200));
  EXPECT_TRUE(keys.HasAnyIn(65, 201));
  EXPECT_FALSE(keys.HasAnyIn(201, 100'000));
  keys.Insert(90'000);
  EXPECT_FALSE(keys.HasAnyIn(201, 100'000)) << "it does not look that far";
}

TEST(KeySetTest, KnowsTheLastVersion) {
  KeySet keys(1000);
  EXPECT_TRUE(keys.MayBeLast(7, 3)) << "nothing is known";
  keys.SetLast(7, 3);
  EXPECT_TRUE(keys.MayBeLast(7, 3));
  EXPECT_FALSE(keys.MayBeLast(7, 2));
  keys.SetLast(7, 4);
  EXPECT_FALSE(keys.MayBeLast(7, 3));
  keys.SetLast(999, 1);
  keys.ForgetLast(999);
  EXPECT_TRUE(keys.MayBeLast(999, 5));
  keys.Reset(true);
  EXPECT_TRUE(keys.MayBeLast(7, 3));
}

TEST(KeySetTest, ParentSeesInsertsOfItsChild) {
  KeySet keys(1000);
  const pid_t child = fork();
  if (child == 0) {
    keys.Insert(7);
    keys.Insert(999);
    _exit(0);
  }
  int how = 0;
  ASSERT_EQ(waitpid(child, &how, 0), child);
  EXPECT_EQ(keys.count(), 2u);
  EXPECT_TRUE(keys.Contains(7));
  EXPECT_TRUE(keys.Contains(999));
}

TEST(KeySetTest, SizesAreThoseOfTheLatestValues) {
  KeySet keys(100, /*sized=*/true);
  keys.Insert(3, 1000);
  keys.Insert(64, 10);
  keys.Insert(3, 7);
  EXPECT_EQ(keys.value_bytes(), 17u);
  keys.Erase(64);
  keys.Erase(65);
  EXPECT_EQ(keys.value_bytes(), 7u);
  keys.Reset(true);
  EXPECT_EQ(keys.value_bytes(), 0u);
}

}  // namespace
}  // namespace cambium::bench
