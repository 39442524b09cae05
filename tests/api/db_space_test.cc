// Space and pins: dead files are removed, visible data is kept, and the memory that snapshots pin is bounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <set>
#include <thread>

#include "testing/family_store.h"
#include "manifest/manifest_reader.h"
#include "testing/bytes_per_snapshot.h"
#include "testing/mutant_scope.h"
#include "util/fault_point.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing::db_space_test {
namespace {

std::string KeyOf(std::uint64_t i) { return "k" + std::to_string(i); }

// ---- Rule B4: uncharged remains ----

// Returns the largest number of log segments after any of `opens` Opens with one write each.
std::size_t MostSegments(TestStore* store, int opens) {
  std::size_t most = 0;
  for (int i = 0; i < opens; ++i) {
    store->MustOpen();
    store->Put(KeyOf(static_cast<std::uint64_t>(i % 10)), "small");
    store->MustClose();
    most = std::max(most, store->FilesOf(".log").size());
  }
  return most;
}

TEST(DbSpaceTest, ThousandOpensLeaveABoundedNumberOfFiles) {
  TestStore store;
  EXPECT_LE(MostSegments(&store, kUnderSanitizer ? 150 : 1000), 20u);  // an Open that finds more than 16 flushes them
  {
    TestStore other;
    const MutantScope mutant(Mutant::kKeepTinySegments);
    EXPECT_GT(MostSegments(&other, 60), 50u);
  }
  store.MustOpen();
  store.Compact();
  store.RunUntilIdle();
  EXPECT_LE(store.Files().size(), 10u);
  EXPECT_LE(store.BytesOnDisk(), 64u << 10);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(store.Get(KeyOf(i)), "small");
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// Rule E4: slots of dropped segments are reused; file numbers never are. Returns the largest slot.
Slot LargestSlotAfterManySegments() {
  TestStore store;
  store.MustOpen();
  std::set<std::string> seen;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 50; ++i) store.Put(KeyOf(static_cast<std::uint64_t>(i)), std::string(1000, 'v'));
    store.Compact();
    store.RunUntilIdle();
    for (const std::string& path : store.FilesOf(".log")) seen.insert(path);
  }
  EXPECT_GT(seen.size(), 60u);                                // of all rounds; a set, so no name is used twice
  EXPECT_LE(store.Property("num-blob-files"), 8u);
  SimFileSystem copy(store.fs->Snapshot());
  const auto manifest = ReadManifest(copy, kStorePath);
  EXPECT_TRUE(manifest.ok());
  Slot largest{};
  for (const auto& [number, segment] : manifest->state.segments) largest = std::max(largest, segment.slot);
  const std::string newest = *seen.rbegin();
  store.Reopen();
  store.Put("k", std::string(1000, 'v'));
  EXPECT_GT(store.FilesOf(".log").back(), newest);
  return largest;
}

TEST(DbSpaceTest, SlotsAreReusedAndFileNumbersAreNot) {
  EXPECT_LT(LargestSlotAfterManySegments(), Slot{12});
  const MutantScope mutant(Mutant::kNeverReuseSlots);
  EXPECT_GT(LargestSlotAfterManySegments(), Slot{50});  // as many slots as files
}

TEST(DbSpaceTest, EmptyDatabaseIsSmall) {
  TestStore store;
  store.options = [&] {
    Options defaults;
    defaults.create_if_missing = true;
    defaults.file_system = store.fs;
    defaults.executor = store.executor;
    return defaults;
  }();
  store.MustOpen();
  EXPECT_LE(store.BytesOnDisk(), 64u << 10);
  store.MustClose();
  EXPECT_LE(store.BytesOnDisk(), 64u << 10);
}

TEST(DbSpaceTest, SegmentsWithoutReferencesAreDropped) {
  TestStore store;
  store.MustOpen();
  for (std::uint64_t i = 0; i < 200; ++i) store.Put(KeyOf(i), std::string(1000, 'v'));
  store.Put("large", std::string(20'000, 'l'));
  store.Compact();
  store.RunUntilIdle();
  EXPECT_GT(store.BytesOnDisk(), 200'000u);
  EXPECT_EQ(store.FilesOf(".val").size(), 1u);
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(store.db->Delete({}, KeyOf(i)).ok());
  ASSERT_TRUE(store.db->Delete({}, "large").ok());
  store.Compact();
  store.RunUntilIdle();
  EXPECT_LE(store.BytesOnDisk(), 64u << 10);
  EXPECT_TRUE(store.FilesOf(".val").empty());
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// Rule B1: after a crash, flushed records are replayed again; no reference may be counted twice.
TEST(DbSpaceTest, AccountsAreRightAfterReplayOfFlushedOperations) {
  const auto is_right = [](std::uint64_t seed) {
    Prng prng(seed);
    TestStore store;
    store.MustOpen();
    for (int i = 0; i < 400; ++i) {
      store.Put(KeyOf(prng.Uniform(30)), std::string(100 + prng.Skewed(10), 'v'), prng.OneIn(10));
      if (prng.OneIn(60)) store.Flush();
      if (prng.OneIn(80)) store.Compact();
      if (!prng.OneIn(50)) continue;
      auto after = std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng));
      store.fs->PowerOff();
      store.db.reset();
      store.fs = after;
      store.options.file_system = after;
      if (!store.Open().ok() || store.Verify() != "") return false;
    }
    store.Compact();
    store.RunUntilIdle();
    return store.Verify().empty();
  };
  const std::uint64_t seed = SeedFromEnvironment(91);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(is_right(seed + i)) << seed + i;
}

// Rule B3: the addresses round the sizes of these records up, by 84 to 124 bytes. So the bytes of an account are
// inexact, and only its references show when the segment has no live value.
bool ValuesSurviveTheDeathOfTheirNeighbours() {
  TestStore store;
  store.options.large_value_size = 64 << 10;
  store.options.blob_file_size = 1 << 20;
  store.options.write_buffer_size = 1 << 20;
  store.options.max_total_wal_size = 8 << 20;
  store.MustOpen();
  for (std::uint64_t i = 0; i < 40; ++i) store.Put(KeyOf(i), std::string(16'330 + i, 'v'));
  store.Flush();
  for (std::uint64_t i = 0; i < 38; ++i) EXPECT_TRUE(store.db->Delete({}, KeyOf(i)).ok());
  store.Put("rotate", std::string(60'000, 'r'));
  store.Reopen();  // seals the segment
  bool right = store.db->CompactRange({}, nullptr, nullptr).ok() && store.db->WaitForCompact().ok();
  right = right && store.Verify().empty();
  for (std::uint64_t i = 38; i < 40; ++i) right = right && store.Get(KeyOf(i)) == std::string(16'330 + i, 'v');
  return right;
}

TEST(DbSpaceTest, SegmentIsDroppedByReferencesNotBytes) {
  EXPECT_TRUE(ValuesSurviveTheDeathOfTheirNeighbours());
  const MutantScope mutant(Mutant::kChargeBytesNotReferences);
  EXPECT_FALSE(ValuesSurviveTheDeathOfTheirNeighbours());
}

// No entry refers to the large values of a failed batch: their files are removed.
bool FailedBatchesLeaveFiles() {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  for (int i = 0; i < 20; ++i) {
    SimFault fault;
    fault.kind = SimOpKind::kWrite;
    fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
    store.fs->AddFault(fault);
    WriteBatch batch;
    EXPECT_TRUE(batch.Put("large", std::string(10'000, 'l')).ok());
    EXPECT_FALSE(store.db->Write({}, &batch).ok());
    store.fs->ClearFaults();
    store.Put("a", "1");
  }
  store.RunUntilIdle();
  return !store.FilesOf(".val").empty();
}

TEST(DbSpaceTest, LargeValuesOfFailedBatchesAreDropped) {
  EXPECT_FALSE(FailedBatchesLeaveFiles());
  const MutantScope mutant(Mutant::kFailedBatchStaysCharged);
  EXPECT_TRUE(FailedBatchesLeaveFiles());
}

// ---- Snapshots ----

TEST(DbSpaceSnapshotsTest, SnapshotSurvivesFlushesCompactionsAndDeletes) {
  Prng prng(SeedFromEnvironment(92));
  TestStore store;
  store.MustOpen();
  using Model = std::map<std::string, std::string>;
  Model model;
  std::vector<std::pair<const Snapshot*, Model>> held;
  for (int i = 0; i < 1500; ++i) {
    const std::string key = KeyOf(prng.Uniform(40));
    if (prng.OneIn(5)) {
      ASSERT_TRUE(store.db->Delete({}, key).ok());
      model.erase(key);
    } else {
      store.Put(key, model[key] = std::to_string(i) + std::string(prng.Skewed(12), 'v'));
    }
    if (prng.OneIn(60)) {
      held.emplace_back(store.db->GetSnapshot(), model);
      ASSERT_EQ(held.back().first->GetSequenceNumber(), store.db->GetLatestSequenceNumber());
    }
    if (prng.OneIn(50)) store.Flush();
    if (prng.OneIn(90)) store.Compact();
    if (prng.OneIn(70) && !held.empty()) {
      const auto victim = held.begin() + static_cast<std::ptrdiff_t>(prng.Uniform(held.size()));
      store.db->ReleaseSnapshot(victim->first);
      held.erase(victim);
    }
    if (!prng.OneIn(40) || held.empty()) continue;
    const auto& [snapshot, state] = held[prng.Uniform(held.size())];
    ReadOptions at;
    at.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(store.db->NewIterator(at));
    it->SeekToFirst();
    for (const auto& [k, v] : state) {
      ASSERT_TRUE(it->Valid() && it->key() == Slice(k) && it->value() == Slice(v));
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    for (std::uint64_t k = 0; k < 40; ++k) {
      const auto expected = state.find(KeyOf(k));
      ASSERT_EQ(store.Get(KeyOf(k), at), expected == state.end() ? "NotFound" : expected->second);
    }
  }
  for (const auto& [snapshot, state] : held) store.db->ReleaseSnapshot(snapshot);
  store.db->ReleaseSnapshot(nullptr);
  store.Compact();
  store.RunUntilIdle();
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
  EXPECT_LE(store.FilesOf(".run").size(), store.RunsAtRest());
}

// Hazard H47: the files that a snapshot needs stay on disk until it is released.
bool ASnapshotKeepsItsFiles() {
  TestStore store;
  store.MustOpen();
  for (std::uint64_t i = 0; i < 100; ++i) store.Put(KeyOf(i), std::string(1000, 'o'));
  store.Put("large", std::string(20'000, 'o'));
  store.Compact();
  store.RunUntilIdle();
  const Snapshot* snapshot = store.db->GetSnapshot();
  const auto pinned = store.Files();
  for (std::uint64_t i = 0; i < 100; ++i) store.Put(KeyOf(i), "new");
  store.Put("large", "new");
  store.Compact();
  store.RunUntilIdle();
  ReadOptions at;
  at.snapshot = snapshot;
  bool all = store.Get("large", at) == std::string(20'000, 'o');
  for (std::uint64_t i = 0; i < 100; ++i) all = all && store.Get(KeyOf(i), at) == std::string(1000, 'o');
  for (const auto& [path, bytes] : pinned) {
    if (path.ends_with(".val") || path.ends_with(".idx")) all = all && store.Files().contains(path);
  }
  store.db->ReleaseSnapshot(snapshot);
  store.Put("k0", "newer");
  store.Compact();
  store.RunUntilIdle();
  if (all) {
    EXPECT_TRUE(store.FilesOf(".val").empty());
    EXPECT_LE(store.BytesOnDisk(), 64u << 10);
  }
  return all;
}

TEST(DbSpaceSnapshotsTest, SnapshotKeepsItsFilesUntilReleased) {
  EXPECT_TRUE(ASnapshotKeepsItsFiles());
  {
    const MutantScope mutant(Mutant::kUnlinkWhilePinned);
    EXPECT_FALSE(ASnapshotKeepsItsFiles());
  }
  const MutantScope mutant(Mutant::kSlotOfNewestView);  // rule E4: the snapshot's slots now belong to other segments
  EXPECT_FALSE(ASnapshotKeepsItsFiles());
}

// Hazard H25: the same for a run that has been merged into the tree.
bool ASnapshotKeepsItsRun() {
  TestStore store;
  store.MustOpen();
  for (std::uint64_t i = 0; i < 100; ++i) store.Put(KeyOf(i), std::string(i % 2 == 0 ? 10 : 100, 'v'));
  store.Compact();
  for (const std::uint64_t i : {0u, 51u, 99u}) store.Put(KeyOf(i), "run");  // few keys in a wide range: not merged
  store.Flush();
  const std::vector<std::string> runs = store.FilesOf(".run");
  EXPECT_GE(runs.size(), 1u);
  EXPECT_LE(runs.size(), store.RunsAtRest() + 1);
  const Snapshot* snapshot = store.db->GetSnapshot();
  store.Put("k51", "new");
  store.Compact();
  store.RunUntilIdle();
  ReadOptions at;
  at.snapshot = snapshot;
  EXPECT_EQ(store.Get("k51", at), "run");  // even if the run's file were removed, since it is open
  const std::vector<std::string> now = store.FilesOf(".run");
  const bool kept = std::ranges::all_of(runs, [&](const std::string& run) { return std::ranges::count(now, run) == 1; });
  store.db->ReleaseSnapshot(snapshot);
  store.Put("k51", "newer");
  store.Compact();
  store.RunUntilIdle();
  EXPECT_LE(store.FilesOf(".run").size(), store.RunsAtRest());
  return kept;
}

TEST(DbSpaceSnapshotsTest, SnapshotKeepsRunsThatAreCompacted) {
  EXPECT_TRUE(ASnapshotKeepsItsRun());
  const MutantScope mutant(Mutant::kUnlinkIndexWhilePinned);
  EXPECT_FALSE(ASnapshotKeepsItsRun());
}

// Rule E5: a finished read pins nothing, although its thread lives on.
bool AnIdleReaderHoldsFiles() {
  TestStore store;
  store.MustOpen();
  store.Put("large", std::string(20'000, 'o'));
  store.Compact();
  store.RunUntilIdle();
  std::promise<void> has_read;
  std::promise<void> may_end;
  std::thread reader([&] {
    EXPECT_EQ(store.Get("large").size(), 20'000u);
    has_read.set_value();
    may_end.get_future().wait();
  });
  has_read.get_future().wait();
  EXPECT_TRUE(store.db->Delete({}, "large").ok());
  store.Compact();
  store.RunUntilIdle();
  const bool holds = !store.FilesOf(".val").empty();
  may_end.set_value();
  reader.join();
  return holds;
}

TEST(DbSpaceSnapshotsTest, ThreadPinsNothingBetweenReads) {
  EXPECT_FALSE(AnIdleReaderHoldsFiles());
  const MutantScope mutant(Mutant::kThreadPinsView);
  EXPECT_TRUE(AnIdleReaderHoldsFiles());
}

// A thousand snapshots, each of which alone would pin its memtable.
std::uint64_t TableBytesUnderSnapshots(bool check) {
  const BytesPerSnapshot any(0);
  TestStore store;
  store.options.write_buffer_size = 8 << 10;
  store.options.max_write_buffer_number = 2;
  store.MustOpen();
  std::vector<const Snapshot*> held;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (std::uint64_t k = 0; k < 8; ++k) {
      store.Put(KeyOf(k), std::to_string(i) + std::string(50, static_cast<char>('a' + k)));
    }
    held.push_back(store.db->GetSnapshot());
  }
  store.Flush();
  store.RunUntilIdle();
  const std::uint64_t pinned = store.Property("size-all-mem-tables") - store.Property("cur-size-all-mem-tables");
  if (check) {
    for (std::uint64_t i = 0; i < 1000; i += 7) {
      ReadOptions at;
      at.snapshot = held[i];
      for (std::uint64_t k = 0; k < 8; ++k) {
        EXPECT_EQ(store.Get(KeyOf(k), at), std::to_string(i) + std::string(50, static_cast<char>('a' + k)));
      }
    }
  }
  for (const Snapshot* snapshot : held) store.db->ReleaseSnapshot(snapshot);
  store.Put("k", "v");
  store.Compact();
  store.RunUntilIdle();
  EXPECT_LE(store.FilesOf(".run").size(), store.RunsAtRest()) << "private runs go with their snapshots";
  return pinned;
}

TEST(DbSpaceSnapshotsTest, ThousandSnapshotsPinBoundedMemory) {
  const std::uint64_t budget = 2 * (8 << 10);
  EXPECT_LE(TableBytesUnderSnapshots(true), budget);
  const MutantScope mutant(Mutant::kSnapshotsPinTables);
  EXPECT_GT(TableBytesUnderSnapshots(false), 4 * budget);
}

// All families together may hold as much as the family with the largest memtables; they have no share each.
TEST(DbSpaceSnapshotsTest, SnapshotsOfAllFamiliesShareOneBudget) {
  constexpr std::size_t kLargest = 16 << 10;
  const BytesPerSnapshot any(0);
  FamilyStore store;
  store.options.write_buffer_size = 4 << 10;
  store.options.max_write_buffer_number = 2;
  store.options.create_missing_column_families = true;
  store.family_options["f0"] = store.options;
  store.family_options["f0"].write_buffer_size = kLargest;
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back("f" + std::to_string(i));
  store.MustOpenWith(names);
  std::vector<const Snapshot*> held;
  const auto value = [](std::uint64_t i) { return std::to_string(i) + std::string(50, 'v'); };
  for (std::uint64_t i = 0; i < 300; ++i) {
    for (ColumnFamilyHandle* const family : store.handles) store.PutIn(family, KeyOf(i % 8), value(i));
    held.push_back(store.db->GetSnapshot());
  }
  for (ColumnFamilyHandle* const family : store.handles) store.FlushOf(family);
  store.RunUntilIdle();
  std::uint64_t pinned = 0;
  for (ColumnFamilyHandle* const family : store.handles) {
    std::uint64_t all = 0;
    std::uint64_t current = 0;
    ASSERT_TRUE(store.db->GetIntProperty(family, "cambium.size-all-mem-tables", &all));
    ASSERT_TRUE(store.db->GetIntProperty(family, "cambium.cur-size-all-mem-tables", &current));
    pinned += all - current;
  }
  EXPECT_GT(pinned, 0u);
  EXPECT_LE(pinned, 2 * kLargest);
  for (std::uint64_t i = 0; i < held.size(); i += 7) {
    ReadOptions at;
    at.snapshot = held[i];
    for (ColumnFamilyHandle* const family : store.handles) {
      EXPECT_EQ(store.GetFrom(family, KeyOf(i % 8), at), value(i));
      EXPECT_EQ(store.GetFrom(family, KeyOf((i + 1) % 8), at), i < 7 ? "NotFound" : value(i - 7));
    }
  }
  for (const Snapshot* const snapshot : held) store.db->ReleaseSnapshot(snapshot);
  store.Close();
}

// Regression: a snapshot was taken while memory of other snapshots was being bounded, just when a memtable was frozen.
// The snapshot's newest memtable was taken for a flushed one, and placed below an older one.
std::string SeenBySnapshotOfTheMoment() {
  const BytesPerSnapshot any(0);
  TestStore store;
  store.options.write_buffer_size = 4u << 10;
  store.options.max_write_buffer_number = 4;
  store.MustOpen();
  std::vector<const Snapshot*> held;
  const Snapshot* taken = nullptr;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) != "Snapshots:listed" || taken != nullptr || held.size() < 20) return;
    store.Put("key", "old");
    FlushOptions begun;
    begun.wait = false;
    EXPECT_TRUE(store.db->Flush(begun).ok());
    store.Put("key", "new");
    taken = store.db->GetSnapshot();
  });
  for (int i = 0; i < 25; ++i) {
    for (int n = 0; n < 40; ++n) store.Put(NumberedKey(n), std::string(50, static_cast<char>('a' + i)));
    held.push_back(store.db->GetSnapshot());
    store.Flush();
  }
  FaultPoints::Instance().Set(nullptr);
  if (taken == nullptr) return "never met";
  ReadOptions at;
  at.snapshot = taken;
  const std::string seen = store.Get("key", at);
  store.db->ReleaseSnapshot(taken);
  for (const Snapshot* const snapshot : held) store.db->ReleaseSnapshot(snapshot);
  return seen;
}

TEST(DbSpaceSnapshotsTest, SnapshotTakenDuringMoveToRunsIsRight) {
  EXPECT_EQ(SeenBySnapshotOfTheMoment(), "new");
  const MutantScope mutant(Mutant::kSnapshotsListedAfterView);
  EXPECT_EQ(SeenBySnapshotOfTheMoment(), "old");
}

TEST(DbSpaceSnapshotsTest, ManagedSnapshotIsReleasedAtTheEndOfItsScope) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "old");
  {
    const ManagedSnapshot snapshot(store.db.get());
    store.Put("k", "new");
    ReadOptions at;
    at.snapshot = snapshot.snapshot();
    EXPECT_EQ(store.Get("k", at), "old");
    const ManagedSnapshot adopted(store.db.get(), store.db->GetSnapshot());
    EXPECT_EQ(store.Property("num-snapshots"), 2u);
  }
  EXPECT_EQ(store.Property("num-snapshots"), 0u);
}

TEST(DbSpaceSnapshotsTest, MultiGetReadsAtASnapshot) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.Put("b", "2");
  const ManagedSnapshot snapshot(store.db.get());
  store.Put("a", "changed");
  ASSERT_TRUE(store.db->Delete({}, "b").ok());
  ReadOptions at;
  at.snapshot = snapshot.snapshot();
  std::vector<std::string> values;
  const auto statuses = store.db->MultiGet(at, {"b", "a"}, &values);
  EXPECT_TRUE(statuses[0].ok() && statuses[1].ok());
  EXPECT_EQ(values, (std::vector<std::string>{"2", "1"}));
}

}  // namespace
}  // namespace cambium::testing::db_space_test
