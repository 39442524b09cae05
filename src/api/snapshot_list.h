// SnapshotList: the snapshots and iterators that live, so that Close can refuse and properties can report.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "api/view.h"
#include "cambium/snapshot.h"

namespace cambium {

class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(SequenceNumber sequence, std::shared_ptr<const View> view)
      : sequence_(sequence), view_(std::move(view)) {}
  [[nodiscard]] SequenceNumber GetSequenceNumber() const override { return sequence_; }

  [[nodiscard]] std::shared_ptr<const View> view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  // Another view that shows the same at this sequence number.
  void set_view(std::shared_ptr<const View> view) {
    const std::lock_guard lock(mutex_);
    view_.swap(view);
  }

 private:
  friend class SnapshotList;
  const SequenceNumber sequence_;
  mutable std::mutex mutex_;
  std::shared_ptr<const View> view_;  // mutex_
  std::list<SnapshotImpl*>::iterator place_;
};

// Any thread.
class SnapshotList {
 public:
  const Snapshot* Add(SequenceNumber sequence, std::shared_ptr<const View> view) {
    auto* snapshot = new SnapshotImpl(sequence, std::move(view));
    const std::lock_guard lock(mutex_);
    snapshot->place_ = live_.insert(live_.end(), snapshot);
    return snapshot;
  }
  void Release(const Snapshot* snapshot) {
    const auto* impl = static_cast<const SnapshotImpl*>(snapshot);
    {
      const std::lock_guard lock(mutex_);
      live_.erase(impl->place_);
    }
    delete impl;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return live_.size();
  }
  // 0 if there is none.
  [[nodiscard]] SequenceNumber oldest() const {
    const std::lock_guard lock(mutex_);
    SequenceNumber oldest = 0;
    for (const SnapshotImpl* s : live_) oldest = oldest == 0 ? s->sequence_ : std::min(oldest, s->sequence_);
    return oldest;
  }

 private:
  mutable std::mutex mutex_;
  std::list<SnapshotImpl*> live_;  // mutex_
};

}  // namespace cambium
