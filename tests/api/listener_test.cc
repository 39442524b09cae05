// Events that listeners get: the creation and deletion of files, once and in order; jobs and their results; stalls and
// errors. The tests also show what a listener may do during a call.
#include "cambium/listener.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "state/events.h"
#include "testing/test_store.h"
#include "testing/files/file_watch.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "util/manual_executor.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Records each event, and a line of text for it.
class Notes final : public EventListener {
 public:
  void OnMemTableSealed(const MemTableInfo& info) override { Note("sealed", &sealed, info); }
  void OnFlushBegin(DB*, const FlushJobInfo& info) override { Note("flush begins", &flush_begins, info); }
  void OnFlushCompleted(DB*, const FlushJobInfo& info) override { Note("flush ends", &flushes, info); }
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override { Note("merge begins", &merge_begins, info); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override { Note("merge ends", &merges, info); }
  void OnLogGcCompleted(DB*, const LogGcJobInfo& info) override { Note("gc", &gcs, info); }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    Note("table begins", &table_begins, info);
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override { Note("table", &tables, info); }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override { Note("table goes", &tables_gone, info); }
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override {
    Note("blob begins", &blob_begins, info);
  }
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override { Note("blob", &blobs, info); }
  void OnBlobFileDeleted(const BlobFileDeletionInfo& info) override { Note("blob goes", &blobs_gone, info); }
  void OnStallConditionsChanged(const WriteStallInfo& info) override { Note("stall", &stalls, info); }
  void OnBackgroundError(const BackgroundErrorInfo& info) override { Note("error", &errors, info); }

  [[nodiscard]] std::size_t PlaceOf(const std::string& line) const {
    return static_cast<std::size_t>(std::ranges::find(lines, line) - lines.begin());
  }

  std::vector<std::string> lines;
  std::vector<MemTableInfo> sealed;
  std::vector<FlushJobInfo> flush_begins, flushes;
  std::vector<CompactionJobInfo> merge_begins, merges;
  std::vector<LogGcJobInfo> gcs;
  std::vector<TableFileCreationBriefInfo> table_begins;
  std::vector<TableFileCreationInfo> tables;
  std::vector<TableFileDeletionInfo> tables_gone;
  std::vector<BlobFileCreationBriefInfo> blob_begins;
  std::vector<BlobFileCreationInfo> blobs;
  std::vector<BlobFileDeletionInfo> blobs_gone;
  std::vector<WriteStallInfo> stalls;
  std::vector<BackgroundErrorInfo> errors;

 private:
  template <typename Info>
  void Note(const char* what, std::vector<Info>* all, const Info& info) {
    EXPECT_EQ(info.db_name, kStorePath) << what;
    lines.emplace_back(what);
    all->push_back(info);
  }
};

struct NotedStore : TestStore {
  explicit NotedStore(std::shared_ptr<SimFileSystem> file_system = std::make_shared<SimFileSystem>(SimOptions()))
      : TestStore(std::move(file_system)), notes(std::make_shared<Notes>()) {
    options.listeners = {notes};
  }
  [[nodiscard]] std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const auto& file : fs->probe().ListFiles()) paths.push_back(file.path);
    return paths;
  }
  std::shared_ptr<Notes> notes;
};

// ---- Jobs ----

TEST(ListenerTest, FlushReportsItsMemtableFilesAndResult) {
  NotedStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.Put("b", std::string(500, 'v'));
  store.Flush();
  const Notes& notes = *store.notes;
  ASSERT_EQ(notes.sealed.size(), 1u);
  EXPECT_EQ(notes.sealed[0].cf_name, "default");
  EXPECT_EQ(notes.sealed[0].num_entries, 2u);
  EXPECT_GT(notes.sealed[0].memory_bytes, 0u);
  EXPECT_EQ(notes.sealed[0].reason, FlushReason::kManualFlush);
  ASSERT_EQ(notes.flush_begins.size(), 1u);
  ASSERT_EQ(notes.flushes.size(), 1u);
  const FlushJobInfo& flush = notes.flushes[0];
  EXPECT_EQ(flush.job_id, notes.flush_begins[0].job_id);
  EXPECT_EQ(flush.flush_reason, FlushReason::kManualFlush);
  EXPECT_EQ(flush.num_entries, 2u);
  EXPECT_EQ(flush.largest_seqno, 2u);
  EXPECT_TRUE(flush.status.ok());
  EXPECT_EQ(flush.merged_into_tree, !TestsUseLsm());
  EXPECT_GT(flush.bytes_written, 0u);
  ASSERT_EQ(notes.tables.size(), 1u);
  EXPECT_EQ(flush.output_files, std::vector<std::string>{notes.tables[0].file_path});
  EXPECT_EQ(notes.tables[0].job_id, flush.job_id);
  EXPECT_EQ(notes.tables[0].reason, TableFileCreationReason::kFlush);
  std::string bytes;
  ASSERT_TRUE(store.fs->probe().ReadContents(notes.tables[0].file_path, &bytes).ok());
  EXPECT_EQ(notes.tables[0].file_size, bytes.size());
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"blob begins", "blob", "sealed", "flush begins", "table begins",
                                                   "table", "flush ends"}));
  EXPECT_EQ(notes.blobs[0].reason, BlobFileCreationReason::kLog);
}

TEST(ListenerTest, FailedFlushReportsTheErrorAndTheDeletedFile) {
  NotedStore store;
  store.MustOpen();
  store.Put("a", std::string(500, 'v'));
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".run") || path.ends_with(".idx"); };
  fault.sticky = true;
  const int id = store.fs->AddFault(fault);
  EXPECT_TRUE(store.db->Flush({}).IsIOError());
  store.executor->RunAll();
  store.fs->RemoveFault(id);
  const Notes& notes = *store.notes;
  ASSERT_GE(notes.flushes.size(), 1u);
  EXPECT_TRUE(notes.flushes[0].status.IsIOError());
  ASSERT_GE(notes.errors.size(), 1u);
  EXPECT_EQ(notes.errors[0].reason, BackgroundErrorReason::kFlush);
  EXPECT_NE(notes.errors[0].status.severity(), Status::Severity::kFatal);
  ASSERT_GE(notes.tables.size(), 1u);
  for (const TableFileCreationInfo& table : notes.tables) EXPECT_TRUE(table.status.IsIOError()) << table.file_path;
  EXPECT_EQ(notes.tables_gone.size(), notes.tables.size());
  EXPECT_LT(notes.PlaceOf("table"), notes.PlaceOf("table goes"));
  store.Flush();
  EXPECT_TRUE(notes.flushes.back().status.ok());
}

TEST(ListenerTest, CompactionReportsItsInputAndOutput) {
  NotedStore store;
  store.options.sweep_ratio = 1;
  store.options.level0_file_num_compaction_trigger = 1000;
  store.options.level0_slowdown_writes_trigger = 1000;
  store.options.level0_stop_writes_trigger = 1000;
  store.MustOpen();
  for (int round = 0; round < 3; ++round) {
    for (int i = round; i < 9000; i += 1 + 8 * round) store.Put(NumberedKey(i), std::to_string(round));
    store.Flush();
  }
  Notes& notes = *store.notes;
  notes.merges.clear();
  notes.merge_begins.clear();
  std::vector<std::string> runs = store.FilesOf(".run");
  ASSERT_FALSE(runs.empty());
  store.Compact();
  ASSERT_FALSE(notes.merges.empty());
  ASSERT_EQ(notes.merges.size(), notes.merge_begins.size());
  std::uint64_t written = 0;
  std::vector<std::string> gone;
  for (std::size_t i = 0; i < notes.merges.size(); ++i) {
    const CompactionJobInfo& merge = notes.merges[i];
    EXPECT_EQ(merge.job_id, notes.merge_begins[i].job_id);
    EXPECT_NE(merge.compaction_reason, CompactionReason::kSpace);
    EXPECT_TRUE(merge.status.ok());
    if (!TestsUseLsm()) {
      EXPECT_EQ(merge.base_input_level, 0);
    }
    EXPECT_EQ(merge.output_level, merge.base_input_level + 1);
    written += merge.bytes_written;
    gone.insert(gone.end(), merge.input_files.begin(), merge.input_files.end());
  }
  EXPECT_TRUE(std::ranges::any_of(notes.merges, [](const auto& merge) {
    return merge.compaction_reason == CompactionReason::kManualCompaction;
  }));
  EXPECT_GT(written, 0u);
  for (const std::string& run : runs) EXPECT_NE(std::ranges::find(gone, run), gone.end()) << run;
  store.RunUntilIdle();
  const auto was_told = [&](const std::string& path) {
    return std::ranges::any_of(notes.tables_gone, [&](const auto& table) { return table.file_path == path; });
  };
  for (const std::string& run : runs) EXPECT_TRUE(was_told(run)) << run;
}

TEST(ListenerTest, LogGcReportsFreedBytes) {
  NotedStore store;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 100; ++i) {
      if (round == 0 || i % 4 != 0) store.Put(NumberedKey(i), std::string(1000, static_cast<char>('a' + round)));
    }
    store.Flush();
  }
  store.Compact();
  store.RunUntilIdle();
  ASSERT_FALSE(store.notes->gcs.empty());
  std::uint64_t freed = 0;
  std::uint64_t moved = 0;
  for (const LogGcJobInfo& gc : store.notes->gcs) {
    EXPECT_TRUE(gc.status.ok()) << gc.status.ToString();
    EXPECT_FALSE(gc.input_files.empty());
    EXPECT_EQ(gc.reason, LogGcReason::kGarbage);
    freed += gc.bytes_freed;
    moved += gc.keys_relocated;
    for (const std::string& path : gc.emptied_files) {
      const auto is_it = [&](const auto& blob) { return blob.file_path == path; };
      EXPECT_TRUE(std::ranges::any_of(store.notes->blobs_gone, is_it)) << path;
    }
  }
  EXPECT_GT(freed, 0u);
  EXPECT_GT(moved, 0u);
  EXPECT_TRUE(std::ranges::any_of(store.notes->blobs, [](const auto& blob) {
    return blob.reason == BlobFileCreationReason::kLogGc && blob.file_size > 0 && blob.status.ok();
  }));
  EXPECT_TRUE(std::ranges::any_of(store.notes->tables, [](const auto& table) {
    return table.reason == TableFileCreationReason::kLogGc && table.job_id > 0;
  }));
}

// Allocated bytes of the log's segments, without holes.
std::uint64_t AllocatedByTheLog(const TestStore& store) {
  std::uint64_t bytes = 0;
  for (const char* const suffix : {".log", ".gc"}) {
    for (const std::string& path : store.FilesOf(suffix)) {
      FileInfo info;
      EXPECT_TRUE(store.fs->GetInfo(path, &info).ok());
      bytes += std::min(info.size, info.allocated_bytes);
    }
  }
  return bytes;
}

// Log GC punches values first. Then it relocates the remaining values and drops files. Only the bytes that these files
// still took at that time count as freed by their removal.
TEST(ListenerTest, BytesFreedByHolesAreReportedOnce) {
  NotedStore store;
  store.options.min_punch_size = 16u << 10;
  store.options.blob_file_size = 256u << 10;
  store.options.large_value_size = 64u << 10;
  store.options.write_buffer_size = 1u << 20;
  store.options.max_total_wal_size = 8u << 20;
  store.options.enable_blob_garbage_collection = false;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  const auto overwrite = [&](int one_in) {
    for (int i = 0; i < 60; ++i) {
      if (i % one_in != 0) store.Put(NumberedKey(i), std::string(20'000, static_cast<char>('a' + one_in)));
    }
    store.Compact();
    store.RunUntilIdle();
  };
  for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), std::string(20'000, 'a'));
  store.Flush();
  overwrite(3);
  const std::uint64_t before = AllocatedByTheLog(store);
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.RunUntilIdle();
  std::uint64_t freed = 0;
  std::size_t punched = 0;
  for (const LogGcJobInfo& gc : store.notes->gcs) {
    EXPECT_TRUE(gc.status.ok()) << gc.status.ToString();
    EXPECT_EQ(gc.reason, LogGcReason::kGarbage);
    EXPECT_TRUE(gc.punched_files.empty() || (gc.emptied_files.empty() && gc.bytes_written == 0)) << "never both";
    for (const std::string& path : gc.punched_files) EXPECT_EQ(std::ranges::count(gc.input_files, path), 1) << path;
    punched += gc.punched_files.size();
    freed += gc.bytes_freed - gc.bytes_written;
  }
  EXPECT_GT(punched, 0u);
  EXPECT_NEAR(static_cast<double>(freed), static_cast<double>(before - AllocatedByTheLog(store)),
              static_cast<double>(before) / 20);
  // Everything is dropped, including files that are mostly holes.
  store.notes->gcs.clear();
  const std::uint64_t punched_bytes = AllocatedByTheLog(store);
  CompactRangeOptions all;
  all.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  all.blob_garbage_collection_age_cutoff = 1;
  store.Compact(all);
  store.RunUntilIdle();
  freed = 0;
  for (const LogGcJobInfo& gc : store.notes->gcs) freed += gc.bytes_freed;
  EXPECT_GT(freed, 0u);
  EXPECT_LE(freed, punched_bytes) << "more than they took";
}

TEST(ListenerTest, ClusteringIsReported) {
  NotedStore store;
  store.options.blob_garbage_collection_age_cutoff = 0;
  store.MustOpen();
  for (int i = 0; i < 300; ++i) store.Put(NumberedKey(i * 7 % 300), std::string(300, 'v'));
  store.Compact();
  store.RunUntilIdle();
  store.notes->gcs.clear();
  CompactRangeOptions cluster;
  cluster.cluster_values = true;
  store.Compact(cluster);
  std::uint64_t moved = 0;
  for (const LogGcJobInfo& gc : store.notes->gcs) {
    if (gc.reason != LogGcReason::kClustering) continue;
    EXPECT_TRUE(gc.status.ok()) << gc.status.ToString();
    EXPECT_FALSE(gc.input_files.empty());
    EXPECT_EQ(gc.bytes_freed, 0u);
    EXPECT_TRUE(gc.emptied_files.empty());
    EXPECT_GT(gc.bytes_written, 0u);
    moved += gc.keys_relocated;
  }
  EXPECT_GT(moved, 200u) << "but for what recovery may still read";
}

// ---- Files ----

// Creates and removes files in all ways, in random order, with reopening. After every call, the reported files are the
// existing ones.
TEST(ListenerTest, ReportedFilesAreTheExistingFiles) {
  for (int program = 0; program < 6; ++program) {
    const std::uint64_t seed = SeedFromEnvironment(11) + static_cast<std::uint64_t>(program);
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    Prng prng(seed);
    NotedStore store;
    store.options.blob_garbage_collection_age_cutoff = 1;
    store.options.write_buffer_size = 4096;
    std::shared_ptr<FileWatch> watch;
    const auto open = [&] {
      watch = std::make_shared<FileWatch>(store.Paths());
      store.options.listeners = {watch};
      store.MustOpen();
    };
    open();
    const Snapshot* snapshot = nullptr;
    ColumnFamilyHandle* family = nullptr;
    for (int step = 0; step < 600; ++step) {
      switch (prng.Uniform(40)) {
        case 0: store.Flush(); break;
        case 1: store.Compact(); break;
        case 2: store.Put(NumberedKey(static_cast<int>(prng.Uniform(20))), std::string(10'000, 'L')); break;
        case 3:
          if (snapshot == nullptr) snapshot = store.db->GetSnapshot();
          break;
        case 4:
          if (snapshot != nullptr) store.db->ReleaseSnapshot(std::exchange(snapshot, nullptr));
          break;
        case 5:
          if (family == nullptr) {
            ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "f", &family).ok());
          } else {
            ASSERT_TRUE(store.db->DropColumnFamily(family).ok());
            ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(std::exchange(family, nullptr)).ok());
          }
          break;
        case 6:
          if (snapshot != nullptr) store.db->ReleaseSnapshot(std::exchange(snapshot, nullptr));
          if (family != nullptr) {
            ASSERT_TRUE(store.db->DropColumnFamily(family).ok());
            ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(std::exchange(family, nullptr)).ok());
          }
          store.MustClose();
          ASSERT_EQ(watch->CompareAtRest(store.Paths()), "");
          open();
          break;
        case 7: store.executor->RunAll(); break;
        default: {
          ColumnFamilyHandle* const its = family != nullptr && prng.OneIn(3) ? family : store.db->DefaultColumnFamily();
          const Status s = store.db->Put({}, its, NumberedKey(static_cast<int>(prng.Uniform(60))),
                                         std::string(prng.Uniform(1500), 'v'));
          ASSERT_TRUE(s.ok()) << s.ToString();
        }
      }
      ASSERT_EQ(watch->Compare(store.Paths()), "") << "step " << step;
    }
    if (snapshot != nullptr) store.db->ReleaseSnapshot(snapshot);
    if (family != nullptr) {
      ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(family).ok());
    }
    const Status closed = store.db->Close();
    ASSERT_TRUE(closed.ok()) << closed.ToString();
    EXPECT_EQ(watch->CompareAtRest(store.Paths()), "");
  }
}

TEST(ListenerTest, OrphansAreReportedAsDeletedByTheNextOpen) {
  NotedStore store;
  store.MustOpen();
  store.Put("a", "b", true);
  ASSERT_TRUE(store.fs->tampering().WriteContents(std::string(kStorePath) + "/000777.run", "left").ok());
  ASSERT_TRUE(store.fs->tampering().WriteContents(std::string(kStorePath) + "/000778.val", "left").ok());
  store.Reopen();
  ASSERT_EQ(store.notes->tables_gone.size(), 1u);
  EXPECT_EQ(store.notes->tables_gone[0].file_number, 777u);
  ASSERT_EQ(store.notes->blobs_gone.size(), 1u);
  EXPECT_EQ(store.notes->blobs_gone[0].file_number, 778u);
}

// The thread that removes a file is faster than the thread that reports the file's creation.
TEST(ListenerTest, DeletionIsNeverReportedBeforeCreation) {
  const auto notes = std::make_shared<Notes>();
  Events events({notes}, kStorePath);
  TableFileCreationInfo file;
  file.db_name = kStorePath;
  file.file_number = 7;
  {
    TableFileCreation creation(&events, file);
    creation.Done(Status::OK(), 100);
  }
  std::thread([&] {
    events.Deleted(kStorePath, {FileKind::kRun, 7});
    events.Deliver();
  }).join();
  EXPECT_TRUE(notes->lines.empty()) << "the other thread has nothing to tell yet";
  events.Deliver();
  EXPECT_EQ(notes->lines, (std::vector<std::string>{"table begins", "table", "table goes"}));
  events.Deleted(kStorePath, {FileKind::kLog, 8});
  events.Deliver();
  EXPECT_EQ(notes->lines.back(), "blob goes");
}

TEST(ListenerTest, UnfinishedFileIsReportedAsAborted) {
  const auto notes = std::make_shared<Notes>();
  Events events({notes}, kStorePath);
  BlobFileCreationInfo file;
  file.db_name = kStorePath;
  file.file_number = 7;
  { const BlobFileCreation creation(&events, file); }
  events.DeliverAll();
  ASSERT_EQ(notes->blobs.size(), 1u);
  EXPECT_TRUE(notes->blobs[0].status.IsAborted());
}

// ---- Stalls and errors ----

TEST(ListenerTest, FullMemtablesAreReportedAsStopAndItsEnd) {
  NotedStore store;
  store.options.write_buffer_size = 4096;
  store.options.max_write_buffer_number = 2;
  store.MustOpen();
  for (int i = 0; i < 300 && store.notes->stalls.size() < 2; ++i) store.Put(NumberedKey(i), std::string(60, 'v'));
  ASSERT_EQ(store.notes->stalls.size(), 2u);
  const WriteStallInfo& begun = store.notes->stalls[0];
  EXPECT_EQ(begun.cause, WriteStallCause::kMemtableLimit);
  EXPECT_EQ(begun.cf_name, "default");
  EXPECT_EQ(begun.condition.prev, WriteStallCondition::kNormal);
  EXPECT_EQ(begun.condition.cur, WriteStallCondition::kStopped);
  const WriteStallInfo& ended = store.notes->stalls[1];
  EXPECT_EQ(ended.condition.prev, WriteStallCondition::kStopped);
  EXPECT_EQ(ended.condition.cur, WriteStallCondition::kNormal);
  EXPECT_GT(ended.change, begun.change);
}

TEST(ListenerTest, GrowingLevel0IsReportedAsDelayThenStop) {
  NotedStore store;
  store.options.index_type = IndexKind::kLsm;
  store.options.level0_file_num_compaction_trigger = 2;
  store.options.level0_slowdown_writes_trigger = 3;
  store.options.level0_stop_writes_trigger = 4;
  store.MustOpen();
  for (int run = 0; run < 4; ++run) {
    store.Put(NumberedKey(run), "v");
    ASSERT_TRUE(store.db->Flush({.wait = false}).ok());
    while (store.Property("num-immutable-mem-table") > 0) store.executor->RunOneInstead();
  }
  store.Put("x", "y");
  store.RunUntilIdle();
  store.Put("z", "y");
  std::vector<WriteStallCondition> seen;
  for (const WriteStallInfo& stall : store.notes->stalls) {
    EXPECT_EQ(stall.cause, WriteStallCause::kL0FileCountLimit);
    seen.push_back(stall.condition.cur);
  }
  using enum WriteStallCondition;
  EXPECT_EQ(seen, (std::vector<WriteStallCondition>{kDelayed, kStopped, kNormal}));
}

TEST(ListenerTest, SpaceShortageIsReportedForTheWholeDatabase) {
  NotedStore store;
  store.options.max_space_amplification = 1.1;
  store.options.min_blob_size = 0;
  store.options.write_buffer_size = 1u << 20;
  store.options.max_total_wal_size = 0;
  store.options.blob_file_size = 256u << 10;
  store.MustOpen();
  for (int i = 0; i < 20'000 && store.notes->stalls.empty(); ++i) {
    store.Put(NumberedKey(i % 100), std::string(4000, 'v'));
    if (i % 20 == 0 && store.executor->pending() > 0) store.executor->RunOneInstead();
  }
  store.RunUntilIdle();
  ASSERT_GE(store.notes->stalls.size(), 2u);
  EXPECT_EQ(store.notes->stalls.front().cause, WriteStallCause::kSpace);
  EXPECT_EQ(store.notes->stalls.front().cf_name, "");
  EXPECT_NE(store.notes->stalls.front().condition.cur, WriteStallCondition::kNormal);
  EXPECT_EQ(store.notes->stalls.back().condition.cur, WriteStallCondition::kNormal);
}

TEST(ListenerTest, FatalErrorIsReportedOnce) {
  NotedStore store;
  store.MustOpen();
  store.Put("a", "b");
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  fault.sticky = true;
  store.fs->AddFault(fault);
  WriteOptions sync;
  sync.sync = true;
  EXPECT_FALSE(store.db->Put(sync, "c", "d").ok());
  EXPECT_FALSE(store.db->Put(sync, "e", "f").ok());
  ASSERT_EQ(store.notes->errors.size(), 1u);
  EXPECT_EQ(store.notes->errors[0].reason, BackgroundErrorReason::kWrite);
  EXPECT_EQ(store.notes->errors[0].status.severity(), Status::Severity::kFatal);
}

// ---- Valid listeners, and what they may do ----

TEST(ListenerTest, NullListenerIsRejected) {
  NotedStore store;
  store.options.listeners.push_back(nullptr);
  const Status s = store.Open();
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("listeners"), std::string::npos) << s.ToString();
}

TEST(ListenerTest, ReadOnlyDatabaseReportsNothing) {
  NotedStore store;
  store.MustOpen();
  store.Put("a", "b");
  store.MustClose();
  store.notes->lines.clear();
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &db).ok());
  ASSERT_TRUE(db->Close().ok());
  EXPECT_TRUE(store.notes->lines.empty());
}

// ---- Jobs that Open starts ----

// Lets a test act in the middle of the last step of Open, which schedules jobs and then starts a timer.
class ActsDuringOpen final : public Executor {
 public:
  void Schedule(TaskPriority priority, std::function<void()> task) override {
    if (on_schedule != nullptr) on_schedule();
    tasks_.Schedule(priority, std::move(task));
  }
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override {
    if (on_timer != nullptr) std::exchange(on_timer, nullptr)(&tasks_);
    tasks_.ScheduleAfter(micros, priority, std::move(task));
  }
  bool RunOneInstead() override {
    if (on_wait != nullptr) on_wait();
    return tasks_.RunOneInstead();
  }

  std::function<void()> on_schedule;
  std::function<void(ManualExecutor*)> on_timer;  // called once
  std::function<void()> on_wait;

 private:
  ManualExecutor tasks_;
};

class ReadsAtFlushBegin final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo&) override {
    ++flushes;
    ASSERT_NE(db->DefaultColumnFamily(), nullptr);
    std::string text;
    EXPECT_EQ(db->Get({}, "key7", &text), Status::OK());
    EXPECT_TRUE(db->GetProperty("cambium.stats", &text));
  }
  int flushes = 0;
};

TEST(ListenerTest, ListenerMayReadBeforeOpenReturns) {
  NotedStore store;
  for (int i = 0; i < 17; ++i) {  // each adds a segment without a flush; with 17 the next Open schedules a flush
    store.MustOpen();
    store.Put("key" + std::to_string(i), "value");
    store.MustClose();
  }
  const auto executor = std::make_shared<ActsDuringOpen>();
  const auto reads = std::make_shared<ReadsAtFlushBegin>();
  store.options.executor = executor;
  store.options.max_space_amplification = 2;  // needs the timer
  store.options.listeners = {reads};
  executor->on_timer = [](ManualExecutor* tasks) {
    while (tasks->RunOneInstead()) {
    }
  };
  store.MustOpen();
  EXPECT_EQ(reads->flushes, 1);
  store.MustClose();
}

TEST(ListenerTest, DirectoryStaysLockedUntilFailedOpenIsUndone) {
  TestStore store;
  store.options.create_missing_column_families = true;
  std::vector<ColumnFamilyHandle*> handles;
  const auto open = [&] {
    handles.clear();
    return DB::Open(store.options, kStorePath, {{"default", store.options}, {"two", store.options}}, &handles, &store.db);
  };
  const auto close = [&] {
    for (ColumnFamilyHandle* const handle : handles) EXPECT_TRUE(store.db->DestroyColumnFamilyHandle(handle).ok());
    store.MustClose();
  };
  for (int i = 0; i < 17; ++i) {  // the next Open schedules a flush of each family
    ASSERT_TRUE(open().ok());
    for (ColumnFamilyHandle* const handle : handles) ASSERT_TRUE(store.db->Put({}, handle, "key", "value").ok());
    close();
  }
  const auto executor = std::make_shared<ActsDuringOpen>();
  store.options.executor = executor;
  int schedules = 0;
  int waits = 0;
  executor->on_schedule = [&] {
    if (++schedules == 2) throw std::runtime_error("no more tasks");
  };
  executor->on_wait = [&] {  // for the first flush
    ++waits;
    std::unique_ptr<FileLock> lock;
    EXPECT_TRUE(store.fs->Lock(kStorePath, LockMode::kExclusive, 0, &lock).IsLocked());
  };
  EXPECT_THROW(static_cast<void>(open()), std::runtime_error);
  EXPECT_GT(waits, 0);
  executor->on_schedule = nullptr;
  executor->on_wait = nullptr;
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(store.Get("key"), "value");
  close();
}

// At every event the listener reads, writes and changes options. If the database still held a lock, this thread would
// take it twice, or block another thread forever.
class Busy final : public EventListener {
 public:
  void OnMemTableSealed(const MemTableInfo&) override { Act(); }
  void OnFlushBegin(DB*, const FlushJobInfo&) override { Act(); }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { Act(); }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override { Act(); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { Act(); }
  void OnLogGcCompleted(DB*, const LogGcJobInfo&) override { Act(); }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo&) override { Act(); }
  void OnTableFileCreated(const TableFileCreationInfo&) override { Act(); }
  void OnTableFileDeleted(const TableFileDeletionInfo&) override { Act(); }
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo&) override { Act(); }
  void OnBlobFileCreated(const BlobFileCreationInfo&) override { Act(); }
  void OnBlobFileDeleted(const BlobFileDeletionInfo&) override { Act(); }
  void OnStallConditionsChanged(const WriteStallInfo&) override { Act(); }
  void OnBackgroundError(const BackgroundErrorInfo&) override { Act(); }

  std::atomic<DB*> db{nullptr};
  std::atomic<int> acts{0};

 private:
  void Act() {
    thread_local bool is_acting = false;
    DB* const its = db.load();
    if (its == nullptr || std::exchange(is_acting, true)) return;
    const int act = acts.fetch_add(1);
    std::string text;
    EXPECT_TRUE(its->GetProperty("cambium.space", &text));
    EXPECT_TRUE(its->GetProperty("cambium.stats", &text));
    const Status got = its->Get({}, NumberedKey(act % 60), &text);
    EXPECT_TRUE(got.ok() || got.IsNotFound()) << got.ToString();
    const Snapshot* const snapshot = its->GetSnapshot();
    {
      const std::unique_ptr<Iterator> it(its->NewIterator({}));
      it->SeekToFirst();
      EXPECT_TRUE(it->status().ok());
    }
    its->ReleaseSnapshot(snapshot);
    WriteOptions write;
    write.no_slowdown = true;
    const Status put = its->Put(write, "listener", std::to_string(act));
    EXPECT_TRUE(put.ok() || put.IsIncomplete()) << put.ToString();
    if (act % 8 == 0) {
      const Status set = its->SetOptions({{"min_blob_size", std::to_string(64 + act % 5)}});
      EXPECT_TRUE(set.ok()) << set.ToString();
    }
    is_acting = false;
  }
};

void FillSome(DB* db, std::uint64_t seed, int count) {
  Prng prng(seed);
  for (int i = 0; i < count; ++i) {
    const std::size_t size = prng.OneIn(50) ? 9000 : prng.Uniform(700);
    const Status s = db->Put({}, NumberedKey(static_cast<int>(prng.Uniform(60))), std::string(size, 'v'));
    ASSERT_TRUE(s.ok()) << s.ToString();
    if (prng.OneIn(100)) {
      ASSERT_TRUE(db->Flush({}).ok());
    }
  }
}

TEST(ListenerTest, ListenerMayReadWriteAndChangeOptions) {
  TestStore store;
  const auto busy = std::make_shared<Busy>();
  store.options.listeners = {busy};
  store.options.write_buffer_size = 4096;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.options.max_space_amplification = 1.5;
  store.MustOpen();
  busy->db = store.db.get();
  FillSome(store.db.get(), 5, 1500);
  store.Compact();
  store.RunUntilIdle();
  busy->db = nullptr;
  EXPECT_GT(busy->acts.load(), 100);
  EXPECT_EQ(store.Verify(), "");
  store.MustClose();
}

// As the test before, with several writers and with background threads. Any of them may call the listener, and in the
// end the reported files are the existing ones.
TEST(ListenerTest, ListenerIsCalledByManyThreads) {
  const TempDirectory directory;
  const std::string path = directory.File("db");
  const auto busy = std::make_shared<Busy>();
  const auto watch = std::make_shared<FileWatch>(std::vector<std::string>{});
  Options options = SmallOptions();
  options.listeners = {watch, busy};
  options.write_buffer_size = 8192;
  options.blob_garbage_collection_age_cutoff = 1;
  options.max_space_amplification = 2;
  options.info_log = NullLogger();
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, path, &db).ok());
  busy->db = db.get();
  std::vector<std::thread> writers;
  for (std::uint64_t i = 0; i < 3; ++i) writers.emplace_back([&, i] { FillSome(db.get(), i, 1500); });
  for (std::thread& writer : writers) writer.join();
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ASSERT_TRUE(db->WaitForCompact().ok());
  busy->db = nullptr;
  ASSERT_TRUE(db->Close().ok());
  EXPECT_GT(busy->acts.load(), 100);
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(path)) paths.push_back(file.path().string());
  EXPECT_EQ(watch->CompareAtRest(paths), "");
}

// One thread does everything, and it also calls the listener: so a listener must not wait.
TEST(ListenerTest, NoSlowdownWriteIsIncompleteAndReported) {
  class Greedy final : public EventListener {
   public:
    void OnFlushBegin(DB* db, const FlushJobInfo&) override {
      WriteOptions write;
      write.no_slowdown = true;
      Status s;
      for (int i = 0; i < 2000 && s.ok(); ++i) s = db->Put(write, NumberedKey(i), std::string(100, 'g'));
      last = s;
    }
    Status last;
  };
  TestStore store;
  const auto greedy = std::make_shared<Greedy>();
  store.options.listeners = {greedy};
  store.options.write_buffer_size = 4096;
  store.MustOpen();
  store.Put("a", "b");
  ASSERT_TRUE(store.db->Flush({.wait = false}).ok());
  store.executor->RunOneInstead();
  EXPECT_TRUE(greedy->last.IsIncomplete()) << greedy->last.ToString();
  greedy->last = Status::OK();
  store.options.listeners.clear();
  store.MustClose();
}

}  // namespace
}  // namespace cambium::testing
