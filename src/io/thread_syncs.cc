#include "io/thread_syncs.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "util/background_thread.h"
#include "util/mutex.h"

namespace cambium {
namespace {

// Shared by the threads of one call.
class SharedSyncs {
 public:
  SharedSyncs(std::span<File* const> files, std::span<Status> results) : files_(files), results_(results) {
    std::ranges::fill(results, Status::Aborted("not synced"));
  }

  // Syncs the next file until none is left, or until a sync has thrown.
  void Run() noexcept {
    try {
      for (std::size_t i = next_.fetch_add(1); i < files_.size(); i = next_.fetch_add(1)) {
        results_[i] = files_[i]->SyncData();
      }
    } catch (...) {
      next_.store(files_.size());
      const MutexLock lock(mutex_);
      thrown_ = std::current_exception();
    }
  }

  // Once all threads have ended.
  void Rethrow() {
    const MutexLock lock(mutex_);
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }

 private:
  const std::span<File* const> files_;
  const std::span<Status> results_;  // each element is written by one thread
  std::atomic<std::size_t> next_{0};
  Mutex mutex_;
  std::exception_ptr thrown_ CAMBIUM_GUARDED_BY(mutex_);
};

// Starts up to `most` threads; fewer if memory or threads run out.
class Helpers {
 public:
  Helpers(SharedSyncs* syncs, std::size_t most) {
    try {
      threads_.reserve(most);
      while (threads_.size() < most) {
        std::thread thread = StartBackgroundThread("cambium-sync", [syncs] { syncs->Run(); });
        if (!thread.joinable()) return;
        threads_.push_back(std::move(thread));
      }
    } catch (const std::bad_alloc&) {  // the caller's thread does what is left
    }
  }
  ~Helpers() {
    for (std::thread& thread : threads_) thread.join();
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

void SyncInThreads(std::span<File* const> files, std::span<Status> results) {
  if (files.empty()) return;
  SharedSyncs syncs(files, results);
  {
    const Helpers helpers(&syncs, std::min(files.size(), kSyncThreadsMax) - 1);
    syncs.Run();
  }
  syncs.Rethrow();
}

}  // namespace cambium
