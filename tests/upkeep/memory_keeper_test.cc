// One limit for the memory of memtables and filters, of one database or of several: db_write_buffer_size,
// WriteBufferManager.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "cambium/write_buffer_manager.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kKiB = 1024;

// Memtables that only the budget makes full.
struct BudgetStore : FamilyStore {
  explicit BudgetStore(std::size_t limit, std::shared_ptr<WriteBufferManager> its = nullptr)
      : manager(its != nullptr ? its : std::make_shared<WriteBufferManager>(limit)) {
    options.write_buffer_manager = manager;
    options.write_buffer_size = 64u << 20;
    options.max_total_wal_size = 256u << 20;
    options.min_blob_size = 1000;
    options.level0_file_num_compaction_trigger = 8;
    options.level0_slowdown_writes_trigger = 500;
    options.level0_stop_writes_trigger = 1000;
    options.create_missing_column_families = true;
  }
  // Puts `count` values of 100 bytes under random keys. Returns the most memory in use after any of them.
  std::size_t PutRandom(int count, ColumnFamilyHandle* family = nullptr) {
    std::size_t most = 0;
    for (int i = 0; i < count; ++i) {
      ColumnFamilyHandle* const handle = family == nullptr ? db->DefaultColumnFamily() : family;
      const Status s = db->Put({}, handle, std::to_string(prng.Next()), std::string(100, 'v'));
      EXPECT_TRUE(s.ok()) << s.ToString();
      most = std::max(most, manager->memory_usage());
    }
    return most;
  }

  const std::shared_ptr<WriteBufferManager> manager;
  Prng prng{17};
};

TEST(MemoryKeeperTest, TheLimitHoldsAtEveryWrite) {
  BudgetStore store(256 * kKiB);
  store.MustOpen();
  EXPECT_LE(store.PutRandom(10'000), 256 * kKiB);
  EXPECT_GT(store.Property("num-runs") + store.Property("index-bytes"), 0u);
  EXPECT_EQ(store.Property("write-buffer-manager-usage"), store.manager->memory_usage());
  EXPECT_EQ(store.Property("write-buffer-manager-capacity"), 256 * kKiB);
  EXPECT_EQ(store.Verify(), "");
  const MutantScope mutant(Mutant::kWritesPassBudget);
  EXPECT_GT(store.PutRandom(10'000), 256 * kKiB);
}

TEST(MemoryKeeperTest, DbWriteBufferSizeIsSuchALimit) {
  BudgetStore store(1);
  store.options.write_buffer_manager = nullptr;
  store.options.db_write_buffer_size = 256 * kKiB;
  store.MustOpen();
  std::uint64_t most = 0;
  for (int i = 0; i < 5000; ++i) {
    store.Put(std::to_string(store.prng.Next()), std::string(100, 'v'));
    most = std::max(most, store.Property("write-buffer-manager-usage"));
    ASSERT_GE(store.Property("write-buffer-manager-usage"),
              store.Property("size-all-mem-tables") + store.Property("estimate-table-readers-mem"));
  }
  EXPECT_LE(most, 256 * kKiB);
  EXPECT_GT(most, 128 * kKiB) << "the limit is used";
  EXPECT_EQ(store.db->GetOptions().write_buffer_manager, nullptr);
}

// Each family's memtable is small. They are flushed together, largest first.
TEST(MemoryKeeperTest, ManyFamiliesStayWithinTheLimit) {
  BudgetStore store(1024 * kKiB);
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("f" + std::to_string(i));
  store.MustOpenWith(names);
  std::size_t most = 0;
  for (int i = 0; i < 6000; ++i) most = std::max(most, store.PutRandom(1, store.handles[store.prng.Uniform(301)]));
  EXPECT_LE(most, 1024 * kKiB);
  EXPECT_EQ(store.Verify(), "");
  store.Close();
}

// A batch over more families than the budget has room for is written all the same, and the memory is given back.
TEST(MemoryKeeperTest, ABatchLargerThanTheLimitIsWritten) {
  BudgetStore store(64 * kKiB);
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("f" + std::to_string(i));
  store.MustOpenWith(names);
  WriteBatch batch;
  for (ColumnFamilyHandle* const handle : store.handles) ASSERT_TRUE(batch.Put(handle, "k", "v").ok());
  ASSERT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_GT(store.manager->memory_usage(), 64 * kKiB);
  store.RunUntilIdle();
  EXPECT_LE(store.PutRandom(1), 64 * kKiB);
  for (ColumnFamilyHandle* const handle : store.handles) EXPECT_EQ(store.GetFrom(handle, "k"), "v");
  store.Close();
}

// Two databases in a file system each, with one executor, which runs the flushes of both.
struct Two {
  explicit Two(std::size_t limit) : first(limit), second(limit, first.manager) {
    second.options.executor = first.options.executor;
    first.MustOpen();
    second.MustOpen();
  }
  BudgetStore first;
  BudgetStore second;
};

// Returns the memory that a database keeps which is not written to any more, while another one is.
std::uint64_t MemoryOfIdleDatabase() {
  Two two(512 * kKiB);
  two.first.PutRandom(800);
  EXPECT_GT(two.first.Property("cur-size-all-mem-tables"), 64 * kKiB);
  EXPECT_LE(two.second.PutRandom(20'000), 512 * kKiB);
  const std::uint64_t kept = two.first.Property("cur-size-all-mem-tables");
  two.first.MustClose();
  two.second.MustClose();
  return kept;
}

TEST(MemoryKeeperTest, AnIdleDatabaseGivesItsMemoryUp) {
  EXPECT_EQ(MemoryOfIdleDatabase(), 0u);
  const MutantScope mutant(Mutant::kIdleTablesStay);
  EXPECT_GT(MemoryOfIdleDatabase(), 64 * kKiB);
}

TEST(MemoryKeeperTest, AClosedDatabaseIsNotAskedAndTakesNothing) {
  Two two(256 * kKiB);
  two.first.PutRandom(500);
  two.second.PutRandom(100);
  two.first.MustClose();
  EXPECT_LE(two.second.PutRandom(5000), 256 * kKiB);
  two.second.MustClose();
  EXPECT_EQ(two.first.manager->memory_usage(), 0u);
  EXPECT_EQ(two.first.manager->mutable_memtable_memory_usage(), 0u);
}

TEST(MemoryKeeperTest, TheManagerMayBeDestroyedFirst) {
  TestStore store;
  auto manager = std::make_shared<WriteBufferManager>(64 * kKiB);
  store.options.write_buffer_manager = manager;
  store.MustOpen();
  store.options.write_buffer_manager = nullptr;
  manager.reset();
  for (int i = 0; i < 2000; ++i) store.Put(NumberedKey(i), std::string(50, 'v'));
  store.MustClose();
}

// The memory that filters have is no longer there for memtables.
bool LimitHoldsWithFilters() {
  BudgetStore store(256 * kKiB);
  store.options.filter_bits_per_key = 64;
  store.MustOpen();
  std::uint64_t most = 0;
  for (int i = 0; i < 30; ++i) {
    store.PutRandom(300);
    store.RunUntilIdle();
    most = std::max(most, store.Property("size-all-mem-tables") + store.Property("estimate-table-readers-mem"));
  }
  store.Flush();
  EXPECT_GT(store.Property("num-runs") + store.Property("index-bytes"), 0u);
  return most <= store.manager->memory_usage() + 256 * kKiB &&
         store.manager->memory_usage() >= store.Property("estimate-table-readers-mem");
}

TEST(MemoryKeeperTest, FiltersCount) {
  if (!TestsUseLsm()) GTEST_SKIP() << "a tree's filters are in its pages, which the page cache counts";
  EXPECT_TRUE(LimitHoldsWithFilters());
  const MutantScope mutant(Mutant::kFiltersUncounted);
  EXPECT_FALSE(LimitHoldsWithFilters());
}

// What snapshots hold is moved to private runs before it takes the limit.
TEST(MemoryKeeperTest, TheLimitHoldsWithSnapshots) {
  BudgetStore store(512 * kKiB);
  store.MustOpen();
  store.Put("k", "old");
  std::vector<const Snapshot*> snapshots;
  for (int i = 0; i < 30; ++i) {
    EXPECT_LE(store.PutRandom(300), 512 * kKiB);
    snapshots.push_back(store.db->GetSnapshot());
  }
  ReadOptions read;
  read.snapshot = snapshots[0];
  EXPECT_EQ(store.Get("k", read), "old");
  for (const Snapshot* const snapshot : snapshots) store.db->ReleaseSnapshot(snapshot);
}

struct CountingListener : EventListener {
  void OnMemTableSealed(const MemTableInfo& info) override { reasons.push_back(info.reason); }
  std::vector<FlushReason> reasons;
};

// Iterators keep flushed memtables in memory, more than the limit. Writes go on, and do not flush each chunk of their
// memory.
TEST(MemoryKeeperTest, WritesGoOnWhileIteratorsHoldTheMemory) {
  const auto listener = std::make_shared<CountingListener>();
  BudgetStore store(512 * kKiB);
  store.options.listeners.push_back(listener);
  store.MustOpen();
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (int i = 0; i < 30; ++i) {
    store.PutRandom(300);
    iterators.emplace_back(store.db->NewIterator({}));
    store.Flush();
  }
  EXPECT_GT(store.manager->memory_usage(), 512 * kKiB);
  listener->reasons.clear();
  store.PutRandom(3000);
  EXPECT_LE(listener->reasons.size(), 20u) << "each has an eighth of the limit, about 64 KiB";
  iterators.clear();
  store.PutRandom(1);
  store.Flush();
  EXPECT_LE(store.manager->memory_usage(), 512 * kKiB);
}

TEST(MemoryKeeperTest, NoSlowdownIsIncomplete) {
  BudgetStore store(64 * kKiB);
  store.MustOpen();
  WriteOptions write;
  write.no_slowdown = true;
  Status s;
  for (int i = 0; s.ok() && i < 2000; ++i) s = store.db->Put(write, NumberedKey(i), std::string(100, 'v'));
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_TRUE(store.db->Put({}, "k", "v").ok());
}

// An iterator holds more than half of the limit, so that what takes writes is never so much that a flush is due.
TEST(MemoryKeeperTest, RefusedWriteStartsFlush) {
  BudgetStore store(256 * kKiB);
  store.MustOpen();
  WriteOptions write;
  write.no_slowdown = true;
  int i = 0;
  while (store.manager->memory_usage() < 135 * kKiB) {
    ASSERT_TRUE(store.db->Put(write, NumberedKey(i++), std::string(100, 'v')).ok());
  }
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  store.Flush();
  Status s;
  while (s.ok() && i < 9000) s = store.db->Put(write, NumberedKey(i++), std::string(100, 'v'));
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  store.RunUntilIdle();
  EXPECT_TRUE(store.db->Put(write, NumberedKey(i), "v").ok());
}

// If memtables cannot be flushed, writes fail with the reason before memory passes the limit.
TEST(MemoryKeeperTest, WritesFailIfNoFlushSucceeds) {
  BudgetStore store(128 * kKiB);
  store.MustOpen();
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".run") || path.ends_with(".idx"); };
  fault.sticky = true;
  store.fs->AddFault(fault);
  Status s;
  for (int i = 0; s.ok() && i < 2000; ++i) s = store.db->Put({}, NumberedKey(i), std::string(100, 'v'));
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_LE(store.manager->memory_usage(), 128 * kKiB);
  store.fs->ClearFaults();
  EXPECT_TRUE(store.db->Put({}, "k", "v").ok());
  EXPECT_EQ(store.Get(NumberedKey(0)), std::string(100, 'v'));
}

TEST(MemoryKeeperTest, ALowerLimitIsKeptFromThenOn) {
  BudgetStore store(1024 * kKiB);
  store.MustOpen();
  store.PutRandom(5000);
  EXPECT_GT(store.manager->memory_usage(), 500 * kKiB);
  store.manager->SetBufferSize(128 * kKiB);
  store.PutRandom(300);
  store.RunUntilIdle();
  EXPECT_LE(store.PutRandom(2000), 128 * kKiB);
  store.manager->SetBufferSize(0);
  EXPECT_FALSE(store.manager->enabled());
  EXPECT_GT(store.PutRandom(3000), 128 * kKiB);
}

TEST(MemoryKeeperTest, WithAllowStallTheLimitHoldsToo) {
  const auto manager = std::make_shared<WriteBufferManager>(256 * kKiB, /*allow_stall=*/true);
  BudgetStore store(0, manager);
  store.MustOpen();
  EXPECT_LE(store.PutRandom(5000), 256 * kKiB);
}

// What recovery has put into memtables counts, and is flushed if it is too much.
TEST(MemoryKeeperTest, RecoveredMemtablesCount) {
  BudgetStore store(1024 * kKiB);
  store.MustOpen();
  store.PutRandom(4000);
  store.manager->SetBufferSize(128 * kKiB);
  store.KillAndOpenWith({});
  EXPECT_GT(store.manager->memory_usage(), 128 * kKiB);
  store.RunUntilIdle();
  EXPECT_LE(store.PutRandom(1000), 128 * kKiB);
  EXPECT_EQ(store.Verify(), "");
}

TEST(MemoryKeeperTest, AReadersMemtablesCount) {
  BudgetStore store(1024 * kKiB);
  store.MustOpen();
  store.PutRandom(1000);
  store.Kill();
  const std::size_t before = store.manager->memory_usage();
  std::unique_ptr<DB> reader;
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &reader).ok());
  EXPECT_GT(store.manager->memory_usage(), before);
  EXPECT_EQ(store.manager->mutable_memtable_memory_usage(), 0u) << "no flush can free them";
  reader.reset();
  EXPECT_EQ(store.manager->memory_usage(), before);
}

TEST(MemoryKeeperTest, TheReasonOfTheFlushIsReported) {
  const auto listener = std::make_shared<CountingListener>();
  BudgetStore store(128 * kKiB);
  store.options.listeners.push_back(listener);
  store.MustOpen();
  store.PutRandom(2000);
  ASSERT_FALSE(listener->reasons.empty());
  for (const FlushReason reason : listener->reasons) EXPECT_EQ(reason, FlushReason::kWriteBufferManager);
}

// A dropped family's memory is given back, although the handle still exists.
TEST(MemoryKeeperTest, ADroppedFamilyHoldsNothingUp) {
  BudgetStore store(256 * kKiB);
  store.MustOpenWith({"f"});
  store.PutRandom(800, store.handles[1]);
  ASSERT_TRUE(store.db->DropColumnFamily(store.handles[1]).ok());
  EXPECT_LE(store.PutRandom(3000), 256 * kKiB);
  store.Close();
}

}  // namespace
}  // namespace cambium::testing
