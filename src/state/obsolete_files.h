// ObsoleteFiles: files that no committed state names, waiting for their last reader, and then for their removal.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cambium/file_system.h"
#include "util/mutex.h"

namespace cambium {

// Any thread. Must outlive every file it tracks.
class ObsoleteFiles {
 public:
  // A file that is on disk although no committed state names it. Bytes.
  struct Leaving {
    std::uint64_t bytes = 0;
    bool is_log = false;  // else of the index
  };

  // `on_ready` is called, outside any lock of this class, whenever a file waits for removal. May run in a reader's
  // thread, so it must do no more than schedule.
  explicit ObsoleteFiles(std::function<void()> on_ready) : on_ready_(std::move(on_ready)) {}

  // An index file as views hold it. When the last holder lets go the file is closed, and if it was made obsolete
  // before, queued for removal. A file that was just made is obsolete until Keep: if what was to name it fails, it goes.
  std::shared_ptr<File> Track(std::uint64_t number, std::unique_ptr<File> file, bool is_named) {
    auto tracked = std::make_shared<Tracked>(this, number, std::move(file));
    tracked->obsolete.store(!is_named, std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    tracked_[number] = tracked;
    return {tracked, tracked->file.get()};
  }
  // A record that names the file is about to be written.
  void Keep(std::uint64_t number) {
    std::shared_ptr<Tracked> tracked;  // let go of outside the lock: its destructor may take it
    const MutexLock lock(mutex_);
    const auto found = tracked_.find(number);
    if (found != tracked_.end()) tracked = found->second.lock();
    if (tracked != nullptr) tracked->obsolete.store(false, std::memory_order_release);
  }
  // The record that drops the file is durable.
  void MakeObsolete(std::uint64_t number) {
    std::shared_ptr<Tracked> tracked;  // let go of outside the lock: its destructor may take it
    {
      const MutexLock lock(mutex_);
      const auto found = tracked_.find(number);
      if (found == tracked_.end()) return;
      tracked = found->second.lock();
      tracked_.erase(found);
    }
    if (tracked == nullptr) return;
    FileInfo info;
    if (tracked->file->GetInfo(&info).ok()) Leaves(tracked->file->path(), {info.size, false});
    tracked->obsolete.store(true, std::memory_order_release);
  }

  // What only its readers keep is on disk until Gone. Where there is no memory to remember that, it is not counted.
  void Leaves(const std::string& path, Leaving file) noexcept {
    try {
      const MutexLock lock(mutex_);
      Leaving& known = leaving_[path];
      leaving_bytes_ += file.bytes - known.bytes;
      known = file;
    } catch (const std::bad_alloc&) {
    }
  }
  void Gone(const std::string& path) {
    const MutexLock lock(mutex_);
    const auto found = leaving_.find(path);
    if (found == leaving_.end()) return;
    leaving_bytes_ -= found->second.bytes;
    leaving_.erase(found);
  }
  [[nodiscard]] std::uint64_t leaving_bytes() const {
    const MutexLock lock(mutex_);
    return leaving_bytes_;
  }
  // Whether leaving_bytes() is the sum of leaving(); for tests.
  [[nodiscard]] bool AddsUp() const {
    const MutexLock lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [path, file] : leaving_) sum += file.bytes;
    return sum == leaving_bytes_;
  }
  // By path.
  [[nodiscard]] std::map<std::string, Leaving> leaving() const {
    const MutexLock lock(mutex_);
    return leaving_;
  }

  // Queues a path for removal: nobody reads it.
  void Add(const std::string& path) {
    {
      const MutexLock lock(mutex_);
      ready_.push_back(path);
    }
    on_ready_();
  }
  // It could not be removed: the next Take has it again.
  void PutBack(const std::string& path) {
    const MutexLock lock(mutex_);
    ready_.push_back(path);
  }
  [[nodiscard]] bool HasReady() const {
    const MutexLock lock(mutex_);
    return !ready_.empty();
  }
  [[nodiscard]] std::vector<std::string> Take() {
    const MutexLock lock(mutex_);
    return std::exchange(ready_, {});
  }

 private:
  struct Tracked {
    Tracked(ObsoleteFiles* o, std::uint64_t n, std::unique_ptr<File> f) : owner(o), number(n), file(std::move(f)) {}
    ~Tracked() {
      if (!obsolete.load(std::memory_order_acquire)) return;
      try {
        const std::string path = file->path();
        file.reset();
        owner->Forget(number);
        owner->Add(path);
      } catch (const std::bad_alloc&) {  // an orphan, which the next opening removes
      }
    }
    ObsoleteFiles* owner;
    const std::uint64_t number;
    std::unique_ptr<File> file;
    std::atomic<bool> obsolete{false};
  };

  void Forget(std::uint64_t number) {
    const MutexLock lock(mutex_);
    tracked_.erase(number);
  }

  const std::function<void()> on_ready_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Tracked>> tracked_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<std::string> ready_ CAMBIUM_GUARDED_BY(mutex_);
  std::map<std::string, Leaving> leaving_ CAMBIUM_GUARDED_BY(mutex_);  // by path
  std::uint64_t leaving_bytes_ CAMBIUM_GUARDED_BY(mutex_) = 0;         // their sum
};

}  // namespace cambium
