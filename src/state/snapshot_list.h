// SnapshotList: the snapshots that are not released. Close fails while there are any; properties report them.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cambium/snapshot.h"
#include "state/view.h"
#include "util/mutex.h"

namespace cambium {

class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(SequenceNumber sequence, std::shared_ptr<const View> view)
      : sequence_(sequence), view_(std::move(view)) {}
  [[nodiscard]] SequenceNumber GetSequenceNumber() const override { return sequence_; }

  [[nodiscard]] std::shared_ptr<const View> view() const {
    const MutexLock lock(mutex_);
    return view_;
  }
  // Replaces the view by one that shows the same data at this sequence number.
  void set_view(std::shared_ptr<const View> view) {
    const MutexLock lock(mutex_);
    view_.swap(view);
  }

 private:
  const SequenceNumber sequence_;
  mutable Mutex mutex_;
  std::shared_ptr<const View> view_ CAMBIUM_GUARDED_BY(mutex_);
};

// Any thread.
class SnapshotList {
 public:
  const Snapshot* Add(SequenceNumber sequence, std::shared_ptr<const View> view) {
    auto snapshot = std::make_shared<SnapshotImpl>(sequence, std::move(view));
    const MutexLock lock(mutex_);
    return live_.emplace(snapshot.get(), snapshot).first->second.get();
  }
  void Release(const Snapshot* snapshot) {
    std::shared_ptr<SnapshotImpl> gone;  // released after the lock: it may hold the last reference to its view
    {
      const MutexLock lock(mutex_);
      const auto found = live_.find(snapshot);
      if (found == live_.end()) return;
      gone = std::move(found->second);
      live_.erase(found);
    }
  }
  // All snapshots, ordered by sequence number.
  [[nodiscard]] std::vector<std::shared_ptr<SnapshotImpl>> All() const {
    std::vector<std::shared_ptr<SnapshotImpl>> all;
    {
      const MutexLock lock(mutex_);
      for (const auto& [key, snapshot] : live_) all.push_back(snapshot);
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a->GetSequenceNumber() < b->GetSequenceNumber(); });
    return all;
  }
  [[nodiscard]] std::size_t size() const {
    const MutexLock lock(mutex_);
    return live_.size();
  }
  // The sequence number of the oldest snapshot; 0 without snapshots.
  [[nodiscard]] SequenceNumber oldest() const {
    const std::vector<std::shared_ptr<SnapshotImpl>> all = All();
    return all.empty() ? 0 : all.front()->GetSequenceNumber();
  }

 private:
  mutable Mutex mutex_;
  std::unordered_map<const Snapshot*, std::shared_ptr<SnapshotImpl>> live_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
