#include "io/posix_transfer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

int Fail(int error) {
  errno = error;
  return -1;
}

// Calls are cut short, interrupted and refused at random. With direct I/O they may begin only at multiples of the
// alignment.
TEST(PosixTransferTest, ReadCompletesDespiteShortAndFailedCalls) {
  Prng prng(testing::SeedFromEnvironment(20));
  for (int round = 0; round < 500; ++round) {
    const std::size_t alignment = prng.OneIn(2) ? 1 : 512;
    const std::string content = prng.Bytes(prng.Skewed(15));
    const std::size_t wanted = prng.Skewed(16) / alignment * alignment;
    std::string out(wanted, '?');
    int refusals = 0;
    const TransferEnd end = ReadToEnd(wanted, alignment, [&](std::size_t from, std::size_t size) -> ssize_t {
      EXPECT_EQ(from % alignment, 0u);
      EXPECT_LE(from + size, wanted);
      if (prng.OneIn(4)) return Fail(EINTR);
      if (refusals < 3 && prng.OneIn(50)) return ++refusals, Fail(EAGAIN);
      if (from >= content.size()) return 0;
      std::size_t n = std::min(size, content.size() - from);
      // A short count of direct I/O is a multiple of the device's blocks, or reaches the end of the file.
      if (prng.OneIn(3) && n > alignment) n = std::max(alignment, prng.Uniform(n) / alignment * alignment);
      std::memcpy(out.data() + from, content.data() + from, n);
      return static_cast<ssize_t>(n);
    });
    ASSERT_EQ(end.error, 0);
    ASSERT_EQ(end.moved, std::min(wanted, content.size()));
    ASSERT_EQ(out.substr(0, end.moved), content.substr(0, end.moved));
  }
}

TEST(PosixTransferTest, WriteCompletesDespiteShortAndFailedCalls) {
  Prng prng(testing::SeedFromEnvironment(21));
  for (int round = 0; round < 500; ++round) {
    const std::size_t alignment = prng.OneIn(2) ? 1 : 512;
    const std::string data = prng.Bytes(prng.Skewed(15) / alignment * alignment);
    std::string file(data.size(), '?');
    bool wrote_nothing = false;
    const TransferEnd end = WriteToEnd(data.size(), alignment, [&](std::size_t from, std::size_t size) -> ssize_t {
      EXPECT_EQ(from % alignment, 0u);
      EXPECT_LE(from + size, data.size());
      if (prng.OneIn(4)) return Fail(EINTR);
      if (!std::exchange(wrote_nothing, !wrote_nothing && prng.OneIn(5)) && wrote_nothing) return 0;
      const std::size_t n = alignment == 1 && prng.OneIn(3) ? 1 + prng.Uniform(size) : size;
      std::memcpy(file.data() + from, data.data() + from, n);
      return static_cast<ssize_t>(n);
    });
    ASSERT_EQ(end.error, 0);
    ASSERT_EQ(end.moved, data.size());
    ASSERT_EQ(file, data);
  }
}

TEST(PosixTransferTest, ShortDirectWriteResumesAtAlignedOffset) {
  std::string begins;
  const TransferEnd end = WriteToEnd(1536, 512, [&](std::size_t from, std::size_t size) -> ssize_t {
    begins += std::to_string(from) + " ";
    return from == 0 ? 700 : static_cast<ssize_t>(size);
  });
  EXPECT_EQ(end.error, 0);
  EXPECT_EQ(end.moved, 1536u);
  EXPECT_EQ(begins, "0 512 ");
}

TEST(PosixTransferTest, UnalignedEndOfFileEndsADirectRead) {
  int calls = 0;
  const TransferEnd end = ReadToEnd(4096, 512, [&](std::size_t from, std::size_t) -> ssize_t {
    ++calls;
    return static_cast<ssize_t>(700 - from);
  });
  EXPECT_EQ(end.moved, 700u);
  EXPECT_EQ(end.error, 0);
  EXPECT_EQ(calls, 2);  // 700 bytes; then a read from offset 512 returns only the last 188 of them, so the file ends
}

TEST(PosixTransferTest, WriteOfZeroBytesIsRetriedOnceThenFails) {
  int calls = 0;
  const TransferEnd end = WriteToEnd(100, 1, [&](std::size_t from, std::size_t) -> ssize_t {
    ++calls;
    return from == 0 ? 40 : 0;
  });
  EXPECT_EQ(end.error, EIO);
  EXPECT_EQ(end.moved, 40u);
  EXPECT_EQ(calls, 3);
}

TEST(PosixTransferTest, ErrorStopsAndReportsProgress) {
  const auto call = [](std::size_t from, std::size_t) -> ssize_t { return from == 0 ? 10 : Fail(ENOSPC); };
  EXPECT_EQ(WriteToEnd(100, 1, call).error, ENOSPC);
  EXPECT_EQ(WriteToEnd(100, 1, call).moved, 10u);
  EXPECT_EQ(ReadToEnd(100, 1, call).error, ENOSPC);
  EXPECT_EQ(ReadToEnd(100, 1, call).moved, 10u);
}

TEST(PosixTransferTest, NoCallIsLargerThanAGibibyte) {
  std::size_t calls = 0;
  const auto call = [&](std::size_t, std::size_t size) {
    ++calls;
    EXPECT_LE(size, kTransferChunkMax);
    return static_cast<long>(size);
  };
  const std::size_t n = 5 * kTransferChunkMax + 7;
  EXPECT_EQ(WriteToEnd(n, 1, call).moved, n);
  EXPECT_EQ(ReadToEnd(n, 1, call).moved, n);
  EXPECT_EQ(calls, 12u);
}

TEST(PosixTransferTest, EmptyTransferMakesNoCall) {
  const auto call = [](std::size_t, std::size_t) -> ssize_t { return Fail(EIO); };
  EXPECT_EQ(ReadToEnd(0, 1, call).error, 0);
  EXPECT_EQ(WriteToEnd(0, 1, call).error, 0);
}

}  // namespace
}  // namespace cambium
