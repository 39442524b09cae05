// Memory runs out in a call of the user, at each of its allocations. The call may fail, but afterwards everything is as
// it was: the call succeeds when it is repeated, and so do writes, flushes and compactions, also after a reopen.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cambium/backup_engine.h"
#include "cambium/checkpoint.h"
#include "cambium/compaction_filter.h"
#include "cambium/iterator.h"
#include "cambium/write_batch.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "manifest/state_index.h"
#include "testing/files/ample_file_system.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/scarce_memory.h"
#include "util/result.h"

namespace cambium::testing {
namespace {

constexpr int kKeys = 40;
constexpr int kAfter = 30;
constexpr std::uint64_t kSamples = 300;  // about as many allocations of a sampled call fail, or all
constexpr std::uint64_t kPlenty = 1u << 30;

// Tasks have all memory, as on threads of their own.
class AmpleExecutor final : public Executor {
 public:
  explicit AmpleExecutor(std::shared_ptr<ManualExecutor> base) : base_(std::move(base)) {}
  void Schedule(TaskPriority priority, std::function<void()> task) override {
    base_->Schedule(priority, std::move(task));
  }
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override {
    base_->ScheduleAfter(micros, priority, std::move(task));
  }
  bool RunOneInstead() override {
    const AmpleMemory ample;
    return base_->RunOneInstead();
  }

 private:
  const std::shared_ptr<ManualExecutor> base_;
};

// Keeps everything.
class KeepAll final : public CompactionFilter {
 public:
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
  [[nodiscard]] const char* Name() const override { return "KeepAll"; }
};

std::string ValueOf(int i, int round) {
  return std::string(i % 3 == 0 ? 20 : 200, static_cast<char>('a' + round % 26));
}

struct Shop : FamilyStore {
  Shop() {
    options.file_system = std::make_shared<AmpleFileSystem>(fs);
    options.create_missing_column_families = true;
    options.executor = std::make_shared<AmpleExecutor>(executor);
  }
  // Three runs or levels of the same keys, and newer values in the memtable.
  void Fill() {
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < kKeys; ++i) PutIn(handles[0], NumberedKey(i), ValueOf(i, round));
      if (round < 3) FlushOf(handles[0]);
    }
  }
  void ExpectContents() {
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(GetFrom(handles[0], NumberedKey(i)), ValueOf(i, 3)) << i;
  }
  // Runs a deep VerifyDB on a copy of the current files.
  [[nodiscard]] Status VerifyAt(const std::string& path) const {
    Options copy = options;
    VerifyReport report;
    {
      const AmpleMemory ample;
      copy.file_system = std::make_shared<AmpleFileSystem>(std::make_shared<SimFileSystem>(fs->Snapshot()));
    }
    CAMBIUM_RETURN_IF_ERROR(VerifyDB(path, copy, {.deep = true}, &report));
    return report.problem_count == 0 ? Status::OK() : Status::Corruption(report.problems.front());
  }
  // Of the closed database: the files that its MANIFEST does not name, and the large values to which nothing refers.
  // Files that readers or a later commit keep for a while are gone when the database is closed.
  [[nodiscard]] std::string StrayFiles() const {
    const Result<ManifestRead> read = ReadManifest(*fs, kStorePath);
    if (!read.ok()) return read.status().ToString();
    const StateIndex index(read->state);
    std::string stray;
    for (const NumberedFile& file : ListNumberedFiles(*fs, kStorePath).value()) {
      if (file.kind == FileKind::kOptions || file.kind == FileKind::kReserve) continue;
      const bool is_current = file.kind == FileKind::kManifest && file.number == read->number;
      if (!is_current && !index.HasFile(file.number)) stray += FilePath(kStorePath, file.kind, file.number) + " ";
    }
    for (const auto& [number, info] : read->state.segments) {
      if (info.kind != SegmentKind::kLargeValue || index.TotalOf(info.slot).references != 0) continue;
      stray += FilePath(kStorePath, FileKind::kLargeValue, number) + " has no reference ";
    }
    return stray;
  }
  // Whether there are at least `least` backups, and each can be restored.
  [[nodiscard]] bool HasOnlyWholeBackups(std::size_t least) const {
    BackupEngineOptions its("/backups");
    its.file_system = fs;
    std::unique_ptr<BackupEngine> engine;
    EXPECT_TRUE(BackupEngine::Open(its, &engine).ok());
    const std::vector<BackupInfo> backups = engine->GetBackupInfo();
    bool are_whole = engine->GetCorruptedBackups().empty() && backups.size() >= least;
    for (const BackupInfo& backup : backups) {
      are_whole = are_whole && engine->VerifyBackup(backup.backup_id, /*verify_with_checksum=*/true).ok();
    }
    return are_whole;
  }
  [[nodiscard]] bool IsListed(const std::string& family) const {
    const AmpleMemory ample;
    std::vector<std::string> names;
    EXPECT_TRUE(DB::ListColumnFamilies(options, kStorePath, &names).ok());
    return std::ranges::find(names, family) != names.end();
  }
  [[nodiscard]] std::string Numbered(const char* path) const { return path + std::to_string(count); }

  int count = 0;  // the call's own
};

struct Call {
  const char* name;
  std::function<Status(Shop&)> run;
  std::function<bool(Shop&)> is_done = nullptr;  // whether the call has had its effect; null: cannot be seen
  bool may_be_fatal = false;                     // the caller's thread writes a record of the MANIFEST
  bool repeats_fail = false;                     // a repeated call may report that all was done
  bool may_abort = false;                        // it may report a failed allocation as Aborted
  std::function<bool(Shop&)> is_half_done = nullptr;  // whether it has had only a part of its effect; null: no matter
  std::function<bool(Shop&)> has_begun = nullptr;     // whether it has had an effect: then it does not throw
  bool is_sampled = false;                            // only each k-th allocation of the call fails
};

// Calls of which each allocation fails. Longer than 70 lines: a table, one row per call.
std::vector<Call> ThoroughCalls() {
  const auto put = [](Shop& shop, std::size_t bytes) { return shop.db->Put({}, "call", std::string(bytes, 'v')); };
  const auto has_put = [](std::size_t bytes) {
    return [bytes](Shop& shop) { return shop.Get("call") == std::string(bytes, 'v'); };
  };
  const auto is_flushed = [](Shop& shop) { return shop.Property("num-entries-active-mem-table") == 0; };
  const auto is_buffer_small = [](Shop& shop) {
    return shop.db->GetOptions(shop.handles[0]).write_buffer_size == 32768;
  };
  const auto has_segments = [](Shop& shop, std::size_t family) {
    return shop.db->GetOptions(shop.handles[family]).blob_file_size == 65536;
  };
  const auto has_segments_in_all = [=](Shop& shop) { return has_segments(shop, 0) && has_segments(shop, 1); };
  return {
      {"CompactRange", [](Shop& shop) { return shop.db->CompactRange({}, nullptr, nullptr); }, is_flushed, true},
      {"CompactRangeThatClusters",
       [](Shop& shop) {
         CompactRangeOptions options;
         options.cluster_values = true;
         return shop.db->CompactRange(options, nullptr, nullptr);
       },
       is_flushed, true},
      {"CompactRangeThatCollects",
       [](Shop& shop) {
         CompactRangeOptions options;
         options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
         return shop.db->CompactRange(options, nullptr, nullptr);
       },
       is_flushed, true},
      {"Flush", [](Shop& shop) { return shop.db->Flush({}); }, is_flushed},
      {"Put", [put](Shop& shop) { return put(shop, 20); }, has_put(20)},
      {"PutOfASeparatedValue", [put](Shop& shop) { return put(shop, 300); }, has_put(300)},
      {"PutOfALargeValue", [put](Shop& shop) { return put(shop, 20'000); }, has_put(20'000), true},
      {"PutsThatFreezeAndRotate",
       [put](Shop& shop) {
         for (int i = 0; i < 20; ++i) CAMBIUM_RETURN_IF_ERROR(put(shop, 4'000));
         return Status::OK();
       },
       has_put(4'000), true},
      {"WriteOfABatch",
       [](Shop& shop) {
         WriteBatch batch;
         CAMBIUM_RETURN_IF_ERROR(batch.Put("call", "value"));
         CAMBIUM_RETURN_IF_ERROR(batch.Put(shop.handles[1], "call", std::string(500, 'v')));
         CAMBIUM_RETURN_IF_ERROR(batch.Delete("call2"));
         return shop.db->Write({}, &batch);
       },
       [](Shop& shop) {
         return shop.Get("call") == "value" && shop.GetFrom(shop.handles[1], "call") == std::string(500, 'v');
       }},
      {"WriteOfLargeValues",
       [](Shop& shop) {
         WriteBatch batch;
         CAMBIUM_RETURN_IF_ERROR(batch.Put("call", std::string(20'000, 'v')));
         CAMBIUM_RETURN_IF_ERROR(batch.Put(shop.handles[1], "call", std::string(20'000, 'w')));
         return shop.db->Write({}, &batch);
       },
       [](Shop& shop) { return shop.GetFrom(shop.handles[1], "call") == std::string(20'000, 'w'); }, true},
      {"DeleteRange", [](Shop& shop) { return shop.db->DeleteRange({}, shop.handles[0], "call", "call9"); }},
      {"CreateColumnFamily",
       [](Shop& shop) {
         ColumnFamilyHandle* handle = nullptr;
         const Status s = shop.db->CreateColumnFamily(shop.OptionsOf("new"), "new", &handle);
         const AmpleMemory ample;
         if (handle != nullptr) shop.handles.push_back(handle);
         return s;
       },
       [](Shop& shop) { return shop.handles.size() == 3; }, true, true, false, nullptr,
       [](Shop& shop) { return shop.IsListed("new"); }},
      {"DropColumnFamily", [](Shop& shop) { return shop.db->DropColumnFamily(shop.handles[1]); },
       [](Shop& shop) { return !shop.db->Put({}, shop.handles[1], "call", "value").ok(); }, true, true, false, nullptr,
       [](Shop& shop) { return !shop.IsListed("other"); }},
      {"SetOptions", [](Shop& shop) { return shop.db->SetOptions(shop.handles[0], {{"write_buffer_size", "32768"}}); },
       is_buffer_small, false, false, true, nullptr, is_buffer_small},
      // Changes the options of all families.
      {"SetOptionsOfSegments", [](Shop& shop) { return shop.db->SetOptions({{"blob_file_size", "65536"}}); },
       has_segments_in_all, false, false, true,
       [=](Shop& shop) { return has_segments(shop, 0) != has_segments(shop, 1); },
       [=](Shop& shop) { return has_segments(shop, 0) || has_segments(shop, 1); }},
      {"Scan",
       [](Shop& shop) {
         const std::unique_ptr<Iterator> it(shop.db->NewIterator({}, shop.handles[0]));
         int keys = 0;
         for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
         CAMBIUM_RETURN_IF_ERROR(it->status());
         return keys == kKeys ? Status::OK() : Status::NotFound("a key");
       },
       nullptr, false, false, true},
      {"Get",
       [](Shop& shop) {
         std::string value;
         CAMBIUM_RETURN_IF_ERROR(shop.db->Get({}, shop.handles[0], NumberedKey(1), &value));
         return value.size() == ValueOf(1, 3).size() ? Status::OK() : Status::NotFound("a part of the value");
       }},
      {"SnapshotAndFlush",
       [](Shop& shop) {
         const ManagedSnapshot snapshot(shop.db.get());
         return shop.db->Flush({});
       },
       is_flushed},
  };
}

// Calls of which each allocation fails, or each k-th if there are many.
// Longer than 70 lines: a table, one row per call.
std::vector<Call> SampledCalls() {
  const auto is_durable = [](Shop& shop) {
    ReadOptions read;
    read.durable_only = true;
    return shop.GetFrom(shop.handles[0], NumberedKey(1), read) == ValueOf(1, 3);
  };
  const auto has_cache_size = [](Shop& shop) { return shop.db->GetOptions().page_cache_size == 2'097'152; };
  const auto has_wal_size = [](Shop& shop) { return shop.db->GetOptions().max_total_wal_size == 524'288; };
  return {
      // After a kill, with runs, and with a log to replay.
      {.name = "Open",
       .run =
           [](Shop& shop) {
             {
               const AmpleMemory ample;
               if (shop.count++ == 0) shop.Kill();
               shop.options.file_system = std::make_shared<AmpleFileSystem>(shop.fs);
             }
             return shop.db == nullptr ? shop.OpenWith({"other"}) : Status::OK();
           },
       .is_done = [](Shop& shop) { return shop.db != nullptr; },
       .may_be_fatal = true},
      {.name = "Close",
       .run =
           [](Shop& shop) {
             {
               const AmpleMemory ample;
               shop.DestroyHandles();
             }
             if (shop.db != nullptr) CAMBIUM_RETURN_IF_ERROR(shop.db->Close());
             const AmpleMemory ample;
             shop.db.reset();
             return shop.OpenWith({"other"});
           },
       .may_abort = true},
      {.name = "MultiGet",
       .run =
           [](Shop& shop) {
             std::vector<std::string> names;
             for (int i = 0; i < kKeys; ++i) names.push_back(NumberedKey(i));
             std::vector<std::string> values;
             for (const Status& s : shop.db->MultiGet({}, {names.begin(), names.end()}, &values)) {
               CAMBIUM_RETURN_IF_ERROR(s);
             }
             const bool has_all = values.front() == ValueOf(0, 3) && values.back() == ValueOf(kKeys - 1, 3);
             return has_all ? Status::OK() : Status::NotFound("a value");
           },
       .may_abort = true},
      {.name = "NewIterators",
       .run =
           [](Shop& shop) {
             std::vector<Iterator*> made;
             const Status s = shop.db->NewIterators({}, shop.handles, &made);
             for (Iterator* const it : made) delete it;
             return s;
           }},
      // An iterator that has stopped for lack of memory seeks again.
      {.name = "SeekAndMove",
       .run =
           [](Shop& shop) {
             const std::unique_ptr<Iterator> it(shop.db->NewIterator({}));
             const auto move = [&] {
               it->SeekForPrev("k0009x");
               it->Prev();
               it->Seek(NumberedKey(5));
               it->Next();
               it->Prev();
               it->Prev();
             };
             const auto is_there = [&] {
               return it->Valid() && it->key() == NumberedKey(4) && it->value() == ValueOf(4, 3);
             };
             try {
               move();
             } catch (const std::bad_alloc&) {
               EXPECT_TRUE(!it->Valid() && it->status().IsAborted()) << it->status().ToString();
               move();
               EXPECT_TRUE(is_there()) << it->status().ToString();
               throw;
             }
             CAMBIUM_RETURN_IF_ERROR(it->status());
             return is_there() ? Status::OK() : Status::NotFound("a key");
           },
       .may_abort = true},
      {.name = "Snapshots",
       .run =
           [](Shop& shop) {
             const ManagedSnapshot first(shop.db.get());
             const ManagedSnapshot second(shop.db.get());
             ReadOptions read;
             read.snapshot = first.snapshot();
             std::string value;
             return shop.db->Get(read, NumberedKey(1), &value);
           }},
      {.name = "CreateColumnFamilies",
       .run =
           [](Shop& shop) {
             std::vector<ColumnFamilyHandle*> made;
             const Status s = shop.db->CreateColumnFamilies(shop.OptionsOf("new"), {"new", "new2"}, &made);
             const AmpleMemory ample;
             shop.handles.insert(shop.handles.end(), made.begin(), made.end());
             return s;
           },
       .is_done = [](Shop& shop) { return shop.handles.size() == 4; },
       .may_be_fatal = true,
       .repeats_fail = true,
       .is_half_done =
           [](Shop& shop) {
             std::vector<std::string> names;
             EXPECT_TRUE(DB::ListColumnFamilies(shop.options, kStorePath, &names).ok());
             return names.size() == 3;
           },
       .has_begun = [](Shop& shop) { return shop.IsListed("new") || shop.IsListed("new2"); }},
      {.name = "DropColumnFamilies",
       .run =
           [](Shop& shop) {
             if (shop.handles.size() == 2) {
               const AmpleMemory ample;
               shop.Create("new");
             }
             return shop.db->DropColumnFamilies({shop.handles[1], shop.handles[2]});
           },
       .is_done =
           [](Shop& shop) {
             return !shop.db->Put({}, shop.handles[1], "call", "value").ok() &&
                    !shop.db->Put({}, shop.handles[2], "call", "value").ok();
           },
       .may_be_fatal = true,
       .repeats_fail = true},
      {.name = "SetDBOptions",
       .run =
           [](Shop& shop) {
             return shop.db->SetDBOptions({{"page_cache_size", "2097152"}, {"max_total_wal_size", "524288"}});
           },
       .is_done = [=](Shop& shop) { return has_cache_size(shop) && has_wal_size(shop); },
       .may_abort = true,
       .is_half_done = [=](Shop& shop) { return has_cache_size(shop) != has_wal_size(shop); },
       .has_begun = [=](Shop& shop) { return has_cache_size(shop) || has_wal_size(shop); }},
      {.name = "Resume", .run = [](Shop& shop) { return shop.db->Resume(); }},
      {.name = "SyncWAL", .run = [](Shop& shop) { return shop.db->SyncWAL(); }, .is_done = is_durable},
      {.name = "FlushWAL", .run = [](Shop& shop) { return shop.db->FlushWAL(true); }, .is_done = is_durable},
      {.name = "WaitForCompact", .run = [](Shop& shop) { return shop.db->WaitForCompact(); }},
      {.name = "CreateCheckpoint",
       .run =
           [](Shop& shop) {
             std::unique_ptr<Checkpoint> checkpoint;
             CAMBIUM_RETURN_IF_ERROR(Checkpoint::Create(shop.db.get(), &checkpoint));
             CAMBIUM_RETURN_IF_ERROR(checkpoint->CreateCheckpoint(shop.Numbered("/copy")));
             ++shop.count;
             return Status::OK();
           },
       .is_done = [](Shop& shop) { return shop.VerifyAt("/copy0").ok(); },
       .is_half_done =
           [](Shop& shop) {
             FileInfo info;
             return shop.fs->GetInfo(shop.Numbered("/copy"), &info).ok();
           }},
      // The second try stores what the first one has left.
      {.name = "CreateNewBackup",
       .run =
           [](Shop& shop) {
             BackupEngineOptions options("/backups");
             {
               const AmpleMemory ample;
               options.file_system = shop.options.file_system;
               options.clock = shop.clock;
             }
             std::unique_ptr<BackupEngine> engine;
             CAMBIUM_RETURN_IF_ERROR(BackupEngine::Open(options, &engine));
             return engine->CreateNewBackup(CreateBackupOptions(), shop.db.get());
           },
       .is_done = [](Shop& shop) { return shop.HasOnlyWholeBackups(1); },
       .is_half_done = [](Shop& shop) { return !shop.HasOnlyWholeBackups(0); }},
      {.name = "SpaceProperty",
       .run =
           [](Shop& shop) {
             std::map<std::string, std::string> figures;
             const bool is_known = shop.db->GetMapProperty("cambium.space", &figures);
             return is_known && !figures.empty() ? Status::OK() : Status::NotFound("the figures");
           }},
      {.name = "VerifyDB", .run = [](Shop& shop) { return shop.VerifyAt(kStorePath); }, .may_abort = true},
      {.name = "Trace",
       .run =
           [](Shop& shop) {
             {
               const AmpleMemory ample;
               static_cast<void>(shop.db->EndTrace());  // if the first try could not
             }
             ++shop.count;  // a try that failed may have left its file
             CAMBIUM_RETURN_IF_ERROR(shop.db->StartTrace({}, shop.Numbered("/trace")));
             CAMBIUM_RETURN_IF_ERROR(shop.db->Put({}, "call", "value"));
             std::string value;
             CAMBIUM_RETURN_IF_ERROR(shop.db->Get({}, "call", &value));
             return shop.db->EndTrace();
           },
       .is_done = [](Shop& shop) { return shop.Get("call") == "value"; },
       .may_abort = true},
  };
}

std::vector<Call> Calls() {
  std::vector<Call> calls = ThoroughCalls();
  for (Call& call : SampledCalls()) {
    call.is_sampled = true;
    calls.push_back(std::move(call));
  }
  return calls;
}

struct Tally {
  std::uint64_t allocations = 0;  // by the call of the last try
  int fatal_errors = 0;           // databases that took no writes afterwards
};

// Opens a filled database and lets the call have `granted` allocations. Returns whether it needed more.
bool Try(const Call& call, std::uint64_t granted, bool has_filter, Tally* tally) {
  static const KeepAll filter;
  Shop shop;
  if (has_filter) shop.options.compaction_filter = &filter;
  shop.MustOpenWith({"other"});
  shop.Fill();
  std::uint64_t refused = 0;
  bool has_thrown = false;
  Status s;
  {
    ScarceMemory scarce(granted);
    try {
      s = call.run(shop);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    refused = scarce.End();
    tally->allocations = granted - scarce.left();
  }
  EXPECT_TRUE(refused != 0 || s.ok()) << s.ToString();
  // A call that does not get memory throws, or succeeds if it can do without this memory. It may return an error in two
  // cases: it may have written a record of the MANIFEST; or the error is Aborted and the call is one of an iterator,
  // which must then seek again.
  EXPECT_TRUE(has_thrown || s.ok() || call.may_be_fatal || (s.IsAborted() && call.may_abort)) << s.ToString();
  if (!has_thrown && s.ok() && call.is_done != nullptr) {
    EXPECT_TRUE(call.is_done(shop)) << "it returned OK, and nothing was done";
  }
  EXPECT_FALSE(call.is_half_done != nullptr && call.is_half_done(shop)) << "a part of its work was done";
  const bool throws_late = has_thrown && call.has_begun != nullptr && call.has_begun(shop);
  const Status again = call.run(shop);
  // If memory has run out after a record of the MANIFEST was written, only an Open shows the state of the disk.
  const bool is_fatal = again.severity() == Status::Severity::kFatal;
  EXPECT_TRUE(!is_fatal || call.may_be_fatal) << again.ToString();
  EXPECT_TRUE(is_fatal || !throws_late) << "it threw, but its work was done";
  tally->fatal_errors += is_fatal ? 1 : 0;
  EXPECT_TRUE(is_fatal || call.repeats_fail || again.ok()) << again.ToString();
  if (shop.handles.empty()) return false;  // it could not be opened again
  for (int i = 0; i < kAfter && !is_fatal; ++i) {
    EXPECT_EQ(shop.db->Put({}, "after" + std::to_string(i), ValueOf(i, i)).ToString(), "OK");
  }
  if (!is_fatal) {
    EXPECT_EQ(shop.db->Flush({}).ToString(), "OK");
    EXPECT_EQ(shop.db->CompactRange({}, nullptr, nullptr).ToString(), "OK");
    for (ColumnFamilyHandle* const handle : shop.handles) {
      const Status flushed = shop.db->Flush({}, handle);
      EXPECT_TRUE(flushed.ok() || flushed.IsColumnFamilyDropped()) << flushed.ToString();
    }
  }
  shop.ExpectContents();
  shop.DestroyHandles();
  const Status closed = shop.db->Close();
  EXPECT_TRUE(is_fatal || closed.ok()) << closed.ToString();
  shop.db.reset();
  EXPECT_EQ(is_fatal ? "" : shop.StrayFiles(), "");
  std::vector<std::string> names;
  EXPECT_TRUE(DB::ListColumnFamilies(shop.options, kStorePath, &names).ok());
  std::erase(names, kDefaultColumnFamilyName);
  shop.MustOpenWith(names);
  shop.ExpectContents();
  for (int i = 0; i < kAfter && !is_fatal; ++i) {
    EXPECT_EQ(shop.GetFrom(shop.handles[0], "after" + std::to_string(i)), ValueOf(i, i));
  }
  shop.Close();
  EXPECT_EQ(shop.Verify(), "");
  return refused != 0;
}

class CallMemoryTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(CallMemoryTest, DatabaseWorksAfterAFailedAllocation) {
  const Call call = Calls()[GetParam()];
  for (const bool has_filter : {false, true}) {
    Tally tally;
    Try(call, kPlenty, has_filter, &tally);
    std::printf("%s: %llu allocations\n", call.name, static_cast<unsigned long long>(tally.allocations));
    // With and without a filter, different allocations of a sampled call fail.
    const std::uint64_t step = kSweepStep * (call.is_sampled ? 2 * (1 + tally.allocations / kSamples) : 1);
    std::uint64_t granted = has_filter ? step / 2 : 0;
    int tries = 0;
    for (; Try(call, granted, has_filter, &tally) && !HasFailure(); granted += step) ++tries;
    EXPECT_LE(tally.fatal_errors * 2, tries) << "most failures leave a database that goes on";
    EXPECT_FALSE(HasFailure()) << call.name << ", after " << granted << " allocations, filter: " << has_filter;
  }
}

// Lets each allocation of this call fail.
void TryAll(const std::string& name) {
  for (const Call& call : Calls()) {
    Tally tally;
    std::uint64_t granted = 0;
    while (call.name == name && Try(call, granted, /*has_filter=*/true, &tally)) ++granted;
  }
}

TEST(CallMemoryMutantTest, LeakedCompactionClaimIsDetected) {
  const auto leave_claim = [] {
    const MutantScope mutant(Mutant::kExceptionKeepsClaim);
    TryAll("CompactRange");
  };
  EXPECT_DEATH(leave_claim(), "a call waits, but no task is left");
}

TEST(CallMemoryMutantTest, ViewInstalledByFailedCallIsDetected) {
  const auto fail_late = [] {
    const MutantScope mutant(Mutant::kViewRetiredTooLate);
    TryAll("Flush");
  };
  EXPECT_DEATH(fail_late(), "only a family that is there is frozen");
}

// Returns the failures of TryAll.
std::string FailuresOf(const std::string& name) {
  ::testing::TestPartResultArray failures;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    TryAll(name);
  }
  std::string all;
  for (int i = 0; i < failures.size(); ++i) all += failures.GetTestPartResult(i).message();
  return all;
}

TEST(CallMemoryMutantTest, FileOfFailedCommitIsDetected) {
  const MutantScope mutant(Mutant::kFailedCommitKeepsFiles);
  EXPECT_NE(FailuresOf("PutOfALargeValue").find("StrayFiles"), std::string::npos);
}

TEST(CallMemoryMutantTest, FileOfFailedBatchIsDetected) {
  const MutantScope mutant(Mutant::kExceptionKeepsLargeValues);
  EXPECT_NE(FailuresOf("WriteOfLargeValues").find("has no reference"), std::string::npos);
}

TEST(CallMemoryMutantTest, ExceptionAfterTheChangeIsDetected) {
  const MutantScope mutant(Mutant::kExceptionAfterChange);
  for (const char* const name : {"CreateColumnFamily", "DropColumnFamily", "SetOptions"}) {
    EXPECT_NE(FailuresOf(name).find("it threw, but"), std::string::npos) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CallMemoryTest, ::testing::Range<std::size_t>(0, Calls().size()),
                         [](const auto& its) { return std::string(Calls()[its.param].name); });

}  // namespace
}  // namespace cambium::testing
