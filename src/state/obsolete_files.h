// ObsoleteFiles: files that no committed state names. Each waits for its last reader, and then for its removal.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cambium/file_system.h"
#include "io/file_block.h"
#include "util/mutant.h"
#include "util/mutex.h"

namespace cambium {

// Any thread. Must outlive every file it tracks.
class ObsoleteFiles {
 public:
  // A file that is still on disk although no committed state names it.
  struct Leaving {
    std::uint64_t bytes = 0;  // on disk
    bool is_log = false;      // a segment of any kind; otherwise a file of an index
  };

  // `on_ready` is called, outside any lock of this class, each time a file can be removed. It may run in a reader's
  // thread, so it must do no more than schedule a job. It throws nothing.
  explicit ObsoleteFiles(std::function<void()> on_ready) : on_ready_(std::move(on_ready)) {}

  // Returns an index file as views hold it. When its last holder releases it, the file is closed, and queued for
  // removal if it is obsolete. `is_named`: a committed state names the file. Otherwise the file is obsolete until Keep,
  // so that it is removed if no commit ever names it.
  std::shared_ptr<File> Track(std::uint64_t number, std::unique_ptr<File> file, bool is_named) {
    assert(file != nullptr);
    auto tracked = std::make_shared<Tracked>(this, number, std::move(file));
    tracked->obsolete.store(!is_named, std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    tracked_[number] = tracked;
    return {tracked, tracked->file.get()};
  }
  // Called before a MANIFEST record that names the file is written: the file is no longer obsolete.
  void Keep(std::uint64_t number) {
    std::shared_ptr<Tracked> tracked;  // released after the lock: its destructor may take the lock
    const MutexLock lock(mutex_);
    const auto found = tracked_.find(number);
    if (found != tracked_.end()) tracked = found->second.lock();
    if (tracked == nullptr || MutantIs(Mutant::kKeptFileStaysObsolete)) return;
    tracked->obsolete.store(false, std::memory_order_release);
  }
  // Called when the MANIFEST record that drops the file is durable.
  void MakeObsolete(std::uint64_t number) noexcept {
    std::shared_ptr<Tracked> tracked;  // released after the lock: its destructor may take the lock
    {
      const MutexLock lock(mutex_);
      const auto found = tracked_.find(number);
      if (found == tracked_.end()) return;
      tracked = found->second.lock();
      if (tracked == nullptr) tracked_.erase(found);
    }
    if (tracked == nullptr) return;
    try {
      FileInfo info;
      if (tracked->file->GetInfo(&info).ok()) Leaves(tracked->file->path(), {InBlocks(info.size), false});
    } catch (...) {  // it is not counted; a file system of the user may throw anything
    }
    tracked->obsolete.store(true, std::memory_order_release);
  }

  // Counts `file`, which only readers keep, as on disk until Gone. If memory runs out, it is not counted.
  void Leaves(const std::string& path, Leaving file) noexcept {
    try {
      const MutexLock lock(mutex_);
      Leaving& known = leaving_[path];
      Count(known, -1);
      known = file;
      Count(known, 1);
    } catch (const std::bad_alloc&) {
    }
  }
  void Gone(const std::string& path) {
    const MutexLock lock(mutex_);
    const auto found = leaving_.find(path);
    if (found == leaving_.end()) return;
    Count(found->second, -1);
    leaving_.erase(found);
  }
  [[nodiscard]] std::uint64_t leaving_bytes() const {
    const MutexLock lock(mutex_);
    return leaving_bytes_;
  }
  // The part of leaving_bytes() that is in segments.
  [[nodiscard]] std::uint64_t leaving_log_bytes() const {
    const MutexLock lock(mutex_);
    return leaving_log_bytes_;
  }
  // Whether the two figures are the sums over leaving(); for tests.
  [[nodiscard]] bool AddsUp() const {
    const MutexLock lock(mutex_);
    std::uint64_t sum = 0;
    std::uint64_t log = 0;
    for (const auto& [path, file] : leaving_) {
      sum += file.bytes;
      log += file.is_log ? file.bytes : 0;
    }
    return sum == leaving_bytes_ && log == leaving_log_bytes_;
  }
  // The files that Leaves counts, by path.
  [[nodiscard]] std::map<std::string, Leaving> leaving() const {
    const MutexLock lock(mutex_);
    return leaving_;
  }

  // Queues files without readers for removal. Holders of files call it in destructors, with a list from their
  // constructors, so nothing is allocated. If no job can be scheduled, a later call schedules it.
  void Add(std::list<std::string> paths) noexcept {
    {
      const MutexLock lock(mutex_);
      ready_.splice(ready_.end(), paths);
    }
    on_ready_();
  }
  // Called if the removal failed: the next Take returns the path again.
  void PutBack(std::list<std::string> paths) noexcept {
    const MutexLock lock(mutex_);
    ready_.splice(ready_.end(), paths);
  }
  [[nodiscard]] bool HasReady() const {
    const MutexLock lock(mutex_);
    return !ready_.empty();
  }
  [[nodiscard]] std::list<std::string> Take() noexcept {
    const MutexLock lock(mutex_);
    return std::exchange(ready_, {});
  }

  // For tests. Whether the index file is removed when its last holder releases it.
  [[nodiscard]] bool IsObsolete(std::uint64_t number) const {
    std::shared_ptr<Tracked> tracked;  // released after the lock: its destructor may take the lock
    const MutexLock lock(mutex_);
    const auto found = tracked_.find(number);
    if (found != tracked_.end()) tracked = found->second.lock();
    return tracked != nullptr && tracked->obsolete.load(std::memory_order_acquire);
  }
  // The paths that Take would return.
  [[nodiscard]] std::list<std::string> ready() const {
    const MutexLock lock(mutex_);
    return ready_;
  }

 private:
  struct Tracked {
    Tracked(ObsoleteFiles* o, std::uint64_t n, std::unique_ptr<File> f)
        : owner(o), number(n), file(std::move(f)), path(1, file->path()) {}
    ~Tracked() {
      if (!obsolete.load(std::memory_order_acquire)) return;
      file.reset();
      owner->Forget(number);
      owner->Add(std::move(path));
    }
    ObsoleteFiles* owner;
    const std::uint64_t number;
    std::unique_ptr<File> file;
    std::list<std::string> path;  // one
    std::atomic<bool> obsolete{false};
  };

  // Adds the file to the figures, or subtracts it: `sign` is 1 or -1.
  void Count(const Leaving& file, int sign) CAMBIUM_REQUIRES(mutex_) {
    assert(sign > 0 || leaving_bytes_ >= file.bytes);
    const std::uint64_t change = sign > 0 ? file.bytes : 0 - file.bytes;
    leaving_bytes_ += change;
    if (file.is_log) leaving_log_bytes_ += change;
  }
  void Forget(std::uint64_t number) {
    const MutexLock lock(mutex_);
    tracked_.erase(number);
  }

  const std::function<void()> on_ready_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Tracked>> tracked_ CAMBIUM_GUARDED_BY(mutex_);
  std::list<std::string> ready_ CAMBIUM_GUARDED_BY(mutex_);
  std::map<std::string, Leaving> leaving_ CAMBIUM_GUARDED_BY(mutex_);  // by path
  std::uint64_t leaving_bytes_ CAMBIUM_GUARDED_BY(mutex_) = 0;         // their sum
  std::uint64_t leaving_log_bytes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
};

}  // namespace cambium
