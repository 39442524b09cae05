// DbImpl: the database. This header is the map of its state: what there is, and which lock guards it.
//
// Locks, in the order in which they may be taken:
//   families_mutex_    creating and dropping column families, changing options, writing the OPTIONS file
//   append_mutex_      the end of the log, the active memory tables, sequence numbers: one writer at a time
//   commit_mutex_      the MANIFEST, file numbers, slots: one commit at a time
//   ViewHolder, CommitLog, background_mutex_, spare_mutex_, ObsoleteFiles, ReadQueues, SnapshotList, Events, Tracer: leaves;
//     none of these is held while another of them is taken, but TraceSwitch's while a Tracer's
// Nobody waits for background work, and no listener is called, with any of them held. Reads take none.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recovery/capture.h"
#include "state/events.h"
#include "state/family.h"
#include "api/foreground.h"
#include "api/full_disk.h"
#include "api/key_sample.h"
#include "recovery/log_replay.h"
#include "state/obsolete_files.h"
#include "options/options_file.h"
#include "state/punched_segments.h"
#include "state/snapshot_list.h"
#include "api/space_control.h"
#include "trace/tracer.h"
#include "state/view.h"
#include "btree/index_segment.h"
#include "btree/tree_layers.h"
#include "cambium/db.h"
#include "cambium/rate_limiter.h"
#include "gc/punch.h"
#include "gc/relocation.h"
#include "gc/victims.h"
#include "index/index.h"
#include "index/page_pool.h"
#include "manifest/manifest.h"
#include "util/meter.h"
#include "util/result.h"
#include "vlog/commit_log.h"
#include "vlog/prepared_batch.h"
#include "vlog/value_reads.h"

namespace cambium {

class FilterJob;

// Families of one write, and how much of it goes to each.
struct WriteTarget {
  Family* family = nullptr;  // kept alive by the caller
  std::size_t operations = 0;  // range deletes not among them
  std::size_t bytes = 0;       // of keys, inline values and ends of ranges
  std::size_t ranges = 0;
};

// One more, as long as it lives.
class CountScope {
 public:
  explicit CountScope(std::atomic<int>* count) : count_(count) { count_->fetch_add(1, std::memory_order_relaxed); }
  ~CountScope() { count_->fetch_sub(1, std::memory_order_relaxed); }
  CountScope(const CountScope&) = delete;
  CountScope& operator=(const CountScope&) = delete;

 private:
  std::atomic<int>* const count_;
};

// What a database is opened for.
enum class OpenAs : std::uint8_t {
  kWriter,
  kReader,   // not all families need be named
  kOffline,  // a writer that tools work with: log GC, clustering and the ceiling begin nothing of their own
};

class DbImpl final : public DB, private SegmentSource {
 public:
  // `handles` may be null.
  static Result<std::unique_ptr<DbImpl>> OpenAt(const DBOptions& options, const std::string& path,
                                                const std::vector<ColumnFamilyDescriptor>& families, OpenAs as,
                                                std::vector<ColumnFamilyHandle*>* handles);
  ~DbImpl() override;
  // In a forked child nothing is destroyed: a lock may be held by a thread that is not there, a condition wait for it.
  // The child's memory goes with the child, and so do its descriptors; the lock knows its process by itself.
  static void operator delete(DbImpl* db, std::destroying_delete_t);

  using DB::CompactRange;
  using DB::Delete;
  using DB::DeleteRange;
  using DB::Flush;
  using DB::Get;
  using DB::GetIntProperty;
  using DB::GetMapProperty;
  using DB::GetOptions;
  using DB::GetProperty;
  using DB::MultiGet;
  using DB::GetApproximateSizes;
  using DB::NewIterator;
  using DB::Put;
  using DB::SetOptions;
  using DB::SingleDelete;

  Status Close() override;
  [[nodiscard]] ColumnFamilyHandle* DefaultColumnFamily() const override { return default_handle_.get(); }
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status DropColumnFamily(ColumnFamilyHandle* family) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* family) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* family, Slice key, Slice value) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, Slice key) override;
  Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* family, Slice begin, Slice end) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, Slice key, PinnableSlice* value) override;
  void MultiGet(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families, const Slice* keys,
                PinnableSlice* values, Status* statuses) override;
  Status GetApproximateSizes(const SizeApproximationOptions& options, ColumnFamilyHandle* family, const Range* ranges,
                             int count, std::uint64_t* sizes) override;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                      std::vector<Iterator*>* iterators) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* family) override;
  Status SyncWAL() override;
  Status FlushWAL(bool sync) override;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family, const Slice* begin,
                      const Slice* end) override;
  Status WaitForCompact() override;
  bool GetProperty(ColumnFamilyHandle* family, Slice property, std::string* value) override;
  bool GetIntProperty(ColumnFamilyHandle* family, Slice property, std::uint64_t* value) override;
  bool GetMapProperty(ColumnFamilyHandle* family, Slice property, std::map<std::string, std::string>* value) override;
  SequenceNumber GetLatestSequenceNumber() const override;
  const std::string& GetName() const override { return path_; }
  Options GetOptions(ColumnFamilyHandle* family) const override;
  Status SetOptions(ColumnFamilyHandle* family, const std::unordered_map<std::string, std::string>& changes) override;
  Status SetDBOptions(const std::unordered_map<std::string, std::string>& changes) override;
  Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) override;
  Status StartTrace(const TraceOptions& options, const std::string& path) override;
  Status EndTrace() override;
  Status Merge(const WriteOptions& options, Slice key, Slice operand) override;
  Status IngestExternalFile(const std::vector<std::string>& files) override;
  Status Resume() override;

  // For checkpoints and backups: what the database is made of now. See db_checkpoint.cc. The result's pin must go before
  // the database is closed.
  Result<Capture> CaptureNow(std::uint64_t log_size_for_flush);
  [[nodiscard]] FileSystem& file_system() const { return *fs_; }

  // ---- For CompactLog, see db_compact_log.cc ----
  // What was put by for a full disk is used now; the next opening puts it by again.
  void GiveUpReserve() { ReleaseReserve(); }
  void KeepCopyBuffers(std::size_t count, std::size_t least) { copy_buffers_.Keep(count, least); }
  // The OPTIONS file, which an offline opening leaves alone, says what is in force, and that from here on values keep so much
  // of their form when they are moved. Behind SettleLog, and before the first of them is moved.
  Status PersistOffline(KeptForm kept);
  // Everything is flushed, and the log is sealed up to here. Of a kOffline database, which nobody writes to.
  Status SettleLog();
  // Segments that can be emptied, by number, and what their values are looked up in. Of a kReader too: then as they would
  // be behind SettleLog. As long as it is held, none of their files goes.
  struct LogNow {
    std::shared_ptr<const View> view;
    std::vector<GcSource> sources;
    std::vector<GcFamily> families;     // values stay as they are
    std::shared_ptr<const void> slots;  // goes before the database is closed
  };
  [[nodiscard]] std::vector<std::uint64_t> SegmentsOfLog() const;
  [[nodiscard]] LogNow PinLog(std::span<const std::uint64_t> numbers);
  // One step of log GC: these records go to a new segment, and if it `empties` them, the sources go, but for those in which
  // something is damaged. Any thread, several at a time, as long as none moves a record of another.
  struct MovedOut {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;  // of the new segment's file
  };
  Result<MovedOut> MoveOut(const LogNow& log, std::span<const GcSource> sources, bool empties,
                           std::span<const GcRecord> records);
  // All values of all families that may be moved come into the order of their keys. `visit` is called with the records of
  // each step, and whether they are moved; false ends it, with Incomplete. `dry`: nothing is moved.
  Status ClusterAll(bool dry, const std::function<bool(std::span<const GcRecord> records)>& visit);
  // Runs `task` in the background as soon as less than `most` are under way there. After one that has failed none is begun.
  Status BeginBeside(std::function<Status()> task, int most);
  // All have ended; the first error.
  Status AwaitBeside();
  Status AwaitIdle();  // no job is under way
  Status RewriteIndexes();
  // Segments that were left alone, and why.
  [[nodiscard]] std::map<std::uint64_t, std::string> DamagedSegments() const;
  // The state of what was opened: as it was then, if for reading.
  [[nodiscard]] ManifestState StateNow() const;

  // For the tool: the log GC of a CompactRange of everything, without its merges, also where log GC is switched off; and
  // what log GC would do by itself now. `all` as kForce, else as kUseDefault; a cutoff outside [0, 1] is the option's.
  Status CollectOnce(bool all, double cutoff) {
    const Delivery delivery(&events_);
    if (GcIsDue()) Schedule(Job::kCollect);
    return CollectRound(all, cutoff);
  }

 private:
  friend class DbIterator;

  // What background threads do. At most one task of a kind at a time: of the first two, in each family.
  enum class Job : std::uint8_t { kFlush, kCompact, kSeal, kSpare, kCollect, kRemove, kSpace, kSettle, kReserve };
  static constexpr std::size_t kJobCount = 9;

  DbImpl(const DBOptions& options, std::string path, std::vector<ColumnFamilyDescriptor> families, OpenAs as);

  // ---- db_open.cc ----
  Status Start();
  Status SyncParent() const;  // the directory's own name becomes durable
  Status CheckIdentity(const ManifestState& state) const;
  Status CheckWanted(const ManifestState& state) const;
  Status OpenFamily(const ManifestState& state, const FamilyState& stored);
  Status OpenSegments(const ManifestState& state);
  Status Recover(ManifestState state, std::uint64_t largest_number);
  Status Replay(const ManifestState& state, ReplayResult* result, Logger* logger);
  Status CreateMissing();
  Status RemoveOrphans();
  [[nodiscard]] FileHeader HeaderFor(FileKind kind, std::uint64_t number, std::uint64_t page_size = 0) const;
  // The index of a family, without layers.
  [[nodiscard]] std::unique_ptr<Index> MakeIndex(Family* family);

  // ---- db_families.cc ----
  // InvalidArgument for a null handle and one of another database.
  Result<Family*> FamilyOf(ColumnFamilyHandle* handle) const;
  [[nodiscard]] std::shared_ptr<Family> FindFamily(std::uint32_t id) const;  // null if there is none
  Status CheckFamilyOptions(const ColumnFamilyOptions& options) const;
  Status SettleDrop(Family* family);  // commit_mutex_ held
  // The family, with its layers, joins the view and the jobs.
  void AddFamily(const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers);
  // Durable, and in the view. families_mutex_ held.
  Result<std::shared_ptr<Family>> MakeFamily(const ColumnFamilyOptions& options, const std::string& name);
  // What recovery need not read any more: the place before the oldest operation that is in a memory table only, or
  // `end` if that comes first. Tables flushed by the edit at hand are passed as `flushed`.
  [[nodiscard]] static LogPlace OldestUnflushed(const View& view, const LogTable* flushed, const LogPlace& end);
  // Moves the replay position as far as the tables allow. Takes locks, syncs the log.
  Status AdvanceReplay();
  // Dropped families that nobody uses any more go, and with them their last files. The caller holds no lock.
  void LetGoOfDropped();

  // ---- db_write.cc ----
  [[nodiscard]] PreparedBatch::Rules RulesOf(const Family& family) const;
  Status CheckWrite(const WriteOptions& options) const;
  Status DeleteAs(TraceOpType type, const WriteOptions& options, ColumnFamilyHandle* handle, Slice key);
  Status CommitBatch(const WriteOptions& options, PreparedBatch* batch, std::span<const WriteTarget> targets,
                     const std::vector<std::uint64_t>& large, std::uint64_t user_bytes, TracedCall* traced);
  void CountCommit(const PreparedBatch& batch, std::uint64_t user_bytes) const;
  void CountStall(std::uint64_t micros, bool is_for_space);
  Status CommitInRoom(const WriteOptions& options, PreparedBatch* batch, std::span<const WriteTarget> targets,
                      bool only_deletes, SequenceNumber* last, TracedCall* traced);
  Status CommitLocked(const WriteOptions& options, PreparedBatch* batch, std::span<const WriteTarget> targets,
                      SequenceNumber* last, std::unique_lock<std::mutex>* append_lock);
  Status MakeRoom(const WriteOptions& options, Family* family, std::unique_lock<std::mutex>* append_lock);
  Status AwaitCompaction(const WriteOptions& options, Family* family);  // no lock held
  [[nodiscard]] bool IsFull(const Family& family) const;  // append_mutex_ held
  void FreezeOldest();                                    // append_mutex_ held
  void Freeze(Family* family, FlushReason reason);        // append_mutex_ held
  Result<std::shared_ptr<Segment>> NextSegment(const SegmentEnd* failed) override;
  // commit_mutex_ held, both
  Result<std::shared_ptr<Segment>> MakeSegmentLocked();
  Result<std::shared_ptr<Segment>> NameSegmentLocked(const FileHeader& header, Slot slot, std::unique_ptr<File> file);
  Status MakeSpareLocked();                              // unless there is one. commit_mutex_ held
  [[nodiscard]] std::shared_ptr<Segment> TakeSpare();    // null if there is none
  // As the MANIFEST has it, but sealed there, without a footer.
  [[nodiscard]] SegmentInfo SealedAt(const SegmentEnd& end) const;  // commit_mutex_ held
  Status WriteLargeValue(const Family& family, Slice key, Slice value, LargeValueRef* ref, ValueAddress* address);
  Status FillLargeValue(std::unique_ptr<File> file, const FileHeader& header, const Family& family, Slice key,
                        Slice value, LargeValueRef* ref, ValueAddress* address);
  void DropLargeValues(const std::vector<std::uint64_t>& numbers);
  [[nodiscard]] BlobFileCreation BeginBlobFile(const FileHeader& header, BlobFileCreationReason reason);

  // ---- db_background.cc ----
  // `family` for kFlush and kCompact only.
  void Schedule(Job job, const std::shared_ptr<Family>& family = nullptr);
  // The same behind what cannot be taken back. False: the executor has no memory for it, and the job waits for the next
  // reason to be scheduled.
  bool ScheduleIfPossible(Job job) noexcept;
  void ScheduleLocked(Job job, const std::shared_ptr<Family>& family);  // background_mutex_ held
  [[nodiscard]] JobState* StateOf(Job job, Family* family);
  void RunJob(Job job, const std::shared_ptr<Family>& family);
  [[nodiscard]] static BackgroundErrorReason ReasonOf(Job job);
  Status DoJob(Job job, const std::shared_ptr<Family>& family);
  // background_mutex_ held; of every family and of none
  void ForEachJob(const std::function<void(Job, const std::shared_ptr<Family>&, JobState*)>& visit);
  [[nodiscard]] bool IsIdle();                   // background_mutex_ held
  // Lets `done`, which is asked under background_mutex_, come true.
  Status WaitUntil(const std::function<bool()>& done);
  Status WaitForFlushOf(Family* family, SequenceNumber sequence);
  Status WaitForCompactionOf(Family* family);  // one step of it
  void SetFatal(const Status& status, BackgroundErrorReason reason = BackgroundErrorReason::kWrite);
  void TellOfError(BackgroundErrorReason reason, const Status& status);
  [[nodiscard]] Status Health() const;  // OK, or why nothing may be written any more
  // What a job calls before it writes so many bytes for what `priority` says at that moment: the rate limiter, and what
  // makes way for users. `cause` counts them.
  [[nodiscard]] BeforeWrite PermitFor(Tickers cause, std::function<IOPriority()> priority);
  [[nodiscard]] IOPriority PriorityOfCompaction(const Family& family) const;
  [[nodiscard]] IOPriority PriorityOfGc() const;

  // ---- db_commit.cc ----
  Status CommitEdit(Edit* edit);                 // commit_mutex_ held
  [[nodiscard]] Result<Slot> FreeSlot() const;   // commit_mutex_ held
  // `files` are told of; null: nobody is.
  Result<NewIndexFile> MakeIndexFile(FileKind kind, std::uint64_t page_size, TableFiles* files);
  Status Unlink(FileKind kind, std::uint64_t number);
  Status SyncDirectory();
  Status SyncValues(File* file) const;  // of a large value's, or what log GC has moved
  // An output that no MANIFEST record names and whose sync found no space can be thrown away. Every other failed sync may
  // have lost what the page cache still shows, and the database stops.
  static Status Judge(Status sync) { return sync.ok() || sync.IsNoSpace() ? sync : sync.Fatal(); }
  static void SetLayers(FamilyView* view, std::shared_ptr<const Layers> layers);
  // Null if the family was dropped.
  [[nodiscard]] std::shared_ptr<const Layers> LayersOf(const Family& family) const;

  // ---- db_flush.cc ----
  Status FlushOldest(const std::shared_ptr<Family>& family);
  Status FlushTable(const std::shared_ptr<Family>& family, const FrozenTable& table, FlushJobInfo* info);
  // `ranges`: the table's range deletes, null if there are none.
  using SharedRanges = std::shared_ptr<const RangeDeletes>;
  Status WriteRun(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                  FlushJobInfo* info);
  Result<std::shared_ptr<const Run>> WriteOneRun(const Family& family, EntryCursor* cursor, const RangeDeletes* ranges,
                                                 AccountDelta* accounts, int job_id, RunKind kind = RunKind::kFlush);
  Result<std::shared_ptr<const Run>> FillRun(const NewIndexFile& made, const Family& family, EntryCursor* cursor,
                                             const RangeDeletes* ranges, AccountDelta* accounts, RunKind kind);
  Status FlushIntoTree(Family* family, const FrozenTable& table, EntryCursor* cursor, const SharedRanges& ranges,
                    FlushJobInfo* info);
  // commit_mutex_ held
  void AbsorbTable(const Family& family, const FrozenTable& table, Edit* edit, FamilyEdit* family_edit) const;
  // commit_mutex_ held
  void InstallFlushed(Family* family, const FrozenTable& table, std::shared_ptr<const Layers> layers);
  [[nodiscard]] TableFiles FilesOf(const Family& family, TableFileCreationReason reason, int job_id);

  // ---- db_merge.cc ----
  Status CompactDue(Family* family);
  [[nodiscard]] std::uint64_t StepBytes(const Family& family) const;
  Status CompactStep(Family* family, std::shared_ptr<const Layers> layers, CompactionRequest* request,
                   CompactionReason reason);
  Status CompactAndCommit(Family* family, std::shared_ptr<const Layers> layers, CompactionRequest* request,
                        CompactionJobInfo* info);
  Status CompactWith(Family* family, CompactionInput input, FilterJob* filter, CompactionJobInfo* info);
  struct CompactedFiles {
    std::vector<NumberedFile> old_files;  // that are not used any more
    std::vector<NumberedFile> new_files;  // that were not before
  };
  // What was merged, with `table` if it is not null, and by `filter` if it is not null.
  Status CommitCompaction(Family* family, CompactionOutcome* outcome, const FrozenTable* table, FilterJob* filter,
                     CompactedFiles* files);
  [[nodiscard]] std::vector<std::string> PathsOf(const std::vector<NumberedFile>& files) const;
  void CountCompaction(const CompactionStats& stats, bool is_flush) const;
  [[nodiscard]] bool CompactionIsDue(const Family& family) const;
  [[nodiscard]] static bool HidesInLevels(const Family& family, const Layers& layers);
  Status SqueezeStep(Family* family, const std::shared_ptr<const Layers>& layers);  // its merge is claimed
  [[nodiscard]] bool ClaimCompaction(Family* family);
  void ReleaseCompaction(Family* family);
  [[nodiscard]] static CompactionReason UsualReason(const Family& family);
  // Step by step, taking turns with the background.
  Status CarryOut(const std::shared_ptr<Family>& family, CompactionRequest* request);
  Status TakeTurnOfBackground(Family* family);
  Status CompactKeys(ColumnFamilyHandle* handle, const Slice* begin, const Slice* end, bool rewrites = false);

  // ---- db_segments.cc ----
  Status SealRotated();
  Status MakeSpare();
  Status RemoveObsolete();
  // Drops segments that have no reference and cannot get one any more, in a commit of its own.
  Status DropUnreferenced();

  // ---- db_close.cc ----
  Status Shut();
  // Of a closed database: everything that it holds. Where memory runs out on the way, the destructor goes on.
  void LetGo();

  // ---- db_filter.cc ----
  // Null if the family has no compaction filter. `creations`, by number, are of the files that the job makes.
  std::unique_ptr<FilterJob> NewFilterJob(const Family& family, const CompactionRequest* request,
                                          const CompactionInput& input,
                                          std::map<std::uint64_t, BlobFileCreation>* creations);
  Status SyncChanged(FilterJob* filter);
  void InstallChanged(FilterJob* filter, View* view);  // commit_mutex_ held
  void EndFilterJob(FilterJob* filter, const Status& done, std::map<std::uint64_t, BlobFileCreation>* creations);
  std::optional<CompactionRequest> RequestForMoved(const Family& family, const CompactionRequest& request,
                                              std::set<std::uint64_t>* asked) const;

  // ---- db_gc.cc ----
  // Values of a family on their way.
  struct GcMoves {
    std::shared_ptr<Family> family;
    std::vector<MovedValue> values;
    std::shared_ptr<const Layers> newest_in;  // the layers in which all of them were found to be the newest
    std::vector<std::shared_ptr<const Run>> runs;
    AccountDelta accounts;
  };
  struct GcStep {
    std::shared_ptr<const View> view;  // of the moment when the victims were chosen
    GcReason reason = GcReason::kNone;
    std::vector<GcSource> sources;
    std::vector<GcFamily> families;
    std::uint64_t step_bytes = 0;
    std::uint64_t begun_micros = 0;
    int job_id = 0;
    std::vector<bool> is_emptied;  // by source: nothing of it stays behind
    std::optional<BlobFileCreation> creation;  // of the segment that takes what is moved
    std::vector<GcMoves> moves;
    // Of what was moved, once it is committed.
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t file_bytes = 0;   // of the new segment
    std::uint64_t bytes_freed = 0;  // of sources that are emptied, as they lay on disk, and of holes
    std::set<std::size_t> punched;  // sources that get holes
    // As long as it is held, no segment that comes gets the slot of one that the step may read: what it has copied is known
    // at its commit by slot and offset.
    std::shared_ptr<const void> slots;
  };
  // commit_mutex_ held; it must not be when the last copy goes.
  [[nodiscard]] std::shared_ptr<const void> HoldSlots(std::vector<Slot> slots);
  [[nodiscard]] std::vector<SegmentUse> SegmentUses() const;  // commit_mutex_ held
  [[nodiscard]] VictimPolicy GcPolicy() const;
  [[nodiscard]] GcUrgency UrgencyOfGc() const;
  // What is to be collected next. commit_mutex_ held.
  [[nodiscard]] VictimChoice ChooseVictims(const VictimPolicy& policy);
  [[nodiscard]] bool MayCollect(GcUrgency urgency) const;  // whether the options, and CompactRanges, let it
  static void AddGcFamilies(GcStep* step);                 // of its view
  [[nodiscard]] bool GcIsDue();
  bool PickGcStep(GcStep* step);  // false: nothing is due
  Status CollectGarbage();
  Status CollectFor(const CompactRangeOptions& options, bool all_keys);  // no lock held
  Status CollectRound(bool all, double cutoff);                          // no lock held
  Status RunGcStep(GcStep* step);
  Status MoveRecords(GcStep* step, std::span<const GcRecord> records);
  // *is_named: the new segment is in a MANIFEST record, or may be.
  Status MoveValues(GcStep* step, std::span<const GcRecord> records, RelocationWriter* writer, bool* is_named);
  // A file for values that are not the log's, with a slot of its own.
  Result<NewRelocationFile> MakeValueFile(FileKind kind);
  Status WriteGcRuns(GcMoves* moves, int job_id);
  Result<bool> CommitGcStep(GcStep* step, RelocationWriter* writer, bool* is_named);
  [[nodiscard]] const ManifestState& SeenState() const;  // commit_mutex_ held
  void MarkDamaged(const GcSource& source, const Status& why);
  void CountGcStep(const GcStep& step) const;
  void TellOfGcStep(const GcStep& step, const Status& done);

  [[nodiscard]] std::int64_t HiddenAfter(const GcStep& step, const GcMoves& moves) const;  // commit_mutex_ held
  void NoteCollected(const GcStep& step, std::uint64_t moved_bytes);  // commit_mutex_ held

  // ---- db_cluster.cc ----
  // A range whose values are to lie in the order of their keys, for a CompactRange. The walk is the job's.
  struct ClusterRequest {
    std::shared_ptr<Family> family;
    ClusterWalk walk;
    std::atomic<std::uint64_t> steps{0};  // the caller looks whether there is progress
    std::atomic<bool> is_done{false};
  };
  Result<ClusterFinds> PickClusterStep(const std::shared_ptr<Family>& family, const ClusterWalk& walk, GcStep* step,
                                       Arena* keys, std::vector<GcRecord>* records);
  Result<bool> MoveIntoOrder(GcStep* step, std::span<const GcRecord> records);
  // From the walk's position on, as far as a step goes; the walk goes on from there. Without room it goes on only where
  // nothing has to be moved.
  Result<ClusterFinds> RunClusterStep(const std::shared_ptr<Family>& family, ClusterWalk* walk, bool has_room);
  [[nodiscard]] bool HasRoomToCluster() const;  // commit_mutex_ held
  Status ClusterRange(ColumnFamilyHandle* handle, const Slice* begin, const Slice* end);
  // What nobody has asked for: ValueClustering.
  void NoteJumps(const Family& family, Slice from, const Slice* to, std::uint64_t jumps) noexcept;
  [[nodiscard]] bool PassIsDue(const Family& family) const;                // commit_mutex_ held
  [[nodiscard]] std::shared_ptr<Family> FamilyToCluster() const;           // commit_mutex_ held; null: none
  Result<bool> ClusterUnasked();                                           // false: there was nothing to do
  Status RunPassStep(const std::shared_ptr<Family>& family);
  Status RunHotStep(const std::shared_ptr<Family>& family);

  // ---- db_punch.cc ----
  // commit_mutex_ held, the first three. A segment's `garbage` may be large values that can be punched.
  [[nodiscard]] std::uint64_t BytesOf(const SegmentInfo& info) const;  // that a sealed one takes, or will without readers
  bool PickPunchStep(GcStep* step);                                    // false: none is due
  Status RunPunchStep(GcStep* step);
  Status CommitPunch(GcStep* step, const std::vector<PunchPlan>& plans);
  Result<PunchedBytes> MakeHoles(const SegmentInfo& info, const std::vector<std::uint64_t>& offsets);
  Status MakeReadyHoles();
  void ResumePunching();  // at the end of opening

  // ---- db_space.cc ----
  // commit_mutex_ held, both
  void MeasureFamily(const FamilyView& view, const FamilyState& state, double bytes_per_reference,
                     SpaceFigures* figures) const;
  [[nodiscard]] SpaceFigures MeasureSpace() const;
  [[nodiscard]] SpacePolicy PolicyOfSpace() const;
  void BeginSpace();  // at the end of opening
  void LookAtSpace();  // commit_mutex_ held
  // Looks at the figures, and begins what they ask for; after a job, if they have changed.
  void CheckSpace(bool after_job);
  [[nodiscard]] bool HasSpaceJob() const;  // background_mutex_ held; one that may lower what is too high
  Status FreezeAll(std::uint64_t rotate_from, FlushReason reason);
  void StartSpaceJobs(const SpacePlan& plan);
  // Before a write of so many bytes; no lock held.
  Status AwaitSpace(const WriteOptions& options, std::uint64_t bytes);
  Status WaitForSpace(std::uint64_t bytes);
  void RunOrAwaitSpaceJob();
  void StartTicking();
  void Tick(std::uint64_t written, int quiet) noexcept;
  void OnTick(std::uint64_t written, int quiet);
  Status Settle();
  [[nodiscard]] static bool IsWorthMerging(const FamilyView& family);
  [[nodiscard]] std::int64_t UnchargedBy(const AccountDelta& accounts) const;  // commit_mutex_ held
  static void NoteCompacted(Family* family, const Layers& before, const Layers& now, std::int64_t uncharged);
  // A flush has hidden what `sample` finds in the layers below.
  static void NoteHidden(Family* family, const KeySample& sample, const Layers& below);

  // ---- db_full_disk.cc ----
  [[nodiscard]] bool IsDiskFull() const { return full_disk_.is_on.load(std::memory_order_relaxed); }
  // Of a batch that makes the database larger. NoSpace on a full disk; then looks whether it still is.
  Status CheckGrowth();
  [[nodiscard]] std::uint64_t BytesToLeave() const;
  Status CheckFree(std::uint64_t bytes, std::uint64_t left, std::uint64_t* free) const;
  Status CheckRoomForFile(std::uint64_t bytes);
  Status LookAtFreeSpace(std::uint64_t bytes, bool only_deletes, bool is_last_try);  // append_mutex_ held
  // Somebody has found no space. No lock held.
  void OnNoSpace();
  void StartRescue();
  // Lets it go as far as it goes. No lock held.
  void AwaitRescue();
  // Before a batch of deletes on a full disk. No lock held.
  void MakeRoomForDeletes();
  [[nodiscard]] std::uint64_t StepOnFullDisk() const;
  [[nodiscard]] bool ReserveIsDue() const;
  Status MakeReserve();
  Status ResizeReserve(std::uint64_t number, std::uint64_t bytes);  // full_disk_.mutex held
  void ReleaseReserve();
  void AdoptReserve(const std::vector<NumberedFile>& files);  // at opening, both
  void DropReserve();  // full_disk_.mutex held
  void MakeRoomForManifest(const ManifestState& state);
  void TickFullDisk() noexcept;

  // ---- db_checkpoint.cc ----
  Status FlushForCapture(std::uint64_t log_size_for_flush);
  Status SealForCapture();
  // Log segments that are not written to any more; the one that is, if it has so many bytes.
  Status SealLog(std::uint64_t rotate_from);

  // ---- db_snapshots.cc ----
  Status BoundPinnedMemory();
  Status MovePinnedToRuns(SnapshotImpl* snapshot, const View& current);
  // Of the current view's tables and of those that only snapshots hold.
  [[nodiscard]] std::size_t AllTableBytes(std::uint32_t family) const;

  // ---- db_read.cc ----
  Status CheckRead(const ReadOptions& options) const;
  // The view and the sequence number of a read that sees everything published before; inside an EpochGuard.
  [[nodiscard]] const View* CurrentView(SequenceNumber* sequence) const;
  // The same, held by count.
  [[nodiscard]] std::shared_ptr<const View> PinView(const ReadOptions& options, SequenceNumber* sequence) const;
  // What the view says of the key. *entry may borrow from *keep, and from the view.
  Status FindEntry(const View& view, const Family& family, SequenceNumber sequence, Slice key, PageRef* keep,
                   Entry* entry) const;
  // The same for many keys of the family.
  void FindEntries(const View& view, const Family& family, SequenceNumber sequence, std::span<Lookup> lookups) const;
  // *value is a part of *buffer.
  Status GetFrom(const View& view, const Family& family, SequenceNumber sequence, const ReadOptions& options, Slice key,
                 std::string* buffer, Slice* value) const;
  Status GetNow(const ReadOptions& options, ColumnFamilyHandle* handle, Slice key, std::string* buffer,
                Slice* value) const;
  Status ReadEntry(const View& view, const Family& family, const ReadOptions& options, Slice key, const Entry& entry,
                   std::string* buffer, Slice* value) const;
  [[nodiscard]] const SegmentTable& SegmentsOf(const View& view) const;
  [[nodiscard]] ValueQuery QueryFor(const Family& family, const ReadOptions& options, Slice key,
                                    const Entry& entry) const;
  void MultiGetNow(const ReadOptions& options, std::size_t count, ColumnFamilyHandle* const* families,
                   const Slice* keys, PinnableSlice* values, Status* statuses);
  void CountGet(const Status& status, Slice value) const;

  // ---- db_trace.cc ----
  static void TraceGet(TracedCall* traced, const ColumnFamilyHandle* family, Slice key, const Status& status,
                       Slice value) noexcept;
  static void TraceMultiGet(TracedCall* traced, std::span<ColumnFamilyHandle* const> families, const Slice* keys,
                            const PinnableSlice* values, const Status* statuses) noexcept;

  // ---- db_space_report.cc ----
  void AddPinned(std::map<std::string, std::string>* figures) const;
  [[nodiscard]] std::map<std::string, std::string> SpaceStats();
  [[nodiscard]] std::map<std::string, std::string> GcForecast();

  // ---- db_properties.cc ----
  [[nodiscard]] std::map<std::string, std::string> StatsOf(const FamilyView& family) const;
  // "levelstats" and "num-files-at-level<N>"; false for every other name.
  bool GetLevelProperty(ColumnFamilyHandle* handle, std::string_view name, std::string* value);

  // ---- db_options.cc ----
  [[nodiscard]] DBOptions DbOptionsInForce() const;
  [[nodiscard]] std::string OptionsText(KeptForm kept) const;  // families_mutex_ held, both
  [[nodiscard]] std::uint64_t NewestOptionsFile() const;  // its number; 0: none
  [[nodiscard]] bool IsPersisted(KeptForm kept) const;
  [[nodiscard]] bool IsPersistedWith(KeptForm most) const;
  // Writes an OPTIONS file. families_mutex_ held. Fatal if the directory could not be synced.
  Status PersistOptions(KeptForm kept = {});
  // The same after a change of options, and after one of families, which is as good without it: that is only logged.
  void ResizeSegments(std::uint64_t bytes);  // families_mutex_ held
  Status PersistChange();
  void PersistFamilies();
  Status PersistAtOpen();

  const DBOptions options_;  // as they were given to Open, defaults filled in
  const Meter meter_;        // of options_.statistics
  const std::vector<ColumnFamilyDescriptor> wanted_;  // the families as they were named to Open
  const std::string path_;
  const bool read_only_;
  const bool is_offline_;  // OpenAs::kOffline
  std::unique_ptr<const ManifestState> seen_;  // read-only: with the tail that replay has found; else null
  const std::uint64_t fork_generation_;
  std::atomic<std::uint64_t> blob_file_size_;  // written under families_mutex_; the default family's, which is everybody's
  std::shared_ptr<FileSystem> fs_;
  std::shared_ptr<Executor> executor_;
  std::shared_ptr<Logger> logger_;
  std::unique_ptr<FileLock> lock_;

  Events events_;
  TraceSwitch traces_;
  Foreground foreground_;
  std::atomic<int> waiting_calls_{0};    // that wait for background work, whatever they are
  std::atomic<int> stalled_writers_{0};  // of these, writes that may not go on yet
  std::unique_ptr<PagePool> pool_;        // outlives every view
  ObsoleteFiles obsolete_;                // outlives every view
  PunchedSegments punched_;               // outlives every view
  ViewHolder view_;
  std::unique_ptr<FamilyHandle> default_handle_;

  // Up to here operations are visible. Written under append_mutex_, behind the memory tables and the log.
  std::atomic<SequenceNumber> published_{0};

  std::mutex append_mutex_;
  std::unique_ptr<CommitLog> log_;         // appends under append_mutex_; syncs by any thread
  std::atomic<std::uint64_t> max_total_wal_size_;  // written under append_mutex_
  LogPosition log_end_;                    // append_mutex_; behind the last record
  std::atomic<std::uint64_t> logged_bytes_{0};  // written under append_mutex_; all that was replayed or appended since opening
  std::uint64_t next_wal_check_ = 0;       // append_mutex_; at how many of them to look for the oldest table again

  // One creation or drop of a family, change of options, or OPTIONS file at a time; before append_mutex_.
  std::mutex families_mutex_;
  mutable std::mutex commit_mutex_;
  std::unique_ptr<Manifest> manifest_;               // commit_mutex_
  std::uint64_t next_file_number_ = 1;               // commit_mutex_
  std::set<Slot> reserved_slots_;                    // commit_mutex_; of segments that no MANIFEST names yet
  std::multiset<Slot> held_slots_;                   // commit_mutex_; that steps of log GC hold
  std::map<std::uint64_t, std::string> damaged_segments_;  // commit_mutex_; log GC has found a record that does not validate
  std::set<std::uint64_t> requested_segments_;       // commit_mutex_; that log GC is to empty for a CompactRange
  std::shared_ptr<ClusterRequest> cluster_request_;  // commit_mutex_; null: there is none
  bool is_turn_to_cluster_ = false;                  // the collect job's: clustering and log GC take turns
  std::atomic<bool> cannot_punch_{false};            // the file system has no holes
  std::atomic<int> gc_holds_{0};                     // CompactRanges during which no log GC begins without need
  // Who refers to the file of a large value, once its batch is committed.
  struct LargeReference {
    std::uint32_t family = 0;
    SequenceNumber sequence = 0;
  };
  std::map<std::uint64_t, LargeReference> large_committed_;  // commit_mutex_; by file
  // Named, empty, for the next rotation. Made under commit_mutex_ too, but taken without it: a writer does not wait for
  // the sync of some commit.
  std::mutex spare_mutex_;
  std::shared_ptr<Segment> spare_;  // spare_mutex_
  // commit_mutex_; paths of files that an edit named whose commit failed. It may have reached the disk all the same, so
  // they go only when a later commit has succeeded.
  std::vector<std::string> in_doubt_;
  Id128 database_id_{};
  std::uint64_t epoch_ = 0;

  mutable std::mutex background_mutex_;
  std::condition_variable background_changed_;
  std::array<JobState, kJobCount> jobs_;        // background_mutex_; those that are not a family's
  // background_mutex_; those of the current view. Here too, because a view must not be let go of under this lock: files
  // that go with it schedule a job.
  std::vector<std::shared_ptr<Family>> families_;
  // background_mutex_; families that were dropped and are still held by somebody: a job, a handle, a snapshot
  std::vector<std::shared_ptr<Family>> dropped_families_;
  std::atomic<bool> closing_{false};            // written under background_mutex_
  struct Beside {
    int under_way = 0;
    Status first_error;
  };
  Beside beside_;                               // background_mutex_; tasks of CompactLog
  std::vector<RotatedSegment> unsealed_;        // the seal job's
  Status fatal_;                                // background_mutex_
  std::atomic<bool> has_fatal_{false};
  std::atomic<bool> closed_{false};
  bool has_let_go_ = false;  // after closed_
  std::vector<std::shared_ptr<Family>> closing_families_;  // by LetGo, until all are let go

  SpaceControl space_;
  mutable FullDisk full_disk_;
  std::atomic<double> max_space_amplification_;
  std::atomic<std::uint64_t> min_punch_size_;
  const std::shared_ptr<TickTarget> tick_target_ = std::make_shared<TickTarget>();

  SnapshotList snapshots_;
  mutable std::atomic<int> iterator_count_{0};
  mutable ReadQueues read_queues_;
  CopyBuffers copy_buffers_;  // of log GC; kept for CompactLog only

  // Figures for properties. Bytes, counts and microseconds since opening.
  struct Stats {
    std::atomic<std::uint64_t> user_bytes{0};
    std::atomic<std::uint64_t> log_bytes{0};
    std::atomic<std::uint64_t> stall_micros{0};
    std::atomic<std::uint64_t> stalls{0};
    std::atomic<std::uint64_t> space_stall_micros{0};  // of stall_micros
    std::atomic<std::uint64_t> gc_bytes_read{0};
    std::atomic<std::uint64_t> gc_bytes_written{0};
  };
  mutable Stats stats_;
};

}  // namespace cambium
