// Asynchronous readers with read queues that fail, or that keep reads.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "read/async_store.h"
#include "testing/files/forwarding_file_system.h"

namespace cambium::testing {
namespace {

// Tells the read queues of a file system what to do. They read in the thread of the test.
struct QueueScript {
  SimClock* clock = nullptr;
  bool fails_submit = false;
  bool fails_wait = false;
  bool fails_signal = false;
  bool keeps = false;  // reads do not finish; a bounded wait takes all its time
  bool is_spent = false;
  int made = 0;
  int signalled = 0;  // queues that know a descriptor
};

class ScriptedQueue final : public ReadQueue {
 public:
  explicit ScriptedQueue(QueueScript* script) : script_(*script) { ++script_.made; }
  ~ScriptedQueue() override { Serve(nullptr); }
  ScriptedQueue(const ScriptedQueue&) = delete;
  ScriptedQueue& operator=(const ScriptedQueue&) = delete;

  Status Submit(std::span<ReadRequest* const> requests) override {
    if (script_.fails_submit) return Status::IOError("submit");
    waiting_.insert(waiting_.end(), requests.begin(), requests.end());
    return Status::OK();
  }
  Status Wait(std::vector<ReadRequest*>* done) override {
    if (script_.fails_wait) return Status::IOError("wait");
    Serve(done);
    return Status::OK();
  }
  Status WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) override {
    if (script_.keeps) script_.clock->Advance(micros);
    return script_.keeps ? Status::OK() : Wait(done);
  }
  Status SignalTo(int /*event_fd*/) override {
    if (script_.fails_signal) return Status::IOError("signal");
    ++script_.signalled;
    return Status::OK();
  }
  [[nodiscard]] std::size_t in_flight() const override { return waiting_.size(); }
  [[nodiscard]] std::size_t depth() const override { return 4096; }
  [[nodiscard]] bool IsSpent() const override { return script_.is_spent; }

 private:
  void Serve(std::vector<ReadRequest*>* done) {
    for (ReadRequest* const request : waiting_) {
      request->status = request->file->Read(request->offset, request->size, request->out, &request->read);
      if (done != nullptr) done->push_back(request);
    }
    waiting_.clear();
  }

  QueueScript& script_;
  std::vector<ReadRequest*> waiting_;
};

class ScriptedFileSystem final : public ForwardingFileSystem {
 public:
  ScriptedFileSystem(std::shared_ptr<FileSystem> base, QueueScript* script)
      : ForwardingFileSystem(std::move(base)), script_(script) {}
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t, bool) override {
    return std::make_unique<ScriptedQueue>(script_);
  }

 private:
  QueueScript* const script_;
};

class AsyncQueueTest : public ::testing::Test {
 protected:
  AsyncQueueTest() {
    script_.clock = store_.clock.get();
    store_.options.file_system = std::make_shared<ScriptedFileSystem>(store_.fs, &script_);
    store_.Fill(10);
    script_.made = 0;
    store_.NewReader();
  }
  // Reads a value that is not in memory.
  Ended Read() {
    Ended ended;
    store_.Begin(NumberedKey(1), &ended);
    store_.reader->Poll();
    return ended;
  }

  QueueScript script_;
  AsyncStore store_;
};

TEST_F(AsyncQueueTest, PollReturnsAtTimeout) {
  script_.keeps = true;
  Ended ended;
  store_.Begin(NumberedKey(1), &ended);
  const std::uint64_t begun = store_.clock->NowMicros();
  EXPECT_EQ(store_.reader->Poll(0), 0u);
  EXPECT_EQ(store_.reader->Poll(1, 0), 0u);
  EXPECT_EQ(store_.clock->NowMicros(), begun);
  EXPECT_EQ(store_.reader->Poll(1, 1000), 0u);
  EXPECT_EQ(store_.clock->NowMicros(), begun + 1000);
  EXPECT_EQ(store_.reader->in_flight(), 1u);
  script_.keeps = false;
  EXPECT_EQ(store_.reader->Poll(), 1u);
  ExpectValue(ended, ValueAt(1));
}

// Each callback begins a read that ends at once. Poll must still end after its timeout, and deliver what the queue has
// read.
TEST_F(AsyncQueueTest, EndlessCallbacksDoNotBlockTimeoutOrQueue) {
  int rounds = 0;
  const std::function<void()> begin_next = [&] {
    ASSERT_TRUE(store_.reader->Get({}, NumberedKey(3), [&](const Status&, Slice) {
                               store_.clock->Advance(100);
                               if (++rounds % 10'000 != 0) begin_next();
                             }).ok());
  };
  begin_next();
  EXPECT_EQ(store_.reader->Poll(1'000'000, 1000), 10u);
  EXPECT_EQ(rounds, 10);
  int rounds_at_end = 0;
  ASSERT_TRUE(store_.reader->Get({}, NumberedKey(1), [&](const Status& status, Slice value) {
                             EXPECT_TRUE(status.ok() && value == Slice(ValueAt(1))) << status.ToString();
                             rounds_at_end = rounds;
                           }).ok());
  store_.reader->Poll(1'000'000);
  EXPECT_EQ(rounds, 10'000);
  EXPECT_GT(rounds_at_end, 0);
  EXPECT_LT(rounds_at_end, 20) << "the queue had finished it";
}

TEST_F(AsyncQueueTest, ErrorOfTheQueueEndsItsReads) {
  script_.fails_submit = true;
  EXPECT_TRUE(Read().status.IsIOError());
  script_.fails_submit = false;
  script_.fails_wait = true;
  EXPECT_TRUE(Read().status.IsIOError());
  script_.fails_wait = false;
  EXPECT_EQ(script_.made, 1);
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.made, 2) << "a queue whose wait has failed is not used again";
}

// The program waits for the descriptor, so a queue that does not signal it must not be used.
TEST_F(AsyncQueueTest, NewQueueSignalsTheDescriptorOrIsNotUsed) {
  int fd = -1;
  ASSERT_TRUE(store_.reader->EventFd(&fd).ok());
  EXPECT_EQ(script_.signalled, 1);
  script_.fails_wait = true;
  EXPECT_TRUE(Read().status.IsIOError());
  script_.fails_wait = false;
  script_.fails_signal = true;
  for (int i = 0; i < 2; ++i) EXPECT_NE(Read().status.ToString().find("signal"), std::string::npos);
  script_.fails_signal = false;
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.signalled, 2);
}

TEST_F(AsyncQueueTest, SpentQueueIsReplaced) {
  ExpectValue(Read(), ValueAt(1));
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.made, 1);
  script_.is_spent = true;
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.made, 2);
}

// After an exception, coroutines that wait for room make the descriptor readable.
TEST_F(AsyncQueueTest, DescriptorIsReadableWhileReadsWaitForRoomThatIsFree) {
  if (!kCoroutinesMayThrow) GTEST_SKIP() << kCoroutinesMustNotThrow;
  store_.reader.reset();
  store_.NewReader({.depth = 1});
  int fd = -1;
  ASSERT_TRUE(store_.reader->EventFd(&fd).ok());
  const Owned throwing = ReadAndThrow(store_.reader.get(), NumberedKey(2));
  Ended ended;
  ReadInto(store_.reader.get(), NumberedKey(3), &ended);
  EXPECT_THROW(store_.reader->Poll(), std::runtime_error);
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 1);
  EXPECT_EQ(store_.reader->Poll(0), 1u);
  ExpectValue(ended, ValueAt(3));
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
}

}  // namespace
}  // namespace cambium::testing
