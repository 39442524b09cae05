// Tests private runs: the files that hold the versions that snapshots see in flushed memtables. Compares each snapshot
// with a copy of the model that was made at the same time.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/db_inside.h"
#include "cambium/iterator.h"
#include "cambium/listener.h"
#include "cambium/write_buffer_manager.h"
#include "testing/bytes_per_snapshot.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/test_store.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

using Model = std::map<std::string, std::string>;

struct PrivateFiles : EventListener {
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    if (info.reason != TableFileCreationReason::kSnapshot || !info.status.ok()) return;
    ++files;
    bytes += info.file_size;
  }
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// A store with a model of it, and of each of its snapshots.
struct SnapshotStore : TestStore {
  // Memtables are small, so their snapshots are dense. Unless `bytes_per_snapshot` says otherwise, memtables are moved
  // to private runs all the same.
  explicit SnapshotStore(std::size_t write_buffer_size, std::size_t bytes_per_snapshot = 0,
                         std::shared_ptr<WriteBufferManager> manager = nullptr)
      : density(bytes_per_snapshot) {
    options.write_buffer_manager = std::move(manager);
    options.write_buffer_size = write_buffer_size;
    options.max_write_buffer_number = 2;
    options.level0_slowdown_writes_trigger = 1000;
    options.level0_stop_writes_trigger = 1000;
    options.listeners.push_back(made);
    MustOpen();
  }
  ~SnapshotStore() { Release(held.size()); }
  void Set(const std::string& key, const std::string& value) {
    Put(key, value);
    model[key] = value;
  }
  void Delete(const std::string& key) {
    EXPECT_TRUE(db->Delete({}, key).ok());
    model.erase(key);
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    if (begin >= end) return;
    EXPECT_TRUE(db->DeleteRange({}, begin, end).ok());
    model.erase(model.lower_bound(begin), model.lower_bound(end));
  }
  void TakeSnapshot() { held.emplace_back(db->GetSnapshot(), model); }
  // Releases the first `count` snapshots.
  void Release(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) db->ReleaseSnapshot(held[i].first);
    held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(count));
  }
  // Releases all snapshots but each `step`-th.
  void Thin(std::size_t step) {
    std::vector<std::pair<const Snapshot*, Model>> kept;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (i % step == 0) kept.push_back(std::move(held[i]));
      else db->ReleaseSnapshot(held[i].first);
    }
    held = std::move(kept);
  }
  // Returns how many snapshots differ from their model.
  int WrongSnapshots(std::size_t step = 1) {
    int wrong = 0;
    for (std::size_t i = 0; i < held.size(); i += step) {
      ReadOptions at;
      at.snapshot = held[i].first;
      Model forward;
      Model backward;
      const std::unique_ptr<Iterator> it(db->NewIterator(at));
      for (it->SeekToFirst(); it->Valid(); it->Next()) forward[it->key().ToString()] = it->value().ToString();
      bool is_right = it->status().ok();
      for (it->SeekToLast(); it->Valid(); it->Prev()) backward[it->key().ToString()] = it->value().ToString();
      is_right = is_right && it->status().ok() && forward == held[i].second && backward == held[i].second;
      for (int k = 0; k < 40; ++k) {
        const auto found = held[i].second.find(NumberedKey(k));
        is_right = is_right && Get(NumberedKey(k), at) == (found == held[i].second.end() ? "NotFound" : found->second);
      }
      wrong += is_right ? 0 : 1;
    }
    return wrong;
  }
  const BytesPerSnapshot density;
  std::shared_ptr<PrivateFiles> made = std::make_shared<PrivateFiles>();
  Model model;
  std::vector<std::pair<const Snapshot*, Model>> held;
};

// Takes snapshots at random moments of random writes.
void WriteRandomly(SnapshotStore* store, std::uint64_t seed, int count) {
  Prng prng(seed);
  for (int i = 0; i < count; ++i) {
    const std::string key = NumberedKey(static_cast<int>(prng.Uniform(40)));
    const std::uint64_t what = prng.Uniform(100);
    if (what < 70) {
      store->Set(key, std::to_string(i) + std::string(prng.Uniform(100), 'v'));
    } else if (what < 85) {
      store->Delete(key);
    } else if (what < 90) {
      store->DeleteRange(key, NumberedKey(static_cast<int>(prng.Uniform(40))));
    } else {
      store->TakeSnapshot();
      if (prng.OneIn(4)) store->TakeSnapshot();
    }
  }
}

TEST(SnapshotRunsTest, EverySnapshotShowsItsStateFromPrivateRuns) {
  for (std::uint64_t seed = 1; seed <= 3 * ScaleFromEnvironment(); ++seed) {
    SCOPED_TRACE(seed);
    SnapshotStore store(6u << 10);
    WriteRandomly(&store, seed, 3000);
    store.Flush();
    EXPECT_GT(store.made->files, 10u);
    EXPECT_EQ(store.WrongSnapshots(), 0);
    store.Release(store.held.size() / 2);
    WriteRandomly(&store, seed + 100, 1000);
    store.Flush();
    store.RunUntilIdle();
    EXPECT_EQ(store.WrongSnapshots(), 0);
    EXPECT_EQ(store.Verify(), "");
  }
}

// Hundreds of snapshots of one memtable read runs of runs.
TEST(SnapshotRunsTest, MemtableMayHaveHundredsOfSnapshots) {
  SnapshotStore store(64u << 10);
  Prng prng(5);
  for (int i = 0; i < 600; ++i) {
    store.Set(NumberedKey(static_cast<int>(prng.Uniform(40))), std::to_string(i));
    if (i % 50 == 7) store.DeleteRange(NumberedKey(static_cast<int>(prng.Uniform(20))), NumberedKey(25));
    store.TakeSnapshot();
  }
  store.Flush();
  for (int i = 0; store.made->files == 0 && i < 20'000; ++i) {
    store.Set("x" + NumberedKey(i % 1000), std::string(50, 'x'));
    if (i % 1000 == 0) store.TakeSnapshot();
  }
  EXPECT_GT(store.made->files, 0u);
  EXPECT_EQ(store.WrongSnapshots(7), 0);
}

struct Spilled {
  std::uint64_t user_bytes = 0;
  std::uint64_t memtables = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// Twenty snapshots for each memtable, each after other keys were overwritten.
Spilled SpillForManySnapshots() {
  SnapshotStore store(64u << 10);
  Spilled spilled;
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 40; ++k) {
      const std::string key = NumberedKey((i * 40 + k) * 7919 % 10'000);
      store.Put(key, std::string(40, 'v'));
      spilled.user_bytes += key.size() + 40;
    }
    store.TakeSnapshot();
    if (i % 20 == 19) {
      store.Flush();
      ++spilled.memtables;
    }
  }
  spilled.files = store.made->files;
  spilled.bytes = store.made->bytes;
  EXPECT_EQ(store.held.size(), 200u);
  return spilled;
}

TEST(SnapshotRunsTest, MemtableIsSpilledOnceForAllItsSnapshots) {
  const Spilled spilled = SpillForManySnapshots();
  EXPECT_GT(spilled.files, 0u);
  EXPECT_LE(spilled.files, spilled.memtables);
  EXPECT_GT(spilled.bytes, spilled.user_bytes / 4);
  EXPECT_LE(spilled.bytes, 3 * spilled.user_bytes);
  const MutantScope mutant(Mutant::kSnapshotsShareNoRuns);
  EXPECT_GT(SpillForManySnapshots().bytes, 6 * spilled.user_bytes);
}

// Counts how often a fault point is reached.
class Reached {
 public:
  explicit Reached(std::string_view point) {
    FaultPoints::Instance().Set([this, point](const char* name) { count_ += name == point ? 1 : 0; });
  }
  ~Reached() { FaultPoints::Instance().Set(nullptr); }
  Reached(const Reached&) = delete;
  Reached& operator=(const Reached&) = delete;
  [[nodiscard]] int count() const { return count_; }

 private:
  int count_ = 0;
};

// Regression: each flush took 85 ms with a million snapshots, because it looked at each of them.
int ListingsOfSmallFlushes() {
  SnapshotStore store(64u << 10);
  const Reached listed("Snapshots:listed");
  for (int i = 0; i < 20; ++i) {
    store.Set(NumberedKey(i), "v");
    store.TakeSnapshot();
    store.Flush();
  }
  return listed.count();
}

TEST(SnapshotRunsTest, FlushListsNoSnapshotsWhileReadersHoldLittle) {
  EXPECT_EQ(ListingsOfSmallFlushes(), 0);
  const MutantScope mutant(Mutant::kEachFlushListsSnapshots);
  EXPECT_EQ(ListingsOfSmallFlushes(), 20);
}

// Memory that readers have released no longer counts: later memtables are moved when they exceed the budget, not
// earlier.
TEST(SnapshotRunsTest, SnapshotsAreListedWhenTheyExceedTheBudgetAgain) {
  SnapshotStore store(16u << 10);
  const Reached listed("Snapshots:listed");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2000; ++i) {
      store.Set(NumberedKey(i % 200), std::to_string(i) + std::string(40, 'v'));
      if (i % 100 == 0) store.TakeSnapshot();
    }
    store.Flush();
    EXPECT_GT(store.made->files, 0u);
    EXPECT_EQ(store.WrongSnapshots(), 0);
    store.Release(store.held.size());
    store.made->files = 0;
  }
  EXPECT_LE(listed.count(), 3 * 8);
}

// The bytes that count as held by readers: while an iterator holds three flushed memtables, and after its end.
std::pair<std::size_t, std::size_t> BytesHeldAndReleased() {
  SnapshotStore store(64u << 10);
  const DbInside& db = *DbInside::Of(store.db.get());
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) store.Set(NumberedKey(i), std::string(40, 'v'));
    iterators.emplace_back(store.db->NewIterator({}));
    store.Flush();
  }
  const std::size_t held = db.BytesOfReaderTables();
  iterators.clear();
  store.Set("other", "value");
  store.Flush();  // its job frees what was retired
  store.RunUntilIdle();
  return {held, db.BytesOfReaderTables()};
}

TEST(SnapshotRunsTest, ReleasedMemtablesAreNotCounted) {
  const auto [held, released] = BytesHeldAndReleased();
  EXPECT_GT(held, 3 * 100 * 40u);
  EXPECT_EQ(released, 0u);
  const MutantScope mutant(Mutant::kReaderTablesStayCounted);
  EXPECT_GT(BytesHeldAndReleased().second, 0u);
}

// Regression: a memtable was walked once for each of its snapshots. With 25,000 of them a flush took 28 seconds.
int WalksForSnapshots(int snapshots) {
  SnapshotStore store(16u << 10);
  const Reached walked("SnapshotRuns:walk");
  for (int i = 0; i < 4000; ++i) {
    store.Set(NumberedKey(i % 40), std::to_string(i) + std::string(40, 'v'));
    if (i % (4000 / snapshots) == 0) store.TakeSnapshot();
  }
  store.Flush();
  EXPECT_GT(store.made->files, 0u);
  EXPECT_EQ(store.WrongSnapshots(7), 0);
  return walked.count();
}

TEST(SnapshotRunsTest, ManySnapshotsOfMemtableDoNotEachWalkIt) {
  EXPECT_GT(WalksForSnapshots(20), 0);
  EXPECT_EQ(WalksForSnapshots(1000), 0);
  const MutantScope mutant(Mutant::kSnapshotRunsWalkTables);
  EXPECT_GT(WalksForSnapshots(1000), 500);
}

// Regression: a snapshot after each of 100,000 puts of 100 bytes took 377 MiB of files, and as much memory.
std::uint64_t FileBytesForDenseSnapshots() {
  SnapshotStore store(16u << 10, 4096);
  for (int i = 0; i < 1000; ++i) {
    store.Set(NumberedKey(i % 40), std::to_string(i) + std::string(40, 'v'));
    store.TakeSnapshot();
  }
  store.Flush();
  EXPECT_EQ(store.WrongSnapshots(37), 0);
  return store.made->bytes;
}

TEST(SnapshotRunsTest, MemtableOfDenseSnapshotsStaysInMemory) {
  EXPECT_EQ(FileBytesForDenseSnapshots(), 0u);
  const MutantScope mutant(Mutant::kDenseSnapshotsGetRuns);
  EXPECT_GT(FileBytesForDenseSnapshots(), 8u * 1000 * 45) << "eight times what was put";
}

// Takes dense snapshots, then few. Memtables of the few snapshots are moved, unless these snapshots also hold a
// memtable with dense ones.
std::uint64_t FilesAfterDenseSnapshots() {
  SnapshotStore store(16u << 10, 1024);
  for (int i = 0; i < 6000; ++i) {
    store.Set(NumberedKey(i % 40), std::to_string(i) + std::string(40, 'v'));
    if (i < 1000 || i % 100 == 0) store.TakeSnapshot();
  }
  store.Flush();
  EXPECT_EQ(store.WrongSnapshots(17), 0);
  return store.made->files;
}

// Each memtable shares a snapshot with the memtable before it: one that was taken while that memtable waited for its
// flush.
TEST(SnapshotRunsTest, MemtablesAfterDenseSnapshotsMove) {
  const std::uint64_t files = FilesAfterDenseSnapshots();
  EXPECT_GT(files, 0u);
  EXPECT_LE(files, 5000u * 150 / (16u << 10));
  const MutantScope mutant(Mutant::kDenseTablesHoldAllLater);
  EXPECT_EQ(FilesAfterDenseSnapshots(), 0u);
}

// Most of the dense snapshots are released. Those that are left keep no memtables in memory.
std::uint64_t FilesAfterThinning() {
  SnapshotStore store(16u << 10, 4096);
  for (int i = 0; i < 3000; ++i) {
    store.Set(NumberedKey(i % 40), std::to_string(i) + std::string(40, 'v'));
    store.TakeSnapshot();
  }
  store.Flush();
  EXPECT_EQ(store.made->files, 0u);
  store.Thin(200);
  store.Set(NumberedKey(1), "after");
  store.Flush();
  EXPECT_EQ(store.WrongSnapshots(), 0);
  return store.made->files;
}

TEST(SnapshotRunsTest, MemtablesMoveWhenMostSnapshotsAreReleased) {
  EXPECT_GT(FilesAfterThinning(), 0u);
  const MutantScope mutant(Mutant::kLooksOnlyForMoreTables);
  EXPECT_EQ(FilesAfterThinning(), 0u);
}

// The limit is set while dense snapshots hold memtables.
TEST(SnapshotRunsTest, MemtablesOfDenseSnapshotsMoveForANewLimit) {
  const auto manager = std::make_shared<WriteBufferManager>(0);
  SnapshotStore store(16u << 10, 4096, manager);
  for (int i = 0; i < 3000; ++i) {
    store.Set(NumberedKey(i % 40), std::to_string(i) + std::string(40, 'v'));
    store.TakeSnapshot();
  }
  store.Flush();
  EXPECT_EQ(store.made->files, 0u);
  store.Set(NumberedKey(1), "after");
  manager->SetBufferSize(256u << 10);
  store.Flush();
  EXPECT_GT(store.made->files, 0u);
  EXPECT_EQ(store.WrongSnapshots(37), 0);
}

std::uint64_t FilesForSnapshotsOfOneMoment() {
  SnapshotStore store(16u << 10, 4096);
  for (int i = 0; i < 3000; ++i) {
    store.Set(NumberedKey(i % 40), std::to_string(i) + std::string(40, 'v'));
    if (i % 200 != 0) continue;
    for (int same = 0; same < 50; ++same) store.TakeSnapshot();
  }
  store.Flush();
  EXPECT_EQ(store.WrongSnapshots(43), 0);
  return store.made->files;
}

TEST(SnapshotRunsTest, SnapshotsOfOneMomentCountOnce) {
  EXPECT_GT(FilesForSnapshotsOfOneMoment(), 0u);
  const MutantScope mutant(Mutant::kSnapshotsShareNoState);
  EXPECT_EQ(FilesForSnapshotsOfOneMoment(), 0u);
}

TEST(SnapshotRunsTest, PrivateRunsGoWithTheirLastSnapshotOrWithTheNextOpen) {
  SnapshotStore store(6u << 10);
  WriteRandomly(&store, 9, 2000);
  store.Flush();
  store.RunUntilIdle();
  ASSERT_GT(store.made->files, 10u);
  {
    TestStore crashed(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    crashed.options.write_buffer_size = 6u << 10;
    crashed.MustOpen();
    crashed.Compact();
    crashed.RunUntilIdle();
    EXPECT_LE(crashed.FilesOf(".run").size(), crashed.RunsAtRest());
  }
  store.Compact();
  store.RunUntilIdle();
  EXPECT_GT(store.FilesOf(".run").size(), store.RunsAtRest()) << "the snapshots need them";
  EXPECT_EQ(store.WrongSnapshots(), 0);
  store.Release(store.held.size());
  store.Put("k", "v");
  store.Compact();
  store.RunUntilIdle();
  EXPECT_LE(store.FilesOf(".run").size(), store.RunsAtRest());
}

}  // namespace
}  // namespace cambium::testing
