// Asynchronous readers on a real file system, with io_uring and with threads.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "cambium/statistics.h"
#include "read/async_store.h"
#include "testing/files/page_cache.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

class AsyncDiskTest : public ::testing::TestWithParam<bool> {
 protected:
  AsyncDiskTest() {
    options_ = SmallOptions();
    options_.info_log = NullLogger();
    options_.allow_mmap_reads = false;
    options_.statistics = CreateDBStatistics();
    EXPECT_TRUE(DB::Open(options_, directory_.File("db"), &db_).ok());
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(db_->Put({}, NumberedKey(i), ValueAt(i)).ok());
    EXPECT_TRUE(db_->Flush({}).ok());
    const Status s = db_->NewAsyncReader({.depth = 16, .use_io_uring = GetParam()}, &reader_);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  // Lets later reads of values wait for the device, where the file system can evict pages.
  void ForgetValues() { is_cold_ = ForgetLogPages(directory_.File("db")) && is_cold_; }
  // Expects that reads of this test used the queue. With a ring, all reads of values in the log do; without one, only
  // those of values that are not in memory.
  void ExpectQueueWasUsed() const {
    if (!GetParam() && !is_cold_) return;
    EXPECT_GT(options_.statistics->getTickerCount(VALUE_READ_FROM_DEVICE), 0u);
  }

  bool is_cold_ = true;
  TempDirectory directory_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<AsyncReader> reader_;
};
INSTANTIATE_TEST_SUITE_P(Queues, AsyncDiskTest, ::testing::Bool(),
                         [](const auto& queue) { return queue.param ? "Uring" : "Threads"; });

// An event loop: it sleeps until the descriptor is readable, and polls without waiting.
TEST_P(AsyncDiskTest, EventDescriptorWakesTheLoop) {
  int fd = -1;
  const Status s = reader_->EventFd(&fd);
  ASSERT_TRUE(s.ok()) << s.ToString();
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  ForgetValues();
  int next = 0;
  std::vector<Ended> ended(100);
  const std::function<void()> begin = [&] {
    const int i = next++;
    Ended* const its = &ended[static_cast<std::size_t>(i)];
    ASSERT_TRUE(reader_->Get({}, NumberedKey(i), [&, its](const Status& status, Slice value) {
                         ++its->times;
                         its->status = status;
                         its->value = value.ToString();
                         if (next < 100) begin();
                       }).ok());
  };
  for (int i = 0; i < 16; ++i) begin();
  reader_->Submit();
  while (reader_->in_flight() > 0) {
    ASSERT_EQ(::poll(&wait, 1, 60'000), 1) << "nothing wakes the loop; in flight: " << reader_->in_flight();
    reader_->Poll(0);
  }
  for (int i = 0; i < 100; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
  EXPECT_EQ(reader_->Poll(0), 0u);  // the queue may have signalled what a Poll had taken already
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  ExpectQueueWasUsed();
}

// The descriptor is made when reads are in flight, and one has ended.
TEST_P(AsyncDiskTest, EventDescriptorSignalsEarlierReads) {
  ForgetValues();
  std::vector<Ended> ended(6);
  for (std::size_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(reader_->Get({}, NumberedKey(static_cast<int>(i)), [&, i](const Status& status, Slice value) {
                         ++ended[i].times;
                         ended[i].status = status;
                         ended[i].value = value.ToString();
                       }).ok());
  }
  reader_->Submit();
  int fd = -1;
  ASSERT_TRUE(reader_->EventFd(&fd).ok());
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 1) << "an inline value has ended";
  while (reader_->in_flight() > 0) {
    ASSERT_EQ(::poll(&wait, 1, 60'000), 1) << "nothing wakes the loop; in flight: " << reader_->in_flight();
    reader_->Poll(0);
  }
  for (int i = 0; i < 6; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
}

// The slots must live until nothing is written into them any more.
TEST_P(AsyncDiskTest, DestructorWaitsForReadsInFlight) {
  for (int round = 0; round < 20; ++round) {
    ForgetValues();
    std::vector<Ended> ended(16);
    for (int i = 0; i < 16; ++i) {
      Ended* const its = &ended[static_cast<std::size_t>(i)];
      ASSERT_TRUE(reader_->Get({}, NumberedKey((round * 16 + i) % 100), [its](const Status& status, Slice value) {
                           ++its->times;
                           its->status = status;
                           its->value = value.ToString();
                         }).ok());
    }
    reader_->Submit();
    if (round % 2 == 1) reader_->Poll(1);
    reader_.reset();
    for (int i = 0; i < 16; ++i) {
      const Ended& each = ended[static_cast<std::size_t>(i)];
      EXPECT_EQ(each.times, 1);
      if (!each.status.IsAborted()) ExpectValue(each, ValueAt((round * 16 + i) % 100));
    }
    ASSERT_TRUE(db_->NewAsyncReader({.depth = 16, .use_io_uring = GetParam()}, &reader_).ok());
  }
}

TEST_P(AsyncDiskTest, PollWaitsUntilEnoughHaveEnded) {
  for (int round = 0; round < 20; ++round) {
    ForgetValues();
    std::vector<Ended> ended(16);
    for (int i = 0; i < 16; ++i) {
      Ended* const its = &ended[static_cast<std::size_t>(i)];
      ASSERT_TRUE(reader_->Get({}, NumberedKey((round * 5 + i) % 100), [its](const Status& status, Slice value) {
                           ++its->times;
                           its->status = status;
                           its->value = value.ToString();
                         }).ok());
    }
    std::size_t count = 0;
    while (count < 16) count += reader_->Poll(16 - count, 60'000'000);
    for (int i = 0; i < 16; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt((round * 5 + i) % 100));
  }
  ExpectQueueWasUsed();
}

}  // namespace
}  // namespace cambium::testing
