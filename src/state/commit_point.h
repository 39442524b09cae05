// CommitPoint: owns the MANIFEST and the current view. Commit makes an edit durable, and then installs a view that
// shows it to readers. A freeze, Open and Close also replace the view, but need no edit for that.
//
// CommitPoint hands out the file numbers, segment slots and new files that later edits name. It also keeps track of
// files that the committed state no longer names, until they are removed.
//
// One commit at a time, under the commit lock. This lock is taken after the append lock (WriteHead), and before the
// leaf locks. No thread waits for background work while it holds the commit lock.
//
// The code is in commit_point.cc; new_files.cc makes files, drop_files.cc drops them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gc/relocation_writer.h"
#include "index/family_files.h"
#include "manifest/manifest.h"
#include "state/db_context.h"
#include "state/jobs.h"
#include "state/obsolete_files.h"
#include "state/punched_segments.h"
#include "state/table_files.h"
#include "state/view.h"
#include "state/lock_roles.h"
#include "util/mutex.h"
#include "vlog/commit_log.h"

namespace cambium {

// See CommitPoint::TakeSegmentChanges.
struct SegmentChanges {
  bool all = true;                  // any segment may have changed
  std::set<std::uint64_t> numbers;  // unless `all`
};

class CommitPoint {
 public:
  // *db and *jobs outlive the commit point.
  CommitPoint(DbContext* db, Jobs* jobs);
  CommitPoint(const CommitPoint&) = delete;
  CommitPoint& operator=(const CommitPoint&) = delete;

  // ---- What is committed ----

  // The state of the MANIFEST.
  [[nodiscard]] const ManifestState& state() const CAMBIUM_REQUIRES(commit_lock) { return manifest_->state(); }
  // In a database that is open for reading: the state with the end of the log that replay has found. Otherwise state().
  [[nodiscard]] const ManifestState& seen_state() const CAMBIUM_REQUIRES(commit_lock) {
    return seen_ != nullptr ? *seen_ : manifest_->state();
  }
  // The same two for the index of the state.
  [[nodiscard]] const StateIndex& index() const CAMBIUM_REQUIRES(commit_lock) { return manifest_->index(); }
  [[nodiscard]] const StateIndex& seen_index() const CAMBIUM_REQUIRES(commit_lock) {
    return seen_ != nullptr ? seen_index_ : manifest_->index();
  }
  // Makes the edit durable, then applies `change` to a copy of the current view and installs it. After an error nothing
  // is visible, and the edit may or may not be on disk; the next commit that succeeds starts a new MANIFEST without it.
  // A failed sync is fatal. The files that the edit names for the first time belong to this call: if it fails, also by
  // an exception, they are removed, unless the failure is fatal. The caller must then release its locks, and schedule a
  // job or call EpochCollect(): both free the replaced view.
  Status Commit(Edit* edit, const std::function<void(View*)>& change = nullptr) CAMBIUM_REQUIRES(commit_lock);
  // The current view, which a leaf lock of the ViewHolder guards. Any thread.
  [[nodiscard]] ViewHolder& view() { return view_; }
  [[nodiscard]] const ViewHolder& view() const { return view_; }
  // The segments that may have changed since the last call: those that a commit, even a failed one, made, changed or
  // dropped, those whose references it changed, and those that NoteSegmentChange named.
  [[nodiscard]] SegmentChanges TakeSegmentChanges() CAMBIUM_REQUIRES(commit_lock) {
    return std::exchange(segment_changes_, {.all = false, .numbers = {}});
  }
  // Lets TakeSegmentChanges return the segment.
  void NoteSegmentChange(std::uint64_t number) noexcept CAMBIUM_REQUIRES(commit_lock);
  // The layers of the current view; null if the family was dropped.
  [[nodiscard]] std::shared_ptr<const Layers> LayersOf(const Family& family) const;
  static void SetLayers(FamilyView* view, std::shared_ptr<const Layers> layers);
  // The families of the current view.
  [[nodiscard]] std::vector<std::shared_ptr<Family>> Families() const;
  // Null if there is no such family in the current view.
  [[nodiscard]] std::shared_ptr<Family> FindFamily(std::uint32_t id) const;
  // Whether a family with this id exists, or existed before. Takes the commit lock.
  [[nodiscard]] bool HadFamily(std::uint32_t id) const;

  // ---- Opening and closing ----

  void OpenForReading(ManifestState state);
  // Starts a new MANIFEST with this state; later commits append to it.
  Status Create(const FileHeader& header, std::uint64_t number, const ManifestState& state) CAMBIUM_REQUIRES(commit_lock);
  // Each commit records how far *log is durable. *log outlives the last commit.
  void Follow(const CommitLog* log) { log_ = log; }
  // Removes obsolete files, unless there was a fatal error, and closes the MANIFEST. Called when no other thread uses
  // the database any more.
  void Close() CAMBIUM_EXCLUDES(commit_lock);
  [[nodiscard]] std::uint64_t manifest_number() const CAMBIUM_REQUIRES(commit_lock) { return manifest_->number(); }
  [[nodiscard]] std::uint64_t manifest_bytes() const CAMBIUM_REQUIRES(commit_lock) { return manifest_->file_size(); }
  // The next commit starts a new MANIFEST if the current one has at least `bytes` bytes.
  void RollSoon(std::uint64_t bytes) CAMBIUM_EXCLUDES(commit_lock);
  // Records that a commit has found no space, or a flush or compaction that a job did for another family.
  void NoteNoSpace() { found_no_space_.store(true, std::memory_order_relaxed); }
  // True if NoteNoSpace was called since the last call.
  [[nodiscard]] bool TakeNoSpace() { return found_no_space_.exchange(false, std::memory_order_relaxed); }

  // ---- New files ----

  [[nodiscard]] std::uint64_t NewFileNumber() CAMBIUM_EXCLUDES(commit_lock);
  [[nodiscard]] std::uint64_t NewFileNumberLocked() CAMBIUM_REQUIRES(commit_lock) { return next_file_number_++; }
  [[nodiscard]] std::uint64_t next_file_number() const CAMBIUM_REQUIRES(commit_lock) { return next_file_number_; }
  void SetNextFileNumber(std::uint64_t next) CAMBIUM_REQUIRES(commit_lock) { next_file_number_ = next; }
  // A new run or index segment, which is removed unless a commit names it. Reports it to `files`, unless null.
  Result<NewIndexFile> MakeIndexFile(FileKind kind, std::uint64_t page_size, TableFiles* files) CAMBIUM_EXCLUDES(commit_lock);
  // A new file for values that a job writes, with a slot that is reserved until ReleaseSlot. `published`: the newest
  // published operation.
  Result<NewRelocationFile> MakeValueFile(FileKind kind, SequenceNumber published) CAMBIUM_EXCLUDES(commit_lock);
  void ReleaseSlot(Slot slot) CAMBIUM_EXCLUDES(commit_lock);
  // The smallest slot that no segment, reference or job uses.
  [[nodiscard]] Result<Slot> FreeSlot() const CAMBIUM_REQUIRES(commit_lock);
  // While the result lives, no other segment gets one of these slots. The result must not be released under the commit
  // lock.
  [[nodiscard]] std::shared_ptr<const void> HoldSlots(std::vector<Slot> slots) CAMBIUM_REQUIRES(commit_lock);
  // Makes the Segment of a file, as views hold it. With allow_mmap_reads, the first `sealed_length` bytes of a
  // relocation segment may be mapped.
  [[nodiscard]] std::shared_ptr<Segment> MakeSegment(const FileHeader& header, Slot slot, std::unique_ptr<File> file,
                                                     std::uint64_t sealed_length);
  // Returns the function that a segment calls with its path when its last reader has released it.
  [[nodiscard]] std::function<void(std::list<std::string>)> WhenReleased() {
    return [this](std::list<std::string> path) { obsolete_.Add(std::move(path)); };
  }

  // ---- Large values: their files are named before the batch that refers to them is appended ----

  void LargeValueNamed(std::uint64_t number, std::uint32_t family) CAMBIUM_REQUIRES(commit_lock);
  // Called when the batch that refers to these files was appended; `sequence` is its last operation.
  void LargeValuesAppended(const std::vector<std::uint64_t>& numbers, SequenceNumber sequence)
      CAMBIUM_EXCLUDES(commit_lock);
  // Called when that batch failed. `failed_in`: the segment of the failed write; 0: nothing was written. Until that
  // segment is sealed, a crash may bring the batch back as a whole, so the files are not dropped before.
  void LargeValuesFailed(const std::vector<std::uint64_t>& numbers, std::uint64_t failed_in)
      CAMBIUM_EXCLUDES(commit_lock);
  // Replay has found an operation of the family that refers to the file.
  void LargeValueReplayed(std::uint64_t number, std::uint32_t family, SequenceNumber sequence) CAMBIUM_REQUIRES(commit_lock);

  // ---- Files that are not needed any more ----

  // Drops segments that have no references and that recovery need not read, in a separate commit.
  Status DropUnreferenced() CAMBIUM_EXCLUDES(commit_lock);
  // Removes the obsolete files that have no reader. Tries all; returns the first error.
  Status RemoveObsolete();
  [[nodiscard]] ObsoleteFiles& obsolete() { return obsolete_; }
  [[nodiscard]] const ObsoleteFiles& obsolete() const { return obsolete_; }
  [[nodiscard]] PunchedSegments& punched() { return punched_; }
  [[nodiscard]] const PunchedSegments& punched() const { return punched_; }
  // The bytes on disk of a sealed segment, minus its holes. Holes that wait for the last reader count as made.
  [[nodiscard]] std::uint64_t BytesOf(const SegmentInfo& info) const;

 private:
  friend class CommitLock;
  // The operation that refers to the file of a large value.
  struct LargeReference {
    std::uint32_t family = 0;
    SequenceNumber sequence = 0;  // of the batch; kMaxSequenceNumber until the batch is appended; 0: it failed
    std::uint64_t failed_in = 0;  // LargeValuesFailed
  };
  // Whether the edit drops the newest log segment that has durable records. As long as this segment exists, Open can
  // detect that a MANIFEST has lost the edits which named it and the segments before it. So an edit that drops it is
  // committed by a new MANIFEST: its snapshot cannot be lost without losing the whole file.
  [[nodiscard]] bool DropsNewestLog(const Edit& edit) const CAMBIUM_REQUIRES(commit_lock);
  // Shows readers what an edit has committed. Returns `lost` if memory runs out.
  Status Show(const std::function<void(View*)>& change, Status lost) CAMBIUM_REQUIRES(commit_lock);
  // The same as Commit, but does not remove new files if it fails.
  Status TryCommit(Edit* edit, const std::function<void(View*)>& change) CAMBIUM_REQUIRES(commit_lock);
  // Visits the files that the edit names for the first time.
  void VisitNewFiles(const Edit& edit, const std::function<void(FileKind, std::uint64_t number)>& visit) const
      CAMBIUM_REQUIRES(commit_lock);
  // Lets these files be removed: at once, or after the next commit if the failed one may be on disk.
  void DropNewFiles(const Edit& edit) noexcept CAMBIUM_REQUIRES(commit_lock);
  // Notes the segments that the edit is about to change. A segment that it then does not change may be noted too.
  void NoteSegmentChanges(const Edit& edit) noexcept CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] bool CanDrop(const SegmentInfo& info) const CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] std::vector<std::uint64_t> Unreferenced() const CAMBIUM_REQUIRES(commit_lock);

  DbContext& db_;
  Jobs& jobs_;
  const CommitLog* log_ = nullptr;

  // Both outlive every view.
  ObsoleteFiles obsolete_;
  PunchedSegments punched_;
  ViewHolder view_;

  mutable Mutex mutex_;
  std::unique_ptr<Manifest> manifest_ CAMBIUM_GUARDED_BY(commit_lock);
  std::unique_ptr<const ManifestState> seen_ CAMBIUM_GUARDED_BY(commit_lock);  // null unless the database is open for reading
  StateIndex seen_index_ CAMBIUM_GUARDED_BY(commit_lock);
  std::uint64_t next_file_number_ CAMBIUM_GUARDED_BY(commit_lock) = 1;
  std::set<Slot> reserved_slots_ CAMBIUM_GUARDED_BY(commit_lock);   // of segments that no MANIFEST names yet
  std::multiset<Slot> held_slots_ CAMBIUM_GUARDED_BY(commit_lock);  // held by steps of log GC
  std::map<std::uint64_t, LargeReference> large_values_ CAMBIUM_GUARDED_BY(commit_lock);  // by file number
  SegmentChanges segment_changes_ CAMBIUM_GUARDED_BY(commit_lock);
  // Paths of files that were named by an edit whose commit failed. The edit may be on disk nevertheless, so the files
  // are removed only after a later commit has succeeded.
  std::list<std::string> in_doubt_ CAMBIUM_GUARDED_BY(commit_lock);
  std::atomic<bool> found_no_space_{false};
};

// Holds the commit lock for its lifetime.
class CAMBIUM_SCOPED_CAPABILITY CommitLock {
 public:
  explicit CommitLock(const CommitPoint& commits) CAMBIUM_ACQUIRE(commit_lock)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("takes the mutex that has the role")
      : lock_(commits.mutex_) {}
  ~CommitLock() CAMBIUM_RELEASE() {}
  CommitLock(const CommitLock&) = delete;
  CommitLock& operator=(const CommitLock&) = delete;

 private:
  const MutexLock lock_;
};

}  // namespace cambium
