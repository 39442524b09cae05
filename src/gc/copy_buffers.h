// CopyBuffers: reusable memory for values on their way from one segment to another. If each step freed its tens of
// megabytes, the next step would get them from the kernel page by page, and the kernel clears each page first, which
// takes as long as copying the values. A caller that runs many steps keeps the buffers.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "io/system_allocator.h"
#include "util/mutex.h"

namespace cambium {

// The memory of a buffer goes back to the system. malloc would keep as much as a step copies.
struct FreeCopyBuffer {
  std::size_t size = 0;
  void operator()(char* bytes) const noexcept { FreeLarge(bytes, size, 1); }
};

// Any thread.
class CopyBuffers {
 public:
  struct Buffer {
    std::unique_ptr<char[], FreeCopyBuffer> bytes;
    std::size_t size = 0;  // at least the requested size
  };

  // Keeps up to `count` unused buffers from now on. New buffers have at least `least` bytes, so that steps of about
  // that size can reuse each other's buffers. Frees the buffers kept so far that are too many. Initially none are kept;
  // Keep(0, 0) restores that.
  void Keep(std::size_t count, std::size_t least) {
    const MutexLock lock(mutex_);
    idle_.reserve(count);  // so that Give does not allocate
    kept_max_ = count;
    least_ = count == 0 ? 0 : least;
    while (idle_.size() > count) idle_.pop_back();
  }

  // The bytes of unused buffers that are kept; for tests.
  [[nodiscard]] std::size_t kept_bytes() const {
    const MutexLock lock(mutex_);
    std::size_t bytes = 0;
    for (const Buffer& buffer : idle_) bytes += buffer.size;
    return bytes;
  }

  [[nodiscard]] Buffer Take(std::size_t size) {
    Buffer buffer;
    {
      const MutexLock lock(mutex_);
      size = std::max(size, least_);
      if (!idle_.empty()) {
        buffer = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (buffer.bytes != nullptr && buffer.size >= size) return buffer;
    buffer = {};  // frees the small one before allocating
    size = std::max<std::size_t>(size, 1);
    void* const memory = AllocateLarge(size, 1);
    if (memory == nullptr) throw std::bad_alloc();
    buffer.bytes = std::unique_ptr<char[], FreeCopyBuffer>(static_cast<char*>(memory), FreeCopyBuffer{size});
    buffer.size = size;
    return buffer;
  }

  void Give(Buffer buffer) {
    assert(buffer.bytes != nullptr && buffer.size > 0);
    const MutexLock lock(mutex_);
    if (idle_.size() < kept_max_) idle_.push_back(std::move(buffer));
  }

 private:
  mutable Mutex mutex_;  // a leaf: no other lock is taken under it
  std::size_t kept_max_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::size_t least_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::vector<Buffer> idle_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
