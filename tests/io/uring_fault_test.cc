// The ring with a kernel that refuses, interrupts and cuts short. This program defines the two calls of liburing through
// which everything goes; they stand before the library's own, which they call or not, as the seed says.
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
#include "testing/io_uring_here.h"
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

// Makes worse what has arrived: refused, or shorter than it was.
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
  if (faults.on) Damage(ring);  // what is in the page cache is done by now
  return taken;
}

// Whatever waits for a completion that has not arrived ends up here.
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

  // Reads `n` random ranges through a queue of `depth`, and compares them all.
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

TEST_F(UringFaultTest, ShortInterruptedAndRefusedReadsAreCarriedOn) {
  const std::uint64_t seed = testing::SeedFromEnvironment(50);
  Prng prng(seed);
  faults.prng = Prng(seed + 1);
  faults.on = true;
  for (const std::size_t depth : {1u, 4u, 32u}) {
    const auto queue = NewUringReadQueue(depth);
    for (int round = 0; round < 20; ++round) ReadAndCompare(&prng, queue.get(), 1 + prng.Uniform(60));
  }
  EXPECT_GT(faults.refused, 50) << "the faults must have been there";
  EXPECT_GT(faults.cut, 50);
  EXPECT_GT(faults.interrupted, 50);
}

TEST_F(UringFaultTest, ARingThatTakesNothingAnyMoreIsReplacedByPlainReads) {
  Prng prng(testing::SeedFromEnvironment(51));
  const auto queue = NewUringReadQueue(8);
  ReadAndCompare(&prng, queue.get(), 30);
  EXPECT_EQ(faults.refused, 0);
  faults.refuse_for_ever = true;
  ReadAndCompare(&prng, queue.get(), 30);
  EXPECT_EQ(faults.refused, 1);
  EXPECT_TRUE(queue->IsSpent());
  faults.refuse_for_ever = false;
  ReadAndCompare(&prng, queue.get(), 30);  // entries that the kernel never took must not wake up
}

// A completion that was taken and not marked as seen, since the list of what is done could not grow, came again: its bytes
// were counted twice, and the rest of the request had a size below zero.
TEST_F(UringFaultTest, NoCompletionIsSeenTwiceForWantOfMemory) {
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
    bool is_handed_in = false;
    {
      testing::ScarceMemory scarce(n);
      try {
        is_handed_in = queue->Submit(pointers).ok();
        while (queue->in_flight() > 0) static_cast<void>(queue->Wait(&done));
      } catch (const std::bad_alloc&) {
      }
      met = scarce.End();
    }
    while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
    ASSERT_EQ(done.size(), is_handed_in ? kReads : 0u);
    std::sort(done.begin(), done.end());
    ASSERT_EQ(std::unique(done.begin(), done.end()), done.end());
    for (std::size_t i = 0; i < kReads; ++i) {
      ASSERT_EQ(buffers[i].substr(kSize), std::string(100, '#')) << "nothing is written behind the request";
      ASSERT_TRUE(!is_handed_in || buffers[i].substr(0, kSize) == content_.substr(i * 9000, kSize));
    }
  }
}

}  // namespace
}  // namespace cambium
