// ReadQueues: queues of asynchronous reads that are kept for reuse, since to make one takes longer than many reads.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cambium/file_system.h"

namespace cambium {

// Any thread. `file_system` must outlive it and every queue that was taken.
class ReadQueues {
 public:
  // Reads of one queue that are under way at a time.
  static constexpr std::size_t kDepth = 32;

  explicit ReadQueues(FileSystem* file_system) : file_system_(file_system) {
    for (auto& idle : idle_) idle.reserve(kIdleMax);  // to give one back takes no memory
  }
  ReadQueues(const ReadQueues&) = delete;
  ReadQueues& operator=(const ReadQueues&) = delete;

  // One that nobody else uses, with nothing in flight.
  [[nodiscard]] std::unique_ptr<ReadQueue> Take(bool use_io_uring) {
    {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_[use_io_uring ? 1 : 0];
      if (!idle.empty()) {
        std::unique_ptr<ReadQueue> queue = std::move(idle.back());
        idle.pop_back();
        return queue;
      }
    }
    return file_system_->NewReadQueue(kDepth, use_io_uring);
  }
  // Back, with nothing in flight. The same `use_io_uring` as when it was taken.
  void Give(std::unique_ptr<ReadQueue> queue, bool use_io_uring) {
    if (queue->IsSpent()) return;
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[use_io_uring ? 1 : 0];
    if (idle.size() < kIdleMax) idle.push_back(std::move(queue));
  }

 private:
  // Each may hold a ring, which is a descriptor and some locked memory.
  static constexpr std::size_t kIdleMax = 8;

  FileSystem* const file_system_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ReadQueue>> idle_[2];  // mutex_
};

}  // namespace cambium
