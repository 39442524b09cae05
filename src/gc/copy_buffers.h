// CopyBuffers: memory that values pass through on their way from one segment to another. Tens of megabytes that are given
// back after each step come from the system page by page again, each cleared first: that takes as long as it takes to copy
// them. Who does one step after the other keeps them for the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "util/mutex.h"

namespace cambium {

// Any thread.
class CopyBuffers {
 public:
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;  // at least what was asked for
  };

  // At most so many are kept while nobody uses them, and none has less than `least` bytes: then steps of about that size
  // find room in what others have left. At first none is kept; 0 lets go of those that are there.
  void Keep(std::size_t count, std::size_t least) {
    const MutexLock lock(mutex_);
    kept_max_ = count;
    least_ = count == 0 ? 0 : least;
    idle_.clear();
    idle_.reserve(count);  // to give one back takes no memory
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
    buffer = {};  // before there is another one
    buffer.bytes = std::make_unique_for_overwrite<char[]>(std::max<std::size_t>(size, 1));
    buffer.size = size;
    return buffer;
  }

  void Give(Buffer buffer) {
    const MutexLock lock(mutex_);
    if (idle_.size() < kept_max_) idle_.push_back(std::move(buffer));
  }

 private:
  Mutex mutex_;  // a leaf
  std::size_t kept_max_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::size_t least_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::vector<Buffer> idle_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
