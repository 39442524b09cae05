// View: everything a read needs, at one moment: memtables, layers, segments. Immutable.
//
// The current view is published by a pointer. A read enters an epoch, loads the pointer, reads, and leaves the epoch.
// It writes no shared cache line. Snapshots and iterators, which live longer than a call, hold the view by reference
// count. Files and memtables are released with the last view that holds them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cambium/listener.h"
#include "cambium/types.h"
#include "index/index.h"
#include "manifest/state.h"
#include "state/family.h"
#include "util/epoch.h"
#include "util/fault_point.h"
#include "util/mutant.h"
#include "util/mutex.h"
#include "util/shared_table.h"
#include "vlog/segment.h"

namespace cambium {

// A memtable that takes no more writes and waits for its flush.
struct FrozenTable {
  std::shared_ptr<const LogTable> table;
  LogPlace end;  // the end of the log when the memtable was frozen; newer memtables have later operations
  FlushReason reason{};
};

struct FamilyView {
  std::shared_ptr<Family> family;
  std::shared_ptr<LogTable> active;  // writers add to it; readers filter by sequence number
  std::vector<FrozenTable> frozen;   // newest first
  std::shared_ptr<const Layers> layers;
};

struct IdOfFamilyView {
  std::uint32_t operator()(const FamilyView& view) const { return view.family->id; }
};

struct View : std::enable_shared_from_this<View> {
  SharedTable<FamilyView, IdOfFamilyView> families;
  SegmentTable segments;

  // Null if no family has this id. Most reads use the default family, which is always the first.
  [[nodiscard]] const FamilyView* Find(std::uint32_t id) const {
    assert((families.empty() || families.front().family->id == 0) && "every database has the default family");
    if (id == 0) return families.empty() ? nullptr : &families.front();
    const auto found = families.find(id);
    return found == families.end() ? nullptr : &*found;
  }
  // For a change. Valid until `families` is changed or copied.
  [[nodiscard]] FamilyView* Mutable(std::uint32_t id) { return families.Mutable(id); }

  // Finds the newest entry of the key in the memtables. False if they have none that `read` can see.
  // *number, unless null, is set as by MemTable::Find.
  [[nodiscard]] static bool FindInMemory(const FamilyView& family, Slice key, SequenceNumber read, Entry* entry,
                                         SequenceNumber* number = nullptr) {
    if (family.active->Find(key, read, entry, number)) return true;
    for (const FrozenTable& frozen : family.frozen) {
      if (frozen.table->Find(key, read, entry, number)) return true;
    }
    return false;
  }
};

// The current view. Any thread.
class ViewHolder {
 public:
  ViewHolder() = default;
  ~ViewHolder() { Install(nullptr); }
  ViewHolder(const ViewHolder&) = delete;
  ViewHolder& operator=(const ViewHolder&) = delete;

  // Valid while the caller is inside an EpochGuard.
  [[nodiscard]] const View* Peek() const { return raw_.load(std::memory_order_seq_cst); }
  // For uses that outlive a ViewLook, such as an iterator or a step of log GC.
  [[nodiscard]] std::shared_ptr<const View> Pin() const {
    const MutexLock lock(mutex_);
    return current_;
  }
  // Replaces the view by a changed copy. The caller may hold locks. EpochCollect() frees the replaced view: each job
  // calls it at its end, and a caller that schedules no job calls it after releasing its locks. If memory runs out, or
  // if `change` throws, the view stays as it is; after `change` nothing can fail.
  void Update(const std::function<void(View*)>& change) {
    const MutexLock lock(mutex_);
    auto next = current_ == nullptr ? std::make_shared<View>() : std::make_shared<View>(*current_);
    std::optional<EpochRetirement> retirement = RetirementOfCurrent();
    change(next.get());
    InstallLocked(std::move(next), &retirement);
  }
  void Install(std::shared_ptr<const View> next) {
    const MutexLock lock(mutex_);
    std::optional<EpochRetirement> retirement = RetirementOfCurrent();
    InstallLocked(std::move(next), &retirement);
  }

 private:
  [[nodiscard]] std::optional<EpochRetirement> RetirementOfCurrent() const CAMBIUM_REQUIRES(mutex_) {
    if (current_ == nullptr || MutantIs(Mutant::kViewRetiredTooLate)) return std::nullopt;
    return EpochRetirement([keep = current_]() mutable { keep.reset(); });
  }
  void InstallLocked(std::shared_ptr<const View> next, std::optional<EpochRetirement>* retirement)
      CAMBIUM_REQUIRES(mutex_) {
    // The retirement must hold the last reference to the old view. If this thread kept another one, EpochCollect in
    // another thread might leave it to this one to free the view, under locks.
    std::shared_ptr<const View> unretired = retirement->has_value() ? nullptr : current_;  // only in the mutant
    current_ = std::move(next);
    raw_.store(current_.get(), std::memory_order_seq_cst);
    if (retirement->has_value()) return (*retirement)->Retire();
    if (unretired != nullptr) EpochRetire([keep = std::move(unretired)]() mutable { keep.reset(); });
  }

  mutable Mutex mutex_;
  std::shared_ptr<const View> current_ CAMBIUM_GUARDED_BY(mutex_);
  std::atomic<const View*> raw_{nullptr};
};

// The current view, for a caller that is done with it soon. Pin would keep flushed memtables alive: a writer that waits
// for memory would count them as held by readers, and exceed the limit. That writer calls EpochDrain, which waits until
// every ViewLook has ended. So code inside a ViewLook must never wait for a write (deadlock). Lives on the stack of one
// thread.
class ViewLook {
 public:
  explicit ViewLook(const ViewHolder& holder) : pinned_(PinnedByMutant(holder)) {
    if (pinned_ == nullptr) inside_.emplace();
    view_ = pinned_ == nullptr ? holder.Peek() : pinned_.get();
    CAMBIUM_FAULT_POINT("ViewLook:begun");
  }
  ViewLook(const ViewLook&) = delete;
  ViewLook& operator=(const ViewLook&) = delete;

  [[nodiscard]] const View* get() const { return view_; }  // null before Open has installed a view, and after Close
  const View* operator->() const { return view_; }
  const View& operator*() const { return *view_; }

 private:
  // Null, except in a mutant.
  static std::shared_ptr<const View> PinnedByMutant(const ViewHolder& holder) {
    return MutantIs(Mutant::kLooksPinViews) ? holder.Pin() : nullptr;
  }

  std::optional<EpochGuard> inside_;
  std::shared_ptr<const View> pinned_;  // only in a mutant
  const View* view_ = nullptr;
};

}  // namespace cambium
