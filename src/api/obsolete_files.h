// ObsoleteFiles: files that no committed state names, waiting for their last reader, and then for their removal.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cambium/file_system.h"

namespace cambium {

// Any thread. Must outlive every file it tracks.
class ObsoleteFiles {
 public:
  // `on_ready` is called, outside any lock of this class, whenever a file waits for removal. May run in a reader's
  // thread, so it must do no more than schedule.
  explicit ObsoleteFiles(std::function<void()> on_ready) : on_ready_(std::move(on_ready)) {}

  // An index file as views hold it. When the last holder lets go the file is closed, and if it was made obsolete
  // before, queued for removal.
  std::shared_ptr<File> Track(std::uint64_t number, std::unique_ptr<File> file) {
    auto tracked = std::make_shared<Tracked>(this, std::move(file));
    const std::lock_guard lock(mutex_);
    tracked_[number] = tracked;
    return {tracked, tracked->file.get()};
  }
  // The record that drops the file is durable.
  void MakeObsolete(std::uint64_t number) {
    std::shared_ptr<Tracked> tracked;  // let go of outside the lock: its destructor may take it
    {
      const std::lock_guard lock(mutex_);
      const auto found = tracked_.find(number);
      if (found == tracked_.end()) return;
      tracked = found->second.lock();
      tracked_.erase(found);
    }
    if (tracked != nullptr) tracked->obsolete.store(true, std::memory_order_release);
  }

  // Queues a path for removal: nobody reads it.
  void Add(const std::string& path) {
    {
      const std::lock_guard lock(mutex_);
      ready_.push_back(path);
    }
    on_ready_();
  }
  [[nodiscard]] std::vector<std::string> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ready_, {});
  }

 private:
  struct Tracked {
    Tracked(ObsoleteFiles* o, std::unique_ptr<File> f) : owner(o), file(std::move(f)) {}
    ~Tracked() {
      const std::string path = file->path();
      file.reset();
      if (obsolete.load(std::memory_order_acquire)) owner->Add(path);
    }
    ObsoleteFiles* owner;
    std::unique_ptr<File> file;
    std::atomic<bool> obsolete{false};
  };

  const std::function<void()> on_ready_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Tracked>> tracked_;  // mutex_
  std::vector<std::string> ready_;                           // mutex_
};

}  // namespace cambium
