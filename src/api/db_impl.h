// DbImpl: the database. This header is the map of its state: what there is, and which lock guards it.
//
// Locks, in the order in which they may be taken:
//   append_mutex_      the end of the log, the active memory table, sequence numbers: one writer at a time
//   commit_mutex_      the MANIFEST, file numbers, slots: one commit at a time
//   ViewHolder, CommitLog, background_mutex_, ObsoleteFiles: leaves; none is held while another is taken
// Nobody waits for background work with any of them held. Reads take none.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "api/obsolete_files.h"
#include "api/snapshot_list.h"
#include "api/view.h"
#include "btree/index_segment.h"
#include "cambium/db.h"
#include "index/index.h"
#include "index/page_pool.h"
#include "manifest/manifest.h"
#include "util/result.h"
#include "vlog/commit_log.h"
#include "vlog/prepared_batch.h"

namespace cambium {

class DbImpl final : public DB, private SegmentSource {
 public:
  static Result<std::unique_ptr<DbImpl>> OpenAt(const Options& options, const std::string& path, bool read_only);
  ~DbImpl() override;
  // In a forked child nothing is destroyed: a lock may be held by a thread that is not there, a condition wait for it.
  // The child's memory goes with the child, and so do its descriptors; the lock knows its process by itself.
  static void operator delete(DbImpl* db, std::destroying_delete_t);

  Status Close() override;
  Status Put(const WriteOptions& options, Slice key, Slice value) override;
  Status Delete(const WriteOptions& options, Slice key) override;
  Status SingleDelete(const WriteOptions& options, Slice key) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;
  Status Get(const ReadOptions& options, Slice key, std::string* value) override;
  Status Get(const ReadOptions& options, Slice key, PinnableSlice* value) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  void MultiGet(const ReadOptions& options, std::size_t count, const Slice* keys, PinnableSlice* values,
                Status* statuses) override;
  Iterator* NewIterator(const ReadOptions& options) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  Status Flush(const FlushOptions& options) override;
  Status SyncWAL() override;
  Status FlushWAL(bool sync) override;
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) override;
  Status WaitForCompact() override;
  bool GetProperty(Slice property, std::string* value) override;
  bool GetIntProperty(Slice property, std::uint64_t* value) override;
  bool GetMapProperty(Slice property, std::map<std::string, std::string>* value) override;
  SequenceNumber GetLatestSequenceNumber() const override;
  const std::string& GetName() const override { return path_; }
  Options GetOptions() const override { return options_; }
  Status Merge(const WriteOptions& options, Slice key, Slice operand) override;
  Status DeleteRange(const WriteOptions& options, Slice begin, Slice end) override;
  Status CreateColumnFamily(const std::string& name) override;
  Status IngestExternalFile(const std::vector<std::string>& files) override;
  Status Resume() override;

 private:
  friend class DbIterator;

  // What background threads do; at most one task of each kind at a time.
  enum class Job : std::uint8_t { kFlush, kMerge, kSeal, kSpare, kRemove, kCount };
  static constexpr std::size_t kJobCount = static_cast<std::size_t>(Job::kCount);

  DbImpl(const Options& options, std::string path, bool read_only);

  // ---- db_open.cc ----
  Status Start();
  Status SyncParent() const;  // the directory's own name becomes durable
  Status CheckIdentity(const ManifestState& state) const;
  Status OpenLayers(const ManifestState& state);
  Status OpenSegments(const ManifestState& state);
  Status Recover(ManifestState state, std::uint64_t largest_number);
  Status RemoveOrphans();
  [[nodiscard]] FileHeader HeaderFor(FileKind kind, std::uint64_t number) const;

  // ---- db_write.cc ----
  [[nodiscard]] PreparedBatch::Rules PrepareRules() const;
  Status CheckWrite(const WriteOptions& options) const;
  Status CommitBatch(const WriteOptions& options, PreparedBatch* batch, const std::vector<std::uint64_t>& large);
  Status CommitLocked(const WriteOptions& options, PreparedBatch* batch, SequenceNumber* last,
                      std::unique_lock<std::mutex>* append_lock);
  Status MakeRoom(const WriteOptions& options, std::unique_lock<std::mutex>* append_lock);
  void Freeze();
  Result<std::shared_ptr<Segment>> NextSegment(const SegmentEnd* failed) override;
  Result<std::shared_ptr<Segment>> MakeSegmentLocked();  // commit_mutex_ held
  // As the MANIFEST has it, but sealed there, without a footer.
  [[nodiscard]] SegmentInfo SealedAt(const SegmentEnd& end) const;  // commit_mutex_ held
  Status WriteLargeValue(std::uint32_t family, Slice key, Slice value, LargeValueRef* ref, ValueAddress* address);
  void DropLargeValues(const std::vector<std::uint64_t>& numbers);

  // ---- db_background.cc ----
  void Schedule(Job job);
  void ScheduleLocked(Job job);  // background_mutex_ held
  void RunJob(Job job);
  Status DoJob(Job job);
  Status FlushOldest();
  Status WriteRun(const FrozenTable& table, EntryCursor* cursor);
  Result<std::shared_ptr<const Run>> WriteOneRun(EntryCursor* cursor, AccountDelta* accounts);
  Status MergeTable(const FrozenTable& table, EntryCursor* cursor);
  Status MergeLayers(bool force);
  Status CommitMerge(MergeOutcome* outcome, const FrozenTable* table);
  void AbsorbTable(const FrozenTable& table, Edit* edit, FamilyEdit* family) const;        // commit_mutex_ held
  void InstallFlushed(const FrozenTable& table, std::shared_ptr<const Layers> layers);     // commit_mutex_ held
  [[nodiscard]] bool MergeIsDue() const;
  [[nodiscard]] bool ClaimMerge();  // an Index has one merge at a time
  void ReleaseMerge();
  Status SealRotated();
  Status MakeSpare();
  Status RemoveObsolete();
  // Drops segments that have no reference and cannot get one any more, in a commit of its own.
  Status DropUnreferenced();
  Result<NewIndexFile> MakeIndexFile(FileKind kind);
  Status SyncDirectory();
  Status CommitEdit(Edit* edit);                 // commit_mutex_ held
  [[nodiscard]] Result<Slot> FreeSlot() const;   // commit_mutex_ held
  // Lets `done`, which is asked under background_mutex_, come true.
  Status WaitUntil(const std::function<bool()>& done);
  Status WaitForFlushOf(SequenceNumber sequence);
  void SetFatal(const Status& status);
  [[nodiscard]] Status Health() const;  // OK, or why nothing may be written any more
  Status Shut();

  // ---- db_snapshots.cc ----
  Status BoundPinnedMemory();
  Status MovePinnedToRuns(SnapshotImpl* snapshot, const View& current);
  // Of the current view's tables and of those that only snapshots hold.
  [[nodiscard]] std::size_t AllTableBytes() const;

  // ---- db_read.cc ----
  Status CheckRead(const ReadOptions& options) const;
  // The view and the sequence number of a read that sees everything published before; inside an EpochGuard.
  [[nodiscard]] const View* CurrentView(SequenceNumber* sequence) const;
  // The same, held by count.
  [[nodiscard]] std::shared_ptr<const View> PinView(const ReadOptions& options, SequenceNumber* sequence) const;
  Status GetFrom(const View& view, SequenceNumber sequence, const ReadOptions& options, Slice key,
                 std::string* value) const;
  Status ReadEntry(const View& view, const ReadOptions& options, Slice key, const Entry& entry,
                   std::string* value) const;

  // ---- db_properties.cc ----
  [[nodiscard]] std::map<std::string, std::string> IndexStats() const;

  Options options_;
  const std::string path_;
  const bool read_only_;
  const std::uint64_t fork_generation_;
  std::shared_ptr<FileSystem> fs_;
  std::shared_ptr<Executor> executor_;
  std::shared_ptr<Logger> logger_;
  std::unique_ptr<FileLock> lock_;
  std::uint64_t separate_from_ = 0;  // bytes, see SeparateFrom
  Codec codec_ = Codec::kNone;
  const Comparator* equal_by_ = nullptr;  // set if keys with other bytes may be equal

  std::unique_ptr<PagePool> pool_;        // outlives every view
  ObsoleteFiles obsolete_;                // outlives every view
  std::unique_ptr<Index> index_;
  ViewHolder view_;

  // Up to here operations are visible. Written under append_mutex_, behind the memory table and the log.
  std::atomic<SequenceNumber> published_{0};

  std::mutex append_mutex_;
  std::unique_ptr<CommitLog> log_;         // appends under append_mutex_; syncs by any thread
  std::shared_ptr<MemTable> active_;       // append_mutex_; the one in the current view
  std::uint64_t active_log_bytes_ = 0;     // append_mutex_; log that recovery would read for active_
  LogPosition log_end_;                    // append_mutex_; behind the last record
  std::atomic<int> frozen_count_{0};       // written under append_mutex_ or by the flush

  std::mutex commit_mutex_;
  std::unique_ptr<Manifest> manifest_;               // commit_mutex_
  std::uint64_t next_file_number_ = 1;               // commit_mutex_
  std::map<std::uint64_t, SequenceNumber> large_committed_;  // commit_mutex_; file -> the operation that refers to it
  std::shared_ptr<Segment> spare_;                   // commit_mutex_; named, empty, for the next rotation
  // commit_mutex_; paths of files that an edit named whose commit failed. It may have reached the disk all the same, so
  // they go only when a later commit has succeeded.
  std::vector<std::string> in_doubt_;
  Id128 database_id_{};
  std::uint64_t epoch_ = 0;
  std::uint64_t page_size_ = 0;

  mutable std::mutex background_mutex_;
  std::condition_variable background_changed_;
  std::array<bool, kJobCount> scheduled_{};     // background_mutex_
  std::array<bool, kJobCount> again_{};         // background_mutex_; asked for while it ran, when it may have looked already
  std::array<Status, kJobCount> last_status_{};  // background_mutex_; of the last run of each job
  std::array<std::uint64_t, kJobCount> runs_{};  // background_mutex_; how often each job has ended
  bool closing_ = false;                        // background_mutex_
  bool force_merge_ = false;                    // background_mutex_
  bool merging_ = false;                        // background_mutex_
  std::vector<RotatedSegment> unsealed_;        // the seal job's
  Status fatal_;                                // background_mutex_
  std::atomic<bool> has_fatal_{false};
  std::atomic<bool> closed_{false};

  SnapshotList snapshots_;
  mutable std::atomic<int> iterator_count_{0};

  // Figures for properties. Bytes, counts and microseconds since opening.
  struct Stats {
    std::atomic<std::uint64_t> user_bytes{0};
    std::atomic<std::uint64_t> log_bytes{0};
    std::atomic<std::uint64_t> flushes{0};
    std::atomic<std::uint64_t> flush_bytes{0};
    std::atomic<std::uint64_t> merges{0};
    std::atomic<std::uint64_t> merge_bytes{0};
    std::atomic<std::uint64_t> stall_micros{0};
    std::atomic<std::uint64_t> stalls{0};
  };
  mutable Stats stats_;
};

}  // namespace cambium
