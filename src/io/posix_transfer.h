// Completes reads and writes that the system does in parts: after signals, after short counts, and if they are larger
// than the kernel takes in one call. Independent of any file, so that a test can simulate the kernel.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <thread>

namespace cambium {

struct TransferEnd {
  std::size_t moved = 0;  // bytes from the start that were certainly transferred
  int error = 0;          // the errno that stopped the transfer, or 0
};

// The kernel moves at most 2 GiB - 4 KiB in one call. This is well below that, and a multiple of every alignment.
inline constexpr std::size_t kTransferChunkMax = std::size_t{1} << 30;

namespace transfer_internal {

// Decides which errors to retry. EINTR always. EAGAIN should not occur on a regular file, but some network and FUSE
// file systems return it while they lack resources; they get one second in total.
class Patience {
 public:
  bool Covers(int error) {
    if (error == EINTR) return true;
    if (error != EAGAIN || ++waits_ > 1000) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }

 private:
  int waits_ = 0;
};

}  // namespace transfer_internal

// In both functions below, call(from, size) moves up to `size` bytes, starting `from` bytes after the start, and
// returns how many, or -1 with errno. With direct I/O a short part may end at an unaligned place; the next part then
// begins at the multiple of `alignment` before it.

// Reads up to n bytes. Returns fewer without an error only at the end of the file: when a call brings nothing new.
template <typename Call>
TransferEnd ReadToEnd(std::size_t n, std::size_t alignment, Call call) {
  transfer_internal::Patience patience;
  TransferEnd end;
  while (end.moved < n) {
    const std::size_t from = end.moved - end.moved % alignment;
    const auto got = call(from, std::min(n - from, kTransferChunkMax));
    if (got < 0) {
      if (patience.Covers(errno)) continue;
      end.error = errno;
      break;
    }
    if (from + static_cast<std::size_t>(got) <= end.moved) break;
    end.moved = from + static_cast<std::size_t>(got);
  }
  return end;
}

// Writes all n bytes, or returns an error. After a call that writes nothing it tries once more, then gives up with EIO:
// a device that returns 0 for ever would otherwise cause an endless loop.
template <typename Call>
TransferEnd WriteToEnd(std::size_t n, std::size_t alignment, Call call) {
  transfer_internal::Patience patience;
  TransferEnd end;
  bool stuck = false;
  while (end.moved < n) {
    const std::size_t from = end.moved - end.moved % alignment;
    const auto put = call(from, std::min(n - from, kTransferChunkMax));
    if (put < 0) {
      if (patience.Covers(errno)) continue;
      end.error = errno;
      break;
    }
    if (from + static_cast<std::size_t>(put) > end.moved) {
      end.moved = from + static_cast<std::size_t>(put);
      stuck = false;
    } else if (stuck) {
      end.error = EIO;
      break;
    } else {
      stuck = true;
    }
  }
  return end;
}

}  // namespace cambium
