// SnapshotList: the snapshots that are not released. Close fails while there are any; properties report them.
#pragma once

#include <cassert>
#include <iterator>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cambium/snapshot.h"
#include "state/view.h"
#include "util/mutant.h"
#include "util/mutex.h"

namespace cambium {

// The state of a snapshot.
class SnapshotImpl final {
 public:
  SnapshotImpl(SequenceNumber sequence, std::shared_ptr<const View> view)
      : sequence_(sequence), view_(std::move(view)) {}
  [[nodiscard]] SequenceNumber GetSequenceNumber() const { return sequence_; }

  [[nodiscard]] std::shared_ptr<const View> view() const {
    const MutexLock lock(mutex_);
    return view_;
  }
  // Replaces the view by one that shows the same data at this sequence number.
  void set_view(std::shared_ptr<const View> view) {
    assert(view != nullptr);
    const MutexLock lock(mutex_);
    view_.swap(view);
  }

 private:
  const SequenceNumber sequence_;
  mutable Mutex mutex_;
  std::shared_ptr<const View> view_ CAMBIUM_GUARDED_BY(mutex_);
};

class SnapshotList;

// The object that a user gets for a snapshot. Its list frees it when the database is destroyed, not when it is
// released: so a read at a recently released snapshot returns an error, and none reads freed memory.
class SnapshotHandle final : public Snapshot {
 public:
  explicit SnapshotHandle(const SnapshotList* list) : list_(list) {}
  ~SnapshotHandle() override = default;
  SnapshotHandle(const SnapshotHandle&) = delete;
  SnapshotHandle& operator=(const SnapshotHandle&) = delete;

  // 0 for a released snapshot.
  [[nodiscard]] SequenceNumber GetSequenceNumber() const override {
    const MutexLock lock(mutex_);
    return state_ == nullptr ? 0 : state_->GetSequenceNumber();
  }
  // Null if the snapshot is released.
  [[nodiscard]] std::shared_ptr<SnapshotImpl> state() const {
    const MutexLock lock(mutex_);
    return state_;
  }
  // Replaces the state and returns the one before.
  [[nodiscard]] std::shared_ptr<SnapshotImpl> set_state(std::shared_ptr<SnapshotImpl> state) {
    const MutexLock lock(mutex_);
    return std::exchange(state_, std::move(state));
  }
  [[nodiscard]] const SnapshotList* list() const { return list_; }

 private:
  const SnapshotList* const list_;
  mutable Mutex mutex_;
  std::shared_ptr<SnapshotImpl> state_ CAMBIUM_GUARDED_BY(mutex_);  // null: released
};

// Any thread.
class SnapshotList {
 public:
  const Snapshot* Add(SequenceNumber sequence, std::shared_ptr<const View> view) {
    auto state = std::make_shared<SnapshotImpl>(sequence, std::move(view));
    std::shared_ptr<SnapshotImpl> spare;  // released after the lock: it may hold the last reference to its view
    const MutexLock lock(mutex_);
    // The later a handle is used again, the more wrong uses of its released snapshot are detected.
    if (released_.size() <= kReleasedMin) released_.emplace_front(this);
    const auto handle = released_.begin();
    live_by_address_.emplace(&*handle, handle);
    // Only snapshots that other threads take at the same time can be newer.
    auto newer = live_.end();
    while (newer != live_.begin() && std::prev(newer)->GetSequenceNumber() > sequence) --newer;
    if (newer != live_.begin()) spare = ShareState(*std::prev(newer), &state);
    live_.splice(newer, released_, handle);
    assert(handle->state() == nullptr && "only a released handle is used again");
    static_cast<void>(handle->set_state(std::move(state)));
    assert(live_by_address_.size() == live_.size());
    return &*handle;
  }
  // Does nothing if the snapshot is not of this list, or released already.
  void Release(const Snapshot* snapshot) {
    std::shared_ptr<SnapshotImpl> gone;  // released after the lock: it may hold the last reference to its view
    {
      const MutexLock lock(mutex_);
      const auto found = live_by_address_.find(snapshot);
      if (found == live_by_address_.end()) return;
      gone = found->second->set_state(nullptr);
      assert(gone != nullptr && "a live handle has a state");
      released_.splice(released_.end(), live_, found->second);
      live_by_address_.erase(found);
      assert(live_by_address_.size() == live_.size());
    }
  }
  // The state of a snapshot; null if the snapshot is released, or of another list, which must exist.
  [[nodiscard]] std::shared_ptr<SnapshotImpl> Find(const Snapshot* snapshot) const {
    const auto* const handle = static_cast<const SnapshotHandle*>(snapshot);
    return handle->list() == this || MutantIs(Mutant::kForeignSnapshotsAccepted) ? handle->state() : nullptr;
  }
  // The states of all snapshots, ordered by sequence number. A state that snapshots share is there once.
  [[nodiscard]] std::vector<std::shared_ptr<SnapshotImpl>> All() const {
    std::vector<std::shared_ptr<SnapshotImpl>> all;
    const MutexLock lock(mutex_);
    for (const SnapshotHandle& handle : live_) {
      std::shared_ptr<SnapshotImpl> state = handle.state();
      if (all.empty() || all.back() != state) all.push_back(std::move(state));
    }
    return all;
  }
  [[nodiscard]] std::size_t size() const {
    const MutexLock lock(mutex_);
    return live_.size();
  }
  // The sequence number of the oldest snapshot; 0 without snapshots.
  [[nodiscard]] SequenceNumber oldest() const {
    const MutexLock lock(mutex_);
    return live_.empty() ? 0 : live_.front().GetSequenceNumber();
  }

 private:
  using Handles = std::list<SnapshotHandle>;
  static constexpr std::size_t kReleasedMin = 64;  // handles that wait before one is used again

  // Snapshots of one moment share one state: what they see is written to private runs once for all of them. Returns the
  // state that is not needed, or null.
  static std::shared_ptr<SnapshotImpl> ShareState(const SnapshotHandle& before, std::shared_ptr<SnapshotImpl>* state) {
    std::shared_ptr<SnapshotImpl> its = before.state();
    const bool is_same = its->GetSequenceNumber() == (*state)->GetSequenceNumber() && its->view() == (*state)->view();
    if (!is_same || MutantIs(Mutant::kSnapshotsShareNoState)) return nullptr;
    return std::exchange(*state, std::move(its));
  }

  mutable Mutex mutex_;  // taken before the mutexes of a handle and of its state
  Handles live_ CAMBIUM_GUARDED_BY(mutex_);      // by sequence number
  Handles released_ CAMBIUM_GUARDED_BY(mutex_);  // the one released first is in front
  std::unordered_map<const Snapshot*, Handles::iterator> live_by_address_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
