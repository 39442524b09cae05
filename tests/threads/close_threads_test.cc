// Several threads close a database at once: one does it, the others wait for it, and the database can be opened again.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cambium/db.h"
#include "testing/index_mode.h"
#include "testing/temp_directory.h"

namespace cambium::testing::close_threads_test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 20;

TEST(CloseThreadsTest, ConcurrentClosesWaitForEachOther) {
  const TempDirectory directory;
  Options options;
  options.create_if_missing = true;
  UseIndexOfTest(&options);
  for (int round = 0; round < kRounds; ++round) {
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, directory.File("db"), &db).ok());
    ASSERT_TRUE(db->Put({}, "round", std::to_string(round)).ok());
    std::atomic<int> waiting{0};
    std::array<Status, kThreads> closed;
    std::vector<std::thread> threads;
    for (Status& result : closed) {
      threads.emplace_back([&] {
        ++waiting;
        while (waiting.load() < kThreads) std::this_thread::yield();
        result = db->Close();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& result : closed) EXPECT_TRUE(result.ok()) << result.ToString();
    std::unique_ptr<DB> again;  // each of the calls has released the lock, or waited until it was
    ASSERT_TRUE(DB::Open(options, directory.File("db"), &again).ok());
    std::string value;
    ASSERT_TRUE(again->Get({}, "round", &value).ok());
    EXPECT_EQ(value, std::to_string(round));
  }
}

TEST(CloseThreadsTest, AllClosesAreRefusedWhileAnIteratorExists) {
  const TempDirectory directory;
  Options options;
  options.create_if_missing = true;
  UseIndexOfTest(&options);
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, directory.File("db"), &db).ok());
  std::unique_ptr<Iterator> it(db->NewIterator({}));
  std::array<Status, kThreads> closed;
  std::vector<std::thread> threads;
  for (Status& result : closed) threads.emplace_back([&] { result = db->Close(); });
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : closed) EXPECT_TRUE(result.IsAborted()) << result.ToString();
  it.reset();
  EXPECT_TRUE(db->Close().ok());
}

}  // namespace
}  // namespace cambium::testing::close_threads_test
