// How a read or write that the system does in parts is brought to its end (RELIABILITY F3): signals, short counts, and
// calls larger than the kernel takes. Apart from any file, so that a test can play the kernel.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <thread>

namespace cambium {

struct TransferEnd {
  std::size_t moved = 0;  // bytes from the start on that are certain
  int error = 0;          // errno of what stopped it, 0 if nothing did
};

// The kernel moves at most 2 GiB - 4 KiB in one call; this is a multiple of every alignment and well below.
inline constexpr std::size_t kTransferChunkMax = std::size_t{1} << 30;

namespace transfer_internal {

// EINTR is always tried again. EAGAIN has no business on a regular file; some network and FUSE file systems return it
// while they are short of something, so they get a second in all.
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

// call(from, size) moves up to `size` bytes at `from` behind the start and returns how many; -1 and errno if none.
// With direct I/O a part may end where the next must not begin: it begins at the multiple of `alignment` before it.

// Up to n bytes; fewer, without error, only when two calls in a row bring nothing new: the end of the file.
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

// All n bytes, or an error. A call that writes nothing is tried once more, then it is EIO: a loop that waits for a
// full device to say so would never end.
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
