// ReadQueues keeps queues of asynchronous reads for reuse, since creating one takes longer than many reads.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "cambium/file_system.h"
#include "util/mutex.h"

namespace cambium {

// Any thread may call. `file_system` must outlive this object and every queue that was taken.
class ReadQueues {
 public:
  // The most reads that one queue has in flight.
  static constexpr std::size_t kDepth = 32;

  explicit ReadQueues(FileSystem* file_system) : file_system_(file_system) {
    for (auto& idle : idle_) idle.reserve(kIdleMax);  // so that Give allocates nothing
  }
  ReadQueues(const ReadQueues&) = delete;
  ReadQueues& operator=(const ReadQueues&) = delete;

  // Returns a queue for the caller's use alone, with nothing in flight.
  [[nodiscard]] std::unique_ptr<ReadQueue> Take(bool use_io_uring) {
    {
      const MutexLock lock(mutex_);
      auto& idle = idle_[use_io_uring ? 1 : 0];
      if (!idle.empty()) {
        std::unique_ptr<ReadQueue> queue = std::move(idle.back());
        idle.pop_back();
        return queue;
      }
    }
    return file_system_->NewReadQueue(kDepth, use_io_uring);
  }
  // Returns a queue for reuse. It must have nothing in flight, and `use_io_uring` must be as for its Take. A spent
  // queue is destroyed instead.
  void Give(std::unique_ptr<ReadQueue> queue, bool use_io_uring) {
    if (queue->IsSpent()) return;
    const MutexLock lock(mutex_);
    auto& idle = idle_[use_io_uring ? 1 : 0];
    if (idle.size() < kIdleMax) idle.push_back(std::move(queue));
  }

 private:
  // Bounds the idle queues: each may hold a ring, which costs a descriptor and some locked memory.
  static constexpr std::size_t kIdleMax = 8;

  FileSystem* const file_system_;
  Mutex mutex_;
  std::vector<std::unique_ptr<ReadQueue>> idle_[2] CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
