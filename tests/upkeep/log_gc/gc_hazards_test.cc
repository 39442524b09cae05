// More hazards of log GC than those in log_gc_test.cc: thousands of steps while a reader holds an old view, a power cut
// at any of its calls, damaged segments, failing batches, and files that something else has removed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "upkeep/log_gc/garbage_store.h"
#include "testing/test_store.h"
#include "cambium/listener.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Counts steps of log GC and files that it has emptied, and records reported errors.
struct GcWatch final : EventListener {
  void OnLogGcCompleted(DB*, const LogGcJobInfo& info) override {
    ++steps;
    emptied += info.emptied_files.size();
  }
  void OnBackgroundError(const BackgroundErrorInfo& info) override { errors.push_back(info.status.ToString()); }
  std::size_t steps = 0;
  std::size_t emptied = 0;
  std::vector<std::string> errors;
};

struct WatchedStore : TestStore {
  explicit WatchedStore(std::shared_ptr<SimFileSystem> file_system = std::make_shared<SimFileSystem>(SimOptions()))
      : TestStore(std::move(file_system)), watch(std::make_shared<GcWatch>()) {
    options.listeners = {watch};
    options.blob_garbage_collection_age_cutoff = 1;
  }
  // Runs at most `tasks_most` tasks. Returns whether none is left then.
  bool ComesToRest(int tasks_most) {
    for (int i = 0; i < tasks_most && executor->pending() > 0; ++i) executor->RunOneInstead();
    return executor->pending() == 0;
  }
  std::shared_ptr<GcWatch> watch;
};

// ---- H40, H47: readers ----

// A few such values fill a segment.
std::string LongValue(int i, int version) { return GarbageValue(i, version) + std::string(2500, 'l'); }

// A snapshot and an iterator live while log GC replaces every file many times. What they read never changes; the files
// that they need stay until they are released. False: a file was removed before its reader ended.
bool ReadersKeepTheirFiles(std::size_t steps_least) {
  constexpr int kHot = 24;
  WatchedStore store;
  store.options.blob_file_size = 16u << 10;
  store.MustOpen();
  for (int i = 0; i < kHot; ++i) store.Put(NumberedKey(i), LongValue(i, 0));
  store.Flush();
  store.RunUntilIdle();
  const std::vector<std::string> needed = store.FilesOf(".log");
  const Snapshot* const snapshot = store.db->GetSnapshot();
  std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  ReadOptions then;
  then.snapshot = snapshot;
  Prng prng(SeedFromEnvironment(41));
  for (int round = 1; store.watch->steps < steps_least; ++round) {
    for (int i = 0; i < 8; ++i) {
      const int key = static_cast<int>(prng.Uniform(kHot));
      store.Put(NumberedKey(key), LongValue(key, round));
    }
    store.Compact();
    const int key = static_cast<int>(prng.Uniform(kHot));
    EXPECT_EQ(store.Get(NumberedKey(key), then), LongValue(key, 0)) << round;
    if (round > 100'000) return false;
  }
  const std::vector<std::string> now = store.FilesOf(".log");
  const auto is_there = [&](const std::string& path) { return std::ranges::count(now, path) == 1; };
  const bool kept = std::ranges::count_if(needed, is_there) >= static_cast<std::ptrdiff_t>(needed.size()) - 1;
  int seen = 0;
  for (; it->Valid(); it->Next(), ++seen) EXPECT_EQ(it->value(), Slice(LongValue(seen, 0))) << seen;
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(seen, kHot);
  it.reset();
  store.db->ReleaseSnapshot(snapshot);
  store.Put("last", "1");
  store.Compact();
  store.RunUntilIdle();
  EXPECT_LE(store.FilesOf(".log").size() + store.FilesOf(".gc").size(), 20u) << "they go with their readers";
  EXPECT_TRUE(store.watch->errors.empty()) << store.watch->errors.front();
  EXPECT_EQ(store.Verify(), "");
  return kept;
}

TEST(GcHazardsTest, ReadersSeeTheirStateOverThousandsOfSteps) {
  EXPECT_TRUE(ReadersKeepTheirFiles(ScaledCount(2000)));
  const MutantScope mutant(Mutant::kUnlinkWhilePinned);
  EXPECT_FALSE(ReadersKeepTheirFiles(50));
}

// Regression: a step whose relocation file could not be synced removed that file. Which bytes of it are on the disk is not
// known then, so nothing may be deleted until the next Open.
std::size_t RelocationFilesAfterAFailedSync() {
  WatchedStore store;
  FillWithGarbage(&store);
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".gc"); };
  store.fs->AddFault(fault);
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  static_cast<void>(store.db->WaitForCompact());
  store.executor->RunAll();
  EXPECT_FALSE(store.watch->errors.empty());
  const std::size_t left = store.FilesOf(".gc").size();
  store.db.reset();
  store.fs->ClearFaults();
  store.MustOpen();
  ExpectAll(&store);
  EXPECT_EQ(store.Verify(), "");
  return left;
}

TEST(GcHazardsTest, AFailedSyncLeavesTheRelocationFile) {
  EXPECT_EQ(RelocationFilesAfterAFailedSync(), 1u);
  const MutantScope mutant(Mutant::kUnlinkAfterFailedSync);
  EXPECT_EQ(RelocationFilesAfterAFailedSync(), 0u);
}

// If descriptors run out, files that are not in use at the moment are closed, also those that a reader may need. So log
// GC goes on, and no reader loses its value.
TEST(GcHazardsTest, ReadersContinueWithoutDescriptors) {
  WatchedStore store;
  FillWithGarbage(&store);
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.fs->SetMaxOpenFiles(store.fs->probe().open_files());
  store.executor->RunAll();
  EXPECT_FALSE(store.FilesOf(".gc").empty());
  ExpectAll(&store);
  store.fs->SetMaxOpenFiles(store.fs->probe().open_files() + 4);  // for a segment, a run, and files of a compaction
  for (int round = 0; round < 20; ++round) {
    store.Put(NumberedKey(1), GarbageValue(1, 1));
    static_cast<void>(store.db->CompactRange({}, nullptr, nullptr));
    store.executor->RunAll();
  }
  ExpectAll(&store);
  int seen = 0;
  for (; it->Valid(); it->Next(), ++seen) EXPECT_EQ(it->value(), Slice(GarbageValue(seen, VersionOf(seen)))) << seen;
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(seen, kGarbageKeys);
  store.fs->SetMaxOpenFiles(1'000'000);
  store.Compact();
  store.RunUntilIdle();
  EXPECT_FALSE(store.FilesOf(".gc").empty());
  ExpectAll(&store);
}

// ---- H37: what recovery reads ----

// Segments are full, and their operations are in memtables only. True if all data is there after log GC and a power
// cut.
bool WhatIsNotFlushedSurvives() {
  WatchedStore store;
  store.options.write_buffer_size = 8u << 20;
  store.options.max_total_wal_size = 8u << 20;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  store.Put("first", "1");
  store.Flush();
  for (int i = 0; i < kGarbageKeys; ++i) store.Put(NumberedKey(i), GarbageValue(i, 0), i + 1 == kGarbageKeys);
  store.executor->RunAll();  // seals
  EXPECT_GT(store.FilesOf(".log").size(), 3u);
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.executor->RunAll();
  if (!store.watch->errors.empty()) return false;  // the MANIFEST refuses to drop segments that recovery reads
  Prng prng(7);
  const auto after = std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng));
  store.fs->PowerOff();
  store.db.reset();
  store.options.file_system = store.fs = after;
  if (!store.Open().ok()) return false;
  for (int i = 0; i < kGarbageKeys; ++i) {
    if (store.Get(NumberedKey(i)) != GarbageValue(i, 0)) return false;
  }
  return true;
}

TEST(GcHazardsTest, SegmentsThatRecoveryReadsAreNotVictims) {
  EXPECT_TRUE(WhatIsNotFlushedSurvives());
  const MutantScope mutant(Mutant::kGcAheadOfReplay);
  EXPECT_FALSE(WhatIsNotFlushedSurvives());
}

// ---- C7 ----

// Relocated values are in a segment that is as old as the relocation, however old the values are.
bool MovedSegmentsAreYoung() {
  WatchedStore store;
  FillWithGarbage(&store);
  for (int i = 0; i < 50; ++i) store.Put("other" + std::to_string(i), "1");
  const SequenceNumber begin = store.db->GetLatestSequenceNumber();
  Collect(&store);
  SimFileSystem copy(store.fs->Snapshot());
  const auto manifest = ReadManifest(copy, kStorePath);
  EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
  int moved = 0;
  bool are_young = true;
  for (const auto& [number, info] : manifest->state.segments) {
    if (info.kind != SegmentKind::kRelocation) continue;
    ++moved;
    are_young = are_young && info.last_sequence >= begin;
  }
  EXPECT_GT(moved, 0);
  return are_young;
}

TEST(GcHazardsTest, RelocatedValuesDoNotMakeASegmentOld) {
  EXPECT_TRUE(MovedSegmentsAreYoung());
  const MutantScope mutant(Mutant::kAgeSegmentsByValues);
  EXPECT_FALSE(MovedSegmentsAreYoung());
}

// ---- H41, H42: cuts ----

// Returns the log and relocation segments that the MANIFEST does not name.
std::string Strays(const TestStore& store) {
  SimFileSystem copy(store.fs->Snapshot());
  const auto manifest = ReadManifest(copy, kStorePath);
  EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
  std::string strays;
  for (const auto& file : store.fs->probe().ListFiles()) {
    const auto name = ParseFileName(file.path.substr(std::string(kStorePath).size() + 1));
    const bool is_value = name.has_value() && (name->kind == FileKind::kLog || name->kind == FileKind::kRelocation);
    if (is_value && !manifest->state.segments.contains(name->number)) strays += " " + file.path;
  }
  return strays;
}

// Runs log GC with a power cut at each of its calls, and then again until nothing is left to do. Returns the first
// thing that is wrong, or nothing.
std::string AfterEveryCutOfAGc(std::uint64_t seed) {
  std::vector<SimImage> images;
  std::uint64_t rest = 0;  // bytes on disk at the end
  {
    TestStore store;
    FillWithGarbage(&store);
    Prng prng(seed);
    const int hook = store.fs->AddHook([&](const SimOp& op) {
      if (op.phase == SimPhase::kBefore) images.push_back(store.fs->DrawCrash(prng));
    });
    Collect(&store);
    store.fs->RemoveHook(hook);
    rest = store.BytesOnDisk();
  }
  if (images.size() < 20) return "there was nothing to cut";
  for (std::size_t cut = 0; cut < images.size(); ++cut) {
    TestStore store(std::make_shared<SimFileSystem>(images[cut]));
    store.options.blob_garbage_collection_age_cutoff = 1;
    const std::string at = " after a cut at call " + std::to_string(cut);
    if (const Status opened = store.Open(); !opened.ok()) return opened.ToString() + at;
    store.Put("last", "1");
    store.Flush();
    store.RunUntilIdle();
    for (int i = 0; i < kGarbageKeys; ++i) {
      const std::string value = store.Get(NumberedKey(i));
      if (value != GarbageValue(i, VersionOf(i))) return value.substr(0, 200) + at;
    }
    if (const std::string wrong = store.Verify(); !wrong.empty()) return wrong + at;
    if (const std::string strays = Strays(store); !strays.empty()) return "not named:" + strays + at;
    if (store.BytesOnDisk() > rest + rest / 2) return std::to_string(store.BytesOnDisk()) + " bytes stay" + at;
  }
  return "";
}

TEST(GcHazardsTest, PowerCutAtAnyCallThenLogGcLosesNothing) {
  const std::uint64_t seed = SeedFromEnvironment(51);
  EXPECT_EQ(AfterEveryCutOfAGc(seed), "");
  const MutantScope mutant(Mutant::kKeepOrphans);
  EXPECT_NE(AfterEveryCutOfAGc(seed), "");
}

// A file to be removed may be gone already: another program removed it, or an unlink that reported an error took
// effect.
std::size_t ErrorsWhenAFileHasGone() {
  WatchedStore store;
  FillWithGarbage(&store);
  const Snapshot* const snapshot = store.db->GetSnapshot();
  const std::vector<std::string> before = store.FilesOf(".log");
  Collect(&store);
  for (const std::string& path : before) {
    SimFileSystem copy(store.fs->Snapshot());
    const auto manifest = ReadManifest(copy, kStorePath);
    EXPECT_TRUE(manifest.ok());
    const auto name = ParseFileName(path.substr(std::string(kStorePath).size() + 1));
    if (name.has_value() && !manifest->state.segments.contains(name->number)) {
      EXPECT_TRUE(store.fs->tampering().Remove(path).ok());
    }
  }
  store.db->ReleaseSnapshot(snapshot);
  store.Put("last", "1");
  static_cast<void>(store.db->CompactRange({}, nullptr, nullptr));
  store.executor->RunAll();
  ExpectAll(&store);
  return store.watch->errors.size();
}

TEST(GcHazardsTest, MissingFileCountsAsRemoved) {
  EXPECT_EQ(ErrorsWhenAFileHasGone(), 0u);
  const MutantScope mutant(Mutant::kMissingFileIsError);
  EXPECT_GT(ErrorsWhenAFileHasGone(), 0u);
}

// ---- H44: damage ----

// Damages a value of a segment that is mostly garbage. Returns true if the damage is reported once, the other segments
// are collected, and then there is no more work.
bool DamageIsLeftAlone() {
  WatchedStore store;
  FillWithGarbage(&store);
  for (const std::string& path : store.FilesOf(".log")) {
    std::string bytes;
    EXPECT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    const std::size_t at = bytes.find(GarbageValue(0, 0));
    if (at == std::string::npos) continue;
    EXPECT_TRUE(store.fs->tampering().FlipBit(path, at + 500, 3).ok());
  }
  EXPECT_EQ(store.Property("damaged-blob-files"), 0u);
  const std::size_t segments = store.FilesOf(".log").size();
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  const bool rests = store.ComesToRest(2000);
  EXPECT_GE(store.Property("damaged-blob-files"), rests ? 1u : 0u);
  if (!rests) return false;
  EXPECT_EQ(store.Property("damaged-blob-files"), 1u);
  EXPECT_EQ(store.watch->errors.size(), 1u);
  EXPECT_NE(store.watch->errors.front().find(".log:"), std::string::npos) << store.watch->errors.front();
  EXPECT_LT(store.FilesOf(".log").size(), segments - 2) << "the others are collected";
  store.RunUntilIdle();
  std::map<std::string, std::string> space;
  EXPECT_TRUE(store.db->GetMapProperty("cambium.space", &space));
  EXPECT_LT(std::stoull(space["on_disk"]) + (16u << 10), store.BytesOnDisk()) << "its garbage cannot be collected";
  // The damage is not reported again: neither with more garbage, nor on request, nor with a ceiling.
  EXPECT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "1.25"}}).ok());
  for (int round = 2; round < 12; ++round) {
    for (int i = 1; i < kGarbageKeys; i += 3) store.Put(NumberedKey(i), GarbageValue(i, round));
    store.Compact();
  }
  store.RunUntilIdle();
  EXPECT_EQ(store.watch->errors.size(), 1u);
  for (int i = 3; i < kGarbageKeys; i += 3) EXPECT_EQ(store.Get(NumberedKey(i)), GarbageValue(i, 0)) << i;
  EXPECT_NE(store.Get(NumberedKey(0)).find("Corruption"), std::string::npos) << "never copied as good";
  return true;
}

TEST(GcHazardsTest, DamagedSegmentIsReportedOnceAndBlocksNothing) {
  EXPECT_TRUE(DamageIsLeftAlone());
  const MutantScope mutant(Mutant::kForgetDamage);
  EXPECT_FALSE(DamageIsLeftAlone());
}

// ---- H46: failing batches ----

// Every other batch fails after half of it was written. Its remains are garbage like any other.
TEST(GcHazardsTest, RemainsOfFailedBatchesAreCollected) {
  WatchedStore store;
  store.MustOpen();
  std::uint64_t most = 0;
  for (int round = 0; round < 300; ++round) {
    SimFault fault;
    fault.kind = SimOpKind::kWrite;
    fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
    fault.short_bytes = 2000;
    const int id = store.fs->AddFault(fault);
    WriteBatch batch;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(batch.Put(NumberedKey(i), std::string(1000, 'f')).ok());
    ASSERT_TRUE(batch.Put("large", std::string(10'000, 'l')).ok());
    EXPECT_FALSE(store.db->Write({}, &batch).ok());
    store.fs->RemoveFault(id);
    const int key = round % 20;
    store.Put(NumberedKey(key), GarbageValue(key, round));
    if (round % 10 == 9) store.Compact();
    if (round % 10 == 9) store.RunUntilIdle();
    if (round > 60) most = std::max(most, store.BytesOnDisk());
  }
  EXPECT_LE(most, 512u << 10) << "20 KiB are alive";
  EXPECT_TRUE(store.FilesOf(".val").empty());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(store.Get(NumberedKey(i)), GarbageValue(i, 280 + i));
  EXPECT_EQ(store.Verify(), "");
}

// ---- Files that cannot be removed ----

// A figure of cambium.space.
std::uint64_t SpaceFigure(DB* db, const std::string& name) {
  std::map<std::string, std::string> figures;
  EXPECT_TRUE(db->GetMapProperty("cambium.space", &figures));
  EXPECT_TRUE(figures.contains(name)) << name;
  return std::stoull(figures[name]);
}

// Regression: a file that could not be removed was forgotten, and counted forever; now the next tick tries again.
TEST(GcHazardsTest, FailedRemovalIsRetried) {
  WatchedStore store;
  FillWithGarbage(&store);
  SimFault fault;
  fault.kind = SimOpKind::kUnlink;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
  store.fs->AddFault(fault);
  Collect(&store);
  ASSERT_EQ(store.fs->fault_hits(), 1u);
  store.Put("a", "tick");
  store.LetSecondsPass(3);
  EXPECT_EQ(SpaceFigure(store.db.get(), "leaving"), 0u);
  ExpectAll(&store);
}

// ---- E4: slots ----

// After a step has copied the only value of a key, and before it commits, the key is written `writes` more times. So
// the segment with the copied value is dropped, and a later segment may get its slot. All values have the same size, so
// for some `writes` the newest value lies at the same offset of a segment with the same slot. Returns "" if the newest
// value is read in the end.
std::string ReadAfterASlotWasTakenAgain(int writes) {
  WatchedStore store;
  store.options.blob_file_size = 16u << 10;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  store.Put("k", LongValue(0, 0));
  for (int i = 0; i < 12; ++i) store.Put("other", LongValue(i, 0));
  store.Compact();
  store.RunUntilIdle();
  int times = 0;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) != "Gc:copied" || times++ > 0) return;
    for (int i = 1; i <= writes; ++i) {
      store.Put("k", LongValue(0, i));
      if (i == 1) store.Compact({.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kDisable});
    }
    store.Flush();
  });
  Collect(&store);
  FaultPoints::Instance().Set(nullptr);
  EXPECT_GT(times, 0);
  EXPECT_EQ(store.Verify(), "");
  return store.Get("k") == LongValue(0, writes) ? "" : "the newest value is lost";
}

TEST(GcHazardsTest, SlotIsNotReusedWhileAStepReadsIt) {
  for (int writes = 1; writes <= 30; ++writes) ASSERT_EQ(ReadAfterASlotWasTakenAgain(writes), "") << writes;
  const MutantScope mutant(Mutant::kGcReleasesSlots);
  int lost = 0;
  for (int writes = 1; writes <= 30; ++writes) lost += ReadAfterASlotWasTakenAgain(writes).empty() ? 0 : 1;
  EXPECT_GT(lost, 0);
}

// ---- The chain of the log ----

// One segment stays unsealed, because the MANIFEST record of its seal cannot be written. The next segment was ended by
// a failed write, and is all garbage. Returns the status of Open after a power cut.
Status OpensAfterACutBehindAnUnsealedSegment() {
  WatchedStore store;
  store.options.blob_file_size = 16u << 10;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  store.RunUntilIdle();
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) != "Seal:written") return;
    SimFault fault;
    fault.kind = SimOpKind::kWrite;
    fault.matches = [](SimOpKind, const std::string& path) { return path.find("MANIFEST") != std::string::npos; };
    store.fs->AddFault(fault);
  });
  for (int i = 0; i < 8; ++i) store.Put(NumberedKey(i), LongValue(i, 0));  // ends a segment
  store.Put(NumberedKey(0), LongValue(0, 1));
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
  store.fs->AddFault(fault);
  EXPECT_TRUE(store.db->Put({}, "fails", LongValue(0, 0)).IsIOError());
  for (int i = 0; i < 8; ++i) store.Put(NumberedKey(i), LongValue(i, 2));
  store.Flush();
  store.Compact({.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kDisable});
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  EXPECT_TRUE(store.ComesToRest(200));
  EXPECT_TRUE(store.db->SyncWAL().ok());
  const SimImage after = store.fs->Snapshot();
  FaultPoints::Instance().Set(nullptr);
  WatchedStore again(std::make_shared<SimFileSystem>(after));
  const Status opened = again.Open();
  if (!opened.ok()) return opened;
  for (int i = 0; i < 8; ++i) EXPECT_EQ(again.Get(NumberedKey(i)), LongValue(i, 2)) << i;
  EXPECT_EQ(again.Verify(), "");
  return opened;
}

TEST(GcHazardsTest, SuccessorOfAnUnsealedSegmentIsKept) {
  const Status opened = OpensAfterACutBehindAnUnsealedSegment();
  EXPECT_TRUE(opened.ok()) << opened.ToString();
  const MutantScope mutant(Mutant::kGcDropsSuccessorOfUnsealed);
  EXPECT_TRUE(OpensAfterACutBehindAnUnsealedSegment().IsCorruption());
}

}  // namespace
}  // namespace cambium::testing
