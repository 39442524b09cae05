// The io_uring queue with a kernel that refuses, interrupts and cuts short. This program overrides the two functions of
// liburing through which all requests pass. They call the real ones, or fail, as the seed decides.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <liburing.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "io/uring_read_queue.h"
#include "testing/files/io_uring_here.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace {

struct Faults {
  cambium::Prng prng{0};
  bool on = false;
  bool refuse_for_ever = false;
  int refused = 0;
  int cut = 0;
  int interrupted = 0;
};
Faults faults;

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// Changes completions that have arrived: some become errors, some become shorter.
void Damage(io_uring* ring) {
  unsigned head;
  io_uring_cqe* arrived;
  io_uring_for_each_cqe(ring, head, arrived) {
    if (faults.prng.OneIn(4)) {
      ++faults.interrupted;
      arrived->res = faults.prng.OneIn(2) ? -EAGAIN : -EINTR;
    } else if (arrived->res > 1 && faults.prng.OneIn(2)) {
      ++faults.cut;
      arrived->res = static_cast<int>(1 + faults.prng.Uniform(static_cast<std::uint64_t>(arrived->res) - 1));
    }
  }
}

}  // namespace

extern "C" int io_uring_submit(io_uring* ring) {
  static const auto real = Next<int (*)(io_uring*)>("io_uring_submit");
  if (faults.refuse_for_ever) return ++faults.refused, -EINVAL;
  if (faults.on && faults.prng.OneIn(3)) {
    ++faults.refused;
    constexpr int kErrors[] = {-EINTR, -EAGAIN, -EBUSY};
    return kErrors[faults.prng.Uniform(3)];
  }
  const int taken = real(ring);
  if (faults.on) Damage(ring);  // reads of cached pages are done by now
  return taken;
}

// Every wait for a completion that has not arrived yet calls this function.
extern "C" int __io_uring_get_cqe(io_uring* ring, io_uring_cqe** cqe, unsigned submit, unsigned wait, sigset_t* mask) {
  using Function = int (*)(io_uring*, io_uring_cqe**, unsigned, unsigned, sigset_t*);
  static const auto real = Next<Function>("__io_uring_get_cqe");
  if (faults.on && faults.prng.OneIn(5)) return -EINTR;
  const int result = real(ring, cqe, submit, wait, mask);
  if (faults.on && result == 0) Damage(ring);
  return result;
}

namespace cambium {
namespace {

class UringFaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::KernelRefusesIoUring()) GTEST_SKIP() << testing::kNoIoUring;
    ASSERT_TRUE(IoUringWorks());
    ASSERT_TRUE(FileSystem::Default()->Open(directory_.File("f"), OpenMode::kCreateNew, {}, &file_).ok());
    content_ = Prng(1).Bytes(200'000);
    ASSERT_TRUE(file_->Write(0, content_).ok());
  }
  void TearDown() override { faults = {}; }

  // Reads `n` random ranges through `queue` and compares all bytes.
  void ReadAndCompare(Prng* prng, ReadQueue* queue, std::size_t n) {
    std::vector<std::string> buffers;
    std::vector<ReadRequest> requests(n);
    std::vector<ReadRequest*> pointers;
    for (ReadRequest& request : requests) {
      buffers.emplace_back(prng->Skewed(15), '?');
      request.file = file_.get();
      request.offset = prng->Uniform(content_.size() + 1000);
      request.size = buffers.back().size();
      pointers.push_back(&request);
    }
    for (std::size_t i = 0; i < n; ++i) requests[i].out = buffers[i].data();
    ASSERT_TRUE(queue->Submit(pointers).ok());
    std::vector<ReadRequest*> done;
    while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
    ASSERT_EQ(done.size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const ReadRequest& request = requests[i];
      ASSERT_TRUE(request.status.ok()) << request.status.ToString();
      const std::string expected =
          request.offset < content_.size() ? content_.substr(request.offset, request.size) : std::string();
      ASSERT_EQ(buffers[i].substr(0, request.read), expected);
    }
  }

  testing::TempDirectory directory_;
  std::unique_ptr<File> file_;
  std::string content_;
};

TEST_F(UringFaultTest, ShortInterruptedAndRefusedReadsAreCompleted) {
  const std::uint64_t seed = testing::SeedFromEnvironment(50);
  Prng prng(seed);
  faults.prng = Prng(seed + 1);
  faults.on = true;
  for (const std::size_t depth : {1u, 4u, 32u}) {
    const auto queue = NewUringReadQueue(depth);
    for (int round = 0; round < 20; ++round) ReadAndCompare(&prng, queue.get(), 1 + prng.Uniform(60));
  }
  EXPECT_GT(faults.refused, 50) << "too few faults occurred";
  EXPECT_GT(faults.cut, 50);
  EXPECT_GT(faults.interrupted, 50);
}

TEST_F(UringFaultTest, PlainReadsReplaceARefusingRing) {
  Prng prng(testing::SeedFromEnvironment(51));
  const auto queue = NewUringReadQueue(8);
  ReadAndCompare(&prng, queue.get(), 30);
  EXPECT_EQ(faults.refused, 0);
  faults.refuse_for_ever = true;
  ReadAndCompare(&prng, queue.get(), 30);
  EXPECT_EQ(faults.refused, 1);
  EXPECT_TRUE(queue->IsSpent());
  faults.refuse_for_ever = false;
  ReadAndCompare(&prng, queue.get(), 30);  // entries that the kernel never took must not be submitted
}

// Regression: if the list of finished reads could not grow, a completion was processed but not marked as seen. The
// completion then arrived a second time, its bytes were counted twice, and the rest of the request had a negative size.
TEST_F(UringFaultTest, OutOfMemoryNeverRepeatsACompletion) {
  if (!testing::kMemoryCanBeScarce) GTEST_SKIP() << testing::kMemoryIsAmple;
  constexpr std::size_t kReads = 20;
  constexpr std::size_t kSize = 3000;
  const std::uint64_t seed = testing::SeedFromEnvironment(52);
  for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    faults.prng = Prng(seed + n);
    faults.on = true;
    const auto queue = NewUringReadQueue(8);
    std::vector<std::string> buffers(kReads, std::string(kSize + 100, '#'));
    std::vector<ReadRequest> requests(kReads);
    std::vector<ReadRequest*> pointers;
    for (std::size_t i = 0; i < kReads; ++i) {
      requests[i].file = file_.get();
      requests[i].offset = i * 9000;
      requests[i].size = kSize;
      requests[i].out = buffers[i].data();
      pointers.push_back(&requests[i]);
    }
    std::vector<ReadRequest*> done;
    bool is_submitted = false;
    {
      testing::ScarceMemory scarce(n);
      try {
        is_submitted = queue->Submit(pointers).ok();
        while (queue->in_flight() > 0) static_cast<void>(queue->Wait(&done));
      } catch (const std::bad_alloc&) {
      }
      met = scarce.End();
    }
    while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
    ASSERT_EQ(done.size(), is_submitted ? kReads : 0u);
    std::sort(done.begin(), done.end());
    ASSERT_EQ(std::unique(done.begin(), done.end()), done.end());
    for (std::size_t i = 0; i < kReads; ++i) {
      ASSERT_EQ(buffers[i].substr(kSize), std::string(100, '#')) << "bytes after the request were overwritten";
      ASSERT_TRUE(!is_submitted || buffers[i].substr(0, kSize) == content_.substr(i * 9000, kSize));
    }
  }
}

}  // namespace
}  // namespace cambium
