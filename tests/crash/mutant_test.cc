// A rule counts as tested only if a test fails without it. Each scenario here passes, and must fail with its mutant
// switched on. The last tests check that a test switches on every mutant, and covers every hazard in docs/TESTING.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "crash/crash_explorer.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "manifest/manifest.h"
#include "manifest/manifest_reader.h"
#include "testing/hook_scope.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/program/program_database.h"
#include "util/fault_point.h"

namespace cambium::testing {
namespace {

// ---- Programs of a few operations, with a crash at every call ----

struct CrashProgram {
  Program program;
  ExplorerSettings settings;

  CrashProgram() {
    program.seed = 5;
    program.config.blob_file_size = 16u << 10;
    program.config.write_buffer_size = 64u << 10;
    for (int i = 0; i < 8; ++i) program.universe.push_back("key" + std::to_string(i));
    program.hot_keys = program.universe.size();
    settings.images_max = 100'000;
    settings.variants_min = settings.variants_max = 6;
    settings.rules = false;  // the crash alone must detect the mutant
  }
  CrashProgram& Add(Operation op) {
    op.id = program.operations.size() + 1;
    program.operations.push_back(std::move(op));
    return *this;
  }
  CrashProgram& Put(int key, std::uint32_t size, Durability durability = Durability::kNone) {
    Operation op;
    op.mutations.push_back({program.universe[static_cast<std::size_t>(key)], false, size, false});
    op.durability = durability;
    return Add(std::move(op));
  }
  CrashProgram& Batch(std::uint32_t size, Durability durability = Durability::kNone) {
    Operation op;
    op.durability = durability;
    for (std::size_t i = 0; i < 8; ++i) op.mutations.push_back({program.universe[i], false, size, false});
    return Add(std::move(op));
  }
  CrashProgram& Do(Operation::Verb verb, bool flag = false, std::uint64_t count = 0) {
    Operation op;
    op.verb = verb;
    op.flag = flag;
    op.count = count;
    return Add(std::move(op));
  }
  CrashProgram& Overwrite(int times, std::uint32_t size) {
    for (int i = 0; i < times; ++i) Put(i % 8, size);
    return *this;
  }
  // Loads enough keys into the tree that a flush of a few makes a run.
  CrashProgram& Load() {
    program.config.sweep_ratio = 1;
    Operation op;
    for (int i = 0; i < 300; ++i) {
      program.universe.push_back("load" + std::to_string(i));
      op.mutations.push_back({program.universe.back(), false, 20, false});
    }
    Add(std::move(op)).Do(Operation::Verb::kFlush, true).Do(Operation::Verb::kCompact);
    settings.images_max = 60;
    return *this;
  }
  CrashProgram& AlwaysLiveOn() {
    settings.live_on_percent = 100;
    return *this;
  }
  // Runs the program with a few seeds. Returns the first violation, or "".
  std::string Run(std::uint64_t seeds = 3) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      program.seed = seed;
      CrashExplorer explorer(program, seed, settings);
      if (std::string wrong = explorer.Run(); !wrong.empty()) return wrong;
    }
    return "";
  }
};

using Verb = Operation::Verb;

std::string DamagedRecordAmongOthers() { return CrashProgram().Overwrite(16, 700).Run(); }
std::string BatchOfManySectors() { return CrashProgram().Batch(700).Batch(900).Run(); }
std::string SyncedPuts() {
  CrashProgram test;
  test.Put(0, 100, Durability::kSync).Put(1, 700, Durability::kSync).Put(2, 5000, Durability::kSync);
  return test.Run();
}
// A power cut may remove the tail of the older segment, or all of it, and nothing of the newer one.
std::string SegmentsWithoutASync() {
  CrashProgram test;
  test.program.config.max_total_wal_size = 256u << 10;
  test.settings.images_max = 60;
  return test.Overwrite(30, 1500).Run(6);
}
// Everything that a read showed as durable must be found after any power cut.
std::string ReadsOfWhatIsDurable() {
  return CrashProgram().Put(0, 100).Do(Verb::kReadDurable).Put(1, 700).Do(Verb::kReadDurable).Put(2, 100).Run();
}
std::string FlushOfUnsyncedBlobs() {
  return CrashProgram().Overwrite(8, 700).Do(Verb::kFlush, true).Overwrite(8, 700).Do(Verb::kFlush, true).Run();
}
std::string FlushOfInlineValues() {
  CrashProgram test;
  test.program.config.sweep_ratio = 1;
  test.Overwrite(8, 40).Do(Verb::kFlush, true).Do(Verb::kCompact).Overwrite(3, 40);
  return test.Do(Verb::kFlush, true).Overwrite(3, 50).Do(Verb::kFlush, true).Run();
}
std::string FlushToARun() {
  CrashProgram test;
  test.Load().Overwrite(8, 40).Put(0, 20).Do(Verb::kFlush, true);
  Operation far = test.program.operations.front();
  far.mutations = {far.mutations.front(), far.mutations[100], far.mutations[200], far.mutations.back()};
  return test.Add(far).Do(Verb::kFlush, true).Add(far).Do(Verb::kFlush, true).Run(6);
}
// A sweep of many steps, or level compactions, with flushes and deletes between them.
std::string CompactionsInSteps() {
  CrashProgram test;
  test.program.config.write_buffer_size = 4u << 10;
  test.program.config.max_write_buffer_number = 4;
  test.Load();
  const auto some = [&](std::size_t from, bool remove, std::uint32_t size) {
    Operation op;
    for (std::size_t i = from; i < 300; i += 23) {
      op.mutations.push_back({"load" + std::to_string(i), remove, remove ? 0 : size, false});
    }
    test.Add(op).Do(Verb::kFlush, true).Do(Verb::kBackground, false, 1);
  };
  for (std::size_t round = 0; round < 12; ++round) some(round, round % 3 == 2, 30);
  test.Do(Verb::kBackground, false, 2).Do(Verb::kCompact).Do(Verb::kReopen, true);
  test.settings.images_max = 40;
  return test.Run(4);
}
std::string OverwrittenSegmentsAreDropped() {
  CrashProgram test;
  test.Overwrite(40, 2000).Do(Verb::kFlush, true).Overwrite(40, 2000).Do(Verb::kCompact).Do(Verb::kBackground, false, 9);
  test.settings.images_max = 60;
  test.settings.rules = true;
  return test.Run();
}
// Half of each segment is garbage, and log GC relocates the rest.
std::string RelocatedValues() {
  CrashProgram test;
  test.program.config.gc_age_cutoff = 1;
  for (int round = 0; round < 6; ++round) {
    test.Batch(1500);
    for (const int key : {0, 2, 4, 6, 7}) test.Put((key + round) % 8, 1500);
    test.Do(Verb::kFlush, true).Do(Verb::kCompact).Do(Verb::kBackground, false, 9);
  }
  test.settings.images_max = 60;
  return test.Run();
}
std::string LivesAfterACrash() { return CrashProgram().Overwrite(6, 300).AlwaysLiveOn().Run(20); }
std::string KilledThenCut() { return CrashProgram().Overwrite(6, 300).Run(6); }
std::string RecoveryCutAgain() {
  CrashProgram test;
  test.settings.cut_recovery_percent = 100;
  return test.Overwrite(6, 300).Do(Verb::kFlush, true).Put(1, 80).Run(6);
}
std::string ClosedAndCut() { return CrashProgram().Overwrite(4, 300).Do(Verb::kReopen, true).Overwrite(2, 300).Run(); }

// The n-th sync fails, for a range of n.
std::string DroppedPagesInTheCache() {
  CrashProgram test;
  test.settings.fault = FaultClass::kSyncDropKeepCache;
  test.settings.images_max = 40;
  test.Overwrite(4, 700).Do(Verb::kSyncWal).Put(1, 80).Do(Verb::kSyncWal).Put(2, 700, Durability::kSync);
  return test.Do(Verb::kFlush, true).Put(3, 100, Durability::kSync).Run(60);
}

// The sync of a batch of many sectors fails, and some of them have reached the device.
std::string BatchInDoubt() {
  CrashProgram test;
  test.settings.fault = FaultClass::kSyncDropRevertCache;
  test.settings.images_max = 40;
  for (int i = 0; i < 4; ++i) test.Batch(700, Durability::kSync);
  return test.Run(30);
}
// The sync reports a failure although everything is durable. The failed batch may be found or not; no later batch may.
std::string WritesAfterAFalseFailure() {
  CrashProgram test;
  test.settings.fault = FaultClass::kSyncFalse;
  test.settings.images_max = 10;
  for (int i = 0; i < 8; ++i) test.Put(i, 100, Durability::kSync);
  return test.Run(30);
}

std::string WritesAfterAFailedWrite() {
  CrashProgram test;
  test.settings.fault = FaultClass::kWriteError;
  test.settings.images_max = 40;
  for (int i = 0; i < 12; ++i) test.Put(i % 8, 700, i % 3 == 2 ? Durability::kSync : Durability::kNone);
  return test.Run(60);
}

// ---- Other scenarios ----

std::string ValueOf(DB* db, const std::string& key, const ReadOptions& options = {}) {
  std::string value;
  const Status status = db->Get(options, key, &value);
  return status.ok() ? value : status.ToString();
}

// Returns what the database reads for `key` after a power cut that loses everything unsynced.
std::string AfterCut(const SimFileSystem& fs, const Config& config, const std::string& key) {
  Prng prng(1);
  const SimImage image = fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost));
  ProgramDatabase after(config, std::make_shared<SimFileSystem>(image), 9);
  const Status opened = after.Open();
  return opened.ok() ? ValueOf(after.get(), key) : opened.ToString();
}

// Calls `inside` while a sync runs, syncs everything, and cuts the power.
std::string DuringASync(const std::function<void(DB*)>& inside, const std::string& key, const std::string& expected) {
  const auto fs = std::make_shared<SimFileSystem>();
  Config config;
  config.blob_file_size = 16u << 10;
  config.write_buffer_size = 1u << 20;
  config.max_total_wal_size = 1u << 20;
  bool done = false;
  ProgramDatabase database(config, fs, 1);
  if (!database.Open().ok()) return "Open";
  const HookScope hook(fs, [&](const SimOp& op) {
    if (done || op.kind != SimOpKind::kSync || op.phase != SimPhase::kInside || !op.path.ends_with(".log")) return;
    if (database->GetLatestSequenceNumber() == 0) return;  // the sync of a new segment
    done = true;
    inside(database.get());
  });
  WriteOptions sync;
  sync.sync = true;
  if (!database->Put(sync, "first", "1").ok()) return "Put";
  if (!database->SyncWAL().ok()) return "SyncWAL";
  if (!done) return "no sync was seen";
  const std::string found = AfterCut(*fs, config, key);
  return found == expected ? "" : "acknowledged by SyncWAL, but after a power cut it reads as " + found;
}

std::string PutDuringASync() {
  return DuringASync([](DB* db) { static_cast<void>(db->Put({}, "second", "2")); }, "second", "2");
}
// While a segment is synced, it gets a record that the sync does not cover, and is rotated.
std::string RotationDuringASync() {
  return DuringASync(
      [](DB* db) {
        static_cast<void>(db->Put({}, "second", "2"));
        for (int i = 0; i < 10; ++i) static_cast<void>(db->Put({}, "fill", std::string(3000, 'f')));
      },
      "second", "2");
}

// Two frozen memtables wait for their flush; the older one must be committed first.
std::string TwoFrozenTables() {
  Config config;
  config.max_write_buffer_number = 4;
  config.sweep_ratio = 1000;
  const auto fs = std::make_shared<SimFileSystem>();
  std::vector<SimImage> images;
  ProgramDatabase database(config, fs, 1);
  if (!database.Open().ok()) return "Open";
  FlushOptions later;
  later.wait = false;
  for (const char* value : {"1", "2"}) {
    if (!database->Put({}, "key", value).ok() || !database->Flush(later).ok()) return "Put";
  }
  const int hook = fs->AddHook([&](const SimOp& op) {
    if (op.phase == SimPhase::kBefore) images.push_back(fs->Snapshot());
  });
  database.RunBackground(100);
  fs->RemoveHook(hook);
  images.push_back(fs->Snapshot());
  if (const std::string value = ValueOf(database.get(), "key"); value != "2") return "the key reads as " + value;
  for (const SimImage& image : images) {
    Prng prng(1);
    ProgramDatabase after(config, std::make_shared<SimFileSystem>(image.Kill(prng)), 9);
    if (const Status opened = after.Open(); !opened.ok()) return "after a kill, " + opened.ToString();
    if (const std::string value = ValueOf(after.get(), "key"); value != "2") return "after a kill, " + value;
  }
  return "";
}

// If two families flush at different times, the replay position lies before operations that one of them has flushed.
// Here one family flushes "a" and not "b", and the MANIFEST is changed so that the replay position lies before "a".
// Then the database is opened. Returns the first error, or "".
std::string LowerTheReplayPosition(ProgramDatabase* database) {
  SimFileSystem* const fs = database->sim();
  if (!database->Open().ok()) return "Open";
  if (!database->get()->Put({}, "a", std::string(700, 'a')).ok()) return "Put";
  if (!database->get()->Flush({}).ok()) return "Flush";
  if (!database->get()->Put({}, "b", std::string(700, 'b')).ok()) return "Put";
  if (!database->Close().ok()) return "Close";

  Result<ManifestRead> read = ReadManifest(*fs, kSimDatabasePath);
  if (!read.ok()) return read.status().ToString();
  ManifestState state = read->state;
  state.replay.offset = kFileHeaderSize;
  const std::uint64_t number = state.next_file_number++;
  FileHeader header = read->header;
  header.file_id[0] = static_cast<unsigned char>(header.file_id[0] ^ 1u);
  header.number = number;
  const auto written = Manifest::Create(*fs, kSimDatabasePath, header, number, state);
  if (!written.ok()) return written.status().ToString();
  const Status opened = database->Open();
  return opened.ok() ? "" : opened.ToString();
}

// Recovery must not replay operations that are in the layers.
std::string ReplayPositionBelowWhatIsFlushed() {
  ProgramDatabase database({}, std::make_shared<SimFileSystem>(), 1);
  if (std::string wrong = LowerTheReplayPosition(&database); !wrong.empty()) return wrong;
  std::uint64_t entries = 0;
  if (!database->GetIntProperty("rocksdb.num-entries-active-mem-table", &entries)) return "no such property";
  if (entries != 1) return std::to_string(entries) + " operations were replayed, and 1 was not flushed";
  return "";
}

// If recovery replays flushed operations, the next flush replaces an entry by the same entry. If the account counts
// only the removal, it reaches zero, and the segment is dropped.
std::string ValueFlushedTwiceRemains() {
  ProgramDatabase database({}, std::make_shared<SimFileSystem>(), 1);
  if (std::string wrong = LowerTheReplayPosition(&database); !wrong.empty()) return wrong;
  if (!database->Delete({}, "b").ok() || !database->Flush({}).ok()) return "Flush";
  if (const Status merged = database->CompactRange({}, nullptr, nullptr); !merged.ok()) return merged.ToString();
  database.RunBackground(100);
  const std::string value = ValueOf(database.get(), "a");
  if (value != std::string(700, 'a')) return "a reads as " + value;
  return database.Verify();
}

// An iterator shows the state at its creation.
std::string IteratorAndALaterPut() {
  ProgramDatabase database({}, std::make_shared<SimFileSystem>(), 1);
  if (!database.Open().ok() || !database->Put({}, "a", "1").ok()) return "Put";
  const std::unique_ptr<Iterator> it(database->NewIterator({}));
  if (!database->Put({}, "a", "2").ok() || !database->Put({}, "b", "2").ok()) return "Put";
  it->SeekToFirst();
  if (!it->Valid() || it->value() != "1") return "the iterator shows a later value";
  it->Next();
  return it->Valid() ? "the iterator shows a later key" : "";
}

// Between the two halves of taking a snapshot, the memtable is frozen and the next one is written to.
std::string SnapshotDuringAFreeze() {
  ProgramDatabase database({}, std::make_shared<SimFileSystem>(), 1);
  if (!database.Open().ok()) return "Open";
  if (!database->Put({}, "a", "1").ok() || !database->Put({}, "b", "1").ok()) return "Put";
  bool done = false;
  FaultPoints::Instance().Set([&](const char* name) {
    if (done || std::string(name) != "PinView:between") return;
    done = true;
    FlushOptions later;
    later.wait = false;
    static_cast<void>(database->Flush(later));
    static_cast<void>(database->Put({}, "b", "2"));
  });
  const Snapshot* const snapshot = database->GetSnapshot();
  FaultPoints::Instance().Set(nullptr);
  ReadOptions at;
  at.snapshot = snapshot;
  const std::string seen = ValueOf(database.get(), "b", at);
  const std::string expected = snapshot->GetSequenceNumber() >= 3 ? "2" : "1";
  database->ReleaseSnapshot(snapshot);
  if (!done) return "the fault point was not reached";
  return seen == expected ? "" : "a snapshot taken after the write of b=2 shows b=" + seen;
}

// CompactRange must move down a run with a key in the range. An older run has no key in the range, but shares another
// key with that run, so the older run must move down, too.
std::string CompactionUnderAnOlderRun() {
  ProgramDatabase database({}, std::make_shared<SimFileSystem>(), 1);
  if (!database.Open().ok()) return "Open";
  const auto flush = [&](const std::vector<std::string>& keys, const std::string& value) {
    for (const std::string& key : keys) {
      if (!database->Put({}, key, value).ok()) return false;
    }
    return database->Flush({}).ok();
  };
  if (!flush({"x", "y"}, "1") || !flush({"a", "x"}, "2")) return "Flush";
  const Slice begin = "a";
  const Slice end = "b";
  if (const Status merged = database->CompactRange({}, &begin, &end); !merged.ok()) return merged.ToString();
  const std::string value = ValueOf(database.get(), "x");
  return value == "2" ? "" : "x reads as " + value;
}

// Keys of the lowest level are deleted, and the tombstones compacted into the level above.
std::string DeletesAboveTheLastLevel(std::uint64_t page_size) {
  Config config;
  config.page_size = page_size;
  config.write_buffer_size = 32u << 10;
  ProgramDatabase database(config, std::make_shared<SimFileSystem>(), 1);
  if (!database.Open().ok()) return "Open";
  const auto key_of = [](int i) { return "key" + std::to_string(10'000 + i); };
  for (int i = 0; i < 3000; ++i) {
    if (!database->Put({}, key_of(i), std::string(50, 'v')).ok()) return "Put";
  }
  if (!database->Flush({}).ok() || !database->WaitForCompact().ok()) return "Flush";
  for (int run = 0; run < 2; ++run) {
    for (int i = run; i < 3000; i += 100) {
      if (!database->Delete({}, key_of(i)).ok()) return "Delete";
    }
    if (!database->Flush({}).ok()) return "Flush";
  }
  if (!database->WaitForCompact().ok()) return "WaitForCompact";
  std::string shape;
  std::uint64_t runs = 0;
  if (!database->GetProperty("cambium.num-files-at-level1", &shape) || shape == "0") return "level 1 is empty";
  if (!database->GetIntProperty("cambium.num-runs", &runs) || runs != 0) return "nothing was compacted";
  for (int i = 0; i < 3000; ++i) {
    const std::string expected = i % 100 < 2 ? "NotFound" : std::string(50, 'v');
    if (ValueOf(database.get(), key_of(i)) != expected) return key_of(i) + " reads as " + ValueOf(database.get(), key_of(i));
  }
  return "";
}
std::string DeletesOverALowerLevel() { return DeletesAboveTheLastLevel(512); }
std::string DeletesOverAnOlderTier() { return DeletesAboveTheLastLevel(1024); }  // see testing/index_mode.h

std::string RunOverALevel() {
  ProgramDatabase database({}, std::make_shared<SimFileSystem>(), 1);
  if (!database.Open().ok() || !database->Put({}, "a", "1").ok()) return "Put";
  if (!database->CompactRange({}, nullptr, nullptr).ok()) return "CompactRange";
  if (!database->Put({}, "a", "2").ok() || !database->Flush({}).ok()) return "Flush";
  const std::string value = ValueOf(database.get(), "a");
  return value == "2" ? "" : "a reads as " + value;
}

struct Scenario {
  Mutant mutant;
  std::string (*run)();      // returns the first error, or ""
  const char* suffix = "";   // of the test's name, if a mutant has several scenarios
};

class MutantTest : public ::testing::TestWithParam<Scenario> {};

TEST_P(MutantTest, IsCaught) {
  EXPECT_EQ(GetParam().run(), "");
  const MutantScope defect(GetParam().mutant);
  const std::string caught = GetParam().run();
  EXPECT_NE(caught, "") << MutantName(GetParam().mutant) << " survives (" << MutantRule(GetParam().mutant) << ")";
  RecordProperty("caught", caught.substr(0, 300));
}

// Rules that hold for both indexes.
const std::vector<Scenario> kOfBoth = {
    Scenario{Mutant::kSkipBadRecord, DamagedRecordAmongOthers},
    Scenario{Mutant::kApplyHalfBatch, BatchOfManySectors},
    Scenario{Mutant::kApplyHalfBatch, BatchInDoubt, "InDoubt"},
    Scenario{Mutant::kIgnoreFailedSync, WritesAfterAFalseFailure},
    Scenario{Mutant::kAcceptZerosAsRecord, DamagedRecordAmongOthers},
    Scenario{Mutant::kIgnoreChain, SegmentsWithoutASync},
    Scenario{Mutant::kDurableOnlyIgnored, ReadsOfWhatIsDurable},
    Scenario{Mutant::kSkipValueChecksum, DamagedRecordAmongOthers},
    Scenario{Mutant::kForgetRotatedSegment, RotationDuringASync},
    Scenario{Mutant::kEarlierSyncMarksSegmentClean, RotationDuringASync},
    Scenario{Mutant::kSyncClaimsLaterWrites, PutDuringASync},
    Scenario{Mutant::kRetryFailedSync, DroppedPagesInTheCache},
    Scenario{Mutant::kAppendAfterHalfRecord, WritesAfterAFailedWrite},
    Scenario{Mutant::kManifestSkipSync, FlushOfInlineValues},
    Scenario{Mutant::kReuseFileNumbers, RecoveryCutAgain},
    Scenario{Mutant::kSkipDirectorySync, SyncedPuts},
    Scenario{Mutant::kSkipParentSync, SyncedPuts},
    Scenario{Mutant::kSkipManifestDirectorySync, ClosedAndCut},
    Scenario{Mutant::kSkipLargeValueSync, SyncedPuts},
    Scenario{Mutant::kSkipSegmentHeaderSync, SyncedPuts},
    Scenario{Mutant::kFlushBeforeLogSync, FlushOfUnsyncedBlobs},
    Scenario{Mutant::kCommitBeforeRunSync, FlushToARun},
    Scenario{Mutant::kDeleteBeforeCommit, OverwrittenSegmentsAreDropped},
    Scenario{Mutant::kRecoverFromCache, DroppedPagesInTheCache},
    Scenario{Mutant::kSkipAdoptSync, KilledThenCut},
    Scenario{Mutant::kSkipNeutralise, LivesAfterACrash},
    Scenario{Mutant::kAppendToOldSegment, LivesAfterACrash},
    Scenario{Mutant::kSegmentUnnamed, SyncedPuts},
    Scenario{Mutant::kFlushOutOfOrder, TwoFrozenTables},
    Scenario{Mutant::kReplayFlushed, ReplayPositionBelowWhatIsFlushed},
    Scenario{Mutant::kForgetDroppedAccounts, OverwrittenSegmentsAreDropped},
    Scenario{Mutant::kGcCommitsUnsynced, RelocatedValues},
    Scenario{Mutant::kSkipViewRecheck, SnapshotDuringAFreeze},
    Scenario{Mutant::kIteratorReadsLatest, IteratorAndALaterPut},
    Scenario{Mutant::kCloseWithoutSync, ClosedAndCut},
};

// Rules of one index only.
const std::vector<Scenario> kOfTree = {
    Scenario{Mutant::kReplayFlushed, ValueFlushedTwiceRemains, "Charged"},
    Scenario{Mutant::kCommitBeforePageSync, FlushOfInlineValues},
    Scenario{Mutant::kRewritePages, FlushOfInlineValues},
    Scenario{Mutant::kForgetSweepCursor, CompactionsInSteps},
    Scenario{Mutant::kSweepNewestRunsFirst, CompactionsInSteps},
};

const std::vector<Scenario> kOfLsm = {
    Scenario{Mutant::kCommitBeforeRunSync, CompactionsInSteps, "Compaction"},
    Scenario{Mutant::kDropTombstonesAnywhere, DeletesOverALowerLevel},
    Scenario{Mutant::kDropTombstonesAnywhere, DeletesOverAnOlderTier, "Lazy"},
    Scenario{Mutant::kSkipOverlappingRun, CompactionUnderAnOlderRun},
    Scenario{Mutant::kLevelsBeforeRuns, RunOverALevel},
};

std::vector<Scenario> Scenarios() {
  std::vector<Scenario> all = kOfBoth;
  const std::vector<Scenario>& of_index = TestsUseLsm() ? kOfLsm : kOfTree;
  all.insert(all.end(), of_index.begin(), of_index.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Crash, MutantTest, ::testing::ValuesIn(Scenarios()),
                         [](const ::testing::TestParamInfo<Scenario>& scenario) {
                           return std::string(MutantName(scenario.param.mutant)) + scenario.param.suffix;
                         });

// ---- All mutants ----

const std::filesystem::path kRoot = CAMBIUM_SOURCE_DIR;

std::vector<std::string> LinesOf(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::set<std::string> AllMatches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}

// Returns the mutants that `pattern` finds in each source below `directory`, by path without its extension:
// "vlog/commit_log_test".
std::map<std::string, std::set<std::string>> MutantsBelow(const std::filesystem::path& directory,
                                                          const std::regex& pattern) {
  std::map<std::string, std::set<std::string>> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".cc" && path.extension() != ".h") continue;
    std::set<std::string>& here = found[path.lexically_relative(directory).replace_extension().generic_string()];
    for (const std::string& line : LinesOf(path)) {
      if (line.find("Mutant::") == std::string::npos) continue;
      for (const std::string& name : AllMatches(line, pattern)) here.insert(name);
    }
  }
  return found;
}

// The sources ask with MutantIs. A test switches a mutant on with a MutantScope, or passes it to one of these.
const std::regex kSwitch(R"(MutantIs\(Mutant::(k\w+)\))");
const std::regex kSwitchedOn(R"((?:MutantScope \w+\((?:\w+ \? )?|Scenario\{|ExpectCaught\()Mutant::(k\w+))");

TEST(AllMutantsTest, EachHasASwitchAndATest) {
  const auto unite = [](const std::map<std::string, std::set<std::string>>& by_file) {
    std::set<std::string> all;
    for (const auto& [file, names] : by_file) all.insert(names.begin(), names.end());
    return all;
  };
  const std::set<std::string> switches = unite(MutantsBelow(kRoot / "src", kSwitch));
  const std::set<std::string> switched_on = unite(MutantsBelow(kRoot / "tests", kSwitchedOn));
  for (int m = 1; m < static_cast<int>(Mutant::kCount); ++m) {
    const std::string name = MutantName(static_cast<Mutant>(m));
    EXPECT_TRUE(switches.contains(name)) << name << " is not switched anywhere in src";
    EXPECT_TRUE(switched_on.contains(name)) << name << " is switched on by no test";
  }
}

// A row of the table of hazards in docs/TESTING.md.
struct Row {
  std::set<std::string> hazards;
  std::set<std::string> files;  // as MutantsBelow names them
  std::set<std::string> mutants;
};

std::vector<Row> TableOfHazards() {
  std::vector<Row> rows;
  for (const std::string& line : LinesOf(kRoot / "docs" / "TESTING.md")) {
    if (!std::regex_search(line, std::regex(R"(^\| [A-H]\d)"))) continue;
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
    EXPECT_EQ(cells.size(), 6u) << line;
    if (cells.size() != 6) continue;
    rows.push_back({AllMatches(cells[1], std::regex(R"(([A-H]\d+))")),
                    AllMatches(cells[4] + cells[5], std::regex("`([^`]+)`")),
                    AllMatches(cells[5], std::regex(R"(\b(k[A-Z]\w+))"))});
  }
  return rows;
}

TEST(AllMutantsTest, TableOfHazardsMatchesTheSources) {
  std::map<std::string, std::set<std::string>> rules_of;
  for (int m = 1; m < static_cast<int>(Mutant::kCount); ++m) {
    rules_of[MutantName(static_cast<Mutant>(m))] =
        AllMatches(MutantRule(static_cast<Mutant>(m)), std::regex(R"(([A-H]\d+))"));
  }
  auto switched_on = MutantsBelow(kRoot / "tests", kSwitchedOn);
  std::map<std::string, std::set<std::string>> mutants_of;  // by rule
  for (const Row& row : TableOfHazards()) {
    for (const std::string& rule : row.hazards) {
      EXPECT_FALSE(mutants_of.contains(rule)) << rule << " has two rows";
      mutants_of[rule] = {};
    }
    for (const std::string& file : row.files) {
      EXPECT_TRUE(switched_on.contains(file)) << "a row names tests/" << file << ".cc, which does not exist";
    }
    for (const std::string& mutant : row.mutants) {
      EXPECT_TRUE(rules_of.contains(mutant)) << "a row names " << mutant << ", which does not exist";
      bool is_its_rule = false;
      for (const std::string& rule : row.hazards) {
        if (!rules_of[mutant].contains(rule)) continue;
        mutants_of[rule].insert(mutant);
        is_its_rule = true;
      }
      EXPECT_TRUE(is_its_rule) << mutant << " is in the row of a rule that mutants.def does not give it";
      bool is_switched_on = switched_on["crash/mutant_test"].contains(mutant);
      for (const std::string& file : row.files) is_switched_on = is_switched_on || switched_on[file].contains(mutant);
      EXPECT_TRUE(is_switched_on) << mutant << " is switched on by no test of its row";
    }
  }
  for (const auto& [mutant, rules] : rules_of) {
    for (const std::string& rule : rules) {
      EXPECT_TRUE(mutants_of.contains(rule)) << mutant << " removes " << rule << ", which has no row";
      EXPECT_TRUE(mutants_of[rule].contains(mutant)) << mutant << " is missing from the row of " << rule;
    }
  }
  for (const auto& [rule, mutants] : mutants_of) {
    const bool provokes_the_failure_itself = rule.starts_with('G');
    EXPECT_TRUE(provokes_the_failure_itself || !mutants.empty()) << "no mutant removes rule " << rule;
  }
}

}  // namespace
}  // namespace cambium::testing
