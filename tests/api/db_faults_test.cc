// Full disks, failed syncs, files that cannot be removed.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "testing/files/forwarding_file_system.h"
#include "testing/test_store.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

std::string KeyOf(std::uint64_t i) { return "k" + std::to_string(i); }

// ---- A full disk ----

TEST(DbFaultsFullDiskTest, WritesFailUntilThereIsSpaceAndReadsWork) {
  TestStore store;
  store.MustOpen();
  std::map<std::string, std::string> model;
  for (int i = 0; i < 50; ++i) {
    store.Put(KeyOf(i), model[KeyOf(i)] = std::string(150, 'a'));
  }
  for (int round = 0; round < 5; ++round) {
    store.fs->SetQuota(store.BytesOnDisk() + 40'000);
    Status s;
    for (int i = 0; i < 2000; ++i) {
      const std::string key = KeyOf(i % 300);
      const std::string value(100 + i % 900, static_cast<char>('b' + round));
      s = store.db->Put({}, key, value);
      if (!s.ok()) break;
      model[key] = value;
    }
    ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
    EXPECT_NE(s.severity(), Status::Severity::kFatal);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(store.db->Put({}, "x", std::string(20'000, 'x')).IsNoSpace());
    for (const auto& [key, value] : model) ASSERT_EQ(store.Get(key), value);
    EXPECT_EQ(store.Get("x"), "NotFound");
    store.fs->SetQuota(~std::uint64_t{0});
    store.Put("round", std::to_string(round), true);
    model["round"] = std::to_string(round);
    store.RunUntilIdle();
    for (const auto& [key, value] : model) ASSERT_EQ(store.Get(key), value);
    if (round % 2 == 0) store.Reopen();
    for (const auto& [key, value] : model) ASSERT_EQ(store.Get(key), value);
    ASSERT_EQ(store.Verify(), "");
  }
}

// Fills the disk, deletes everything, and repeats. Deletes free their space, so no round writes much less than the
// first, and failed attempts leave nothing that accumulates.
TEST(DbFaultsFullDiskTest, FillingAndDeletingLeaksNoSpace) {
  TestStore store;
  store.options.blob_file_size = 16 << 10;
  store.MustOpen();
  store.Put("forever", "f", true);
  store.Flush();
  const std::uint64_t quota = 400'000;
  store.fs->SetQuota(quota);
  std::uint64_t first = 0;
  for (int round = 0; round < 30; ++round) {
    std::uint64_t written = 0;
    Status s;
    for (int failures = 0; failures < 5;) {
      s = store.db->Put({}, KeyOf(written), std::string(500, 'v'));
      if (s.ok()) {
        ++written;
        ASSERT_LT(written, 2000u);
      } else {
        ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
        ++failures;
      }
    }
    if (round == 0) first = written;
    ASSERT_GT(first, 100u);
    ASSERT_GE(written, first / 2) << "round " << round << " of a disk where the first wrote " << first;
    // Space for the deletes, as an operator would free it.
    store.fs->SetQuota(quota + 300'000);
    for (std::uint64_t i = 0; i < written; ++i) ASSERT_TRUE(store.db->Delete({}, KeyOf(i)).ok());
    store.Compact();
    ASSERT_TRUE(store.db->SyncWAL().ok());
    store.executor->RunAll();
    store.fs->SetQuota(quota);
    ASSERT_EQ(store.Get("forever"), "f");
  }
  store.fs->SetQuota(~std::uint64_t{0});
  store.Reopen();
  EXPECT_EQ(store.Get("forever"), "f");
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// If a write, a rotation or a flush finds no space, it removes the files that it has made.
TEST(DbFaultsFullDiskTest, FailedAttemptsLeaveNoFiles) {
  for (const std::uint64_t room : {0u, 100u, 300u, 1'000u, 5'000u, 20'000u, 60'000u}) {
    TestStore store;
    store.MustOpen();
    for (int i = 0; i < 100; ++i) store.Put(KeyOf(i), std::string(100, 'a'));
    store.fs->SetQuota(store.BytesOnDisk() + room);
    for (int i = 0; i < 60; ++i) {
      static_cast<void>(store.db->Put({}, KeyOf(i), std::string(700, 'b')));
      static_cast<void>(store.db->Put({}, "large", std::string(9'000, 'b')));
      static_cast<void>(store.db->Flush({}));
    }
    store.executor->RunAll();
    const std::size_t files = store.Files().size();
    for (int i = 0; i < 60; ++i) {
      static_cast<void>(store.db->Put({}, KeyOf(i), std::string(700, 'b')));
      static_cast<void>(store.db->Put({}, "large", std::string(9'000, 'b')));
      static_cast<void>(store.db->Flush({}));
    }
    store.executor->RunAll();
    EXPECT_LE(store.Files().size(), files + 3) << "room for " << room << " bytes";
    store.fs->SetQuota(~std::uint64_t{0});
    store.Put("after", "a", true);
    store.Compact();
    store.RunUntilIdle();
    EXPECT_LE(store.Files().size(), 20u);
    store.MustClose();
    EXPECT_EQ(store.Verify(), "");
  }
}

// Delayed allocation: the write succeeds and the sync finds no space. That is a failed sync like any other (H14),
// unless no record names the file yet.
std::string WriteThatFindsNoSpaceWhenSynced() {
  SimOptions sim;
  sim.delayed_allocation = true;
  TestStore store(sim);
  store.MustOpen();
  store.Put("a", "1", true);
  store.fs->SetQuota(store.BytesOnDisk() + 4096);
  store.Put("b", std::string(8'000, 'b'));
  WriteOptions sync;
  sync.sync = true;
  const Status s = store.db->Put(sync, "c", "3");
  EXPECT_FALSE(s.ok());
  if (s.severity() != Status::Severity::kFatal) return "not fatal: " + s.ToString();
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_FALSE(store.db->Put({}, "d", "4").ok());
  EXPECT_FALSE(store.db->Close().ok());
  store.db.reset();
  store.fs->SetQuota(~std::uint64_t{0});
  store.MustOpen();
  EXPECT_EQ(store.Get("a"), "1");
  EXPECT_EQ(store.Get("d"), "NotFound");
  return "";
}

TEST(DbFaultsFullDiskTest, NoSpaceFromTheLogSyncIsFatal) {
  EXPECT_EQ(WriteThatFindsNoSpaceWhenSynced(), "");
  const MutantScope mutant(Mutant::kNoSpaceSyncIsNotFatal);
  EXPECT_NE(WriteThatFindsNoSpaceWhenSynced(), "");
}

// ---- A failed sync ----

// The database is read-only until it is opened again: reads work, everything else fails with the first error, and no
// file is removed.
void CheckFatal(TestStore* store, const Status& first) {
  ASSERT_EQ(first.severity(), Status::Severity::kFatal) << first.ToString();
  const auto before = store->Files();
  WriteOptions sync;
  sync.sync = true;
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("x", "y").ok());
  DB& db = *store->db;
  for (const Status& s : {db.Put({}, "x", "y"), db.Put(sync, "x", "y"), db.Delete({}, "a"), db.Write({}, &batch),
                          db.Flush({}), db.SyncWAL(), db.FlushWAL(true), db.CompactRange({}, nullptr, nullptr),
                          db.WaitForCompact()}) {
    EXPECT_EQ(s.severity(), Status::Severity::kFatal) << s.ToString();
  }
  EXPECT_TRUE(db.Resume().IsNotSupported());
  EXPECT_EQ(store->Get("a"), "1");
  EXPECT_EQ(store->Get("x"), "NotFound");
  const std::unique_ptr<Iterator> it(db.NewIterator({}));
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid() && it->key() == Slice("a"));
  EXPECT_EQ(store->Property("background-errors"), 1u);
  store->executor->RunAll();
  for (const auto& [path, bytes] : store->Files()) EXPECT_TRUE(before.contains(path)) << path << " was made";
  for (const auto& [path, bytes] : before) EXPECT_TRUE(store->Files().contains(path)) << path << " was removed";
}

TEST(DbFaultsTest, LogSyncFailureStopsWritesUntilReopen) {
  for (const SyncFailure failure : {SyncFailure::kDropKeepCache, SyncFailure::kDropRevertCache, SyncFailure::kFalse}) {
    for (const bool no_space : {false, true}) {
      TestStore store;
      store.MustOpen();
      store.Put("a", "1", true);
      SimFault fault;
      fault.kind = SimOpKind::kSync;
      fault.sync = failure;
      if (no_space) fault.status = Status::NoSpace("injected");
      store.fs->AddFault(fault);
      WriteOptions sync;
      sync.sync = true;
      CheckFatal(&store, store.db->Put(sync, "b", "2"));
      EXPECT_FALSE(store.db->Close().ok());  // reports the error
      store.db.reset();
      store.MustOpen();
      EXPECT_EQ(store.Get("a"), "1");
      const std::string in_doubt = store.Get("b");  // complete or absent
      EXPECT_TRUE(in_doubt == "2" || in_doubt == "NotFound") << in_doubt;
      store.Put("c", "3", true);
      store.MustClose();
      EXPECT_EQ(store.Verify(), "");
    }
  }
}

// db.h and docs/LIMITS.md: a write whose sync has failed is in doubt. Until the database is opened again all reads see
// it, as any write that is not durable, except those that ask for durable data. The failed call had made it visible
// before its sync, so readers may have acted on it: hiding it afterwards would not undo that. The same holds for all
// other writes since the last sync.
TEST(DbFaultsTest, SyncedWriteWhoseSyncFailedIsVisibleUntilTheDatabaseIsOpenedAgain) {
  for (const bool is_batch : {false, true}) {
    TestStore store;
    store.MustOpen();
    store.Put("a", "durable", true);
    store.Put("b", "acknowledged");  // not synced, so the failed sync was its sync too
    SimFault fault;
    fault.kind = SimOpKind::kSync;
    store.fs->AddFault(fault);
    WriteOptions sync;
    sync.sync = true;
    WriteBatch batch;
    ASSERT_TRUE(batch.Put("c", "in doubt").ok());
    const Status failed = is_batch ? store.db->Write(sync, &batch) : store.db->Put(sync, "c", "in doubt");
    ASSERT_EQ(failed.severity(), Status::Severity::kFatal) << failed.ToString();
    const auto keys_of = [&](const ReadOptions& read) {
      std::string keys;
      const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
      for (it->SeekToFirst(); it->Valid(); it->Next()) keys += it->key().ToString();
      return keys;
    };
    EXPECT_EQ(store.Get("b"), "acknowledged");
    EXPECT_EQ(store.Get("c"), "in doubt");
    EXPECT_EQ(keys_of({}), "abc");
    ReadOptions durable;
    durable.durable_only = true;
    EXPECT_EQ(store.Get("b", durable), "NotFound");
    EXPECT_EQ(store.Get("c", durable), "NotFound");
    EXPECT_EQ(keys_of(durable), "a");
    EXPECT_FALSE(store.db->Close().ok());
    store.db.reset();
    store.MustOpen();
    EXPECT_EQ(store.Get("a"), "durable");
    const std::string earlier = store.Get("b");
    const std::string later = store.Get("c");
    EXPECT_TRUE(earlier == "acknowledged" || earlier == "NotFound") << earlier;
    EXPECT_TRUE(later == "in doubt" || later == "NotFound") << later;
    EXPECT_EQ(keys_of({}), later != "NotFound" ? "abc" : earlier != "NotFound" ? "ab" : "a") << "a prefix";
  }
}

// Hazards H12, H16: a write whose sync failed, then another write. Returns "" if that one is rejected, otherwise what
// happened to it.
std::string WritingOnAfterAFailedSync(SyncFailure failure) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1", true);
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  fault.sync = failure;
  store.fs->AddFault(fault);
  WriteOptions sync;
  sync.sync = true;
  EXPECT_FALSE(store.db->Put(sync, "b", "2").ok());
  const Status later = store.db->Put(sync, "c", "3");
  if (!later.ok()) return later.severity() == Status::Severity::kFatal ? "" : later.ToString();
  Prng prng(1);
  TestStore after(std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost))));
  const Status opened = after.Open();
  if (!opened.ok()) return "acknowledged after a failed sync, and after a cut " + opened.ToString();
  if (after.Get("c") != "3") return "acknowledged after a failed sync, and after a cut " + after.Get("c");
  return "acknowledged after a failed sync, and reported as failed: " + after.Get("b");
}

TEST(DbFaultsTest, NoWriteIsAcknowledgedAfterFailedSync) {
  for (const SyncFailure failure : {SyncFailure::kDropKeepCache, SyncFailure::kDropRevertCache, SyncFailure::kFalse}) {
    EXPECT_EQ(WritingOnAfterAFailedSync(failure), "");
    const MutantScope mutant(Mutant::kIgnoreFailedSync);
    EXPECT_NE(WritingOnAfterAFailedSync(failure), "");
  }
}

// Fails each sync of a flush, a rotation, a compaction, a large value and a MANIFEST, of files and of the directory.
TEST(DbFaultsTest, SyncFailureOfAnyFileStopsWrites) {
  int fatal = 0;
  for (const SimOpKind kind : {SimOpKind::kSync, SimOpKind::kSyncDirectory}) {
    for (std::uint64_t n = 1;; ++n) {
      TestStore store;
      store.MustOpen();
      store.Put("a", "1", true);
      store.Flush();
      SimFault fault;
      fault.kind = kind;
      fault.nth = n;
      store.fs->AddFault(fault);
      Status s;
      for (int i = 0; i < 60 && s.ok(); ++i) s = store.db->Put({}, "b" + std::to_string(i), std::string(1000, 'b'));
      if (s.ok()) s = store.db->Put({}, "large", std::string(9'000, 'l'));
      if (s.ok()) s = store.db->Flush({});
      if (s.ok()) s = store.db->CompactRange({}, nullptr, nullptr);
      if (s.ok()) s = store.db->WaitForCompact();
      if (store.fs->fault_hits() == 0) {
        EXPECT_TRUE(s.ok());
        break;
      }
      SCOPED_TRACE(std::string(SimOpName(kind)) + " " + std::to_string(n));
      CheckFatal(&store, s);
      ++fatal;
      store.db.reset();
      store.MustOpen();
      EXPECT_EQ(store.Get("a"), "1");
      store.MustClose();
      ASSERT_EQ(store.Verify(), "");
    }
  }
  EXPECT_GT(fatal, 10);
}

// ---- Other errors ----

// Hazards H15, H46: each write call fails once, completely or in part. The batch is not visible, later ones are, and
// all acknowledged data survives a power cut.
TEST(DbFaultsTest, WriteFailureOfAnyFileLosesOnlyThatBatch) {
  for (const std::uint64_t bytes : {0u, 20u, 300u}) {
    for (std::uint64_t n = 1;; ++n) {
      SCOPED_TRACE("write " + std::to_string(n) + ", " + std::to_string(bytes) + " bytes land");
      TestStore store;
      store.MustOpen();
      SimFault fault;
      fault.kind = SimOpKind::kWrite;
      fault.nth = n;
      fault.short_bytes = bytes;
      store.fs->AddFault(fault);
      std::map<std::string, std::string> model;
      for (int i = 0; i < 60; ++i) {
        const std::string value(i % 7 == 0 ? 9'000 : 700, static_cast<char>('a' + i % 26));
        const Status s = store.db->Put({}, KeyOf(i), value);
        if (s.ok()) {
          model[KeyOf(i)] = value;
        } else {
          ASSERT_NE(s.severity(), Status::Severity::kFatal) << s.ToString();
          ASSERT_EQ(store.Get(KeyOf(i)), "NotFound");
        }
        if (i % 20 == 19) static_cast<void>(store.db->Flush({}));
      }
      const bool hit = store.fs->fault_hits() > 0;
      store.fs->ClearFaults();
      store.Put("last", "l", true);
      model["last"] = "l";
      Prng prng(n);
      TestStore after(std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng)));
      after.MustOpen();
      for (int i = 0; i < 60; ++i) {
        const auto expected = model.find(KeyOf(i));
        ASSERT_EQ(after.Get(KeyOf(i)), expected == model.end() ? "NotFound" : expected->second);
      }
      ASSERT_EQ(after.Get("last"), "l");
      after.MustClose();
      ASSERT_EQ(after.Verify(), "");
      store.RunUntilIdle();
      store.MustClose();
      ASSERT_EQ(store.Verify(), "");
      if (!hit) break;
    }
  }
}

// Rule A8: each read that a lookup makes fails in turn. Returns "" if each failure is an error for the caller too.
std::string LookUpsThatCannotRead() {
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < 200; ++i) store.Put(KeyOf(i), std::string(i % 2 == 0 ? 10 : 100, 'v'));
  store.Compact();
  store.MustClose();
  int failed = 0;
  for (const char* key : {"k50", "k51"}) {
    for (std::uint64_t n = 1;; ++n) {
      TestStore copy(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
      // Under a ceiling, the Open would read the index, and leave its pages in the cache.
      copy.options.max_space_amplification = 0;
      copy.MustOpen();
      SimFault fault;
      fault.kind = SimOpKind::kRead;
      fault.nth = n;
      copy.fs->AddFault(fault);
      const std::string found = copy.Get(key);
      if (copy.fs->fault_hits() == 0) break;
      ++failed;
      if (found.find("injected fault") == std::string::npos) return key + (": " + found);
    }
  }
  EXPECT_GT(failed, 3);
  return "";
}

TEST(DbFaultsTest, ReadFailureIsNeverNotFound) {
  EXPECT_EQ(LookUpsThatCannotRead(), "");
  const MutantScope mutant(Mutant::kLookupErrorIsNotFound);
  EXPECT_NE(LookUpsThatCannotRead(), "");
}

// If a removal fails, that file stays until the next Open; the other files of the same job are removed.
TEST(DbFaultsTest, UnlinkFailureKeepsOnlyThatFile) {
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < 300; ++i) store.Put(KeyOf(i % 10), std::string(1000, 'a'));
  SimFault fault;
  fault.kind = SimOpKind::kUnlink;
  fault.nth = 2;
  store.fs->AddFault(fault);
  store.Compact();
  store.executor->RunAll();
  ASSERT_EQ(store.fs->fault_hits(), 1u);
  for (int i = 0; i < 300; ++i) store.Put(KeyOf(i % 10), std::string(1000, 'b'));
  store.Compact();
  store.executor->RunAll();
  EXPECT_LE(store.FilesOf(".log").size(), store.Property("num-blob-files") + 1);
  store.Reopen();
  EXPECT_LE(store.FilesOf(".log").size(), store.Property("num-blob-files"));
}

Status CloseWithAFailingSync() {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  store.fs->AddFault(fault);
  return store.db->Close();
}

TEST(DbFaultsTest, CloseReportsFailedSync) {
  EXPECT_EQ(CloseWithAFailingSync().severity(), Status::Severity::kFatal);
  const MutantScope mutant(Mutant::kCloseHidesError);
  EXPECT_TRUE(CloseWithAFailingSync().ok());
}

// Hazard H58: acknowledged writes without sync survive a clean Close and a power cut.
bool CloseLosesTheTail() {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.MustClose();
  Prng prng(1);
  TestStore after(std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost))));
  return !after.Open().ok() || after.Get("a") != "1";
}

TEST(DbFaultsTest, CloseMakesEverythingDurable) {
  EXPECT_FALSE(CloseLosesTheTail());
  const MutantScope mutant(Mutant::kCloseWithoutSync);
  EXPECT_TRUE(CloseLosesTheTail());
}

// ---- The user's code throws ----

class ThrowingExecutor final : public Executor {
 public:
  void Schedule(TaskPriority priority, std::function<void()> task) override {
    if (throws) ++thrown;
    if (throws) throw std::runtime_error("no more tasks");
    tasks_.Schedule(priority, std::move(task));
  }
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override {
    tasks_.ScheduleAfter(micros, priority, std::move(task));
  }
  bool RunOneInstead() override { return tasks_.RunOneInstead(); }

  bool throws = false;
  int thrown = 0;

 private:
  ManualExecutor tasks_;
};

// A reader that ends releases files, in destructors. If the job that removes them cannot be scheduled, a later one
// removes them.
TEST(DbFaultsExceptionTest, AReaderMayEndAlthoughTheExecutorThrows) {
  TestStore store;
  const auto executor = std::make_shared<ThrowingExecutor>();
  store.options.executor = executor;
  store.MustOpen();
  const auto write_all = [&](char letter) {
    for (int i = 0; i < 100; ++i) store.Put(NumberedKey(i), std::string(300, letter));
    store.Flush();
    ASSERT_TRUE(store.db->CompactRange({}, nullptr, nullptr).ok());
  };
  write_all('a');
  std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  write_all('b');
  while (executor->RunOneInstead()) {
  }
  executor->throws = true;
  it.reset();
  executor->throws = false;
  EXPECT_GT(executor->thrown, 0);
  write_all('c');
  EXPECT_EQ(store.Get(NumberedKey(7)), std::string(300, 'c'));
  store.MustClose();
}

class NoMemoryAfterDirectorySync final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Status SyncDirectory(const std::string& path) override {
    static_cast<void>(base().SyncDirectory(path));
    if (is_scarce) throw std::bad_alloc();
    return Status::OK();
  }
  bool is_scarce = false;
};

// The sync may have failed, and the kernel reports that only once.
TEST(DbFaultsExceptionTest, DirectorySyncWithoutMemoryForItsResultIsFatal) {
  TestStore store;
  const auto scarce = std::make_shared<NoMemoryAfterDirectorySync>(store.fs);
  store.options.file_system = scarce;
  store.MustOpen();
  store.Put("a", "1");
  scarce->is_scarce = true;
  const Status s = store.db->Flush({});
  scarce->is_scarce = false;
  EXPECT_EQ(s.severity(), Status::Severity::kFatal) << s.ToString();
  EXPECT_EQ(store.db->Put({}, "a", "2").severity(), Status::Severity::kFatal);
  static_cast<void>(store.db->Close());
  store.db.reset();
  store.MustOpen();
  EXPECT_EQ(store.Get("a"), "1");
  store.MustClose();
}

}  // namespace
}  // namespace cambium::testing
