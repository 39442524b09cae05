// Log GC frees the space of dead values, and never makes a deleted or overwritten value visible again. Each test of a
// rule also switches the rule off by a mutant, and then must find the defect.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "upkeep/log_gc/garbage_store.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Calls `step` once, at a fault point of the first step of log GC.
class AtGc {
 public:
  AtGc(const std::string& place, std::function<void()> step) {
    FaultPoints::Instance().Set([this, place, step = std::move(step)](const char* name) {
      if (place == name && !std::exchange(done_, true)) step();
    });
  }
  ~AtGc() { FaultPoints::Instance().Set(nullptr); }
  AtGc(const AtGc&) = delete;
  AtGc& operator=(const AtGc&) = delete;
  [[nodiscard]] bool done() const { return done_; }

 private:
  bool done_ = false;
};

TEST(LogGcTest, GarbageSegmentsAreDroppedAndLiveValuesKept) {
  TestStore store;
  FillWithGarbage(&store);
  const std::uint64_t before = store.BytesOnDisk();
  const std::size_t segments = store.FilesOf(".log").size();
  EXPECT_TRUE(store.FilesOf(".gc").empty());
  Collect(&store);
  EXPECT_LT(store.BytesOnDisk(), before * 7 / 10);
  EXPECT_LT(store.FilesOf(".log").size(), segments);
  EXPECT_FALSE(store.FilesOf(".gc").empty());
  ExpectAll(&store);
  EXPECT_EQ(store.Verify(), "");
  store.Reopen();
  ExpectAll(&store);
  store.Compact();
  store.RunUntilIdle();
  ExpectAll(&store);
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// A load that overwrites nothing has no garbage to collect.
TEST(LogGcTest, LiveSegmentsAreLeftAlone) {
  TestStore store;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  for (int i = 0; i < 400; ++i) store.Put(NumberedKey(i), GarbageValue(i, 0));
  store.Compact();
  store.RunUntilIdle();
  EXPECT_TRUE(store.FilesOf(".gc").empty());
}

// Regression: a step moved no more bytes than a memtable holds. So a small write_buffer_size made many steps, each of
// which looked up all values of its segment, and left many small segments.
std::size_t SegmentsMadeByLogGc() {
  TestStore store;
  store.options.enable_blob_garbage_collection = false;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.options.write_buffer_size = 64u << 10;
  store.options.max_total_wal_size = 0;
  store.options.blob_file_size = 16u << 20;
  store.MustOpen();
  const std::string value(4000, 'v');
  for (int i = 0; i < 5000; ++i) store.Put(NumberedKey(i), value);
  for (int i = 0; i < 5000; i += 2) store.Put(NumberedKey(i), value);
  store.Compact();
  store.RunUntilIdle();
  Collect(&store);
  EXPECT_EQ(store.Verify(), "");
  return store.FilesOf(".gc").size();
}

TEST(LogGcTest, StepsDoNotDependOnWriteBufferSize) {
  const std::size_t made = SegmentsMadeByLogGc();
  EXPECT_GT(made, 0u);
  EXPECT_LE(made, 3u) << "20 MiB are live";
  // The first segment is half garbage: 8 MiB are moved, at most 64 KiB in a step.
  const MutantScope mutant(Mutant::kGcStepsOfWriteBuffer);
  EXPECT_GT(SegmentsMadeByLogGc(), 64u);
}

// Old references to relocated values stay in older layers, and their slots stay reserved until the layers are
// compacted.
TEST(LogGcTest, SlotsAreFreedWhenLayersAreCompacted) {
  TestStore store;
  FillWithGarbage(&store);
  const auto shadowed = [&] {
    SimFileSystem copy(store.fs->Snapshot());
    const auto manifest = ReadManifest(copy, kStorePath);
    EXPECT_TRUE(manifest.ok());
    return manifest->state.shadowed_slots.size();
  };
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  std::size_t most = 0;
  while (store.executor->pending() > 0) {
    store.executor->RunOneInstead();
    most = std::max(most, shadowed());
  }
  EXPECT_GT(most, 0u);
  store.Compact();
  store.RunUntilIdle();
  EXPECT_EQ(shadowed(), 0u);
  ExpectAll(&store);
  EXPECT_EQ(store.Verify(), "");
}

// ---- Rules A1 to A3 ----

// Compacts without log GC: in the middle of a step of log GC, no call may wait for another step.
void MergeAll(TestStore* store) {
  CompactRangeOptions options;
  options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kDisable;
  store->Compact(options);
}

// What happens to key 0, whose live value is being relocated from a victim.
struct Change {
  const char* what;
  std::function<void(TestStore*)> make;
  std::string now;
};

std::vector<Change> Changes() {
  const std::string key = NumberedKey(0);
  const auto remove = [key](TestStore* store) { ASSERT_TRUE(store->db->Delete({}, key).ok()); };
  return {
      {"a delete that is flushed", [=](TestStore* store) { remove(store), store->Flush(); }, "NotFound"},
      {"a delete that is merged to the end", [=](TestStore* store) { remove(store), MergeAll(store); }, "NotFound"},
      {"a delete that stays in memory", remove, "NotFound"},
      {"an overwrite that is flushed", [=](TestStore* store) { store->Put(key, "new"), store->Flush(); }, "new"},
      {"an overwrite that is merged", [=](TestStore* store) { store->Put(key, "new"), MergeAll(store); }, "new"},
      {"a range delete that is flushed",
       [=](TestStore* store) {
         ASSERT_TRUE(store->db->DeleteRange({}, NumberedKey(0), NumberedKey(1)).ok());
         store->Flush();
       },
       "NotFound"},
      {"a delete, and another key above it",
       [=](TestStore* store) {
         remove(store), store->Flush();
         store->Put("other", "x"), store->Flush();
       },
       "NotFound"},
  };
}

std::string KeyZeroAfter(const Change& change, bool* met) {
  TestStore store;
  FillWithGarbage(&store);
  AtGc at("Gc:copied", [&] { change.make(&store); });
  Collect(&store);
  *met = at.done();
  const std::string seen = store.Get(NumberedKey(0));
  EXPECT_EQ(store.Verify(), "") << change.what;
  store.Flush();
  store.Reopen();
  const std::string again = store.Get(NumberedKey(0));
  store.Compact();
  store.RunUntilIdle();
  const std::string merged = store.Get(NumberedKey(0));
  for (int i = 1; i < kGarbageKeys; ++i) {
    EXPECT_EQ(store.Get(NumberedKey(i)), GarbageValue(i, VersionOf(i))) << change.what << i;
  }
  return seen == again && again == merged ? seen : seen + ", then " + again + ", then " + merged;
}

TEST(LogGcTest, DeleteDuringRelocationIsNotUndone) {
  for (const Change& change : Changes()) {
    bool met = false;
    EXPECT_EQ(KeyZeroAfter(change, &met), change.now) << change.what;
    EXPECT_TRUE(met) << change.what;
  }
}

TEST(LogGcTest, WithoutSecondLookupADeleteIsUndone) {
  const MutantScope mutant(Mutant::kGcSkipsSecondLookup);
  bool met = false;
  EXPECT_NE(KeyZeroAfter(Changes()[0], &met), "NotFound");
}

// A value that only a memtable hides is not dead yet: a power cut may take the memtable's log. True if after every
// power cut key 0 has the synced value or the unsynced one.
bool KeyZeroSurvivesEveryCut() {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    TestStore store;
    FillWithGarbage(&store);
    EXPECT_TRUE(store.db->SyncWAL().ok());
    store.Put(NumberedKey(0), "not synced");
    Collect(&store);
    Prng prng(seed);
    auto after = std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng));
    store.fs->PowerOff();
    store.db.reset();
    store.fs = after;
    store.options.file_system = after;
    store.MustOpen();
    const std::string value = store.Get(NumberedKey(0));
    if (value != GarbageValue(0, 0) && value != "not synced") return false;
  }
  return true;
}

TEST(LogGcTest, ValuesHiddenByMemtablesOnlyAreLive) {
  EXPECT_TRUE(KeyZeroSurvivesEveryCut());
  const MutantScope mutant(Mutant::kGcConsultsMemtables);
  EXPECT_FALSE(KeyZeroSurvivesEveryCut());
}

// The layers have no entries of a segment that was flushed after they were pinned: all its values would seem dead.
std::string AfterALateChoice() {
  TestStore store;
  FillWithGarbage(&store);
  AtGc at("Gc:choose late", [&] {
    for (int i = 1000; i < 1100; ++i) {  // segments with more garbage than the others: picked first
      for (int version = 0; version < 10; ++version) store.Put(NumberedKey(i), GarbageValue(i, version));
    }
    store.Flush();
    store.executor->RunAll();
  });
  Collect(&store);
  for (int i = 1000; i < 1100; ++i) {
    if (at.done() && store.Get(NumberedKey(i)) != GarbageValue(i, 9)) return store.Get(NumberedKey(i));
  }
  return store.Verify();
}

TEST(LogGcTest, VictimsAndLayersAreFromOneState) {
  EXPECT_EQ(AfterALateChoice(), "");
  const MutantScope mutant(Mutant::kGcPicksFromLaterState);
  EXPECT_NE(AfterALateChoice(), "");
}

// ---- Damage ----

// Flips a bit in the value of key 0, which is live in a victim.
std::string ReadOfADamagedValue() {
  TestStore store;
  FillWithGarbage(&store);
  for (const std::string& path : store.FilesOf(".log")) {
    std::string bytes;
    EXPECT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    const std::size_t at = bytes.find(GarbageValue(0, 0));
    if (at == std::string::npos) continue;
    EXPECT_TRUE(store.fs->tampering().FlipBit(path, at + 500, 3).ok());
  }
  Collect(&store);
  for (int i = 3; i < kGarbageKeys; i += 3) EXPECT_EQ(store.Get(NumberedKey(i)), GarbageValue(i, 0)) << i;
  for (int i = 1; i < kGarbageKeys; i += 3) EXPECT_EQ(store.Get(NumberedKey(i)), GarbageValue(i, 1)) << i;
  EXPECT_FALSE(store.FilesOf(".gc").empty()) << "the other segments are collected";
  return store.Get(NumberedKey(0));
}

TEST(LogGcTest, DamagedValueIsNotRelocated) {
  const std::string read = ReadOfADamagedValue();
  EXPECT_NE(read.find("Corruption"), std::string::npos) << read.substr(0, 200);
  const MutantScope mutant(Mutant::kCopyDamagedValues);
  EXPECT_EQ(ReadOfADamagedValue().find("Corruption"), std::string::npos);
}

// ---- Readers ----

TEST(LogGcTest, SnapshotsAndIteratorsAreUnaffected) {
  TestStore store;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  for (int i = 0; i < kGarbageKeys; ++i) store.Put(NumberedKey(i), GarbageValue(i, 0));
  store.Flush();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  ReadOptions then;
  then.snapshot = snapshot;
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  Prng prng(SeedFromEnvironment(5));
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 40; ++i) {
      const int key = static_cast<int>(prng.Uniform(kGarbageKeys));
      store.Put(NumberedKey(key), GarbageValue(key, round + 1));
    }
    store.Compact();
    store.RunUntilIdle();
    const int key = static_cast<int>(prng.Uniform(kGarbageKeys));
    ASSERT_EQ(store.Get(NumberedKey(key), then), GarbageValue(key, 0));
  }
  EXPECT_FALSE(store.FilesOf(".gc").empty());
  int seen = 0;
  for (; it->Valid(); it->Next(), ++seen) {
    ASSERT_EQ(it->key(), Slice(NumberedKey(seen)));
    ASSERT_EQ(it->value(), Slice(GarbageValue(seen, 0)));
  }
  EXPECT_EQ(seen, kGarbageKeys);
  for (int i = 0; i < kGarbageKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i), then), GarbageValue(i, 0)) << i;
  store.db->ReleaseSnapshot(snapshot);
}

// ---- Current options ----

TEST(LogGcTest, ValuesAreRelocatedUnderCurrentOptions) {
  for (const char* const change :
       {"min_blob_size=4096", "blob_compression_type=kZSTD", "blob_compression_type=kLZ4Compression"}) {
    TestStore store;
    store.options.page_size = 4096;
    FillWithGarbage(&store);
    const std::string text(change);
    const std::size_t equals = text.find('=');
    ASSERT_TRUE(store.db->SetOptions({{text.substr(0, equals), text.substr(equals + 1)}}).ok());
    const std::size_t segments = store.FilesOf(".log").size();
    Collect(&store);
    EXPECT_LT(store.FilesOf(".log").size(), segments) << change;
    EXPECT_EQ(store.FilesOf(".gc").empty(), text.starts_with("min_blob")) << change;
    ExpectAll(&store);
    store.Reopen();
    ExpectAll(&store);
    EXPECT_EQ(store.Verify(), "") << change;
    // Changes the options back.
    ASSERT_TRUE(store.db->SetOptions({{"blob_compression_type", "kNoCompression"}, {"min_blob_size", "64"}}).ok());
    for (int i = 0; i < kGarbageKeys; i += 2) store.Put(NumberedKey(i), GarbageValue(i, VersionOf(i)));
    store.Compact();
    store.RunUntilIdle();
    ExpectAll(&store);
    EXPECT_EQ(store.Verify(), "") << change;
  }
}

// Regression: a footer lists the values that were separated when the segment was sealed. Values that were smaller than
// min_blob_size then, and that replay separates now, were lost.
TEST(LogGcTest, FootersOfReplayedSegmentsAreNotUsed) {
  TestStore store;
  store.options.enable_blob_garbage_collection = false;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.options.write_buffer_size = 1u << 20;
  store.options.max_total_wal_size = 1u << 20;
  store.options.min_blob_size = 128;
  store.MustOpen();
  for (int i = 0; i < 1000; ++i) store.Put(NumberedKey(i), std::string(100, 's'));
  store.executor->RunAll();  // seals the segment
  store.options.min_blob_size = 64;
  store.Reopen();
  for (int i = 0; i < 1000; ++i) {
    if (i % 3 != 0) store.Put(NumberedKey(i), "small");
  }
  store.Compact();
  store.RunUntilIdle();
  Collect(&store);
  EXPECT_FALSE(store.FilesOf(".gc").empty());
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(store.Get(NumberedKey(i)), i % 3 == 0 ? std::string(100, 's') : "small") << i;
  EXPECT_EQ(store.Verify(), "");
}

// Regression: the slot of a segment that log GC had written stayed reserved after the commit, until the database was
// closed. So no slot of such a segment was reused, and a long-running database would have run out of slots.
TEST(LogGcTest, SlotsOfRelocationSegmentsAreReused) {
  TestStore store;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  std::uint32_t highest = 0;
  std::size_t written = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < kGarbageKeys; ++i) {
      if (round == 0 || (i + round) % 4 != 0) store.Put(NumberedKey(i), GarbageValue(i, round));
    }
    store.Compact();
    store.RunUntilIdle();
    SimFileSystem copy(store.fs->Snapshot());
    const auto manifest = ReadManifest(copy, kStorePath);
    ASSERT_TRUE(manifest.ok());
    for (const auto& [number, segment] : manifest->state.segments) {
      highest = std::max(highest, static_cast<std::uint32_t>(segment.slot));
      if (segment.kind == SegmentKind::kRelocation && segment.number > written) written = segment.number;
    }
  }
  EXPECT_GT(written, 0u);
  EXPECT_LT(highest, 40u) << "about two dozen segments are there at a time";
}

}  // namespace
}  // namespace cambium::testing
