// Both read queues, io_uring and threads, against the same contract.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "cambium/file_system.h"
#include "io/event_descriptor.h"
#include "io/thread_read_queue.h"
#include "io/uring_read_queue.h"
#include "testing/files/io_uring_here.h"
#include "testing/files/partial_file.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium {
namespace {

// A file in memory that the kernel does not know. A read at offset kBad fails.
class ForeignFile final : public testing::PartialFile {
 public:
  static constexpr std::uint64_t kBad = 999'999;

  explicit ForeignFile(std::string content) : PartialFile("foreign"), content_(std::move(content)) {}
  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override {
    *read = 0;
    if (offset == kBad) return Status::IOError("bad");
    if (offset >= content_.size()) return Status::OK();
    *read = content_.copy(out, n, offset);
    return Status::OK();
  }

 private:
  const std::string content_;
};

ReadRequest Request(const File* file, std::uint64_t offset, std::size_t size, char* out) {
  ReadRequest request;
  request.file = file;
  request.offset = offset;
  request.size = size;
  request.out = out;
  return request;
}

// A page of memory that may be neither read nor written.
struct ForbiddenPage {
  ForbiddenPage() = default;
  ~ForbiddenPage() { ::munmap(begin, kSize); }
  ForbiddenPage(const ForbiddenPage&) = delete;
  ForbiddenPage& operator=(const ForbiddenPage&) = delete;
  static constexpr std::size_t kSize = 4096;
  void* const begin = ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

class ReadQueueTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && testing::KernelRefusesIoUring()) GTEST_SKIP() << testing::kNoIoUring;
    ASSERT_TRUE(!GetParam() || IoUringWorks());
    ASSERT_TRUE(fs_->Open(directory_.File("f"), OpenMode::kCreateNew, {}, &file_).ok());
    content_ = Prng(1).Bytes(300'000);
    ASSERT_TRUE(file_->Write(0, content_).ok());
  }
  [[nodiscard]] std::unique_ptr<ReadQueue> NewQueue(std::size_t depth) const {
    return fs_->NewReadQueue(depth, GetParam());
  }

  // Evicts the file's pages. Reads of cached pages are done before Submit returns; the others take longer.
  void DropFromCache() {
    ASSERT_TRUE(file_->SyncData().ok());
    ASSERT_TRUE(file_->Advise(0, 0, AccessHint::kDontNeed).ok());
  }

  testing::TempDirectory directory_;
  const std::shared_ptr<FileSystem> fs_ = FileSystem::Default();
  std::unique_ptr<File> file_;
  std::string content_;
};
INSTANTIATE_TEST_SUITE_P(Queues, ReadQueueTest, ::testing::Bool(),
                         [](const auto& queue) { return queue.param ? "Uring" : "Threads"; });

// A batch of requests with their own buffers, which it compares with the expected content.
class Batch {
 public:
  void Add(const File* file, std::uint64_t offset, std::size_t size) {
    buffers_.push_back(std::make_unique<std::string>(size, '?'));
    requests_.push_back(std::make_unique<ReadRequest>(Request(file, offset, size, buffers_.back()->data())));
    requests_.back()->tag = buffers_.back().get();
    pointers_.push_back(requests_.back().get());
  }
  [[nodiscard]] std::span<ReadRequest* const> pointers() const { return pointers_; }
  [[nodiscard]] std::size_t size() const { return pointers_.size(); }

  // Expects every request in `done` once, with the bytes of `content`.
  void ExpectAll(std::vector<ReadRequest*> done, const std::string& content) const {
    std::vector<ReadRequest*> expected = pointers_;
    std::sort(done.begin(), done.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(done, expected);
    for (const ReadRequest* const request : done) {
      ASSERT_TRUE(request->status.ok()) << request->status.ToString();
      const std::string bytes =
          request->offset < content.size() ? content.substr(request->offset, request->size) : std::string();
      ASSERT_EQ(request->read, bytes.size());
      ASSERT_EQ(static_cast<const std::string*>(request->tag)->substr(0, request->read), bytes);
    }
  }

 private:
  std::vector<std::unique_ptr<std::string>> buffers_;
  std::vector<std::unique_ptr<ReadRequest>> requests_;
  std::vector<ReadRequest*> pointers_;
};

TEST_P(ReadQueueTest, EveryReadIsDeliveredOnceWithItsBytes) {
  Prng prng(testing::SeedFromEnvironment(40));
  for (const std::size_t depth : {1u, 3u, 32u}) {
    const auto queue = NewQueue(depth);
    EXPECT_EQ(queue->depth(), depth);
    for (int round = 0; round < 30; ++round) {
      if (prng.OneIn(3)) DropFromCache();
      Batch batch;
      for (std::uint64_t n = prng.Uniform(3 * depth + 10); n > 0; --n) {
        batch.Add(file_.get(), prng.Uniform(content_.size() + 20'000), prng.Skewed(16));
      }
      std::vector<ReadRequest*> done;
      std::size_t submitted_count = 0;
      while (submitted_count < batch.size()) {
        const std::size_t n = 1 + prng.Uniform(batch.size() - submitted_count);
        ASSERT_TRUE(queue->Submit(batch.pointers().subspan(submitted_count, n)).ok());
        submitted_count += n;
        ASSERT_EQ(queue->in_flight() + done.size(), submitted_count);
        if (prng.OneIn(2)) {
          ASSERT_TRUE(queue->Wait(&done).ok());
        }
      }
      while (queue->in_flight() > 0) {
        const std::size_t before = done.size();
        ASSERT_TRUE(queue->Wait(&done).ok());
        ASSERT_GT(done.size(), before) << "Wait must deliver at least one";
      }
      batch.ExpectAll(done, content_);
    }
  }
}

TEST_P(ReadQueueTest, WaitWithoutReadsReturns) {
  const auto queue = NewQueue(4);
  std::vector<ReadRequest*> done;
  EXPECT_TRUE(queue->Wait(&done).ok());
  EXPECT_TRUE(queue->Submit({}).ok());
  EXPECT_TRUE(queue->Wait(&done).ok());
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(queue->in_flight(), 0u);
}

TEST_P(ReadQueueTest, DepthIsAtLeastOne) {
  const auto queue = NewQueue(0);
  EXPECT_EQ(queue->depth(), 1u);
  Batch batch;
  for (int i = 0; i < 5; ++i) batch.Add(file_.get(), 7, 100);
  std::vector<ReadRequest*> done;
  ASSERT_TRUE(queue->Submit(batch.pointers()).ok());
  while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
  batch.ExpectAll(done, content_);
}

TEST_P(ReadQueueTest, ImpossibleOffsetsReadNothing) {
  const auto queue = NewQueue(4);
  Batch batch;
  for (const std::uint64_t offset : {UINT64_MAX, UINT64_MAX - 5, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 9,
                                     std::uint64_t{1} << 50}) {
    batch.Add(file_.get(), offset, 100);
  }
  std::vector<ReadRequest*> done;
  ASSERT_TRUE(queue->Submit(batch.pointers()).ok());
  while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
  batch.ExpectAll(done, content_);
}

TEST_P(ReadQueueTest, FilesOfOtherFileSystemsAreServedByTheirOwnRead) {
  const ForeignFile foreign("foreign bytes");
  const auto queue = NewQueue(2);
  char out[8] = {};
  ReadRequest good = Request(&foreign, 8, 8, out);
  ReadRequest bad = Request(&foreign, ForeignFile::kBad, 1, out);
  Batch own;
  for (int i = 0; i < 5; ++i) own.Add(file_.get(), 1000, 500);
  std::vector<ReadRequest*> all(own.pointers().begin(), own.pointers().end());
  all.insert(all.begin() + 2, {&good, &bad});
  std::vector<ReadRequest*> done;
  ASSERT_TRUE(queue->Submit(all).ok());
  while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
  EXPECT_TRUE(good.status.ok());
  EXPECT_EQ(std::string(out, good.read), "bytes");
  EXPECT_TRUE(bad.status.IsIOError());
  std::erase_if(done, [&](const ReadRequest* request) { return request == &good || request == &bad; });
  own.ExpectAll(done, content_);
}

TEST_P(ReadQueueTest, ErrorAffectsOnlyItsRequest) {
  const auto queue = NewQueue(4);
  // A healthy device refuses no read, but the kernel refuses to write to this page.
  const ForbiddenPage page;
  ASSERT_NE(page.begin, MAP_FAILED);
  ReadRequest impossible = Request(file_.get(), 1, 10, static_cast<char*>(page.begin));
  Batch own;
  own.Add(file_.get(), 0, 100);
  own.Add(file_.get(), 5, 100);
  std::vector<ReadRequest*> all(own.pointers().begin(), own.pointers().end());
  all.insert(all.begin() + 1, &impossible);
  std::vector<ReadRequest*> done;
  ASSERT_TRUE(queue->Submit(all).ok());
  while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
  EXPECT_TRUE(impossible.status.IsIOError());
  EXPECT_NE(impossible.status.ToString().find(directory_.File("f") + ":1: "), std::string::npos);
  std::erase(done, &impossible);
  own.ExpectAll(done, content_);
}

// The file does not end at a multiple of the alignment, so the read of its tail is short and would resume at an
// unaligned offset.
TEST_P(ReadQueueTest, DirectFilesAreReadToTheirEnd) {
  std::unique_ptr<File> direct;
  ASSERT_TRUE(file_->SyncData().ok());
  ASSERT_TRUE(fs_->Open(directory_.File("f"), OpenMode::kReadOnly, {.direct = true}, &direct).ok());
  constexpr std::size_t kSize = 2 * kDirectAlignment;
  alignas(kDirectAlignment) static char out[kSize];
  const std::uint64_t offset = content_.size() / kDirectAlignment * kDirectAlignment;
  ReadRequest request = Request(direct.get(), offset, kSize, out);
  ReadRequest* const pointer = &request;
  const auto queue = NewQueue(4);
  std::vector<ReadRequest*> done;
  ASSERT_TRUE(queue->Submit({&pointer, 1}).ok());
  ASSERT_TRUE(queue->Wait(&done).ok());
  ASSERT_TRUE(request.status.ok()) << request.status.ToString();
  EXPECT_EQ(std::string(out, request.read), content_.substr(offset));
}

// The buffers are freed right after the queue: a read that arrives later would write to freed memory.
TEST_P(ReadQueueTest, DestructorWaitsForReadsInFlight) {
  for (int i = 0; i < 50; ++i) {
    DropFromCache();
    Batch batch;
    for (int n = 0; n < 20; ++n) batch.Add(file_.get(), static_cast<std::uint64_t>(n) * 5000, 40'000);
    const auto queue = NewQueue(32);
    ASSERT_TRUE(queue->Submit(batch.pointers()).ok());
  }
}

// Each thread has its own queue over the same file. Then one thread submits to a queue and another waits on it.
TEST_P(ReadQueueTest, QueuesOfSeveralThreadsAreIndependent) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      Prng prng(t);
      const auto queue = NewQueue(8);
      for (int round = 0; round < 20; ++round) {
        Batch batch;
        for (int n = 0; n < 20; ++n) batch.Add(file_.get(), prng.Uniform(content_.size()), 1 + prng.Skewed(14));
        std::vector<ReadRequest*> done;
        ASSERT_TRUE(queue->Submit(batch.pointers()).ok());
        while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
        batch.ExpectAll(done, content_);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  const auto queue = NewQueue(8);
  Batch batch;
  for (std::uint64_t n = 0; n < 20; ++n) batch.Add(file_.get(), n * 1000, 3000);
  std::thread([&] { ASSERT_TRUE(queue->Submit(batch.pointers()).ok()); }).join();
  std::thread([&] {
    std::vector<ReadRequest*> done;
    while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
    batch.ExpectAll(done, content_);
  }).join();
}

// Without a descriptor for a ring, threads serve the queue (F8).
TEST_P(ReadQueueTest, WithoutDescriptorsThreadsServeTheReads) {
  const auto queue = NewQueue(8);
  Batch batch;
  for (std::uint64_t n = 0; n < 20; ++n) batch.Add(file_.get(), n * 1000, 3000);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit none = {static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status submitted = queue->Submit(batch.pointers());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(submitted.ok());
  std::vector<ReadRequest*> done;
  while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
  batch.ExpectAll(done, content_);
  EXPECT_EQ(queue->IsSpent(), GetParam()) << "a new queue may have a ring";
}

// Refuses the n-th allocation of Submit and Wait, for every n, and then all from the n-th on. (Regression: Wait or the
// destructor waited for ever for a request that was counted but never submitted.)
TEST_P(ReadQueueTest, WithoutMemoryEachReadIsDeliveredOnceOrRefused) {
  if (!testing::kMemoryCanBeScarce) GTEST_SKIP() << testing::kMemoryIsAmple;
  const ForeignFile foreign(std::string(500, 'f'));
  for (const std::uint64_t count : {std::uint64_t{1}, UINT64_MAX}) {
    for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
      SCOPED_TRACE("allocation " + std::to_string(n));
      if (n % 2 == 0) DropFromCache();
      Batch batch;
      for (std::uint64_t i = 0; i < 20; ++i) {
        if (i % 5 == 4) {
          batch.Add(&foreign, i, 100);
        } else {
          batch.Add(file_.get(), i * 10'000, 3000);
        }
      }
      const auto queue = NewQueue(8);
      std::vector<ReadRequest*> done;
      bool is_submitted = false;
      {
        testing::ScarceMemory scarce(n, count);
        try {
          is_submitted = queue->Submit(batch.pointers()).ok();
          while (queue->in_flight() > 0) static_cast<void>(queue->Wait(&done));
        } catch (const std::bad_alloc&) {
        }
        met = scarce.End();
      }
      if (n % 3 == 2) continue;  // leaves the waiting to the destructor
      while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
      ASSERT_EQ(done.size(), is_submitted ? batch.size() : 0u);
      std::sort(done.begin(), done.end());
      ASSERT_EQ(std::unique(done.begin(), done.end()), done.end());
      for (const ReadRequest* const request : done) {
        if (request->file == &foreign) continue;
        ASSERT_TRUE(request->status.ok()) << request->status.ToString();
        ASSERT_EQ(Slice(request->out, request->read), Slice(content_.data() + request->offset, request->size));
      }
    }
  }
}

// A file whose reads run out of memory, in every thread.
class ExhaustedFile final : public testing::PartialFile {
 public:
  ExhaustedFile() : PartialFile("exhausted") {}
  Status Read(std::uint64_t, std::size_t, char*, std::size_t*) const override { throw std::bad_alloc(); }
};

TEST_P(ReadQueueTest, OutOfMemoryInReadFailsOnlyItsRequest) {
  const ExhaustedFile exhausted;
  const auto queue = NewQueue(4);
  char out[8] = {};
  ReadRequest bad = Request(&exhausted, 0, 8, out);
  Batch own;
  for (int i = 0; i < 5; ++i) own.Add(file_.get(), 1000, 500);
  std::vector<ReadRequest*> all(own.pointers().begin(), own.pointers().end());
  all.insert(all.begin() + 2, &bad);
  std::vector<ReadRequest*> done;
  ASSERT_TRUE(queue->Submit(all).ok());
  while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
  EXPECT_TRUE(bad.status.IsAborted()) << bad.status.ToString();
  EXPECT_EQ(bad.read, 0u);
  std::erase(done, &bad);
  own.ExpectAll(done, content_);
}

// Waits with a timeout of 0, or a short one, deliver each request once.
TEST_P(ReadQueueTest, BoundedWaitsDeliverEachRequestOnce) {
  const ForeignFile foreign(content_);
  for (const std::uint64_t micros : {0u, 1u, 100u, 60'000'000u}) {
    DropFromCache();
    const auto queue = NewQueue(8);
    std::vector<ReadRequest*> done;
    ASSERT_TRUE(queue->WaitFor(micros, &done).ok());
    EXPECT_TRUE(done.empty()) << "none is in flight";
    Batch batch;
    for (std::uint64_t i = 0; i < 40; ++i) batch.Add(file_.get(), i * 7'000, 1'000 + i);
    for (std::uint64_t i = 0; i < 5; ++i) batch.Add(&foreign, i * 100, 50);
    ASSERT_TRUE(queue->Submit(batch.pointers()).ok());
    while (done.size() < batch.size()) ASSERT_TRUE(queue->WaitFor(micros, &done).ok());
    batch.ExpectAll(done, content_);
    EXPECT_EQ(queue->in_flight(), 0u);
  }
}

// A file whose reads wait until the test opens it.
class ClosedFile final : public testing::PartialFile {
 public:
  ClosedFile() : PartialFile("closed") {}
  Status Read(std::uint64_t, std::size_t, char*, std::size_t* read) const override {
    is_open_.wait(false);
    *read = 0;
    return Status::OK();
  }
  void Open() {
    is_open_.store(true);
    is_open_.notify_all();
  }

 private:
  std::atomic<bool> is_open_{false};
};

// A bounded wait ends even if no request has finished. The longest bound must not be taken for one that has passed.
TEST(ThreadReadQueueTest, BoundedWaitEndsWithoutRequests) {
  ClosedFile file;
  char byte = 0;
  ReadRequest request = Request(&file, 0, 1, &byte);
  ReadRequest* const pointer = &request;
  const auto queue = NewThreadReadQueue(4);
  std::vector<ReadRequest*> done;
  ASSERT_TRUE(queue->Submit({&pointer, 1}).ok());
  ASSERT_TRUE(queue->WaitFor(0, &done).ok());
  ASSERT_TRUE(queue->WaitFor(1000, &done).ok());
  EXPECT_TRUE(done.empty());
  EXPECT_EQ(queue->in_flight(), 1u);
  std::thread opener([&file] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // waits that end at once would end many times
    file.Open();
  });
  int waits = 0;
  for (; done.empty(); ++waits) ASSERT_TRUE(queue->WaitFor(std::numeric_limits<std::int64_t>::max(), &done).ok());
  opener.join();
  EXPECT_EQ(done.size(), 1u);
  EXPECT_LT(waits, 10);
}

// A loop that sleeps until the descriptor is readable misses no request, with a ring or threads. That includes requests
// that were in flight before SignalTo.
TEST_P(ReadQueueTest, SignalsFinishedRequests) {
  const ForeignFile foreign(content_);
  EventDescriptor event;
  ASSERT_TRUE(event.Make().ok());
  const auto queue = NewQueue(8);
  std::vector<ReadRequest*> done;
  const auto await = [&](std::size_t count) {
    while (done.size() < count) {
      pollfd wait{event.get(), POLLIN, 0};
      ASSERT_EQ(::poll(&wait, 1, 60'000), 1) << done.size() << " of " << count;
      event.Clear();
      ASSERT_TRUE(queue->WaitFor(0, &done).ok());
    }
  };
  DropFromCache();
  Batch batch;
  for (std::uint64_t i = 0; i < 5; ++i) batch.Add(file_.get(), i * 50'000, 1'000);
  ASSERT_TRUE(queue->Submit(batch.pointers()).ok());
  ASSERT_TRUE(queue->SignalTo(event.get()).ok());
  await(5);
  batch.ExpectAll(done, content_);
  for (const File* const file : {static_cast<const File*>(file_.get()), static_cast<const File*>(&foreign)}) {
    for (const bool cached : {true, false}) {
      if (!cached) DropFromCache();
      done.clear();
      Batch more;
      for (std::uint64_t i = 0; i < 20; ++i) more.Add(file, i * 11'000, 2'000);
      ASSERT_TRUE(queue->Submit(more.pointers()).ok());
      await(20);
      more.ExpectAll(done, content_);
    }
  }
}

}  // namespace
}  // namespace cambium
