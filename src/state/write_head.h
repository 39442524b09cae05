// WriteHead: the end of the log, and what moves with it: the active memtables, sequence numbers, the replay position.
//
//   Append: log ▶ active memtables ▶ published        one writer at a time, under the append lock
//   Freeze: the active memtable becomes a frozen one, in a new view, before any later operation is published
//
// A read sees what was published before it began: CurrentView and PinView pair a view with a sequence number up to
// which the view shows everything.
//
// The append lock is taken after the families lock (Families) and before the commit lock (CommitPoint). Nothing
// waits for background work while it is held.
//
// The code is in write_head.cc; segments.cc makes segments and takes the spare one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "cambium/options.h"
#include "io/new_file_guard.h"
#include "state/commit_point.h"
#include "state/db_context.h"
#include "state/gaps.h"
#include "state/jobs.h"
#include "state/log_table.h"
#include "state/range_watches.h"
#include "state/snapshot_list.h"
#include "state/space_control.h"
#include "state/view.h"
#include "util/mutant.h"
#include "state/lock_roles.h"
#include "util/mutex.h"
#include "util/result.h"
#include "vlog/commit_log.h"
#include "vlog/prepared_batch.h"

namespace cambium {

// One of the families of a batch, and the part of the batch that it gets.
struct WriteTarget {
  Family* family = nullptr;    // kept alive by the caller
  std::size_t operations = 0;  // without range deletes
  std::size_t bytes = 0;       // of keys, inline values and ends of ranges
  std::size_t ranges = 0;      // range deletes
};

// A memtable with this many range deletes is frozen, however small it is: each range delete slows down the memtable's
// lookups and flush.
inline constexpr std::uint64_t kTableRangesMax = 1024;

class WriteHead final : private SegmentSource {
 public:
  // All arguments outlive the write head.
  WriteHead(DbContext* db, Jobs* jobs, CommitPoint* commits, SpaceControl* space, const SnapshotList* snapshots)
      : db_(*db), jobs_(*jobs), commits_(*commits), space_(*space), snapshots_(*snapshots) {}

  // ---- Reading; any thread ----

  // The newest operation that reads see.
  [[nodiscard]] SequenceNumber published() const { return published_.load(std::memory_order_seq_cst); }
  // The view and sequence number of a read that sees everything published before. Valid inside an EpochGuard.
  //
  // Records are published after the view that can show them is installed. So if the view is still the same after the
  // sequence number was read, it shows everything up to that number; otherwise both are read again.
  [[nodiscard]] const View* CurrentView(SequenceNumber* sequence) const {
    const View* view = commits_.view().Peek();
    while (true) {
      *sequence = published_.load(std::memory_order_seq_cst);
      const View* again = commits_.view().Peek();
      if (again == view || MutantIs(Mutant::kSkipViewRecheck)) return view;
      view = again;
    }
  }
  // The same, but the view is held by reference count.
  [[nodiscard]] std::shared_ptr<const View> PinView(SequenceNumber* sequence) const;
  // The same for a read with these options. With a snapshot, view and number are the snapshot's; InvalidArgument if it
  // is released, or of another database. With `durable_only`, the number is at most that of the durable state.
  Result<std::shared_ptr<const View>> PinViewFor(const ReadOptions& options, SequenceNumber* sequence) const;
  // Begins to watch puts for an iterator at `sequence` that passes tombstones (gaps.h). kNever: the iterator does not see
  // the newest put, or the family has a filter. kBusy: a writer has the append lock.
  enum class Watching : std::uint8_t { kBegun, kBusy, kNever };
  [[nodiscard]] Watching TryWatch(const Family& family, SequenceNumber sequence, Gaps::Watch* watch)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("takes the mutex that has the role, if it is free");
  // All bytes that were replayed by Open or appended since: records, and the files of large values that they refer to.
  [[nodiscard]] std::uint64_t logged_bytes() const { return logged_bytes_.load(std::memory_order_relaxed); }

  // ---- Appending ----

  // Takes the memory that the batch needs in the active memtables of its targets. Returns false if the budget refuses
  // it; then memtables that are empty keep nothing of it. The reservation holds until the append lock is released.
  Result<bool> ReserveInBudget(std::span<const WriteTarget> targets, BudgetClaim claim) CAMBIUM_REQUIRES(append_lock);
  // A transaction that commits watches the ranges that it has read: see range_watches.h.
  [[nodiscard]] RangeWatches& range_watches() CAMBIUM_REQUIRES(append_lock) { return range_watches_; }
  // Called if the batch is not written, or not now. Gives back the memory of the targets' memtables that are empty,
  // because no flush could free it. The memory that other memtables have reserved serves their next writes, and is
  // freed with them.
  static void GiveBackReserved(std::span<const WriteTarget> targets) CAMBIUM_REQUIRES(append_lock);

  // Appends the batch, adds it to the active memtables of its targets and publishes it. Takes memory for it, if
  // necessary beyond the budget. *last is its last sequence number. After an error nothing of it is visible.
  Status Append(PreparedBatch* batch, std::span<const WriteTarget> targets, SequenceNumber* last)
      CAMBIUM_REQUIRES(append_lock);
  // True if the family's active memtable is due to be frozen: for its memory, its range deletes, or the log that
  // recovery would have to read because of it.
  [[nodiscard]] bool IsFull(const Family& family) const CAMBIUM_REQUIRES(append_lock);
  // The reason, if IsFull returns true.
  [[nodiscard]] FlushReason ReasonOfFull(const Family& family) const CAMBIUM_REQUIRES(append_lock);
  // True if another memtable may be frozen and wait for its flush.
  [[nodiscard]] static bool MayFreeze(const Family& family) {
    return family.frozen_count.load(std::memory_order_acquire) < family.options().max_write_buffer_number - 1;
  }
  // The active memtable, which is not empty, becomes a frozen one, and its flush is scheduled.
  void Freeze(Family* family, FlushReason reason) CAMBIUM_REQUIRES(append_lock);
  // Freezes memtables that hold back the replay position by more than max_total_wal_size. Does nothing unless a check
  // is due.
  void FreezeOldestIfDue() CAMBIUM_REQUIRES(append_lock);
  void LookForOldestSoon() CAMBIUM_REQUIRES(append_lock) { next_wal_check_ = 0; }
  // Freezes every memtable that is not empty, except in families where a frozen one waits for its flush. With
  // FlushReason::kIdle, freezes in these families too, if MayFreeze. Then starts a new segment if the current one has
  // at least `rotate_from` bytes.
  Status FreezeAll(std::uint64_t rotate_from, FlushReason reason) CAMBIUM_EXCLUDES(append_lock);

  // ---- The log ----

  // Null before Start and after Stop. Appends need the append lock; any thread may sync.
  [[nodiscard]] CommitLog* log() const { return log_.get(); }
  // The place after the last record.
  [[nodiscard]] LogPlace end() const CAMBIUM_REQUIRES(append_lock) {
    return {log_end_, published_.load(std::memory_order_relaxed)};
  }
  // Where recovery could begin: the place before the oldest operation that only a memtable has, or `end` if `end` is
  // earlier. `flushed`: memtables that are being flushed and do not count.
  [[nodiscard]] static LogPlace OldestUnflushed(const View& view, std::span<const LogTable* const> flushed,
                                                const LogPlace& end);
  // Moves the replay position as far as the memtables allow. Syncs the log first.
  Status AdvanceReplay() CAMBIUM_EXCLUDES(append_lock);
  // Creates the segment for the next rotation, unless there is one.
  Status MakeSpare();
  // The MANIFEST's entry for a segment that is sealed at `end`, without a footer.
  [[nodiscard]] SegmentInfo SealedAt(const SegmentEnd& end) const CAMBIUM_REQUIRES(commit_lock);

  // ---- Opening and closing ----

  // Called when recovery has filled the memtables. `last`: the last operation; `end`: the end of the log;
  // `logged_bytes`: the bytes of all replayed records. If recovery flushes memtables before it has replayed the whole
  // log, it calls this before the flush: otherwise operations that are not replayed yet would count as flushed.
  void SetRecovered(SequenceNumber last, const LogPosition& end, std::uint64_t logged_bytes);
  // Starts a log that continues after `predecessor`.
  void Start(const SegmentEnd& predecessor);
  // Releases the log. Called when no other thread uses the database any more.
  void Stop();

 private:
  friend class AppendLock;
  friend class AppendUnlock;
  Result<std::shared_ptr<Segment>> NextSegment(const SegmentEnd* failed) override;
  Result<std::shared_ptr<Segment>> MakeSegment() CAMBIUM_REQUIRES(commit_lock);
  Result<std::shared_ptr<Segment>> NameSegment(const FileHeader& header, Slot slot, std::unique_ptr<File> file,
                                               NewFileGuard* guard)
      CAMBIUM_REQUIRES(commit_lock);
  Status MakeSpareLocked() CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] std::shared_ptr<Segment> TakeSpare() CAMBIUM_EXCLUDES(spare_mutex_);  // null if there is none
  void AddToTables(const PreparedBatch& batch, std::span<const WriteTarget> targets) CAMBIUM_REQUIRES(append_lock);
  void FreezeOldest() CAMBIUM_REQUIRES(append_lock);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  SpaceControl& space_;
  const SnapshotList& snapshots_;

  // Operations up to here are visible. Written under the append lock, after the log and the memtables.
  std::atomic<SequenceNumber> published_{0};
  std::atomic<std::uint64_t> logged_bytes_{0};  // written under the append lock

  mutable Mutex mutex_;
  std::unique_ptr<CommitLog> log_;  // set by Start and Stop, while no other thread uses the database
  LogPosition log_end_ CAMBIUM_GUARDED_BY(append_lock);
  RangeWatches range_watches_ CAMBIUM_GUARDED_BY(append_lock);
  // The value of logged_bytes_ at which to look for the oldest memtable.
  std::uint64_t next_wal_check_ CAMBIUM_GUARDED_BY(append_lock) = 0;

  // The spare segment is made under the commit lock, and taken without it, so that a writer does not wait for the sync
  // of an unrelated commit.
  Mutex spare_mutex_;
  std::shared_ptr<Segment> spare_ CAMBIUM_GUARDED_BY(spare_mutex_);
};

// Holds the append lock for its lifetime.
class CAMBIUM_SCOPED_CAPABILITY AppendLock {
 public:
  explicit AppendLock(const WriteHead& head) CAMBIUM_ACQUIRE(append_lock)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("takes the mutex that has the role")
      : lock_(head.mutex_) {}
  ~AppendLock() CAMBIUM_RELEASE() {}
  AppendLock(const AppendLock&) = delete;
  AppendLock& operator=(const AppendLock&) = delete;

 private:
  const MutexLock lock_;
};

// Releases the append lock, which the caller holds, and takes it again at the end of its lifetime.
class CAMBIUM_SCOPED_CAPABILITY AppendUnlock {
 public:
  explicit AppendUnlock(const WriteHead& head) CAMBIUM_RELEASE(append_lock)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("releases the mutex that has the role")
      : unlock_(head.mutex_) {}
  ~AppendUnlock() CAMBIUM_RELEASE() {}
  AppendUnlock(const AppendUnlock&) = delete;
  AppendUnlock& operator=(const AppendUnlock&) = delete;

 private:
  const MutexUnlock unlock_;
};

}  // namespace cambium
